/* The 6507's instructions. Included by core.c.
 *
 * An instruction's cycles are all counted before its operands are fetched, so that each access but the opcode's sees
 * the time at its end. The bus value is that of the last byte transferred by any access.
 */

/* ---- accesses -------------------------------------------------------------------------------------------------- */

/* Let the devices see the time and the bus, and see in turn what they changed. */
#define SYNC_OUT (s->cycles = cycles, s->bus = bus)
#define SYNC_MAP (code = k->code, code_start = k->code_start, code_span = k->code_span, flat = k->flat)

/* The program counter, kept as a place in the part of the program that is known. */
#define PC ((uint16_t)(code_start + at))
#define GO_TO(address) at = (uint32_t)(address) - code_start

#define FETCH()                                                                                  \
    (bus = at < code_span ? code[at]                                                             \
                          : (SYNC_OUT, where = PC, slow = fetch_device(k, where), SYNC_MAP,      \
                             at = (uint16_t)(where - code_start), slow),                         \
     at++, bus)

#define READ_SLOWLY(address) (SYNC_OUT, slow = read_device(k, address), SYNC_MAP, slow)

#define READ(address)                                                                            \
    (where = (address),                                                                          \
     bus = where & 0x1000 ? ((where & 0xFFF) - flat_start < flat_span ? flat[where & 0xFFF] : READ_SLOWLY(where)) \
           : (where & 0x280) == 0x80 ? ram[where & 0x7F] : READ_SLOWLY(where))

#define READ_ZERO(address) (where = (address), bus = where & 0x80 ? ram[where & 0x7F] : READ_SLOWLY(where))

#define WRITE_SLOWLY(address, value, later)          \
    do {                                             \
        s->cycles = cycles;                          \
        write_device(k, address, value, later);      \
        cycles = s->cycles;                          \
        SYNC_MAP;                                    \
        if (k->stop)                                 \
            budget = 1;                              \
    } while (0)

#define WRITE_TO(address, byte, later)                                                          \
    do {                                                                                         \
        uint8_t written = (uint8_t)(byte);                                                       \
        where = (address);                                                                       \
        if ((where & 0x1280) == 0x80)                                                            \
            ram[where & 0x7F] = written;                                                         \
        else if (!(where & 0x1000) || (where & 0xFFF) - flat_start >= flat_span)                 \
            WRITE_SLOWLY(where, written, later);                                                 \
        bus = written;                                                                           \
    } while (0)

#define WRITE(address, byte) WRITE_TO(address, byte, 0)
#define WRITE_ZERO(byte)                                                                         \
    do {                                                                                         \
        bus = (uint8_t)(byte);                                                                   \
        if (ea & 0x80) {                                                                         \
            ram[ea & 0x7F] = bus;                                                                \
        } else {                                                                                 \
            s->cycles = cycles;                                                                  \
            write_picture(k, ea & 0x3F, bus, 0);                                                 \
            cycles = s->cycles;                                                                  \
            if (k->stop)                                                                         \
                budget = 1;                                                                      \
        }                                                                                        \
    } while (0)
#define PUSH(byte, later)                                                                        \
    do {                                                                                         \
        WRITE_TO(0x100u + sp, byte, later);                                                      \
        sp--;                                                                                    \
    } while (0)
#define PULL() (sp++, READ(0x100u + sp))

/* ---- addresses ------------------------------------------------------------------------------------------------- */

#define ZERO ea = FETCH()
#define ZERO_X ea = (FETCH() + x) & 0xFF
#define ZERO_Y ea = (FETCH() + y) & 0xFF
#define ABSOLUTE (ea = FETCH(), ea |= (unsigned)FETCH() << 8)
#define INDEXED(by) (ABSOLUTE, base = ea, ea = (ea + (by)) & 0xFFFF)
#define POINTED (base = READ_ZERO(ea), base |= (unsigned)READ((ea + 1) & 0x1FF) << 8)
#define POINTER_X (ea = (FETCH() + x) & 0xFF, POINTED, ea = base)
#define POINTER_Y (ea = FETCH(), POINTED, ea = (base + y) & 0xFFFF)
#define CROSSING cycles += ((base ^ ea) & 0xFF00) != 0

/* ---- effects --------------------------------------------------------------------------------------------------- */

#define SHOW(value) nz = (value)
#define IS_ZERO !(nz & 0xFF)
#define IS_NEGATIVE (nz & 0x8080)
#define FLAGS \
    ((IS_NEGATIVE ? 0x80 : 0) | (overflow ? 0x40 : 0) | 0x30 | decimal << 3 | interrupt << 2 | (IS_ZERO ? 2 : 0) | carry)
#define SET_FLAGS(value)                                                    \
    do {                                                                    \
        unsigned f = (value);                                               \
        nz = (uint16_t)((f & 0x80) << 8 | !(f & 2));                        \
        overflow = f >> 6 & 1;                                              \
        decimal = f >> 3 & 1;                                               \
        interrupt = f >> 2 & 1;                                             \
        carry = f & 1;                                                      \
    } while (0)

#define LOAD(r) SHOW(r = (uint8_t)m)
#define COMPARE(r) (carry = (r) >= m, SHOW((uint8_t)((r) - m)))
#define AND_A SHOW(a &= (uint8_t)m)
#define OR_A SHOW(a |= (uint8_t)m)
#define XOR_A SHOW(a ^= (uint8_t)m)
#define TEST_BITS (overflow = m >> 6 & 1, nz = (uint16_t)((a & m) | (m & 0x80) << 8))
#define SHIFT_LEFT (carry = m >> 7 & 1, SHOW(m = m << 1 & 0xFF))
#define SHIFT_RIGHT (carry = m & 1, SHOW(m = m >> 1))
#define ROLL_LEFT (n = carry, carry = m >> 7 & 1, SHOW(m = (m << 1 & 0xFF) | n))
#define ROLL_RIGHT (n = carry, carry = m & 1, SHOW(m = m >> 1 | n << 7))
#define INCREASE SHOW(m = (m + 1) & 0xFF)
#define DECREASE SHOW(m = (m - 1) & 0xFF)

static unsigned from_bcd(unsigned byte)
{
    return 10 * (byte >> 4) + (byte & 15);
}

static uint8_t to_bcd(int number)
{
    return (uint8_t)(number % 100 / 10 << 4 | number % 10);
}

/* Decimal sums, as the machine makes them even of bytes that are no decimal digits; bit 8 is the carry. */
static unsigned add_decimal(unsigned a, unsigned m, unsigned carry)
{
    unsigned sum = from_bcd(a) + from_bcd(m) + carry;
    return to_bcd((int)(sum & 255)) | (sum > 99 ? 256u : 0);
}

static unsigned subtract_decimal(unsigned a, unsigned m, unsigned carry)
{
    int difference = (int)from_bcd(a) - (int)from_bcd(m) - 1 + (int)carry;
    if (difference < 0)
        difference += 100;
    unsigned result = difference < 0 ? from_bcd((unsigned)difference & 255) & 255 : to_bcd(difference);
    return result | (a >= m + 1 - carry ? 256u : 0);
}

#define ADD                                                                 \
    do {                                                                    \
        n = decimal ? add_decimal(a, m, carry) : a + m + carry;             \
        overflow = ((a ^ n) & (m ^ n) & 0x80) != 0;                         \
        carry = n >> 8 & 1;                                                 \
        SHOW(a = (uint8_t)n);                                               \
    } while (0)

#define SUBTRACT                                                            \
    do {                                                                    \
        n = decimal ? subtract_decimal(a, m, carry) : a + (m ^ 0xFF) + carry; \
        overflow = ((a ^ n) & ((decimal ? n : a) ^ m) & 0x80) != 0;         \
        carry = n >> 8 & 1;                                                 \
        SHOW(a = (uint8_t)n);                                               \
    } while (0)

/* ---- instructions ---------------------------------------------------------------------------------------------- */

#if defined(__GNUC__) && !defined(CONSOLE_PLAIN) /* jump from each instruction to the next: processors foresee that */
#define THREADED
#define LABEL(n) &&op_##n,
#define DISPATCH goto *labels[FETCH()]
#define OP(n) op_##n
#define NEXT                   \
    do {                       \
        if (!--budget)         \
            goto out;          \
        DISPATCH;              \
    } while (0)
#else
#define DISPATCH switch (FETCH())
#define OP(n) case 0x##n
#define NEXT break
#endif

#define DO(n, time, where_, effect) \
    OP(n) : cycles += time; where_; effect; NEXT;
#define AT(effect) m = READ(ea); effect
#define AT_ZERO(effect) m = READ_ZERO(ea); effect
#define MODIFY(effect) m = READ(ea); effect; WRITE(ea, m)

/* The eight addressing modes of an instruction that reads, and those of the others. */
#define READING(imm, zp, zpx, ab, abx, aby, inx, iny, effect)        \
    DO(imm, 2, m = FETCH(), effect)                                  \
    DO(zp, 3, ZERO, AT_ZERO(effect))                                 \
    DO(zpx, 4, ZERO_X, AT_ZERO(effect))                              \
    DO(ab, 4, ABSOLUTE, AT(effect))                                  \
    DO(abx, 4, INDEXED(x); CROSSING, AT(effect))                     \
    DO(aby, 4, INDEXED(y); CROSSING, AT(effect))                     \
    DO(inx, 6, POINTER_X, AT(effect))                                \
    DO(iny, 5, POINTER_Y; CROSSING, AT(effect))
#define MODIFYING(zp, zpx, ab, abx, effect)                          \
    DO(zp, 5, ZERO, MODIFY(effect))                                  \
    DO(zpx, 6, ZERO_X, MODIFY(effect))                               \
    DO(ab, 6, ABSOLUTE, MODIFY(effect))                              \
    DO(abx, 7, INDEXED(x), MODIFY(effect))
#define MODIFYING_MORE(zp, zpx, ab, abx, aby, inx, iny, effect)      \
    MODIFYING(zp, zpx, ab, abx, effect)                              \
    DO(aby, 7, INDEXED(y), MODIFY(effect))                           \
    DO(inx, 8, POINTER_X, MODIFY(effect))                            \
    DO(iny, 8, POINTER_Y, MODIFY(effect))
#define BRANCH(n, condition)                                         \
    OP(n) : cycles += 2;                                             \
    m = FETCH();                                                     \
    if (condition) {                                                 \
        ea = code_start + at;                                        \
        at += (uint32_t)(int8_t)m;                                   \
        cycles += 1 + (((ea ^ (code_start + at)) & 0xFF00) != 0);    \
    }                                                                \
    NEXT;
#define SIMPLE(n, effect) DO(n, 2, (void)0, effect)
#define STOP(n) OP(n):

static void run(Console *k)
{
#ifdef THREADED
#define ROW(h) LABEL(h##0) LABEL(h##1) LABEL(h##2) LABEL(h##3) LABEL(h##4) LABEL(h##5) LABEL(h##6) LABEL(h##7) \
               LABEL(h##8) LABEL(h##9) LABEL(h##A) LABEL(h##B) LABEL(h##C) LABEL(h##D) LABEL(h##E) LABEL(h##F)
    static const void *const labels[256] = {ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7)
                                            ROW(8) ROW(9) ROW(A) ROW(B) ROW(C) ROW(D) ROW(E) ROW(F)};
#undef ROW
#endif
    State *s = &k->state;
    uint8_t *ram = s->ram, a = s->a, x = s->x, y = s->y, sp = s->sp, bus = s->bus, slow;
    uint16_t nz = s->nz;
    unsigned carry = s->carry, overflow = s->overflow, decimal = s->decimal, interrupt = s->interrupt;
    unsigned m, n, ea, base, where;
    int32_t cycles = s->cycles, budget = MOST_INSTRUCTIONS;
    const uint8_t *code = k->code, *flat = k->flat;
    uint32_t code_start = k->code_start, code_span = k->code_span;
    uint32_t at = s->pc - code_start;
    const uint32_t flat_start = k->flat_start, flat_span = k->flat_span; /* the same in all banks */

#ifdef THREADED
    DISPATCH;
#else
    for (;; budget--) {
        if (!budget)
            goto out;
        DISPATCH {
#endif

    READING(A9, A5, B5, AD, BD, B9, A1, B1, LOAD(a))
    READING(69, 65, 75, 6D, 7D, 79, 61, 71, ADD)
    READING(E9, E5, F5, ED, FD, F9, E1, F1, SUBTRACT)
    READING(29, 25, 35, 2D, 3D, 39, 21, 31, AND_A)
    READING(09, 05, 15, 0D, 1D, 19, 01, 11, OR_A)
    READING(49, 45, 55, 4D, 5D, 59, 41, 51, XOR_A)
    READING(C9, C5, D5, CD, DD, D9, C1, D1, COMPARE(a))
    DO(A2, 2, m = FETCH(), LOAD(x))
    DO(A6, 3, ZERO, AT_ZERO(LOAD(x)))
    DO(B6, 4, ZERO_Y, AT_ZERO(LOAD(x)))
    DO(AE, 4, ABSOLUTE, AT(LOAD(x)))
    DO(BE, 4, INDEXED(y); CROSSING, AT(LOAD(x)))
    DO(A0, 2, m = FETCH(), LOAD(y))
    DO(A4, 3, ZERO, AT_ZERO(LOAD(y)))
    DO(B4, 4, ZERO_X, AT_ZERO(LOAD(y)))
    DO(AC, 4, ABSOLUTE, AT(LOAD(y)))
    DO(BC, 4, INDEXED(x); CROSSING, AT(LOAD(y)))
    DO(E0, 2, m = FETCH(), COMPARE(x))
    DO(E4, 3, ZERO, AT_ZERO(COMPARE(x)))
    DO(EC, 4, ABSOLUTE, AT(COMPARE(x)))
    DO(C0, 2, m = FETCH(), COMPARE(y))
    DO(C4, 3, ZERO, AT_ZERO(COMPARE(y)))
    DO(CC, 4, ABSOLUTE, AT(COMPARE(y)))
    DO(24, 3, ZERO, AT_ZERO(TEST_BITS))
    DO(2C, 4, ABSOLUTE, AT(TEST_BITS))

    DO(85, 3, ZERO, WRITE_ZERO(a))
    DO(95, 4, ZERO_X, WRITE_ZERO(a))
    DO(8D, 4, ABSOLUTE, WRITE(ea, a))
    DO(9D, 5, INDEXED(x), WRITE(ea, a))
    DO(99, 5, INDEXED(y), WRITE(ea, a))
    DO(81, 6, POINTER_X, WRITE(ea, a))
    DO(91, 6, POINTER_Y, WRITE(ea, a))
    DO(86, 3, ZERO, WRITE_ZERO(x))
    DO(96, 4, ZERO_Y, WRITE_ZERO(x))
    DO(8E, 4, ABSOLUTE, WRITE(ea, x))
    DO(84, 3, ZERO, WRITE_ZERO(y))
    DO(94, 4, ZERO_X, WRITE_ZERO(y))
    DO(8C, 4, ABSOLUTE, WRITE(ea, y))

    MODIFYING(06, 16, 0E, 1E, SHIFT_LEFT)
    MODIFYING(46, 56, 4E, 5E, SHIFT_RIGHT)
    MODIFYING(26, 36, 2E, 3E, ROLL_LEFT)
    MODIFYING(66, 76, 6E, 7E, ROLL_RIGHT)
    MODIFYING(E6, F6, EE, FE, INCREASE)
    MODIFYING(C6, D6, CE, DE, DECREASE)
    SIMPLE(0A, m = a; SHIFT_LEFT; a = (uint8_t)m)
    SIMPLE(4A, m = a; SHIFT_RIGHT; a = (uint8_t)m)
    SIMPLE(2A, m = a; ROLL_LEFT; a = (uint8_t)m)
    SIMPLE(6A, m = a; ROLL_RIGHT; a = (uint8_t)m)

    SIMPLE(E8, SHOW(++x))
    SIMPLE(C8, SHOW(++y))
    SIMPLE(CA, SHOW(--x))
    SIMPLE(88, SHOW(--y))
    SIMPLE(AA, SHOW(x = a))
    SIMPLE(A8, SHOW(y = a))
    SIMPLE(8A, SHOW(a = x))
    SIMPLE(98, SHOW(a = y))
    SIMPLE(BA, SHOW(x = sp))
    SIMPLE(9A, sp = x)
    SIMPLE(18, carry = 0)
    SIMPLE(38, carry = 1)
    SIMPLE(58, interrupt = 0)
    SIMPLE(78, interrupt = 1)
    SIMPLE(B8, overflow = 0)
    SIMPLE(D8, decimal = 0)
    SIMPLE(F8, decimal = 1)
    SIMPLE(EA, (void)0)

    BRANCH(10, !IS_NEGATIVE)
    BRANCH(30, IS_NEGATIVE)
    BRANCH(50, !overflow)
    BRANCH(70, overflow)
    BRANCH(90, !carry)
    BRANCH(B0, carry)
    BRANCH(D0, !IS_ZERO)
    BRANCH(F0, IS_ZERO)

    DO(4C, 3, ABSOLUTE, GO_TO(ea))
    DO(6C, 5, ABSOLUTE, base = ea; ea = READ(base); ea |= (unsigned)READ((base & 0xFF00) | ((base + 1) & 0xFF)) << 8; GO_TO(ea))
    OP(20): /* JSR: the return address is pushed before the second half of the target is fetched */
        cycles += 6;
        ea = FETCH();
        (void)READ(0x100u + sp);
        PUSH(PC >> 8, 0);
        PUSH(PC, 1);
        ea |= (unsigned)FETCH() << 8;
        GO_TO(ea);
        NEXT;
    OP(60): /* RTS */
        cycles += 6;
        (void)READ(0x100u + sp);
        ea = PULL();
        ea |= (unsigned)PULL() << 8;
        (void)READ(ea);
        GO_TO((ea + 1) & 0xFFFF);
        NEXT;
    OP(40): /* RTI */
        cycles += 6;
        (void)READ(0x100u + sp);
        n = PULL();
        SET_FLAGS(n);
        ea = PULL();
        ea |= (unsigned)PULL() << 8;
        GO_TO(ea);
        NEXT;
    OP(00): /* BRK */
        cycles += 7;
        (void)FETCH();
        PUSH(PC >> 8, 0);
        PUSH(PC, 1);
        PUSH(FLAGS, 1);
        interrupt = 1;
        ea = READ(0xFFFE);
        ea |= (unsigned)READ(0xFFFF) << 8;
        GO_TO(ea);
        NEXT;
    DO(48, 3, (void)0, PUSH(a, 0))
    DO(08, 3, (void)0, PUSH(FLAGS, 0))
    DO(68, 4, (void)READ(0x100u + sp), m = PULL(); LOAD(a))
    DO(28, 4, (void)READ(0x100u + sp), n = PULL(); SET_FLAGS(n))

    /* What the maker did not document. */
    MODIFYING_MORE(07, 17, 0F, 1F, 1B, 03, 13, SHIFT_LEFT; OR_A)
    MODIFYING_MORE(27, 37, 2F, 3F, 3B, 23, 33, ROLL_LEFT; AND_A)
    MODIFYING_MORE(47, 57, 4F, 5F, 5B, 43, 53, SHIFT_RIGHT; XOR_A)
    MODIFYING_MORE(67, 77, 6F, 7F, 7B, 63, 73, ROLL_RIGHT; ADD)
    MODIFYING_MORE(C7, D7, CF, DF, DB, C3, D3, DECREASE; COMPARE(a))
    MODIFYING_MORE(E7, F7, EF, FF, FB, E3, F3, INCREASE; SUBTRACT)
    DO(A7, 4, ZERO, AT_ZERO(LOAD(a); x = a))
    DO(B7, 4, ZERO_Y, AT_ZERO(LOAD(a); x = a))
    DO(AF, 4, ABSOLUTE, AT(LOAD(a); x = a))
    DO(BF, 4, INDEXED(y); CROSSING, AT(LOAD(a); x = a))
    DO(A3, 6, POINTER_X, AT(LOAD(a); x = a))
    DO(B3, 5, POINTER_Y; CROSSING, AT(LOAD(a); x = a))
    DO(87, 3, ZERO, WRITE_ZERO(a & x))
    DO(97, 4, ZERO_Y, WRITE_ZERO(a & x))
    DO(8F, 4, ABSOLUTE, WRITE(ea, a & x))
    DO(83, 6, POINTER_X, WRITE(ea, a & x))
    DO(EB, 2, m = FETCH(), SUBTRACT)
    DO(0B, 2, m = FETCH(), AND_A; carry = a >> 7)
    DO(2B, 2, m = FETCH(), AND_A; carry = a >> 7)
    DO(4B, 2, m = FETCH(), a &= (uint8_t)m; m = a; SHIFT_RIGHT; a = (uint8_t)m)
    DO(6B, 2, m = FETCH(), SHOW(a = (uint8_t)((a & m) >> 1 | carry << 7)); carry = a >> 6 & 1;
       overflow = (a >> 6 ^ a >> 5) & 1)
    DO(CB, 2, m = FETCH(), n = a & x; carry = n >= m; SHOW(x = (uint8_t)(n - m)))
    DO(8B, 2, m = FETCH(), SHOW(a = (uint8_t)((a | 0xEE) & x & m)))
    DO(AB, 2, m = FETCH(), SHOW(x = a = (uint8_t)((a | 0xEE) & m)))
    DO(BB, 4, INDEXED(y); CROSSING, m = READ(ea); SHOW(a = x = sp = (uint8_t)(sp & m)))
    DO(9F, 5, INDEXED(y), WRITE(ea, a & x & ((base >> 8) + 1)))
    DO(93, 6, POINTER_Y, WRITE(ea, a & x & ((base >> 8) + 1)))
    DO(9B, 5, INDEXED(y), sp = a & x; WRITE(ea, sp & ((base >> 8) + 1)))
    DO(9C, 5, INDEXED(x), WRITE(ea, y & ((base >> 8) + 1)))
    DO(9E, 5, INDEXED(y), WRITE(ea, x & ((base >> 8) + 1)))
    SIMPLE(1A, (void)0)
    SIMPLE(3A, (void)0)
    SIMPLE(5A, (void)0)
    SIMPLE(7A, (void)0)
    SIMPLE(DA, (void)0)
    SIMPLE(FA, (void)0)
    DO(80, 2, (void)FETCH(), (void)0)
    DO(82, 2, (void)FETCH(), (void)0)
    DO(89, 2, (void)FETCH(), (void)0)
    DO(C2, 2, (void)FETCH(), (void)0)
    DO(E2, 2, (void)FETCH(), (void)0)
    DO(04, 3, ZERO, (void)READ_ZERO(ea))
    DO(44, 3, ZERO, (void)READ_ZERO(ea))
    DO(64, 3, ZERO, (void)READ_ZERO(ea))
    DO(14, 4, ZERO_X, (void)READ_ZERO(ea))
    DO(34, 4, ZERO_X, (void)READ_ZERO(ea))
    DO(54, 4, ZERO_X, (void)READ_ZERO(ea))
    DO(74, 4, ZERO_X, (void)READ_ZERO(ea))
    DO(D4, 4, ZERO_X, (void)READ_ZERO(ea))
    DO(F4, 4, ZERO_X, (void)READ_ZERO(ea))
    DO(0C, 4, ABSOLUTE, (void)READ(ea))
    DO(1C, 4, INDEXED(x); CROSSING, (void)READ(ea))
    DO(3C, 4, INDEXED(x); CROSSING, (void)READ(ea))
    DO(5C, 4, INDEXED(x); CROSSING, (void)READ(ea))
    DO(7C, 4, INDEXED(x); CROSSING, (void)READ(ea))
    DO(DC, 4, INDEXED(x); CROSSING, (void)READ(ea))
    DO(FC, 4, INDEXED(x); CROSSING, (void)READ(ea))
    STOP(02) STOP(12) STOP(22) STOP(32) STOP(42) STOP(52) STOP(62) STOP(72) STOP(92) STOP(B2) STOP(D2) STOP(F2)
        cycles += 2;
        s->dead = 1;
        goto out;

#ifndef THREADED
        }
    }
#endif
out:
    s->cycles = cycles;
    s->bus = bus;
    s->pc = PC;
    s->nz = nz;
    s->a = a;
    s->x = x;
    s->y = y;
    s->sp = sp;
    s->carry = (uint8_t)carry;
    s->overflow = (uint8_t)overflow;
    s->decimal = (uint8_t)decimal;
    s->interrupt = (uint8_t)interrupt;
}
