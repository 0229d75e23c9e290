/* Agent steps: frames under sticky actions until an episode ends, their screens handed out or made into the usual
 * observation. Nothing here emulates; all of it can be left out, and what is proven of the core stays proven.
 *
 * A `Step` is written and read by Python too (`environments/emulation/console.py`). Its pointers are Python's to keep alive.
 */

#include "core.c"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { IMAGE = 84, GROUPS = 42, GROUP_ROWS = 5, GROUP_BYTES = GROUP_ROWS * WIDTH, WORDS = WIDTH / 8, TAPS = 3,
       SCREEN_BYTES = GROUPS * GROUP_BYTES, MOST_SKIPPED = 16 };

/* How 210 x 160 pixels become 84 x 84, as `environments/observations/kernels.py` says. */
typedef struct {
    int32_t left[IMAGE];               /* first of the columns that make a pixel */
    uint32_t weights[IMAGE][TAPS];     /* of these columns, in fortieths */
    int32_t first[WORDS + 1], last[WORDS + 1]; /* words [m, n) of a row touch the pixels [first[m], last[n]) */
    int32_t row[IMAGE][TAPS], column[IMAGE][TAPS];
    float row_weight[IMAGE][TAPS], column_weight[IMAGE][TAPS]; /* of these, to repeat what OpenCV does */
} Shrink;

/* The usual observation. */
typedef struct {
    const Shrink *shrink;
    const uint8_t *pooled; /* luminance of each pair of screen bytes, without their lowest bits */
    uint8_t *old;          /* the screens of which the newest image was made: the newest first */
    uint8_t *stack;        /* images, oldest first */
    int32_t screens, images;
} Observation;

/* The frames of a step so far, where some were not drawn though the game cuts frames short: what is not painted of a
 * picture shows what the one before the last left there. Of whole frames nothing is left, so that pictures are missing
 * only where a frame of the step is cut; then all of them are played again, drawn. */
typedef struct {
    State start;
    int32_t count, cut;
    int32_t action[MOST_SKIPPED];
    float strength[MOST_SKIPPED];
} Skipped;

typedef struct Step Step;
struct Step {
    Console *console;
    void (*play)(Step *);
    Observation *observation;       /* or null */
    const uint8_t *repeats;         /* of sticky actions, a frame each: whether the action executed before repeats */
    uint8_t *before, *newest;       /* where screens go */
    uint8_t *out;                   /* where the observation goes as well, or null */
    State *held;                    /* what stood before a frame that was not drawn, or null: then all are drawn, or */
    Skipped *skipped;               /* all that may be missed */
    int64_t frames, cap;            /* of the episode */
    int64_t total;                  /* frames played in all steps */
    int64_t reward;                 /* of the step */
    int32_t chosen, executed;       /* the agent's action; that of the last frame */
    int32_t frame_skip, before_at, newest_at, last_shown;
    int32_t repeat_count, next_repeat;
    int32_t life_ends, lives;
    int32_t played, terminated, truncated; /* what the step gave: its frames, and whether the episode is over */
    int32_t unseen;                 /* the last frame was not drawn */
};

/* ---- the usual observation ------------------------------------------------------------------------------------- */

static inline uint32_t pooled(const uint8_t *a, const uint8_t *b, const uint8_t *table, int i)
{
    return table[a[i] >> 1 << 7 | b[i] >> 1];
}

static uint8_t rounded_even(float value)
{
    int low = (int)value;
    float rest = value - (float)low;
    return (uint8_t)(low + (rest > 0.5f || (rest == 0.5f && low & 1)));
}

/* A pixel half-way between two integers, as OpenCV rounds it: its operations in their order, in single precision. */
static uint8_t half_way(const Shrink *t, const uint8_t *a, const uint8_t *b, const uint8_t *table, int row,
                        int column)
{
    volatile float mean = 0; /* volatile: so that no multiplication and addition are made one */
    for (int m = 0; m < TAPS; m++) {
        volatile float sum = 0;
        for (int n = 0; n < TAPS; n++) {
            int i = t->row[row][m] % GROUP_ROWS * WIDTH + t->column[column][n];
            volatile float part = (float)pooled(a, b, table, i) * t->column_weight[column][n];
            sum += part;
        }
        volatile float part = t->row_weight[row][m] * sum;
        mean += part;
    }
    return rounded_even(mean);
}

/* Make the pixels [first, last) of the two rows of the image that a group of five rows of the screens makes. */
static void shrink_group(const Observation *o, const uint8_t *a, const uint8_t *b, int group, int first, int last)
{
    const Shrink *t = o->shrink;
    const uint8_t *table = o->pooled;
    uint8_t *image = o->stack + (size_t)(o->images - 1) * IMAGE * IMAGE;
    uint32_t sums[2][WIDTH];
    for (int x = t->left[first]; x < t->left[last - 1] + TAPS; x++) {
        uint32_t middle = pooled(a, b, table, 2 * WIDTH + x);
        sums[0][x] = 2 * (pooled(a, b, table, x) + pooled(a, b, table, WIDTH + x)) + middle;
        sums[1][x] = 2 * (pooled(a, b, table, 3 * WIDTH + x) + pooled(a, b, table, 4 * WIDTH + x)) + middle;
    }
    for (int i = 0; i < 2; i++)
        for (int j = first; j < last; j++) {
            const uint32_t *sum = sums[i] + t->left[j];
            uint32_t total = t->weights[j][0] * sum[0] + t->weights[j][1] * sum[1] + t->weights[j][2] * sum[2] + 100;
            uint32_t rounded = total / 200;
            if (rounded * 200 == total)
                rounded = half_way(t, a, b, table, 2 * group + i, j);
            image[(2 * group + i) * IMAGE + j] = (uint8_t)rounded;
        }
}

static void move_on(Observation *o)
{
    memmove(o->stack, o->stack + IMAGE * IMAGE, (size_t)(o->images - 1) * IMAGE * IMAGE);
}

/* Append the image of two screens, whatever the newest was made of; what it will be held to be made of stays. */
void console_observe(Observation *o, const uint8_t *newest, const uint8_t *before)
{
    move_on(o);
    for (int group = 0; group < GROUPS; group++)
        shrink_group(o, newest + group * GROUP_BYTES, before + group * GROUP_BYTES, group, 0, IMAGE);
}

/* Append the image of a step's screens: only what differs from those of the step before is made anew. */
void console_push(Observation *o, const uint8_t *newest, const uint8_t *before)
{
    uint8_t *old_newest = o->old, *old_before = o->old + (size_t)(o->screens - 1) * SCREEN_BYTES;
    move_on(o);
    for (int group = 0; group < GROUPS; group++) {
        size_t at = (size_t)group * GROUP_BYTES;
        const uint8_t *a = newest + at, *b = before + at;
        uint8_t *old_a = old_newest + at, *old_b = old_before + at;
        if (!memcmp(a, old_a, GROUP_BYTES) && !memcmp(b, old_b, GROUP_BYTES))
            continue;
        uint64_t changes[WORDS] = {0}, word[4];
        for (int y = 0; y < GROUP_ROWS; y++)
            for (int x = 0; x < WORDS; x++) {
                int i = y * WIDTH + 8 * x;
                memcpy(word, a + i, 8);
                memcpy(word + 1, old_a + i, 8);
                memcpy(word + 2, b + i, 8);
                memcpy(word + 3, old_b + i, 8);
                changes[x] |= (word[0] ^ word[1]) | (word[2] ^ word[3]);
            }
        for (int begin, end = 0; end < WORDS; end++) {
            begin = end;
            while (end < WORDS && changes[end])
                end++;
            if (begin < end)
                shrink_group(o, a, b, group, o->shrink->first[begin], o->shrink->last[end]);
        }
        memcpy(old_a, a, GROUP_BYTES);
        memcpy(old_b, b, GROUP_BYTES);
    }
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

size_t console_step_size(void)
{
    return sizeof(Step);
}

size_t console_skipped_size(void)
{
    return sizeof(Skipped);
}

/* Take from a paddle beforehand what the next frame moves it more than a weaker hand would. */
static void weaken(Console *k, int action, float strength)
{
    enum { LEFTS = 1 << 4 | 1 << 7 | 1 << 9 | 1 << 12 | 1 << 15 | 1 << 17,
           RIGHTS = 1 << 3 | 1 << 6 | 1 << 8 | 1 << 11 | 1 << 14 | 1 << 16 };
    float part = strength < 0 ? -strength : strength;
    int32_t less = STEP - (int32_t)(STEP * (part < 1e4f ? part : 1e4f));
    if (k->paddles && action >= 0 && action < 18)
        k->state.paddle[0] += LEFTS >> action & 1 ? -less : RIGHTS >> action & 1 ? less : 0;
}

static int act_weakened(Console *k, int action, float strength, int drawn)
{
    weaken(k, action, strength);
    return act(k, action, drawn);
}

/* Draw the frames of which some were not. */
static void draw_skipped(Console *k, Skipped *s)
{
    if (s->count)
        console_restore(k, &s->start);
    for (int i = 0; i < s->count; i++)
        act_weakened(k, s->action[i], s->strength[i], 1);
    s->count = 0;
}

/* Emulate a step's frame and draw it, unless that may be skipped. */
static int act_skipping(Console *k, Skipped *s, int action, float strength, int drawn)
{
    if (!s->count && (drawn || k->state.partial))
        return act_weakened(k, action, strength, 1);
    if (!s->count) {
        console_save(k, &s->start);
        s->cut = k->cut;
    }
    s->action[s->count] = action;
    s->strength[s->count++] = strength;
    int reward = act_weakened(k, action, strength, drawn);
    if (k->cut != s->cut)
        draw_skipped(k, s);
    return reward;
}

/* What may skip frames in steps whose last two frames are drawn; null if nothing may. */
static Skipped *skipping(Skipped *s, int frame_skip, int two_drawn)
{
    if (!s || !two_drawn || frame_skip > MOST_SKIPPED)
        return NULL;
    s->count = 0;
    return s;
}

/* Play one agent step: its frames, until the game is over, a life lost where that ends the episode, or the cap. */
void console_step(Step *p)
{
    Console *k = p->console;
    State *s = &k->state;
    size_t bytes = (size_t)k->rows * WIDTH;
    Observation *observation = bytes == SCREEN_BYTES ? p->observation : NULL;
    Skipped *skipped = skipping(p->skipped, p->frame_skip,
                                p->before_at == p->frame_skip - 2 && p->newest_at == p->frame_skip - 1);
    const uint8_t *before = NULL;
    int64_t reward = 0;
    p->terminated = p->truncated = p->played = 0;
    for (int frame = 0; frame < p->frame_skip; frame++) {
        int repeated = p->next_repeat >= 0 && p->next_repeat < p->repeat_count && p->repeats[p->next_repeat];
        int drawn = !(p->held || skipped) || frame == p->before_at || frame == p->newest_at ||
                    (p->last_shown && frame == p->frame_skip - 1);
        p->next_repeat += p->repeat_count > 0;
        if (!repeated)
            p->executed = p->chosen;
        p->unseen = !drawn && !skipped;
        if (p->unseen)
            console_save(k, p->held);
        reward += skipped ? act_skipping(k, skipped, p->executed, 1.0f, drawn) : act(k, p->executed, drawn);
        p->frames++;
        p->played++;
        int lives = console_lives(k);
        p->terminated = s->registers[R_TERMINAL] || (p->life_ends && lives < p->lives);
        p->lives = lives;
        if (p->terminated)
            break;
        if (p->frames >= p->cap) {
            p->truncated = 1;
            break;
        }
        uint8_t *screen = k->screen[s->buffer];
        if (frame == p->before_at) {
            before = screen; /* the next frame leaves it there, if that is the newest and drawn on the other picture */
            if (!observation || s->partial || p->newest_at != frame + 1)
                before = memcpy(p->before, screen, bytes);
        } else if (frame == p->newest_at) {
            if (observation)
                console_push(observation, screen, before ? before : screen);
            else
                memcpy(p->newest, screen, bytes);
        }
    }
    if ((p->terminated || p->truncated) && before && before != p->before)
        memcpy(p->before, before, bytes);
    if ((p->terminated || p->truncated) && skipped)
        draw_skipped(k, skipped);
    p->total += p->played;
    p->reward = reward;
    if (p->out && observation)
        memcpy(p->out, observation->stack, (size_t)observation->images * IMAGE * IMAGE);
}

/* Draw the last frame after all; what was written to memory since stays. */
void console_redraw(Step *p)
{
    if (!p->unseen)
        return;
    State now;
    console_save(p->console, &now);
    console_restore(p->console, p->held);
    act(p->console, p->executed, 1);
    console_restore(p->console, &now);
    p->unseen = 0;
}

/* ---- frames as ale-py's own interface plays them ------------------------------------------------------------------ */

/* One call of ale-py's `act`. Of the step, `executed` is the action of the last frame played. */
typedef struct {
    Step step;
    uint32_t (*draw)(void *);  /* the environment's generator */
    void *chance;
    int64_t repeat_below;      /* a draw below this keeps the stored action */
    float strength;            /* of the stored action */
    int32_t stored, start_lives; /* fewer lives than the rules begin with are lost ones, whatever the game shows */
    int32_t since, period;     /* calls since the screen was asked for; calls between the last two times it was */
} Turn;

/* Note where the episode stands, and whether a limit of frames or a lost life truncates it. */
void console_note(Turn *p)
{
    Step *s = &p->step;
    const Console *k = s->console;
    s->frames = k->state.frames;
    s->lives = console_lives(k);
    s->terminated = k->state.registers[R_TERMINAL] != 0;
    s->truncated = (s->cap && s->frames >= s->cap) || (s->life_ends && s->lives < p->start_lives);
}

/* Play a frame under an action, or that of the frame before if chance repeats it, and return its reward: none where the
 * game is over. What is not drawn can be drawn afterwards, or may be skipped. */
static int turn_frame(Turn *p, Skipped *skipped, int action, float strength, int drawn)
{
    Step *s = &p->step;
    Console *k = s->console;
    if (p->draw(p->chance) >= p->repeat_below) {
        p->stored = action;
        p->strength = strength;
    }
    p->draw(p->chance); /* the second player's */
    if (s->terminated || s->truncated)
        return 0;
    int reward;
    s->executed = p->stored;
    s->unseen = s->held && !drawn;
    if (skipped) {
        reward = act_skipping(k, skipped, s->executed, p->strength, drawn);
    } else {
        weaken(k, s->executed, p->strength);
        if (s->held)
            console_save(k, s->held);
        reward = act(k, s->executed, !s->unseen);
    }
    s->played = 1;
    s->total++;
    console_note(p);
    return reward;
}

/* Play the frames of a call; returns their reward. The last is drawn if its screen is likely to be asked for. */
int console_turn(Turn *p, int action, float strength)
{
    int reward = 0, shown = ++p->since == p->period;
    for (int frame = 1; frame <= p->step.frame_skip; frame++)
        reward += turn_frame(p, NULL, action, strength, shown && frame == p->step.frame_skip);
    return reward;
}

/* Write the screen, of each byte its colour's one byte or, in three dimensions, three; without colours itself. */
void console_show(Turn *p, const uint32_t *colours, int dimensions, uint8_t *out)
{
    int bytes = dimensions == 3 ? 3 : 1;
    Console *k = p->step.console;
    if (p->since)
        p->period = p->since;
    p->since = 0;
    console_redraw(&p->step);
    const uint8_t *row = k->screen[k->state.buffer];
    size_t size = (size_t)WIDTH * bytes;
    if (!colours)
        memcpy(out, row, size * k->rows);
    for (int y = 0; colours && y < k->rows; y++, row += WIDTH, out += size) {
        if (y && !memcmp(row, row - WIDTH, WIDTH)) {
            memcpy(out, out - size, size);
            continue;
        }
        for (int x = 0; x < WIDTH; x++)
            if (bytes == 1)
                out[x] = (uint8_t)colours[row[x]];
            else
                memcpy(out + 3 * x, &colours[row[x]], 3);
    }
}

#include "pool.c"
#include "vector.c"
