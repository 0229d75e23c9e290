/* Stretches of the picture's parts: one for as long as a part looks the same. Lines are painted from them, and collisions
 * are those of objects whose stretches meet: they are found when the program reads them or a state is saved. CXCLR drops
 * the stretches of a frame that is not drawn, and notes where they count from in one that is. Included by core.c and
 * translated.c. */

enum { EVERY = (1 << PARTS) - 1, EPOCH = 512 * LINE_CLOCKS };

/* The pixels from `from` to `to` as bits of a word; none if they are in others. */
static inline uint64_t span_bits(int word, int from, int to)
{
    int low = from - 64 * word, high = to - 64 * word;
    uint64_t bits = high >= 64 ? ~UINT64_C(0) : high <= 0 ? 0 : (UINT64_C(1) << high) - 1;
    return low <= 0 ? bits : low >= 64 ? 0 : bits & ~((UINT64_C(1) << low) - 1);
}

/* Return the clock within its line: `% LINE_CLOCKS`, which compilers divide for. */
INLINE unsigned within_line(int32_t clock)
{
    uint32_t n = (uint32_t)clock;
    return n < 1u << 27 ? n - (uint32_t)((uint64_t)n * 18837576 >> 32) * LINE_CLOCKS : n % LINE_CLOCKS;
}

static inline uint32_t mixing_of(const Console *k)
{
    uint32_t control = k->state.reg[CTRLPF] & 6u;
    return control | (control == 6 && k->enabled == (1u << PF | 1u << COLOURS));
}

/* Note a part's stretch as far as a clock; returns how many there are then. There is room for one more. */
INLINE int note_stretch(Console *k, int part, int32_t now)
{
    int32_t from = k->shown_from[part];
    int number = k->stretches[part];
    if (!(k->enabled >> part & 1) || now <= from || k->state.reg[VBLANK] & 2)
        return number;
    k->stretch[part][number] = (Stretch){from, now, 0, look_of(&k->state, part), part == COLOURS ? mixing_of(k) : 0};
    return number + 1;
}

/* End a part's stretch, before it changes. */
INLINE void end_stretch(Console *k, int part, int32_t now)
{
    int number = note_stretch(k, part, now);
    k->stretches[part] = number;
    k->shown_from[part] = now;
    if (number == MAX_STRETCHES - 1)
        k->careful |= FULL;
}

#ifndef TRANSLATED

/* The columns of copies that begin at a position, so many pixels wide each. */
static inline uint64_t copied_columns(unsigned position, unsigned width, unsigned nusiz)
{
    static const uint8_t BETWEEN[8][2] = {{0, 0}, {4, 0}, {8, 0}, {4, 8}, {16, 0}, {0, 0}, {8, 16}, {0, 0}};
    enum { COLUMNS = WIDTH / 4 };
    uint64_t one = (UINT64_C(1) << (((position & 3) + width + 3) >> 2)) - 1;
    uint64_t all = (one | one << BETWEEN[nusiz & 7][0] | one << BETWEEN[nusiz & 7][1]) << (position >> 2);
    return (all | all >> COLUMNS) & ((UINT64_C(1) << COLUMNS) - 1);
}

/* The columns in which an object may show a pixel. */
static uint64_t find_columns(int object, Look l)
{
    unsigned size = size_of(l), place = place_of(l);
    switch (object) {
    case P0: case P1:
        return size == 5   ? copied_columns((place + 1) % WIDTH, 16, size)
               : size == 7 ? copied_columns((place + 1) % WIDTH, 32, size)
                           : copied_columns(place, 8, size);
    case M0: case M1: return copied_columns(place, missile_width(l), size);
    case BL: return copied_columns(place, 1u << size, 0);
    default: return field_columns(l);
    }
}

/* Return whether two objects share a pixel between two clocks. */
static int share_pixel(const Mask *a, const Mask *b, int32_t from, int32_t to)
{
    uint64_t both[3] = {a->w[0] & b->w[0], a->w[1] & b->w[1], a->w[2] & b->w[2]};
    if (!(both[0] | both[1] | both[2]))
        return 0;
    int first = from % LINE_CLOCKS - FIRST_PIXEL, last = first + to - from;
    uint64_t found = 0;
    for (int i = 0; i < 3; i++)
        found |= both[i] & (span_bits(i, first, last) | span_bits(i, first - LINE_CLOCKS, last - LINE_CLOCKS));
    return found != 0;
}

/* Go through the stretches of a collision's objects, as far as the beam has come; returns whether they met. */
static int search_pair(Console *k, int pair)
{
    int one = PAIR[pair][0], other = PAIR[pair][1];
    int *searched = k->searched[pair], *cleared = k->cleared;
    Stretch *a = k->stretch[one] + (searched[0] > cleared[one] ? searched[0] : cleared[one]);
    Stretch *b = k->stretch[other] + (searched[1] > cleared[other] ? searched[1] : cleared[other]);
    int32_t now = k->epoch + k->state.drawn;
    const Stretch *a_end = k->stretch[one] + note_stretch(k, one, now), *b_end = k->stretch[other] + note_stretch(k, other, now);
    searched[0] = k->stretches[one];
    searched[1] = k->stretches[other];
    while (a < a_end && b < b_end) {
        int32_t from = a->from > b->from ? a->from : b->from, to = a->to < b->to ? a->to : b->to;
        from = from > k->cleared_at ? from : k->cleared_at;
        if (from < to) {
            if (!a->columns)
                a->columns = find_columns(one, a->look);
            if (!b->columns)
                b->columns = find_columns(other, b->look);
            if (a->columns & b->columns) {
                Mask first, second;
                mask_of(&first, one, a->look);
                mask_of(&second, other, b->look);
                if (share_pixel(&first, &second, from, to))
                    return 1;
            }
        }
        if (a->to < b->to)
            a++;
        else
            b++;
    }
    return 0;
}

/* Find which of these collisions there were. */
static void find_collisions(Console *k, uint32_t pairs)
{
    for (uint32_t rest = pairs & 0xDFFF & ~(uint32_t)k->state.collisions; rest; rest &= rest - 1)
        k->state.collisions |= (uint16_t)(search_pair(k, __builtin_ctz(rest)) << __builtin_ctz(rest));
}

/* Forget all stretches, of which nothing is to be painted; others begin where the beam is. */
static void forget_stretches(Console *k)
{
    memset(k->stretches, 0, sizeof k->stretches);
    memset(k->searched, 0, sizeof k->searched);
    memset(k->cleared, 0, sizeof k->cleared);
    memset(k->unpainted, 0, sizeof k->unpainted);
    k->careful &= ~(uint32_t)FULL;
    k->epoch = k->cleared_at = 0;
    for (int i = 0; i < PARTS; i++)
        k->shown_from[i] = k->state.drawn;
}

/* Clear the collisions: what was shown so far no longer counts. */
static void clear_collisions(Console *k)
{
    k->state.collisions = 0;
    if (!k->drawing) {
        forget_stretches(k);
        return;
    }
    memcpy(k->cleared, k->stretches, sizeof k->cleared);
    memset(k->searched, 0, sizeof k->searched);
    k->cleared_at = k->epoch + k->state.drawn;
}

/* Find all collisions, and forget the stretches. */
static void find_all_collisions(Console *k)
{
    find_collisions(k, ~0u);
    forget_stretches(k);
}

/* A frame begins: clocks count on. */
static void begin_epoch(Console *k)
{
    if (k->epoch > 1 << 30)
        find_all_collisions(k);
    else
        k->epoch += EPOCH;
}

#endif
