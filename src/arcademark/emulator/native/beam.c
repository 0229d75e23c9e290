/* How far the picture has come, and what may change next. `State.drawn` is how far the beam is known to have come; a
 * part that changes ends its stretch there. Included by core.c and translated.c. */

/* Return the clock at which the beam halts that is to come as far as `clock`. */
INLINE int32_t halt(const Console *k, int32_t clock)
{
    clock = clock > k->due ? clock : k->due;
    clock = clock < k->window_end ? clock : k->window_end;
    return clock > k->state.drawn ? clock : k->state.drawn;
}

/* Let the beam pass on, where nothing changes at the begin of lines. */
static inline void pass(Console *k, int32_t to)
{
    State *s = &k->state;
    int32_t start = to - (int32_t)within_line(to), passed = start - k->line_start;
    s->bar = passed > LINE_CLOCKS ? 0 : s->bar >> (passed > 0);
    k->line_start = start;
    s->drawn = to;
}

/* Blank the 8 pixels at the left of this line (1) or the next (2). */
INLINE void begin_bar(Console *k, int bar)
{
    k->state.bar |= (uint8_t)bar;
    if (k->drawing) {
        k->barred[k->line_start / LINE_CLOCKS - k->first_row + bar - 1] = 1;
        k->careful |= BAR;
    }
}

/* The beam has halted for the first time since a bar was begun: where that is short of the pixels, more than the bar is
 * blank if the picture ends on this line. */
static inline void note_first_halt(Console *k)
{
    const State *s = &k->state;
    if (s->drawn == k->line_start)
        return;
    int32_t blanked = k->line_start + 2 * FIRST_PIXEL + 8 - (s->drawn - k->line_start);
    if (s->bar & 1 && s->drawn - k->line_start < FIRST_PIXEL && blanked > k->blanked)
        k->blanked = blanked;
    if (s->bar != 2)
        k->careful &= ~(uint32_t)BAR;
}

/* Let the beam halt while a bar waits. Returns 0 where something may change at the begin of lines. */
static __attribute__((noinline)) int halt_quickly(Console *k, int32_t clock)
{
    int32_t to = halt(k, clock);
    if (line_matters(&k->state))
        return 0;
    if (to > k->state.drawn) {
        pass(k, to);
        note_first_halt(k);
    }
    return 1;
}

/* A part is about to change at a clock. Returns 0 if the beam must come there first, or there is no room. */
INLINE int change_ahead(Console *k, int32_t clock, int part)
{
    if (line_matters(&k->state) | k->careful)
        return 0;
    k->due = halt(k, clock);
    end_stretch(k, part, k->epoch + k->due);
    return 1;
}

#ifndef TRANSLATED

/* End the stretches of some parts where the beam is. */
static void end_stretches(Console *k, unsigned parts)
{
    uint32_t full = k->careful & FULL;
    for (unsigned rest = full ? EVERY : parts; rest; rest &= rest - 1)
        end_stretch(k, __builtin_ctz(rest), k->epoch + k->state.drawn);
    if (full) {
        if (k->drawing)
            paint(k);
        find_all_collisions(k);
    }
}

/* Make the changes that are due at a line's begin. */
static void turn_line(Console *k)
{
    static const uint8_t STEPS[4] = {18, 33, 0, 17};
    State *s = &k->state;
    if (s->reflected != (s->reg[CTRLPF] & 1)) {
        end_stretches(k, 1u << PF);
        s->reflected = s->reg[CTRLPF] & 1;
    }
    if (s->suppressed[0] | s->suppressed[1]) {
        end_stretches(k, (s->suppressed[0] ? 1u << P0 : 0) | (s->suppressed[1] ? 1u << P1 : 0));
        s->suppressed[0] = s->suppressed[1] = 0;
    }
    if (s->star) {
        end_stretches(k, 1u << M0);
        s->star_count = (s->star_count + 1) & 3;
        s->star_shape = s->star_count == 1 || s->star_count == 2 ? s->star_count : 0;
        s->position[M0] = (uint8_t)((s->position[M0] + WIDTH - STEPS[s->star_count]) % WIDTH);
    }
}

/* Let the beam pass on, where something may change at the begin of lines. */
static __attribute__((noinline)) void pass_slowly(Console *k, int32_t to)
{
    State *s = &k->state;
    while (s->drawn < to) {
        if (s->drawn == k->line_start && s->drawn != s->window_start && line_matters(s))
            turn_line(k);
        int32_t next = k->line_start + LINE_CLOCKS;
        pass(k, to < next || !line_matters(s) ? to : next);
    }
    if (k->careful & BAR)
        note_first_halt(k);
}

/* Let the beam come as far as a clock of the frame, under all registers as they are now. */
static inline void advance(Console *k, int32_t to)
{
    to = halt(k, to);
    if (to == k->state.drawn)
        return;
    if (line_matters(&k->state))
        pass_slowly(k, to);
    else if (k->careful & BAR)
        halt_quickly(k, to);
    else
        pass(k, to);
}

/* Parts are about to change at a clock; `enabled` as it will be. */
static inline void change(Console *k, int32_t clock, unsigned parts, uint32_t enabled)
{
    if (parts & (parts - 1) || !change_ahead(k, clock, __builtin_ctz(parts))) {
        advance(k, clock);
        end_stretches(k, k->careful & ALONE ? parts | 1u << COLOURS : parts);
    }
    k->enabled = enabled;
}

/* Objects change at a clock where they are; those in `present` will then be shown. */
static inline void change_objects(Console *k, int32_t clock, unsigned objects, unsigned present)
{
    change(k, clock, objects, (k->enabled & ~objects) | present);
}

/* Show all that the beam has passed. */
static void settle(Console *k)
{
    State *s = &k->state;
    end_stretches(k, EVERY);
    if (k->drawing)
        paint(k);
    if (s->bar & 1 && s->drawn - k->line_start >= FIRST_PIXEL + 8)
        s->bar &= 2;
}

/* Find whether the playfield's colours depend on its being alone. */
static inline void find_alone(Console *k)
{
    k->careful &= ~(uint32_t)ALONE;
    k->careful |= k->drawing && (k->state.reg[CTRLPF] & 6) == 6 ? ALONE : 0;
}

/* Go on where the beam is, with nothing known of the line but the state. */
static void resume(Console *k)
{
    State *s = &k->state;
    int32_t drawn, first = k->first_row * LINE_CLOCKS;
    k->window_end = first + k->rows * LINE_CLOCKS;
    drawn = s->drawn < first ? first : s->drawn > k->window_end ? k->window_end : s->drawn;
    k->line_start = drawn - drawn % LINE_CLOCKS;
    s->drawn = k->painted = drawn;
    k->due = k->blanked = 0;
    k->enabled = find_enabled(s) | (k->drawing ? 1u << COLOURS : 0);
    for (int i = 0; i < PARTS; i++) {
        k->shown_from[i] = k->epoch + drawn;
        k->unpainted[i] = k->stretches[i];
    }
    k->careful &= FULL;
    find_alone(k);
    if (k->drawing)
        memset(k->barred, 0, sizeof k->barred);
    for (int bar = 1; bar <= 2; bar++)
        if (s->bar & bar)
            begin_bar(k, bar);
}

#endif
