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

/* Collisions that objects can have, by those that are shown: a bit each. */
#define ABSENT(n, i, part) (BIT(n, i) ? 0 : (part))
#define PAIRS_OF(n) (0xDFFF & ~(ABSENT(n, P0, 0x4036) | ABSENT(n, P1, 0x40C9) | ABSENT(n, M0, 0x8303) | \
                                ABSENT(n, M1, 0x8C0C) | ABSENT(n, BL, 0x1AA0) | ABSENT(n, PF, 0x1550)))
static const uint16_t PAIRS[64] = {SIXTY_FOUR(PAIRS_OF, 0)};

/* Collisions of which at least one of these objects is a part. */
#define PAIRS_WITH(n) (BIT(n, P0) * 0x4036 | BIT(n, P1) * 0x40C9 | BIT(n, M0) * 0x8303 | BIT(n, M1) * 0x8C0C | \
                       BIT(n, BL) * 0x1AA0 | BIT(n, PF) * 0x1550)
static const uint16_t WITH[64] = {SIXTY_FOUR(PAIRS_WITH, 0)};

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

static inline unsigned graphics_of(const State *s, int i)
{
    return s->reg[VDELP0 + i] & 1 ? s->old[i] : s->reg[GRP0 + i];
}

static inline int ball_of(const State *s)
{
    return (s->reg[VDELBL] & 1 ? s->old_ball : s->reg[ENABL]) & 2;
}

static void shape_player(Console *k, int i)
{
    const State *s = &k->state;
    unsigned graphics = graphics_of(s, i), nusiz = s->reg[NUSIZ0 + i] & 7;
    Mask *mask = &k->mask[P0 + i];
    *mask = (Mask){{0, 0, 0, 0}};
    if (!(s->reg[REFP0 + i] & 8))
        graphics = REVERSED[graphics];
    if (nusiz == 5)
        put_copies(mask, DOUBLED[graphics], (s->position[P0 + i] + 1u) % WIDTH, nusiz, s->suppressed[i]);
    else if (nusiz == 7)
        put_copies(mask, QUADRUPLED[graphics], (s->position[P0 + i] + 1u) % WIDTH, nusiz, s->suppressed[i]);
    else
        put_copies(mask, graphics, s->position[P0 + i], nusiz, s->suppressed[i]);
}

static void shape_missile(Console *k, int i)
{
    const State *s = &k->state;
    Mask *mask = &k->mask[M0 + i];
    unsigned nusiz = s->reg[NUSIZ0 + i], width = nusiz >> 4 & 3, star = i ? 0 : s->star_shape;
    *mask = (Mask){{0, 0, 0, 0}};
    if (star == 2 || !(k->enabled >> (M0 + i) & 1))
        return;
    if (star == 1)
        width |= 1;
    put_copies(mask, (1u << (1u << width)) - 1, s->position[M0 + i], nusiz, 0);
}

static void shape_ball(Console *k)
{
    const State *s = &k->state;
    k->mask[BL] = (Mask){{0, 0, 0, 0}};
    if (ball_of(s))
        put(&k->mask[BL], (1u << (1u << (s->reg[CTRLPF] >> 4 & 3))) - 1, s->position[BL]);
}

static void shape_playfield(Console *k)
{
    const State *s = &k->state;
    unsigned first = s->reg[PF0], second = s->reg[PF1], third = s->reg[PF2];
    uint64_t end = QUADRUPLED[third], low = QUADRUPLED[first >> 4] | (uint64_t)QUADRUPLED[REVERSED[second]] << 16 | end << 48;
    uint64_t *words = k->mask[PF].w;
    words[0] = low;
    words[1] = end >> 16;
    end >>= 16;
    if (s->reflected) {
        low = QUADRUPLED[REVERSED[third]] | (uint64_t)QUADRUPLED[second] << 32;
        end = QUADRUPLED[REVERSED[first] & 15];
    }
    words[1] |= low << 16;
    words[2] = low >> 48 | end << 16;
}

/* Find which objects are shown at all. */
static uint32_t find_enabled(const State *s)
{
    return (uint32_t)(graphics_of(s, 0) != 0) << P0 | (uint32_t)(graphics_of(s, 1) != 0) << P1 |
           (uint32_t)(s->reg[ENAM0] & ~s->reg[RESMP0] & 2) << (M0 - 1) |
           (uint32_t)(s->reg[ENAM1] & ~s->reg[RESMP1] & 2) << (M1 - 1) |
           (uint32_t)(ball_of(s) != 0) << BL | (uint32_t)((s->reg[PF0] | s->reg[PF1] | s->reg[PF2]) != 0) << PF;
}

static void shape(Console *k, int object)
{
    switch (object) {
    case P0: case P1: shape_player(k, object - P0); break;
    case M0: case M1: shape_missile(k, object - M0); break;
    case BL: shape_ball(k); break;
    default: shape_playfield(k);
    }
    k->dirty &= ~(1u << object);
    k->settled = 0;
}

/* ---- spans ----------------------------------------------------------------------------------------------------- */

enum { COLUMNS = WIDTH / 4 };
static const uint64_t EVERYWHERE = (UINT64_C(1) << COLUMNS) - 1;

/* The columns of copies that begin at a position, so many pixels wide each. */
static inline uint64_t copied_span(unsigned position, unsigned width, unsigned nusiz)
{
    static const uint8_t BETWEEN[8][2] = {{0, 0}, {4, 0}, {8, 0}, {4, 8}, {16, 0}, {0, 0}, {8, 16}, {0, 0}};
    uint64_t one = (UINT64_C(1) << (((position & 3) + width + 3) >> 2)) - 1;
    uint64_t all = (one | one << BETWEEN[nusiz & 7][0] | one << BETWEEN[nusiz & 7][1]) << (position >> 2);
    return (all | all >> COLUMNS) & EVERYWHERE;
}

/* The columns in which a player can be seen at a position, whatever its graphics. */
static inline uint64_t player_span(unsigned nusiz, unsigned position)
{
    unsigned size = nusiz & 7;
    return size == 5   ? copied_span((position + 1) % WIDTH, 16, size)
           : size == 7 ? copied_span((position + 1) % WIDTH, 32, size)
                       : copied_span(position, 8, size);
}

/* The columns in which a missile can be seen at a position; one whose position changes by itself, anywhere. */
static inline uint64_t missile_span(const State *s, int i, unsigned nusiz, unsigned position)
{
    return i == 0 && (s->star | s->star_shape) ? EVERYWHERE : copied_span(position, 1u << (nusiz >> 4 & 3), nusiz);
}

static inline uint64_t ball_span(unsigned control, unsigned position)
{
    return copied_span(position, 1u << (control >> 4 & 3), 0);
}

/* The columns of the playfield; of both its right halves where one line may show the one and the next the other. */
static inline uint64_t playfield_span(const State *s, unsigned control, unsigned first, unsigned second, unsigned third)
{
    uint64_t left = first >> 4 | (uint64_t)REVERSED[second] << 4 | (uint64_t)third << 12, right = 0;
    if (!(s->reflected & control & 1))
        right = left;
    if ((s->reflected | control) & 1)
        right |= REVERSED[third] | (uint64_t)second << 8 | (uint64_t)(REVERSED[first] & 15) << 16;
    return left | right << (COLUMNS / 2);
}

/* The collision of an object with another, as a bit. */
static const uint16_t COLLISION[OBJECTS][OBJECTS] = {
    [P0] = {[P1] = 1 << 14, [M0] = 1 << 1, [M1] = 1 << 2, [BL] = 1 << 5, [PF] = 1 << 4},
    [P1] = {[P0] = 1 << 14, [M0] = 1 << 0, [M1] = 1 << 3, [BL] = 1 << 7, [PF] = 1 << 6},
    [M0] = {[P0] = 1 << 1, [P1] = 1 << 0, [M1] = 1 << 15, [BL] = 1 << 9, [PF] = 1 << 8},
    [M1] = {[P0] = 1 << 2, [P1] = 1 << 3, [M0] = 1 << 15, [BL] = 1 << 11, [PF] = 1 << 10},
    [BL] = {[P0] = 1 << 5, [P1] = 1 << 7, [M0] = 1 << 9, [M1] = 1 << 11, [PF] = 1 << 12},
    [PF] = {[P0] = 1 << 4, [P1] = 1 << 6, [M0] = 1 << 8, [M1] = 1 << 10, [BL] = 1 << 12}};

/* Set an object's span. Returns what collisions are possible then, of those that were for the other objects. */
static inline __attribute__((always_inline)) uint32_t respan(Console *k, uint32_t possible, int object, uint64_t span)
{
    possible &= ~(uint32_t)WITH[1 << object];
    for (int other = 0; other < OBJECTS; other++)
        possible |= span & k->span[other] ? COLLISION[object][other] : 0u;
    k->span[object] = span;
    return possible;
}

/* Let an object be anywhere: in frames that are shown, and where no collision with it can be found. */
static inline uint32_t span_all(Console *k, uint32_t possible, int object)
{
    k->span[object] = EVERYWHERE;
    return possible | WITH[1 << object];
}

/* Whether the span of an object makes a difference, where so many objects are shown. */
static inline int span_matters(const Console *k, int object, uint32_t enabled)
{
    return !k->drawing && PAIRS[enabled] & WITH[1 << object] & ~(uint32_t)k->state.collisions;
}

/* Find all spans anew. */
static uint32_t find_possible(Console *k)
{
    const State *s = &k->state;
    const uint8_t *reg = s->reg;
    uint32_t possible = WITH[63];
    for (int i = 0; i < OBJECTS; i++)
        k->span[i] = EVERYWHERE;
    if (k->drawing)
        return possible;
    for (int i = 0; i < 2; i++) {
        possible = respan(k, possible, P0 + i, player_span(reg[NUSIZ0 + i], s->position[P0 + i]));
        possible = respan(k, possible, M0 + i, missile_span(s, i, reg[NUSIZ0 + i], s->position[M0 + i]));
    }
    possible = respan(k, possible, BL, ball_span(reg[CTRLPF], s->position[BL]));
    return respan(k, possible, PF, playfield_span(s, reg[CTRLPF], reg[PF0], reg[PF1], reg[PF2]));
}

/* Return which collisions can be found anew where these objects are shown. */
static inline uint32_t findable(const Console *k, uint32_t enabled, uint32_t possible)
{
    return PAIRS[enabled] & possible & ~(uint32_t)k->state.collisions;
}
