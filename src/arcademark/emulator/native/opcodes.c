/* What each opcode does. Included by processor.c where it runs them, and read by translate.py (through instructions.py).
 *
 *   DO(opcode, cycles, where the operand is, effect)
 */

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
BRANCH(50, !IS_OVERFLOW)
BRANCH(70, IS_OVERFLOW)
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
   overflow = a << 1 ^ a << 2)
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
