/* The lines of the picture. Each object is a mask of 160 bits, so that a collision is an AND.
 *
 * In frames that are drawn a line is put together lazily: an object that changes within it keeps what it showed until
 * then in a mask of the line, and at the line's end the masks are looked through for collisions and painted. Only what
 * changes colours is painted up to at once. In other frames see stretches.c. `State.drawn` is how far the beam is known
 * to have come. Included by core.c.
 */

/* ---- a line ---------------------------------------------------------------------------------------------------- */

/* Keep what an object shows in the line's pixels up to `to`, before it changes, if that may still matter. */
static void keep(Console *k, int object, int to)
{
    int from = k->since[object];
    if (to <= from)
        return;
    k->since[object] = to;
    k->kept |= 1u << object;
    if (!(k->enabled >> object & 1))
        return;
    if (k->dirty >> object & 1)
        shape(k, object);
    for (int i = from >> 6; i <= (to - 1) >> 6; i++)
        k->line[object].w[i] |= k->mask[object].w[i] & span_bits(i, from, to);
}

/* Return what an object shows in the line's pixels up to `to`; what stands after them is of no meaning. */
static inline const Mask *shown(Console *k, int object, int to)
{
    if (k->kept >> object & 1) {
        keep(k, object, to);
        return &k->line[object];
    }
    if (k->dirty >> object & 1)
        shape(k, object);
    return &k->mask[object];
}

/* Whether a live collision has one of these objects. */
static inline int any_live(const Console *k, uint32_t objects)
{
    return (k->live & WITH[objects]) != 0;
}

/* Find what overlaps in the line's pixels up to `to`: of each pair that may still be found, whether a pixel is in both. */
static void collide(Console *k, int to)
{
    State *s = &k->state;
    int from = k->collided;
    uint32_t found = 0, live = k->live & PAIRS[k->enabled | k->kept];
    if (to <= from)
        return;
    k->collided = to;
    if (!live || s->reg[VBLANK] & 2)
        return;
    const Mask *mask[OBJECTS] = {NULL};
    uint64_t first = span_bits(0, from, to), second = span_bits(1, from, to), third = span_bits(2, from, to);
    for (uint32_t rest = live; rest; rest &= rest - 1) {
        int pair = __builtin_ctz(rest);
        for (int i = 0; i < 2; i++)
            if (!mask[PAIR[pair][i]])
                mask[PAIR[pair][i]] = shown(k, PAIR[pair][i], to);
        const uint64_t *a = mask[PAIR[pair][0]]->w, *b = mask[PAIR[pair][1]]->w;
        found |= (uint32_t)(((a[0] & b[0] & first) | (a[1] & b[1] & second) | (a[2] & b[2] & third)) != 0) << pair;
    }
    s->collisions |= (uint16_t)found;
    k->live = findable(k, k->enabled);
}

/* Which pixels of a word show the colours of player 0, player 1 and playfield; the rest show the background. */
static inline void layers(const Console *k, const Mask *const *m, int i, uint64_t *one, uint64_t *two, uint64_t *field)
{
    static const uint64_t LEFT[3] = {~UINT64_C(0), 0xFFFF, 0};
    uint64_t a = m[P0]->w[i] | m[M0]->w[i], b = m[P1]->w[i] | m[M1]->w[i], f = m[PF]->w[i];
    unsigned control = k->state.reg[CTRLPF] & 6;
    if (!(control & 4)) {
        if (control) { /* the score's colours */
            a |= f & LEFT[i];
            b |= f & ~LEFT[i];
            f = 0;
        }
        f |= m[BL]->w[i];
        *one = a;
        *two = b & ~a;
        *field = f & ~(a | b);
    } else if (control == 6 && k->enabled == 1u << PF) {
        *one = f & LEFT[i];
        *two = f & ~LEFT[i];
        *field = 0;
    } else {
        f |= m[BL]->w[i];
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

#if defined(__AVX2__) && !defined(__AVX512BW__)
/* A byte a bit, all its bits alike. */
static inline __m256i spread(uint32_t bits)
{
    const __m256i each = _mm256_set1_epi64x((long long)UINT64_C(0x8040201008040201));
    const __m256i byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    __m256i repeated = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), byte);
    return _mm256_cmpeq_epi8(_mm256_and_si256(repeated, each), each);
}
#endif

/* Write the bytes of a word's pixels, of which those are wanted that are set in `here`. */
static inline void paint_word(uint8_t *row, uint64_t here, uint64_t one, uint64_t two, uint64_t field, const uint8_t *reg)
{
#ifdef __AVX512BW__
    __m512i pixels = _mm512_mask_mov_epi8(_mm512_set1_epi8((char)reg[COLUBK]), field, _mm512_set1_epi8((char)reg[COLUPF]));
    pixels = _mm512_mask_mov_epi8(pixels, one, _mm512_set1_epi8((char)reg[COLUP0]));
    pixels = _mm512_mask_mov_epi8(pixels, two, _mm512_set1_epi8((char)reg[COLUP1]));
    _mm512_mask_storeu_epi8(row, here, pixels);
#elif defined(__AVX2__)
    for (; here; here >>= 32, one >>= 32, two >>= 32, field >>= 32, row += 32) {
        if (!(uint32_t)here)
            continue;
        __m256i before = _mm256_loadu_si256((const __m256i *)row), pixels = _mm256_set1_epi8((char)reg[COLUBK]);
        pixels = _mm256_blendv_epi8(pixels, _mm256_set1_epi8((char)reg[COLUPF]), spread((uint32_t)field));
        pixels = _mm256_blendv_epi8(pixels, _mm256_set1_epi8((char)reg[COLUP0]), spread((uint32_t)one));
        pixels = _mm256_blendv_epi8(pixels, _mm256_set1_epi8((char)reg[COLUP1]), spread((uint32_t)two));
        _mm256_storeu_si256((__m256i *)row, _mm256_blendv_epi8(before, pixels, spread((uint32_t)here)));
    }
#else
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t ground = reg[COLUBK] * each, colour = reg[COLUPF] * each ^ ground;
    uint64_t colour_one = reg[COLUP0] * each ^ ground, colour_two = reg[COLUP1] * each ^ ground;
    for (; here; here >>= 8, one >>= 8, two >>= 8, field >>= 8, row += 8) {
        if (!(here & 255))
            continue;
        uint64_t before, wanted = load(PIXELS[here & 255]);
        uint64_t pixels = ground ^ (load(PIXELS[one & 255]) & colour_one) ^ (load(PIXELS[two & 255]) & colour_two) ^
                          (load(PIXELS[field & 255]) & colour);
        memcpy(&before, row, 8);
        pixels = (pixels & wanted) | (before & ~wanted);
        memcpy(row, &pixels, 8);
    }
#endif
}

static inline uint8_t *row_of(Console *k)
{
    return k->screen[k->state.buffer] + (k->line_start / LINE_CLOCKS - k->first_row) * WIDTH;
}

/* Write the bytes of the line's pixels up to `to`. */
static void paint(Console *k, int to)
{
    int from = k->painted;
    if (to <= from)
        return;
    k->painted = to;
    uint8_t *row = row_of(k);
    if (k->state.reg[VBLANK] & 2) {
        memset(row + from, 0, (size_t)(to - from));
        return;
    }
    const Mask *mask[OBJECTS];
    for (int i = 0; i < OBJECTS; i++)
        mask[i] = shown(k, i, to);
    for (int word = from >> 6; word <= (to - 1) >> 6; word++) {
        uint64_t one, two, field;
        layers(k, mask, word, &one, &two, &field);
        paint_word(row + 64 * word, span_bits(word, from, to), one, two, field, k->state.reg);
    }
}

/* End the line: what is still to be found or painted of it, and the bar at its left. */
static void finish_line(Console *k)
{
    State *s = &k->state;
    int whole = !k->kept && !k->painted;
    if (k->drawing) {
        uint8_t *row = row_of(k);
        if (whole && k->whole_row)
            memcpy(row, k->whole_row, WIDTH);
        else
            paint(k, WIDTH);
        if (whole && !s->bar)
            k->whole_row = row;
        if (s->bar & 1)
            memset(row, 0, 8);
    }
    if (k->drawing && !(k->settled && !any_live(k, k->dirty | k->kept)))
        collide(k, WIDTH);
    k->settled |= !k->begun && !any_live(k, k->dirty | k->kept) && !(s->reg[VBLANK] & 2);
    s->bar >>= 1;
}

static inline void begin_line(Console *k, int32_t number)
{
    k->line_start = k->state.drawn = number * LINE_CLOCKS;
    k->painted = k->collided = k->begun = 0;
    for (int i = 0; k->kept; i++, k->kept >>= 1) {
        if (k->kept & 1) {
            k->line[i] = (Mask){{0, 0, 0, 0}};
            k->since[i] = 0;
        }
    }
}

static inline void changed(Console *k, unsigned objects)
{
    k->dirty |= objects;
    k->whole_row = NULL;
}

/* Objects change where the beam is, at the begin of a line. */
static void turn(Console *k, unsigned objects)
{
    if (!k->drawing)
        end_stretches(k, objects);
    changed(k, objects);
}

/* What changes at a line's begin. */
static void turn_line(Console *k)
{
    static const uint8_t STEPS[4] = {18, 33, 0, 17};
    State *s = &k->state;
    if (s->reflected != (s->reg[CTRLPF] & 1)) {
        turn(k, 1u << PF);
        s->reflected = s->reg[CTRLPF] & 1;
    }
    if (s->suppressed[0] | s->suppressed[1]) {
        turn(k, (s->suppressed[0] ? 1u << P0 : 0) | (s->suppressed[1] ? 1u << P1 : 0));
        s->suppressed[0] = s->suppressed[1] = 0;
    }
    if (s->star) {
        turn(k, 1u << M0);
        s->star_count = (s->star_count + 1) & 3;
        s->star_shape = s->star_count == 1 || s->star_count == 2 ? s->star_count : 0;
        s->position[M0] = (uint8_t)((s->position[M0] + WIDTH - STEPS[s->star_count]) % WIDTH);
    }
}

/* Blank ahead what a bar that waits covers: more than the bar, where the beam's first halt is short of the pixels. */
static void blank_ahead(Console *k)
{
    State *s = &k->state;
    int halt = s->drawn - k->line_start;
    if (s->bar & 1 && halt < FIRST_PIXEL)
        memset(row_of(k), 0, (size_t)(FIRST_PIXEL + 8 - halt));
    k->bar_waits = s->bar == 2;
}

/* Let the beam pass on, over the ends of lines; `to` is within the picture. */
static __attribute__((noinline)) void pass(Console *k, int32_t to)
{
    State *s = &k->state;
    for (;;) {
        if (s->drawn == k->line_start && s->drawn != s->window_start && line_matters(s))
            turn_line(k);
        int32_t passed = 1, next = k->line_start + LINE_CLOCKS;
        if (to < next)
            break;
        finish_line(k);
        if (!k->drawing && !line_matters(s)) {
            passed += (to - next) / LINE_CLOCKS;
            if (passed > 1)
                s->bar = 0;
        }
        begin_line(k, k->line_start / LINE_CLOCKS + passed);
        if (to == s->drawn)
            return;
    }
    s->drawn = to;
    if (k->bar_waits)
        blank_ahead(k);
}

/* Let the beam come as far as a clock of the frame, under all registers as they are now. */
static inline void draw(Console *k, int32_t to)
{
    State *s = &k->state;
    to = halt(k, to);
    if (to == s->drawn)
        return;
    if (!k->drawing && !line_matters(s))
        pass_unseen(k, to);
    else if (to >= k->line_start + LINE_CLOCKS || s->drawn == k->line_start || k->bar_waits)
        pass(k, to);
    else
        s->drawn = to;
}

/* Pixels of the line that the beam has passed. */
static inline int passed(const Console *k)
{
    int pixels = k->state.drawn - k->line_start - FIRST_PIXEL;
    return pixels > 0 ? pixels : 0;
}

/* Search for collisions from where the beam is on. */
static inline void search(Console *k, uint32_t live)
{
    k->live = live;
    k->begun |= passed(k) > 0;
    k->settled = 0;
}

/* Look for more collisions from where the beam is; those before are found first. Nothing has changed yet. */
static inline void look_for(Console *k, uint32_t live)
{
    if (!(live & ~k->live))
        return;
    collide(k, passed(k));
    search(k, k->live | live);
}

/* Let the beam come as far as a clock before objects change, in a frame that is drawn. */
static void draw_and_keep(Console *k, int32_t clock, unsigned objects, uint32_t enabled)
{
    draw(k, clock);
    int pixels = passed(k);
    look_for(k, findable(k, enabled));
    if (pixels > 0) {
        if ((k->state.reg[CTRLPF] & 6) == 6 && enabled != k->enabled)
            paint(k, pixels); /* whether the playfield is alone decides its colours */
        for (; objects; objects &= objects - 1)
            keep(k, __builtin_ctz(objects), pixels);
    }
}

/* Objects are about to change at a clock; `enabled` as it will be. */
static inline void change(Console *k, int32_t clock, unsigned objects, uint32_t enabled)
{
    if (k->drawing) {
        draw_and_keep(k, clock, objects, enabled);
    } else if (objects & (objects - 1) || !change_unseen(k, clock, __builtin_ctz(objects))) {
        draw(k, clock);
        end_stretches(k, objects);
    }
    k->enabled = enabled;
    changed(k, objects);
}

/* Objects change at a clock where they are; those in `present` will then be shown. */
static inline void draw_before(Console *k, int32_t clock, unsigned objects, unsigned present)
{
    change(k, clock, objects, (k->enabled & ~objects) | present);
}

/* Find and paint all that the beam has passed. */
static void settle(Console *k)
{
    State *s = &k->state;
    int clocks = s->drawn - k->line_start;
    if (k->drawing) {
        collide(k, passed(k));
        paint(k, passed(k));
    } else {
        end_stretches(k, EVERY);
    }
    if (s->bar & 1 && clocks >= FIRST_PIXEL) {
        if (k->drawing)
            memset(row_of(k), 0, 8);
        if (clocks >= FIRST_PIXEL + 8)
            s->bar &= 2;
    }
}

/* Go on where the beam is, with nothing known of the line but the state. */
static void resume(Console *k)
{
    State *s = &k->state;
    int32_t drawn, first = k->first_row * LINE_CLOCKS;
    k->window_end = first + k->rows * LINE_CLOCKS;
    drawn = s->drawn < first ? first : s->drawn > k->window_end ? k->window_end : s->drawn;
    begin_line(k, drawn / LINE_CLOCKS);
    s->drawn = drawn;
    k->painted = k->collided = passed(k);
    k->enabled = find_enabled(s);
    if (k->drawing)
        find_all(k);
    for (int i = 0; i < OBJECTS; i++)
        k->shown_from[i] = k->epoch + drawn;
    search(k, k->drawing ? findable(k, k->enabled) : 0);
    k->due = 0;
    k->whole_row = NULL;
    k->bar_waits = k->drawing && s->bar;
}
