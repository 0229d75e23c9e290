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
#define IS_OVERFLOW (overflow & 0x80)
#define FLAGS \
    ((IS_NEGATIVE ? 0x80 : 0) | (IS_OVERFLOW ? 0x40 : 0) | 0x30 | decimal << 3 | interrupt << 2 | (IS_ZERO ? 2 : 0) | carry)
#define SET_FLAGS(value)                                                    \
    do {                                                                    \
        unsigned f = (value);                                               \
        nz = (uint16_t)((f & 0x80) << 8 | !(f & 2));                        \
        overflow = f << 1;                                                  \
        decimal = f >> 3 & 1;                                               \
        interrupt = f >> 2 & 1;                                             \
        carry = f & 1;                                                      \
    } while (0)

#define LOAD(r) SHOW(r = (uint8_t)m)
#define COMPARE(r) (carry = (r) >= m, SHOW((uint8_t)((r) - m)))
#define AND_A SHOW(a &= (uint8_t)m)
#define OR_A SHOW(a |= (uint8_t)m)
#define XOR_A SHOW(a ^= (uint8_t)m)
#define TEST_BITS (overflow = m << 1, nz = (uint16_t)((a & m) | (m & 0x80) << 8))
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
        overflow = (a ^ n) & (m ^ n);                                       \
        carry = n >> 8 & 1;                                                 \
        SHOW(a = (uint8_t)n);                                               \
    } while (0)

#define SUBTRACT                                                            \
    do {                                                                    \
        n = decimal ? subtract_decimal(a, m, carry) : a + (m ^ 0xFF) + carry; \
        overflow = (a ^ n) & ((decimal ? n : a) ^ m);                       \
        carry = n >> 8 & 1;                                                 \
        SHOW(a = (uint8_t)n);                                               \
    } while (0)

/* ---- waiting --------------------------------------------------------------------------------------------------- */

/* Cycles after these for which the timer shows what it shows then; its second register only whether it has run out. */
static int32_t unchanged(const State *s, int32_t cycles, int flag)
{
    int32_t since = (int32_t)((uint32_t)cycles - 1 - (uint32_t)s->timer_set), steps = since >> s->timer_shift;
    if (since < 0 || steps >= s->timer)
        return 0;
    return (int32_t)(((uint32_t)(flag ? s->timer : steps + 1) << s->timer_shift) - 1 - (uint32_t)since);
}

/* Whether a loop only waits for the timer: an instruction that reads it, perhaps one that compares with a number, and
 * the branch back, at `branch`. What they do depends on nothing that an earlier round did. */
static inline int is_wait(const uint8_t *loop, unsigned branch)
{
    static const uint8_t READERS[] = {0xAD, 0xAE, 0xAC, 0x2C, 0xCD, 0xEC, 0xCC}, COMPARERS[] = {0xC9, 0xE0, 0xC0, 0x29};
    return (loop[2] & 0x12) == 2 && (loop[1] & 0x84) == 0x84 && memchr(READERS, loop[0], sizeof READERS) &&
           (branch == 3 || memchr(COMPARERS, loop[3], sizeof COMPARERS));
}

/* Pass over the rounds of such a loop in which the timer shows the same; at the loop's end. */
#define PASS_ROUNDS(flag, time, count)                                                           \
    do {                                                                                         \
        int32_t rounds = unchanged(s, cycles - (time) + 4, flag) / (time); /* since the last read */    \
        if (rounds > (budget - 1) / (count))                                                     \
            rounds = (budget - 1) / (count);                                                     \
        if (rounds > 0) {                                                                        \
            cycles += rounds * (time);                                                           \
            budget -= rounds * (count);                                                          \
        }                                                                                        \
    } while (0)

/* ---- instructions ---------------------------------------------------------------------------------------------- */

#define OP(n) case 0x##n
#define NEXT break

#define DO(n, time, where_, effect) \
    OP(n) : cycles += time; where_; effect; NEXT;
#define AT(effect) m = READ(ea); effect
#define AT_ZERO(effect) m = READ_ZERO(ea); effect
#define MODIFY(effect) m = READ(ea); effect; WRITE(ea, m)

#define BRANCH(opcode, condition)                                    \
    OP(opcode) : cycles += 2;                                        \
    m = FETCH();                                                     \
    if (condition) {                                                 \
        ea = code_start + at;                                        \
        at += (uint32_t)(int8_t)m;                                   \
        n = ((ea ^ (code_start + at)) & 0xFF00) != 0;                \
        cycles += 1 + (int32_t)n;                                    \
        if (m == 0xFB || m == 0xF9)                                  \
            goto back;                                               \
    }                                                                \
    NEXT;
#define SIMPLE(n, effect) DO(n, 2, (void)0, effect)
#define STOP(n) OP(n):

#ifndef TRANSLATED

/* Play so many instructions, or up to the end of the frame. */
static void interpret(Console *k, int32_t instructions)
{
    State *s = &k->state;
    uint8_t *ram = s->ram, a = s->a, x = s->x, y = s->y, sp = s->sp, bus = s->bus, slow;
    uint16_t nz = s->nz;
    unsigned carry = s->carry, overflow = s->overflow << 7u, decimal = s->decimal, interrupt = s->interrupt;
    unsigned m, n, ea, base, where;
    int32_t cycles = s->cycles, budget = instructions, time, last_time = 0;
    const uint8_t *code = k->code, *flat = k->flat;
    uint32_t code_start = k->code_start, code_span = k->code_span;
    uint32_t at = s->pc - code_start, last_back = UINT32_MAX;
    const uint32_t flat_start = k->flat_start, flat_span = k->flat_span; /* the same in all banks */

    for (; budget; budget--) {
        switch (FETCH()) {
#include "opcodes.c"
        STOP(02) STOP(12) STOP(22) STOP(32) STOP(42) STOP(52) STOP(62) STOP(72) STOP(92) STOP(B2) STOP(D2) STOP(F2)
            cycles += 2;
            s->dead = 1;
            goto out;
        }
        continue;
back: /* at the begin of a loop of 5 or 7 bytes; if it was here a round ago, a whole round was done */
        time = 0x102 - (int32_t)m + (int32_t)n;
        if (at == last_back && cycles - time == last_time && at < code_span && at + 7 <= code_span &&
            is_wait(code + at, 0xFE - m))
            PASS_ROUNDS(code[at + 1] & 1, time, m == 0xFB ? 2 : 3);
        last_back = at;
        last_time = cycles;
    }
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
    s->overflow = IS_OVERFLOW != 0;
    s->decimal = (uint8_t)decimal;
    s->interrupt = (uint8_t)interrupt;
}

#endif
