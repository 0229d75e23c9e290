/* The picture's lines, painted from the stretches of its parts. Included by core.c. */

enum { STALE = 8 }; /* no mixing */

/* The parts of a picture as they are on the line in work. */
typedef struct {
    const Stretch *next[PARTS], *end[PARTS]; /* the first stretch that does not end before the line, and behind the last */
    int32_t until[OBJECTS];                  /* clock as far as which one looks as it does on this line */
    Mask mask[OBJECTS];
    uint32_t mixing;                         /* by which the layers were found, or STALE */
    uint64_t one[3], two[3], field[3];       /* the layers: pixels of the colours of player 0, player 1 and playfield */
} Painted;

/* Put together what an object shows in the stretches of a line whose pixels begin at a clock, up to another. */
static __attribute__((noinline)) void compose(Mask *mask, int object, const Stretch *next, const Stretch *end,
                                              int32_t first, int32_t to)
{
    for (int i = 0; i < 3; i++)
        mask->w[i] = 0;
    for (; next < end && next->from < to; next++) {
        Mask shown;
        mask_of(&shown, object, next->look);
        for (int i = 0; i < 3; i++)
            mask->w[i] |= shown.w[i] & span_bits(i, next->from - first, next->to - first);
    }
}

/* Put together the playfield on a line: it mostly changes between columns. */
static inline void compose_field(Mask *mask, const Stretch *next, const Stretch *end, int32_t first, int32_t to)
{
    uint64_t columns = 0;
    for (const Stretch *one = next; one < end && one->from < to; one++) {
        int left = one->from > first ? one->from - first : 0, right = one->to - first < WIDTH ? one->to - first : WIDTH;
        if ((left | right) & 3) {
            compose(mask, PF, next, end, first, to);
            return;
        }
        columns |= field_columns(one->look) & ((UINT64_C(1) << (right >> 2)) - (UINT64_C(1) << (left >> 2)));
    }
    mask_field(mask, columns);
}

/* Make an object's mask on a line, whose pixels begin at the clock `first`, right between two clocks. */
INLINE void look_up(Painted *p, int object, int32_t first, int32_t from, int32_t to)
{
    const Stretch *next = p->next[object], *end = p->end[object];
    while (next < end && next->to <= from)
        next++;
    p->next[object] = next;
    if (next == end || next->from >= to) {
        p->until[object] = next == end ? NEVER : next->from;
        p->mask[object] = (Mask){{0, 0, 0, 0}};
    } else if (next->from <= from && next->to >= to) {
        p->until[object] = next->to;
        mask_of(&p->mask[object], object, next->look);
    } else {
        p->until[object] = from;
        if (object == PF)
            compose_field(&p->mask[PF], next, end, first, to);
        else
            compose(&p->mask[object], object, next, end, first, to);
    }
}

/* Find which pixels show the colours of player 0, player 1 and playfield; the rest show the background. */
static void find_layers(Painted *p, uint32_t mixing)
{
    static const uint64_t LEFT[3] = {~UINT64_C(0), 0xFFFF, 0};
    const Mask *m = p->mask;
    p->mixing = mixing;
    for (int i = 0; i < 3; i++) {
        uint64_t a = m[P0].w[i] | m[M0].w[i], b = m[P1].w[i] | m[M1].w[i], f = m[PF].w[i];
        if (!(mixing & 4)) {
            if (mixing & 2) { /* the score's colours */
                a |= f & LEFT[i];
                b |= f & ~LEFT[i];
                f = 0;
            }
            f |= m[BL].w[i];
            p->one[i] = a;
            p->two[i] = b & ~a;
            p->field[i] = f & ~(a | b);
        } else if (mixing == 7) {
            p->one[i] = f & LEFT[i];
            p->two[i] = f & ~LEFT[i];
            p->field[i] = 0;
        } else {
            f |= m[BL].w[i];
            p->field[i] = f;
            p->one[i] = a & ~f;
            p->two[i] = b & ~(a | f);
        }
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
static inline void paint_word(uint8_t *row, uint64_t here, uint64_t one, uint64_t two, uint64_t field, Look colours)
{
#ifdef __AVX512BW__
    __m512i pixels = _mm512_mask_mov_epi8(_mm512_set1_epi8((char)(colours >> 24)), field, _mm512_set1_epi8((char)(colours >> 16)));
    pixels = _mm512_mask_mov_epi8(pixels, one, _mm512_set1_epi8((char)colours));
    pixels = _mm512_mask_mov_epi8(pixels, two, _mm512_set1_epi8((char)(colours >> 8)));
    _mm512_mask_storeu_epi8(row, here, pixels);
#elif defined(__AVX2__)
    for (; here; here >>= 32, one >>= 32, two >>= 32, field >>= 32, row += 32) {
        if (!(uint32_t)here)
            continue;
        __m256i before = _mm256_loadu_si256((const __m256i *)row), pixels = _mm256_set1_epi8((char)(colours >> 24));
        pixels = _mm256_blendv_epi8(pixels, _mm256_set1_epi8((char)(colours >> 16)), spread((uint32_t)field));
        pixels = _mm256_blendv_epi8(pixels, _mm256_set1_epi8((char)colours), spread((uint32_t)one));
        pixels = _mm256_blendv_epi8(pixels, _mm256_set1_epi8((char)(colours >> 8)), spread((uint32_t)two));
        _mm256_storeu_si256((__m256i *)row, _mm256_blendv_epi8(before, pixels, spread((uint32_t)here)));
    }
#else
    const uint64_t each = UINT64_C(0x0101010101010101);
    uint64_t ground = (colours >> 24 & 255) * each, colour = (colours >> 16 & 255) * each ^ ground;
    uint64_t colour_one = (colours & 255) * each ^ ground, colour_two = (colours >> 8 & 255) * each ^ ground;
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

/* Find what has changed since the line before; returns the clock as far as which all stays as it is. */
static int32_t find_line(Painted *p, int32_t first, int32_t from, int32_t to)
{
    int changed = 0;
    int32_t until;
#define LOOK_UP(object) if (p->until[object] < to) look_up(p, object, first, from, to), changed = 1
    LOOK_UP(P0);
    LOOK_UP(P1);
    LOOK_UP(M0);
    LOOK_UP(M1);
    LOOK_UP(BL);
    LOOK_UP(PF);
#undef LOOK_UP
    if (changed)
        p->mixing = STALE;
    while (p->next[COLOURS] < p->end[COLOURS] && p->next[COLOURS]->to <= from)
        p->next[COLOURS]++;
    until = p->next[COLOURS] < p->end[COLOURS] ? p->next[COLOURS]->to : from;
    for (int i = 0; i < OBJECTS; i++)
        until = p->until[i] < until ? p->until[i] : until;
    return until;
}

static inline uint8_t *row_at(Console *k, int32_t line_start)
{
    return k->screen[k->state.buffer] + (line_start / LINE_CLOCKS - k->first_row) * WIDTH;
}

/* Paint as far as the beam has come. All stretches have ended. */
static void paint(Console *k)
{
    const State *s = &k->state;
    int32_t to = s->drawn, line = k->painted - (int32_t)within_line(k->painted), same_until = 0;
    int row = line / LINE_CLOCKS - k->first_row;
    uint8_t *pixels = row_at(k, line);
    Painted p = {.until = {0}, .mixing = STALE};
    for (int i = 0; i < PARTS; i++) {
        p.next[i] = k->stretch[i] + k->unpainted[i];
        p.end[i] = k->stretch[i] + k->stretches[i];
        k->unpainted[i] = k->stretches[i];
    }
    for (int whole_above = 0; line < to; line += LINE_CLOCKS, row++, pixels += WIDTH) {
        int32_t first = line + FIRST_PIXEL, end = line + LINE_CLOCKS;
        int32_t from = k->painted > first ? k->painted : first, until = to < end ? to : end;
        int whole = from == first && until == end;
        if (from < until && s->reg[VBLANK] & 2) {
            memset(pixels + from - first, 0, (size_t)(until - from));
        } else if (whole && whole_above && same_until >= k->epoch + end && k->barred[row] >= k->barred[row - 1]) {
            memcpy(pixels, pixels - WIDTH, WIDTH);
        } else if (from < until) {
            same_until = find_line(&p, k->epoch + first, k->epoch + from, k->epoch + until);
            for (const Stretch *one = p.next[COLOURS]; one < p.end[COLOURS]; one++) {
                int left = one->from - k->epoch - first, right = one->to - k->epoch - first;
                left = left > from - first ? left : from - first;
                right = right < until - first ? right : until - first;
                if (left >= right)
                    break;
                if (one->mixing != p.mixing)
                    find_layers(&p, one->mixing);
                if (left == 0 && right == WIDTH) { /* the compiler knows all but the layers and the colours */
                    paint_word(pixels, ~UINT64_C(0), p.one[0], p.two[0], p.field[0], one->look);
                    paint_word(pixels + 64, ~UINT64_C(0), p.one[1], p.two[1], p.field[1], one->look);
                    paint_word(pixels + 128, 0xFFFFFFFF, p.one[2], p.two[2], p.field[2], one->look);
                    break;
                }
                for (int i = left >> 6; i <= (right - 1) >> 6; i++)
                    paint_word(pixels + 64 * i, span_bits(i, left, right), p.one[i], p.two[i], p.field[i], one->look);
            }
        }
        if (k->barred[row] && to >= first)
            memset(pixels, 0, 8);
        whole_above = whole;
    }
    k->painted = to;
    if (k->blanked > to) {
        int from = to - k->line_start > FIRST_PIXEL ? to - k->line_start - FIRST_PIXEL : 0;
        memset(row_at(k, k->line_start) + from, 0, (size_t)(k->blanked - k->line_start - FIRST_PIXEL - from));
    }
}
