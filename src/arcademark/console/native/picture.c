/* The picture chip. It is drawn lazily: a write that changes what is seen first draws all before it.
 *
 * Lines are masks of 160 bits an object, so that a collision is an AND; bytes are written only in frames that are
 * shown. Included by core.c.
 */

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

/* Collisions that an object has part in. */
static const uint16_t TAKES_PART[OBJECTS] = {0x4036, 0x40C9, 0x8303, 0x8C0C, 0x1AA0, 0x1550};

enum { VSYNC, VBLANK, WSYNC, NUSIZ0 = 4, NUSIZ1, COLUP0, COLUP1, COLUPF, COLUBK, CTRLPF, REFP0, REFP1, PF0, PF1, PF2,
       RESP0, RESP1, RESM0, RESM1, RESBL, GRP0 = 0x1B, GRP1, ENAM0, ENAM1, ENABL, HMP0, HMP1, HMM0, HMM1, HMBL,
       VDELP0, VDELP1, VDELBL, RESMP0, RESMP1, HMOVE, HMCLR, CXCLR };

/* ---- shapes ---------------------------------------------------------------------------------------------------- */

/* Put up to 32 bits at a position, wrapped around the line's end. */
static inline void put(Mask *mask, uint64_t bits, unsigned position)
{
    unsigned word = position >> 6, shift = position & 63;
    mask->w[word] |= bits << shift;
    if (shift > 32 && word < 2)
        mask->w[word + 1] |= bits >> (64 - shift);
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
    *mask = (Mask){{0, 0, 0}};
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
    *mask = (Mask){{0, 0, 0}};
    if (star == 2 || !(k->enabled >> (M0 + i) & 1))
        return;
    if (star == 1)
        width |= 1;
    put_copies(mask, (1u << (1u << width)) - 1, s->position[M0 + i], nusiz, 0);
}

static void shape_ball(Console *k)
{
    const State *s = &k->state;
    k->mask[BL] = (Mask){{0, 0, 0}};
    if (ball_of(s))
        put(&k->mask[BL], (1u << (1u << (s->reg[CTRLPF] >> 4 & 3))) - 1, s->position[BL]);
}

static void shape_playfield(Console *k)
{
    const State *s = &k->state;
    uint32_t left = s->reg[PF0] >> 4 | REVERSED[s->reg[PF1]] << 4 | s->reg[PF2] << 12, right = left;
    if (s->reflected) /* 20 bits turned around */
        right = REVERSED[left >> 12] | REVERSED[left >> 4 & 255] << 8 | REVERSED[left << 4 & 255] << 16;
    uint64_t low = QUADRUPLED[right & 255] | (uint64_t)QUADRUPLED[right >> 8 & 255] << 32;
    k->mask[PF].w[0] = QUADRUPLED[left & 255] | (uint64_t)QUADRUPLED[left >> 8 & 255] << 32;
    k->mask[PF].w[1] = QUADRUPLED[left >> 16 & 15] | low << 16;
    k->mask[PF].w[2] = low >> 48 | (uint64_t)QUADRUPLED[right >> 16 & 15] << 16;
}

/* Find which objects are shown at all, and which collisions they can have. */
static void find_enabled(Console *k)
{
    const State *s = &k->state;
    unsigned stale = k->stale, enabled = k->enabled & ~stale, absent = 0;
    k->stale = 0;
    for (int i = 0; i < 2; i++) {
        if (stale >> (P0 + i) & 1 && graphics_of(s, i))
            enabled |= 1u << (P0 + i);
        if (stale >> (M0 + i) & 1 && s->reg[ENAM0 + i] & 2 && !(s->reg[RESMP0 + i] & 2))
            enabled |= 1u << (M0 + i);
    }
    if (stale >> BL & 1 && ball_of(s))
        enabled |= 1u << BL;
    if (stale >> PF & 1 && (s->reg[PF0] | s->reg[PF1] | s->reg[PF2]))
        enabled |= 1u << PF;
    if (enabled == k->enabled)
        return;
    k->enabled = enabled;
    for (int i = 0; i < OBJECTS; i++)
        absent |= enabled >> i & 1 ? 0 : TAKES_PART[i];
    k->pairs = 0xDFFF & ~absent;
}

/* Make the masks anew that changed. */
static void shape(Console *k)
{
    unsigned dirty = k->dirty;
    if (dirty & 1u << P0)
        shape_player(k, 0);
    if (dirty & 1u << P1)
        shape_player(k, 1);
    if (dirty & 1u << M0)
        shape_missile(k, 0);
    if (dirty & 1u << M1)
        shape_missile(k, 1);
    if (dirty & 1u << BL)
        shape_ball(k);
    if (dirty & 1u << PF)
        shape_playfield(k);
    k->dirty = 0;
    k->settled = 0;
}

/* ---- drawing --------------------------------------------------------------------------------------------------- */

static inline uint64_t span_bits(int word, int from, int to)
{
    int low = from - 64 * word, high = to - 64 * word;
    uint64_t bits = high >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << high) - 1;
    return low > 0 ? bits & ~((UINT64_C(1) << low) - 1) : bits;
}

/* Find what overlaps in pixels from..to. */
static void collide(Console *k, int from, int to)
{
    unsigned found = 0;
    for (int i = from >> 6; i <= (to - 1) >> 6; i++) {
        uint64_t here = span_bits(i, from, to);
        uint64_t p0 = k->mask[P0].w[i] & here, p1 = k->mask[P1].w[i] & here, m0 = k->mask[M0].w[i] & here;
        uint64_t m1 = k->mask[M1].w[i] & here, bl = k->mask[BL].w[i] & here, pf = k->mask[PF].w[i] & here;
        if (p0)
            found |= (unsigned)!!(p0 & m0) << 1 | (unsigned)!!(p0 & m1) << 2 | (unsigned)!!(p0 & pf) << 4 |
                     (unsigned)!!(p0 & bl) << 5 | (unsigned)!!(p0 & p1) << 14;
        if (p1)
            found |= (unsigned)!!(p1 & m0) | (unsigned)!!(p1 & m1) << 3 | (unsigned)!!(p1 & pf) << 6 |
                     (unsigned)!!(p1 & bl) << 7;
        if (m0)
            found |= (unsigned)!!(m0 & pf) << 8 | (unsigned)!!(m0 & bl) << 9 | (unsigned)!!(m0 & m1) << 15;
        if (m1)
            found |= (unsigned)!!(m1 & pf) << 10 | (unsigned)!!(m1 & bl) << 11;
        found |= (unsigned)!!(bl & pf) << 12;
    }
    k->state.collisions |= (uint16_t)found;
}

/* Which pixels of a word show the colours of player 0, player 1 and playfield; the rest show the background. */
static inline void layers(const Console *k, int i, uint64_t *one, uint64_t *two, uint64_t *field)
{
    static const uint64_t LEFT[3] = {~UINT64_C(0), 0xFFFF, 0};
    const Mask *m = k->mask;
    uint64_t a = m[P0].w[i] | m[M0].w[i], b = m[P1].w[i] | m[M1].w[i], f = m[PF].w[i];
    unsigned control = k->state.reg[CTRLPF] & 6;
    if (!(control & 4)) {
        if (control) { /* the score's colours */
            a |= f & LEFT[i];
            b |= f & ~LEFT[i];
            f = 0;
        }
        f |= m[BL].w[i];
        *one = a;
        *two = b & ~a;
        *field = f & ~(a | b);
    } else if (control == 6 && k->enabled == 1u << PF) {
        *one = f & LEFT[i];
        *two = f & ~LEFT[i];
        *field = 0;
    } else {
        f |= m[BL].w[i];
        *field = f;
        *one = a & ~f;
        *two = b & ~(a | f);
    }
}

static inline uint64_t load(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, 8);
    return value;
}

/* Put back those of eight bytes whose bits are not set. */
static inline void keep_others(uint8_t *bytes, uint64_t before, unsigned bits)
{
    uint64_t here = load(PIXELS[bits & 255]), value = (load(bytes) & here) | (before & ~here);
    memcpy(bytes, &value, 8);
}

/* Write the bytes of pixels from..to of a row: in groups of eight, of which the first and the last may be in part. */
static void paint(Console *k, uint8_t *row, int from, int to)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    const uint8_t *reg = k->state.reg;
    uint64_t ground = reg[COLUBK] * each, field = reg[COLUPF] * each ^ ground;
    uint64_t one = reg[COLUP0] * each ^ ground, two = reg[COLUP1] * each ^ ground;
    int first = from >> 3, last = (to - 1) >> 3;
    uint64_t before_first = load(row + 8 * first), before_last = load(row + 8 * last);
    for (int word = from >> 6; word <= (to - 1) >> 6; word++) {
        uint64_t a, b, f;
        int group = first > 8 * word ? first : 8 * word, stop = last < 8 * word + 7 ? last : 8 * word + 7;
        layers(k, word, &a, &b, &f);
        a >>= 8 * (group & 7);
        b >>= 8 * (group & 7);
        f >>= 8 * (group & 7);
        for (; group <= stop; group++, a >>= 8, b >>= 8, f >>= 8) {
            uint64_t pixels = ground ^ (load(PIXELS[a & 255]) & one) ^ (load(PIXELS[b & 255]) & two) ^
                              (load(PIXELS[f & 255]) & field);
            memcpy(row + 8 * group, &pixels, 8);
        }
    }
    if (to & 7)
        keep_others(row + 8 * last, before_last, (1u << (to & 7)) - 1);
    if (from & 7)
        keep_others(row + 8 * first, before_first, 255u << (from & 7));
}

/* Blank the pixels at the left that the bar covers: more than it, where drawing stops short of them. */
static void draw_bar(Console *k, uint8_t *row, int start, int end)
{
    int from = end < FIRST_PIXEL || start < FIRST_PIXEL ? 0 : start - FIRST_PIXEL;
    int to = end < FIRST_PIXEL ? FIRST_PIXEL + 8 - end : 8;
    if (k->drawing && to > from)
        memset(row + from, 0, (size_t)(to - from));
    if (end >= FIRST_PIXEL + 8)
        k->state.bar = 0;
    else
        k->bar_begun = 1;
}

/* Draw clocks start..end of one line. */
static void draw_piece(Console *k, int32_t line, int start, int end)
{
    State *s = &k->state;
    int32_t row_number = line - k->first_row;
    uint8_t *row = k->screen[s->buffer] + WIDTH * (row_number < 0 ? 0 : row_number);
    int from = start < FIRST_PIXEL ? 0 : start - FIRST_PIXEL, to = end - FIRST_PIXEL;
    int whole = start == 0 && end == LINE_CLOCKS, drawing = k->drawing && row_number >= 0;
    if (to > from) {
        if (s->reg[VBLANK] & 2) {
            if (drawing)
                memset(row + from, 0, (size_t)(to - from));
        } else {
            int open = (k->pairs & ~s->collisions) != 0;
            if (k->dirty && (open || drawing))
                shape(k);
            if (open && !k->settled)
                collide(k, from, to);
            k->settled |= whole && !k->dirty;
            if (drawing && whole && k->whole_row)
                memcpy(row, k->whole_row, WIDTH);
            else if (drawing)
                paint(k, row, from, to);
            if (drawing && whole && !s->bar)
                k->whole_row = row;
        }
    }
    if (s->bar && start < FIRST_PIXEL + 8)
        draw_bar(k, row, start, end);
}

static inline void changed(Console *k, unsigned objects)
{
    k->dirty |= objects;
    k->stale |= objects;
    k->whole_row = NULL;
}

static void end_line(Console *k)
{
    static const uint8_t STEPS[4] = {18, 33, 0, 17};
    State *s = &k->state;
    if (s->reflected != (s->reg[CTRLPF] & 1)) {
        s->reflected = s->reg[CTRLPF] & 1;
        changed(k, 1u << PF);
    }
    if (s->suppressed[0] | s->suppressed[1]) {
        s->suppressed[0] = s->suppressed[1] = 0;
        changed(k, 1u << P0 | 1u << P1);
    }
    if (s->star) {
        s->star_count = (s->star_count + 1) & 3;
        s->star_shape = s->star_count == 1 || s->star_count == 2 ? s->star_count : 0;
        s->position[M0] = (uint8_t)((s->position[M0] + WIDTH - STEPS[s->star_count]) % WIDTH);
        changed(k, 1u << M0);
    }
}

/* Pass over what holds nothing to find or to see, where no line end matters. */
static inline void skip(State *s, int32_t to)
{
    if (s->bar) {
        int start = s->drawn % LINE_CLOCKS, end_of_bar = FIRST_PIXEL + 8 + (start < FIRST_PIXEL + 8 ? 0 : LINE_CLOCKS);
        if (to - s->drawn >= end_of_bar - start)
            s->bar = 0;
    }
    s->drawn = to;
}

/* Draw all up to a clock of the frame that is not drawn yet. */
static void draw(Console *k, int32_t to)
{
    State *s = &k->state;
    int32_t end = (k->first_row + k->rows) * LINE_CLOCKS;
    if (to > end)
        to = end;
    if (s->drawn >= to)
        return;
    if (k->stale)
        find_enabled(k);
    if (!(s->suppressed[0] | s->suppressed[1] | s->star | (s->reflected ^ (s->reg[CTRLPF] & 1))) && !k->drawing &&
        (!(k->pairs & ~s->collisions) || (k->settled && !k->dirty) || s->reg[VBLANK] & 2)) {
        skip(s, to);
        return;
    }
    int32_t line = s->drawn / LINE_CLOCKS;
    int start = s->drawn - line * LINE_CLOCKS;
    for (;;) {
        int stop = to - line * LINE_CLOCKS;
        if (stop > LINE_CLOCKS)
            stop = LINE_CLOCKS;
        if (!start && s->drawn != s->window_start)
            end_line(k);
        draw_piece(k, line, start, stop);
        s->drawn = line * LINE_CLOCKS + stop;
        if (s->drawn >= to)
            return;
        line++;
        start = 0;
    }
}

/* ---- registers ------------------------------------------------------------------------------------------------- */

static inline int32_t clock_of(const State *s)
{
    return 3 * s->cycles - s->origin;
}

/* A picture up to this clock is due, though nothing seen has changed. */
static inline void touch(Console *k, int32_t clock)
{
    if (k->state.bar && k->drawing && !k->bar_begun)
        draw(k, clock); /* what is blank ahead of a draw depends on where the first one ends */
    else
        k->state.touched = clock;
}

/* Write a register that only looks at its value, once all before is drawn. */
static inline void write_plain(Console *k, unsigned r, uint8_t value, int32_t clock, unsigned objects)
{
    if (k->state.reg[r] == value) {
        touch(k, clock);
        return;
    }
    draw(k, clock);
    k->state.reg[r] = value;
    changed(k, objects);
}

static void write_colour(Console *k, unsigned r, uint8_t value, int32_t clock)
{
    value = (uint8_t)((value & 0xFE) | (k->pal ? k->state.odd_frame : 0));
    if (k->drawing) {
        write_plain(k, r, value, clock, 0);
    } else {
        k->state.reg[r] = value;
        touch(k, clock);
    }
}

static void write_nusiz(Console *k, int i, uint8_t value, int32_t clock)
{
    State *s = &k->state;
    if (!s->suppressed[i] && !(i == 0 && s->star_shape)) {
        write_plain(k, NUSIZ0 + (unsigned)i, value, clock, 1u << (P0 + i) | 1u << (M0 + i));
        return;
    }
    draw(k, clock);
    s->reg[NUSIZ0 + i] = value;
    s->suppressed[i] = 0;
    if (i == 0)
        s->star_shape = 0;
    changed(k, 1u << (P0 + i) | 1u << (M0 + i));
}

static void write_ctrlpf(Console *k, uint8_t value, int32_t clock)
{
    State *s = &k->state;
    if (s->reg[CTRLPF] == value && s->reflected == (value & 1)) {
        touch(k, clock);
        return;
    }
    draw(k, clock);
    s->reg[CTRLPF] = value;
    if (clock % LINE_CLOCKS < 147)
        s->reflected = value & 1;
    changed(k, 1u << PF | 1u << BL);
}

/* Place a player: what it shows on the rest of the line depends on where the beam finds the old place. */
static void place_player(Console *k, int i, int32_t clock)
{
    State *s = &k->state;
    draw(k, clock);
    int h = clock % LINE_CLOCKS, place = h < FIRST_PIXEL ? 3 : (h - FIRST_PIXEL + 5) % WIDTH;
    unsigned nusiz = s->reg[NUSIZ0 + i] & 7;
    int width = nusiz == 5 ? 16 : nusiz == 7 ? 32 : 8, delay = 0, display = 0;
    for (int copy = 0; copy < COPIES[nusiz][0]; copy++) {
        int offset = copy ? COPIES[nusiz][copy] : 0;
        int ahead = (place - s->position[P0 + i] - offset + 3 * WIDTH) % WIDTH;
        delay |= ahead < 4;
        display |= ahead >= 4 && ahead < 4 + width;
    }
    if (display && !delay)
        draw(k, clock + 11);
    s->suppressed[i] = !delay;
    s->position[P0 + i] = (uint8_t)place;
    changed(k, 1u << (P0 + i));
}

/* Place a missile or the ball. A few places depend on how long ago the last HMOVE was. */
static void place_small(Console *k, int object, int32_t clock, int32_t drawn)
{
    static const int16_t LATE[][4] = {{M0, 60, 69, 8}, {M1, 9, 18, 3}, {BL, 54, 60, 10}, {BL, 54, 69, 10},
                                      {BL, 9, 18, 3}, {BL, 21, 30, 6}, {BL, 18, 27, 5}};
    State *s = &k->state;
    draw(k, drawn);
    int h = clock % LINE_CLOCKS, place = h < FIRST_PIXEL ? 2 : (h - FIRST_PIXEL + 4) % WIDTH;
    int32_t since = 3 * s->cycles - s->last_hmove;
    for (size_t i = 0; i < sizeof LATE / sizeof *LATE; i++)
        if (LATE[i][0] == object && LATE[i][1] == since && LATE[i][2] == h)
            place = LATE[i][3];
    s->position[object] = (uint8_t)place;
    if (object == M0)
        s->star_shape = 0;
    changed(k, 1u << object);
}

static void write_resmp(Console *k, int i, uint8_t value, int32_t clock)
{
    State *s = &k->state;
    unsigned nusiz = s->reg[NUSIZ0 + i] & 7;
    int released = s->reg[RESMP0 + i] & 2 && !(value & 2);
    write_plain(k, RESMP0 + (unsigned)i, value, clock, 1u << (M0 + i));
    if (!released)
        return;
    s->position[M0 + i] = (uint8_t)((s->position[P0 + i] + (nusiz == 5 ? 8 : nusiz == 7 ? 16 : 4)) % WIDTH);
    if (i == 0)
        s->star_shape = 0;
}

/* Write a player's graphics; the other's old ones become the present ones, and player 1's write renews the ball. */
static void write_graphics(Console *k, int i, uint8_t value, int32_t clock)
{
    State *s = &k->state;
    uint8_t other = s->reg[GRP1 - i];
    unsigned objects = !(s->reg[VDELP0 + i] & 1) && s->reg[GRP0 + i] != value ? 1u << (P0 + i) : 0;
    if (s->reg[VDELP1 - i] & 1 && s->old[1 - i] != other)
        objects |= 1u << (P1 - i);
    if (i == 1 && s->reg[VDELBL] & 1 && s->old_ball != s->reg[ENABL])
        objects |= 1u << BL;
    if (objects) {
        draw(k, clock);
        changed(k, objects);
    } else {
        touch(k, clock);
    }
    s->reg[GRP0 + i] = value;
    s->old[1 - i] = other;
    if (i == 1)
        s->old_ball = s->reg[ENABL];
}

/* Pixels that HMOVE moves an object at column x (of 3 clocks) of a line. */
static int movement(int x, int nibble)
{
    int move = nibble < 8 ? -nibble : 16 - nibble;
    if (x <= 2 || x == 75)
        return move;
    if (x <= 20)
        return move > (3 * x + 1) / 4 - 9 ? move : (3 * x + 1) / 4 - 9;
    if (x <= 54)
        return 0;
    move += 6 - (3 * (x - 55) + 2) / 4;
    return move < 0 ? move : 0;
}

static void move_all(Console *k, int32_t clock)
{
    State *s = &k->state;
    int x = clock % LINE_CLOCKS / 3;
    draw(k, clock);
    if (k->bars && (x <= 20 || x == 75)) {
        s->bar = 1;
        k->bar_begun = 0;
    }
    unsigned moved = (s->suppressed[0] ? 1u << P0 : 0) | (s->suppressed[1] ? 1u << P1 : 0) | (s->star_shape ? 1u << M0 : 0);
    for (int i = 0; i < 5; i++) { /* in the order of the HM registers */
        int move = movement(x, s->reg[HMP0 + i] >> 4);
        if (move) {
            s->position[i] = (uint8_t)((s->position[i] + move + WIDTH) % WIDTH);
            moved |= 1u << i;
        }
    }
    s->suppressed[0] = s->suppressed[1] = 0;
    s->star = s->star_shape = 0;
    s->last_hmove = 3 * s->cycles;
    if (moved)
        changed(k, moved);
}

static void write_vblank(Console *k, uint8_t value, int32_t clock)
{
    State *s = &k->state;
    if (!s->dumping && value & 0x80) {
        s->dumping = 1;
    } else if (s->dumping && !(value & 0x80)) {
        s->dumping = 0;
        s->dumped = s->cycles;
    }
    write_plain(k, VBLANK, value, clock + 1, 0);
}

static void write_vsync(Console *k, uint8_t value, int32_t clock)
{
    State *s = &k->state;
    int32_t now = 3 * s->cycles;
    touch(k, clock);
    s->reg[VSYNC] = value;
    if (value & 2) {
        s->vsync_end = now + LINE_CLOCKS;
    } else if (now >= s->vsync_end) {
        s->vsync_end = NEVER;
        k->stop = 1;
    }
}

/* Write to a register; `later` for what one instruction pushes after its first byte. */
static void write_picture(Console *k, unsigned r, uint8_t value, int later)
{
    static const uint8_t PF_DELAY[4] = {4, 5, 2, 3};
    State *s = &k->state;
    int32_t clock = clock_of(s);
    if (clock >= (k->last_line + 1) * LINE_CLOCKS)
        k->stop = 1;
    switch (r) {
    case VSYNC: write_vsync(k, value, clock); break;
    case VBLANK: write_vblank(k, value, clock); break;
    case WSYNC:
        touch(k, clock);
        if (!later && clock % LINE_CLOCKS)
            s->cycles += (LINE_CLOCKS - clock % LINE_CLOCKS) / 3;
        break;
    case NUSIZ0: case NUSIZ1: write_nusiz(k, (int)r - NUSIZ0, value, clock + 8); break;
    case COLUP0: case COLUP1: case COLUPF: case COLUBK: write_colour(k, r, value, clock); break;
    case CTRLPF: write_ctrlpf(k, value, clock); break;
    case REFP0: case REFP1: write_plain(k, r, value & 8, clock + 1, 1u << (P0 + r - REFP0)); break;
    case PF0: write_plain(k, r, value & 0xF0, clock + PF_DELAY[clock / 3 & 3], 1u << PF); break;
    case PF1: case PF2: write_plain(k, r, value, clock + PF_DELAY[clock / 3 & 3], 1u << PF); break;
    case RESP0: case RESP1: place_player(k, (int)r - RESP0, clock); break;
    case RESM0: case RESM1: place_small(k, M0 + (int)r - RESM0, clock, clock + 8); break;
    case RESBL: place_small(k, BL, clock, clock); break;
    case GRP0: case GRP1: write_graphics(k, (int)r - GRP0, value, clock + 1); break;
    case ENAM0: case ENAM1: write_plain(k, r, value & 2, clock, 1u << (M0 + r - ENAM0)); break;
    case ENABL: write_plain(k, r, value & 2, clock, 1u << BL); break;
    case HMM0:
        if (3 * s->cycles == s->last_hmove + 63 && s->reg[HMM0] >> 4 == 7 && value >> 4 == 6) {
            draw(k, clock);
            s->star = 1;
            s->star_count = 0;
        }
        /* fall through */
    case HMP0: case HMP1: case HMM1: case HMBL:
        touch(k, clock);
        s->reg[r] = value;
        break;
    case VDELP0: case VDELP1: write_plain(k, r, value & 1, clock, 1u << (P0 + r - VDELP0)); break;
    case VDELBL: write_plain(k, r, value & 1, clock, 1u << BL); break;
    case RESMP0: case RESMP1: write_resmp(k, (int)r - RESMP0, value & 2, clock); break;
    case HMOVE: move_all(k, clock); break;
    case HMCLR:
        touch(k, clock);
        memset(&s->reg[HMP0], 0, 5);
        break;
    case CXCLR:
        draw(k, clock);
        s->collisions = 0;
        k->settled = 0;
        break;
    default: touch(k, clock); /* sound, and nothing */
    }
    if (k->stop)
        draw(k, clock);
}

static uint8_t read_paddle(const Console *k, int i)
{
    const State *s = &k->state;
    if (k->charge[i] <= 0)
        return k->charge[i] ? 0 : 0x80;
    return !s->dumping && (uint32_t)s->cycles > (uint32_t)(s->dumped + k->charge[i]) ? 0x80 : 0;
}

static uint8_t read_picture(Console *k, unsigned r)
{
    State *s = &k->state;
    uint8_t value = 0;
    if (r < 8) {
        draw(k, clock_of(s));
        value = (uint8_t)((s->collisions >> 2 * r & 1) << 7 | (s->collisions >> (2 * r + 1) & 1) << 6);
    } else {
        touch(k, clock_of(s));
        if (r < 12)
            value = read_paddle(k, (int)r - 8);
        else if (r < 14)
            value = k->fire[r - 12];
    }
    return value | (s->bus & 0x3F);
}

static void reset_picture(Console *k)
{
    State *s = &k->state;
    memset(s->reg, 0, sizeof s->reg);
    memset(s->position, 0, sizeof s->position);
    s->old[0] = s->old[1] = s->old_ball = 0;
    s->suppressed[0] = s->suppressed[1] = 0;
    s->reflected = s->bar = s->star = s->star_count = s->star_shape = s->dumping = s->odd_frame = 0;
    s->collisions = 0;
    s->origin = s->drawn = s->window_start = s->touched = s->last_hmove = s->dumped = 0;
    s->vsync_end = NEVER;
    memset(k->screen, 0, sizeof k->screen);
    changed(k, 0x3F);
}
