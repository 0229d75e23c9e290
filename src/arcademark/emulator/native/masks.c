/* What objects show on a line: masks of 160 bits. Included by core.c. */

/* ---- tables ---------------------------------------------------------------------------------------------------- */

#define FOUR(T, n) T(n), T((n) + 1), T((n) + 2), T((n) + 3)
#define SIXTEEN(T, n) FOUR(T, n), FOUR(T, (n) + 4), FOUR(T, (n) + 8), FOUR(T, (n) + 12)
#define SIXTY_FOUR(T, n) SIXTEEN(T, n), SIXTEEN(T, (n) + 16), SIXTEEN(T, (n) + 32), SIXTEEN(T, (n) + 48)
#define ALL(T) {SIXTY_FOUR(T, 0), SIXTY_FOUR(T, 64), SIXTY_FOUR(T, 128), SIXTY_FOUR(T, 192)}
#define BIT(n, i) (((n) >> (i)) & 1)

#define BYTES(n) {255 * BIT(n, 0), 255 * BIT(n, 1), 255 * BIT(n, 2), 255 * BIT(n, 3), \
                  255 * BIT(n, 4), 255 * BIT(n, 5), 255 * BIT(n, 6), 255 * BIT(n, 7)}
#define TURNED(n) (BIT(n, 0) << 7 | BIT(n, 1) << 6 | BIT(n, 2) << 5 | BIT(n, 3) << 4 | \
                   BIT(n, 4) << 3 | BIT(n, 5) << 2 | BIT(n, 6) << 1 | BIT(n, 7))
#define TWICE(n) (3u * (BIT(n, 0) | BIT(n, 1) << 2 | BIT(n, 2) << 4 | BIT(n, 3) << 6 | \
                        BIT(n, 4) << 8 | BIT(n, 5) << 10 | BIT(n, 6) << 12 | BIT(n, 7) << 14))
#define FOURFOLD(n) (15u * (BIT(n, 0) | BIT(n, 1) << 4 | BIT(n, 2) << 8 | BIT(n, 3) << 12 | \
                            BIT(n, 4) << 16 | BIT(n, 5) << 20 | BIT(n, 6) << 24 | (uint32_t)BIT(n, 7) << 28))

static const uint8_t PIXELS[256][8] = ALL(BYTES); /* a byte a bit, in the order of memory */
static const uint8_t REVERSED[256] = ALL(TURNED);
static const uint16_t DOUBLED[256] = ALL(TWICE);
static const uint32_t QUADRUPLED[256] = ALL(FOURFOLD);

/* Where copies begin, by the low three bits of NUSIZ; the first is at 0. */
static const uint8_t COPIES[8][3] = {{1, 0, 0}, {2, 16, 0}, {2, 32, 0}, {3, 16, 32},
                                     {2, 64, 0}, {1, 0, 0}, {3, 32, 64}, {1, 0, 0}};

/* The objects of each collision. */
static const uint8_t PAIR[16][2] = {{M0, P1}, {M0, P0}, {M1, P0}, {M1, P1}, {P0, PF}, {P0, BL}, {P1, PF}, {P1, BL},
                                    {M0, PF}, {M0, BL}, {M1, PF}, {M1, BL}, {BL, PF}, {BL, BL}, {P0, P1}, {M0, M1}};

enum { VSYNC, VBLANK, WSYNC, NUSIZ0 = 4, NUSIZ1, COLUP0, COLUP1, COLUPF, COLUBK, CTRLPF, REFP0, REFP1, PF0, PF1, PF2,
       RESP0, RESP1, RESM0, RESM1, RESBL, GRP0 = 0x1B, GRP1, ENAM0, ENAM1, ENABL, HMP0, HMP1, HMM0, HMM1, HMBL,
       VDELP0, VDELP1, VDELBL, RESMP0, RESMP1, HMOVE, HMCLR, CXCLR };

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

/* Put up to 32 bits at a position, wrapped around the line's end. */
static inline void put(Mask *mask, uint64_t bits, unsigned position)
{
    unsigned word = position >> 6, shift = position & 63;
    mask->w[word] |= bits << shift;
    mask->w[word + 1] |= bits >> 1 >> (63 - shift);
    if (position > WIDTH - 32) {
        mask->w[0] |= bits >> (WIDTH - position);
        mask->w[2] &= 0xFFFFFFFF;
    }
}

static void put_copies(Mask *mask, uint64_t bits, unsigned position, unsigned nusiz, int suppressed)
{
    const uint8_t *copies = COPIES[nusiz & 7];
    if (!suppressed)
        put(mask, bits, position);
    for (int i = 1; i < copies[0]; i++)
        put(mask, bits, (position + copies[i]) % WIDTH);
}

INLINE unsigned graphics_of(const State *s, int i)
{
    return s->reg[VDELP0 + i] & 1 ? s->old[i] : s->reg[GRP0 + i];
}

INLINE int ball_of(const State *s)
{
    return (s->reg[VDELBL] & 1 ? s->old_ball : s->reg[ENABL]) & 2;
}

INLINE Look look(unsigned bits, unsigned size, unsigned place, unsigned flags)
{
    return bits | size << 8 | place << 16 | flags << 24;
}

static inline unsigned bits_of(Look l) { return l & 255; }
static inline unsigned size_of(Look l) { return l >> 8 & 255; }
static inline unsigned place_of(Look l) { return l >> 16 & 255; }
static inline unsigned flags_of(Look l) { return l >> 24; }

/* Return the present look of a part of the picture, if it is shown. */
INLINE Look look_of(const State *s, int part)
{
    const uint8_t *reg = s->reg;
    int i = part & 1;
    switch (part) {
    case P0: case P1:
        return look(graphics_of(s, i), reg[NUSIZ0 + i] & 7u, s->position[part], (reg[REFP0 + i] & 8u) | s->suppressed[i]);
    case M0: case M1: return look(0, reg[NUSIZ0 + i], s->position[part], i ? 0 : s->star_shape);
    case BL: return look(0, reg[CTRLPF] >> 4 & 3, s->position[BL], 0);
    case PF: return look(reg[PF1], reg[PF0], reg[PF2], s->reflected);
    default: return look(reg[COLUP0], reg[COLUP1], reg[COLUPF], reg[COLUBK]);
    }
}

static inline void mask_player(Mask *mask, Look l)
{
    unsigned graphics = flags_of(l) & 8 ? bits_of(l) : REVERSED[bits_of(l)], place = place_of(l), size = size_of(l);
    if (size == 5)
        put_copies(mask, DOUBLED[graphics], (place + 1) % WIDTH, size, flags_of(l) & 1);
    else if (size == 7)
        put_copies(mask, QUADRUPLED[graphics], (place + 1) % WIDTH, size, flags_of(l) & 1);
    else
        put_copies(mask, graphics, place, size, flags_of(l) & 1);
}

static inline unsigned missile_width(Look l)
{
    return 1u << ((size_of(l) >> 4 & 3) | (flags_of(l) == 1));
}

static inline void mask_missile(Mask *mask, Look l)
{
    if (flags_of(l) != 2)
        put_copies(mask, (UINT64_C(1) << missile_width(l)) - 1, place_of(l), size_of(l), 0);
}

static inline void mask_ball(Mask *mask, Look l)
{
    put(mask, (1u << (1u << size_of(l))) - 1, place_of(l));
}

/* Return the columns of 4 pixels that the playfield shows. */
static inline uint64_t field_columns(Look l)
{
    unsigned first = size_of(l) >> 4, second = bits_of(l), third = place_of(l);
    uint64_t left = first | REVERSED[second] << 4 | third << 12, right = left;
    if (flags_of(l))
        right = REVERSED[third] | second << 8 | (unsigned)REVERSED[first] << 12;
    return left | right << 20;
}

static inline void mask_field(Mask *mask, uint64_t columns)
{
    mask->w[0] = QUADRUPLED[columns & 255] | (uint64_t)QUADRUPLED[columns >> 8 & 255] << 32;
    mask->w[1] = QUADRUPLED[columns >> 16 & 255] | (uint64_t)QUADRUPLED[columns >> 24 & 255] << 32;
    mask->w[2] = QUADRUPLED[columns >> 32 & 255];
}

/* Make the mask of an object that is shown. Its words are stored one by one and not copied whole: a wide load of them would stall. */
INLINE void mask_of(Mask *mask, int object, Look l)
{
    if (object != PF)
        *mask = (Mask){{0, 0, 0, 0}};
    switch (object) {
    case P0: case P1: mask_player(mask, l); break;
    case M0: case M1: mask_missile(mask, l); break;
    case BL: mask_ball(mask, l); break;
    default: mask_field(mask, field_columns(l));
    }
}

/* Find which objects are shown at all. */
static uint32_t find_enabled(const State *s)
{
    return (uint32_t)(graphics_of(s, 0) != 0) << P0 | (uint32_t)(graphics_of(s, 1) != 0) << P1 |
           (uint32_t)(s->reg[ENAM0] & ~s->reg[RESMP0] & 2) << (M0 - 1) |
           (uint32_t)(s->reg[ENAM1] & ~s->reg[RESMP1] & 2) << (M1 - 1) |
           (uint32_t)(ball_of(s) != 0) << BL | (uint32_t)((s->reg[PF0] | s->reg[PF1] | s->reg[PF2]) != 0) << PF;
}

INLINE int line_matters(const State *s)
{
    return s->suppressed[0] | s->suppressed[1] | s->star | (s->reflected ^ (s->reg[CTRLPF] & 1));
}
