/* Games played as ale-py's vector environment plays them, and the threads that play several. Included by steps.c.
 *
 * `Player` and `Playing` are read and written by Python too (`ale/vector.py`), which keeps alive what they point to.
 */

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

enum { TWISTER = 624, SPINS = 4000, MAX_PRESSES = 2000, MACHINE_SEED = 4753849 };

/* What a reset does, each with an operand: frames under an action, unless it is one of these. */
enum { SCRIPT_BEGIN = 256, SCRIPT_PRESS, SCRIPT_UNTIL, SCRIPT_STEP, SCRIPT_SET /* 16 times the value, and the register */ };

typedef struct {
    uint32_t word[TWISTER];
    int32_t at;
} Twister;

/* What is the same for all games of a vector. */
typedef struct {
    const int32_t *script;         /* what a reset does */
    const int32_t *begin, *reached; /* the rules' registers when a game begins; whether its mode is reached */
    const State *start;            /* a game just loaded, and its pictures */
    const uint8_t *pictures;
    const uint8_t *colours;        /* of each screen byte, `channels` long */
    const int32_t *row, *column;   /* source pixels of each pixel, a row of these for each term; and their weights */
    const float *row_weight, *column_weight;
    double repeat_probability;
    int64_t cap;
    int32_t script_length, begin_count, reached_length, loading_draws, cart_ram, all_drawn;
    int32_t frame_skip, maxpool, noops, fire, episodic, life_info, clipped, same_step;
    int32_t channels, images, height, width, row_terms, column_terms, block_height, block_width;
} Playing;

/* Where the results of games that are handed out together go. */
typedef struct {
    uint8_t *observed, *final;     /* a row a game; `final` of those that ended, if episodes begin in the same step */
    int32_t *numbers;              /* a column a game: its number, reward, lives, frames, and those of the episode */
    uint8_t *flags;                /* the same: terminated, truncated, either */
    int32_t games, taken;          /* columns, and those that are given to a game */
} Batch;

/* A game. Of its step these are used: console, play, observation and skipped or null, chosen, and what the step gave. */
typedef struct {
    Step step;
    const Playing *playing;
    const Batch *batch;
    uint8_t *stack;                /* images, oldest first */
    uint8_t *pooled;               /* the image before it was shrunk, and room for shrinking; if not the usual one */
    float *shrinking;
    uint8_t *merged;               /* room for a screen */
    int64_t elapsed, earlier;      /* frames since the no-ops; of earlier episodes */
    int32_t restart, seed, over, executed, seeded;
    int32_t ended, place;          /* whether by this step; column of the batch */
    float strength, strength_held;
    Twister chance, noops, sticky;
} Player;

size_t console_player_size(void)
{
    return sizeof(Player);
}

/* ---- random numbers -------------------------------------------------------------------------------------------- */

static void seed_twister(Twister *t, uint32_t seed)
{
    for (uint32_t i = 0; i < TWISTER; i++)
        t->word[i] = seed = i ? 1812433253u * (seed ^ seed >> 30) + i : seed;
    t->at = TWISTER;
}

static uint32_t draw_number(Twister *t)
{
    if (t->at >= TWISTER || t->at < 0) {
        uint32_t *w = t->word;
        for (int i = 0; i < TWISTER; i++) {
            uint32_t y = (w[i] & 0x80000000u) | (w[(i + 1) % TWISTER] & 0x7FFFFFFFu);
            w[i] = w[(i + 397) % TWISTER] ^ y >> 1 ^ (y & 1 ? 0x9908B0DFu : 0);
        }
        t->at = 0;
    }
    uint32_t y = t->word[t->at++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9D2C5680u;
    y ^= y << 15 & 0xEFC60000u;
    return y ^ y >> 18;
}

/* A number below `bound`, each as likely. */
static uint32_t draw_below(Twister *t, uint32_t bound)
{
    for (;;) {
        uint64_t product = (uint64_t)draw_number(t) * bound;
        if ((uint32_t)product >= (0u - bound) % bound)
            return (uint32_t)(product >> 32);
    }
}

/* ---- images of any size ---------------------------------------------------------------------------------------- */

/* The means of blocks. */
static void shrink_blocks(const Playing *g, const uint8_t *image, uint8_t *out)
{
    int h = g->block_height, w = g->block_width, n = g->channels;
    float share = 1.0f / (float)(h * w);
    for (int i = 0; i < g->height; i++)
        for (int j = 0; j < g->width * n; j++) {
            uint32_t sum = 0;
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++)
                    sum += image[(i * h + y) * WIDTH * n + (j / n * w + x) * n + j % n];
            *out++ = h == 2 && w == 2 ? (uint8_t)((sum + 2) >> 2) : rounded_even((float)sum * share);
        }
}

/* Weighted means, as `observations/area.py` says: along rows, then of rows, in single precision. */
static void shrink_image(const Playing *g, int rows, const uint8_t *image, float *means, uint8_t *out)
{
    int n = g->channels, line = g->width * n;
    for (int y = 0; y < rows; y++, image += WIDTH * n)
        for (int j = 0; j < g->width; j++)
            for (int c = 0; c < n; c++) {
                float sum = (float)image[g->column[j] * n + c] * g->column_weight[j];
                for (int m = 1; m < g->column_terms; m++) {
                    int at = m * g->width + j;
                    sum += (float)image[g->column[at] * n + c] * g->column_weight[at];
                }
                means[y * line + j * n + c] = sum;
            }
    for (int i = 0; i < g->height; i++)
        for (int x = 0; x < line; x++) {
            float sum = means[g->row[i] * line + x] * g->row_weight[i];
            for (int m = 1; m < g->row_terms; m++)
                sum += means[g->row[m * g->height + i] * line + x] * g->row_weight[m * g->height + i];
            *out++ = rounded_even(sum);
        }
}

/* Append the image of two screens, pooled; `held` with what was pooled before. */
static void append(Player *p, const uint8_t *newest, const uint8_t *before, int held)
{
    const Playing *g = p->playing;
    const Observation *o = p->step.observation;
    int rows = p->step.console->rows, pixels = rows * WIDTH, n = g->channels;
    if (o && held) { /* what is brighter of each two pixels of the step before */
        const uint8_t *a = o->old, *b = o->old + (size_t)(o->screens - 1) * SCREEN_BYTES;
        for (int i = 0; i < pixels; i++)
            p->merged[i] = pooled(a, a, o->pooled, i) >= pooled(b, b, o->pooled, i) ? a[i] : b[i];
        newest = p->merged;
    }
    if (o) {
        console_push(p->step.observation, newest, before);
        return;
    }
    for (int i = 0; i < pixels; i++)
        for (int c = 0; c < n; c++) {
            uint8_t a = g->colours[newest[i] * n + c], b = g->colours[before[i] * n + c];
            uint8_t *to = p->pooled + i * n + c;
            a = a > b ? a : b;
            *to = held && *to > a ? *to : a;
        }
    size_t bytes = (size_t)g->height * g->width * n, older = (size_t)(g->images - 1) * bytes;
    memmove(p->stack, p->stack + bytes, older);
    if (g->block_height)
        shrink_blocks(g, p->pooled, p->stack + older);
    else
        shrink_image(g, rows, p->pooled, p->shrinking, p->stack + older);
}

/* ---- episodes -------------------------------------------------------------------------------------------------- */

/* Emulate a frame under an action, or that of the frame before if chance repeats it. */
static int32_t act_sticky(Player *p, Skipped *skipped, int action, float strength, int drawn)
{
    const Playing *g = p->playing;
    Console *k = p->step.console;
    int repeated = 0;
    if (g->repeat_probability > 0) {
        repeated = draw_number(&p->sticky) / 4294967296.0 < g->repeat_probability;
        draw_number(&p->sticky); /* the second player's */
    }
    if (!repeated) {
        p->executed = action;
        p->strength_held = strength;
    }
    if (skipped)
        return act_skipping(k, skipped, p->executed, p->strength_held, drawn);
    return act_weakened(k, p->executed, p->strength_held, drawn || g->all_drawn);
}

/* Press the select key for so many frames. */
static void press(Console *k, int frames, int drawn)
{
    while (frames-- > 0)
        console_frame(k, SELECT_SWITCH, -1, drawn, 0);
    console_frame(k, 0, -1, drawn, 1);
    k->state.frames++;
}

/* Reset the game, as `console/machine.py` does; the screen is shown of its last frame. */
static void reset_game(Player *p)
{
    const Playing *g = p->playing;
    Console *k = p->step.console;
    uint8_t ram[128];
    p->earlier += k->state.frames;
    p->executed = 0;
    p->strength_held = 1.0f;
    uint32_t timer = draw_number(&p->chance);
    for (int i = 0; g->cart_ram && i < 128; i++)
        ram[i] = (uint8_t)draw_number(&p->chance);
    console_reset(k, timer, g->cart_ram ? ram : NULL);
    for (int i = 0; i < g->script_length; i += 2) {
        int op = g->script[i], n = g->script[i + 1], last = i + 2 == g->script_length;
        if (op == SCRIPT_BEGIN) {
            console_begin(k, g->begin, g->begin_count);
            k->state.frames = 0;
        } else if (op == SCRIPT_PRESS) {
            press(k, n, g->all_drawn);
        } else if (op == SCRIPT_UNTIL) {
            for (int m = 0; m < MAX_PRESSES && !console_evaluate(k, g->reached, g->reached_length); m++)
                press(k, n, g->all_drawn);
        } else if (op == SCRIPT_STEP) {
            act_sticky(p, NULL, n, 1.0f, 0);
        } else if (op == SCRIPT_SET) {
            k->state.registers[n & 15] = n >> 4;
        } else {
            while (n-- > 0)
                console_frame(k, op, -1, g->all_drawn || (last && !n), 1);
        }
    }
}

static void load_game(Player *p)
{
    const Playing *g = p->playing;
    Console *k = p->step.console;
    seed_twister(&p->noops, (uint32_t)p->seed);
    seed_twister(&p->sticky, (uint32_t)p->seed);
    memcpy(k->screen, g->pictures, sizeof k->screen);
    console_restore(k, g->start);
    seed_twister(&p->chance, MACHINE_SEED);
    for (int i = 0; i < g->loading_draws; i++)
        draw_number(&p->chance);
    p->earlier = 0;
    for (int i = 0; i < g->script_length; i += 2) /* the reset that is part of loading */
        for (int draws = 0; g->script[i] == SCRIPT_STEP && g->repeat_probability > 0 && draws < 2; draws++)
            draw_number(&p->sticky);
}

/* Begin an episode. */
static void begin(Player *p)
{
    const Playing *g = p->playing;
    Console *k = p->step.console;
    if (p->seeded)
        load_game(p);
    p->seeded = 0;
    reset_game(p);
    int noops = g->noops > 0 ? (int)draw_below(&p->noops, (uint32_t)g->noops) : 0;
    noops = g->fire && noops < 1 ? 1 : noops;
    for (int i = 0; i < noops; i++) {
        act_sticky(p, NULL, g->fire && !i, 1.0f, i == noops - 1);
        if (k->state.registers[R_TERMINAL])
            reset_game(p);
    }
    const uint8_t *screen = k->screen[k->state.buffer];
    append(p, screen, screen, 0);
    memset(p->stack, 0, (size_t)(g->images - 1) * g->height * g->width * g->channels);
    p->elapsed = 0;
    p->over = 0;
    p->step.lives = console_lives(k);
}

/* Play a step. */
static void play_frames(Player *p)
{
    const Playing *g = p->playing;
    Step *s = &p->step;
    Console *k = s->console;
    Skipped *skipped = skipping(s->skipped, g->frame_skip, g->maxpool);
    const uint8_t *before = NULL;
    int32_t reward = 0, lives = s->lives, last = g->frame_skip - 1, frame;
    int terminated = 0, truncated = 0;
    for (frame = 0; frame <= last; frame++) {
        int drawn = frame == last || (g->maxpool && frame == last - 1);
        reward += act_sticky(p, skipped, s->chosen, p->strength, drawn);
        p->elapsed++;
        lives = console_lives(k);
        terminated = k->state.registers[R_TERMINAL] || (g->episodic && lives > 0 && lives < s->lives);
        truncated = !terminated && p->elapsed >= g->cap;
        if (terminated || truncated)
            break;
        uint8_t *screen = k->screen[k->state.buffer];
        if (frame == last)
            append(p, screen, before ? before : screen, 0);
        else if (frame == last - 1 && g->maxpool)
            before = k->state.partial ? memcpy(p->merged + MOST_ROWS * WIDTH, screen, (size_t)k->rows * WIDTH) : screen;
    }
    p->over = terminated || truncated;
    if (p->over && before) {
        append(p, before, before, 1);
    } else if (p->over) {
        size_t bytes = (size_t)g->height * g->width * g->channels;
        memmove(p->stack, p->stack + bytes, (size_t)(g->images - 1) * bytes);
    }
    if (p->over && skipped)
        draw_skipped(k, skipped);
    s->terminated = terminated || (g->life_info && lives > 0 && lives < s->lives);
    s->truncated = truncated;
    s->lives = lives;
    s->reward = g->clipped ? (reward > 0) - (reward < 0) : reward;
    s->played = frame > last ? frame : frame + 1;
    s->total += s->played;
}

static size_t stack_bytes(const Playing *g)
{
    return (size_t)g->images * g->height * g->width * g->channels;
}

/* Write what a game shows and gave into its batch. */
static void hand_out(const Player *p)
{
    const Batch *b = p->batch;
    const Step *s = &p->step;
    size_t bytes = stack_bytes(p->playing);
    int frames = s->console->state.frames;
    const int64_t numbers[] = {s->reward, s->lives, p->earlier + frames, frames};
    const int flags[] = {s->terminated != 0, s->truncated != 0, p->ended};
    memcpy(b->observed + p->place * bytes, p->stack, bytes);
    for (int i = 0; i < 4; i++)
        b->numbers[(i + 1) * b->games + p->place] = (int32_t)numbers[i];
    for (int i = 0; i < 3; i++)
        b->flags[i * b->games + p->place] = (uint8_t)flags[i];
}

/* Play a step of the game, or begin an episode where that is due. */
void console_vector_step(Player *p)
{
    const Playing *g = p->playing;
    Step *s = &p->step;
    size_t bytes = stack_bytes(g);
    if (p->restart || (p->over && !g->same_step)) {
        s->reward = s->terminated = s->truncated = p->ended = 0;
        begin(p);
    } else {
        play_frames(p);
        p->ended = s->terminated || s->truncated;
        if (g->same_step && p->ended)
            memcpy(p->batch->final + p->place * bytes, p->stack, bytes);
        if (g->same_step && p->over)
            begin(p);
    }
    p->restart = 0;
    hand_out(p);
}

/* ---- threads --------------------------------------------------------------------------------------------------- */

/* A number that one thread writes and others wait for, on a line of the cache of its own. */
typedef struct {
    _Atomic int64_t value;
    uint8_t rest[128 - sizeof(int64_t)];
} Apart;

/* Threads that play steps in the order in which they are handed over; who waits for some plays too. */
typedef struct {
    Step **steps;                  /* a ring */
    Apart *done;                   /* a step's number and 1 more, once it is played */
    int64_t room;
    uint8_t before[128];
    Apart taken, given;
    _Atomic int sleeping, ending;
    pthread_mutex_t lock;
    pthread_cond_t awake;
    int others;
    pthread_t thread[];
} Crew;

static inline void pause_briefly(int spins)
{
    if (spins % SPINS == SPINS - 1)
        sched_yield();
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Play a step before number `end` that nobody has taken. Returns 0 if there is none. */
static int play_next(Crew *c, int64_t end)
{
    int64_t i = atomic_load(&c->taken.value);
    do {
        if (i >= end || i >= atomic_load(&c->given.value))
            return 0;
    } while (!atomic_compare_exchange_weak(&c->taken.value, &i, i + 1));
    Step *step = c->steps[i % c->room];
    step->play(step);
    atomic_store_explicit(&c->done[i % c->room].value, i + 1, memory_order_release);
    return 1;
}

static void *stay_awake(void *crew)
{
    Crew *c = crew;
    while (!atomic_load(&c->ending)) {
        int spins = 0;
        while (!play_next(c, INT64_MAX) && spins < SPINS)
            pause_briefly(spins++);
        if (spins < SPINS)
            continue;
        pthread_mutex_lock(&c->lock);
        c->sleeping++;
        while (atomic_load(&c->taken.value) >= atomic_load(&c->given.value) && !atomic_load(&c->ending))
            pthread_cond_wait(&c->awake, &c->lock);
        c->sleeping--;
        pthread_mutex_unlock(&c->lock);
    }
    return NULL;
}

static void wake(Crew *c)
{
    if (!atomic_load(&c->sleeping))
        return;
    pthread_mutex_lock(&c->lock);
    pthread_cond_broadcast(&c->awake);
    pthread_mutex_unlock(&c->lock);
}

/* End the threads: the caller alone plays from now on. */
void console_crew_rest(Crew *c)
{
    atomic_store(&c->ending, 1);
    atomic_fetch_add(&c->sleeping, 1);
    wake(c);
    while (c->others)
        pthread_join(c->thread[--c->others], NULL);
}

void console_crew_end(Crew *c)
{
    console_crew_rest(c);
    free(c->steps);
    free(c->done);
    free(c);
}

/* Threads for so many steps at a time, the caller's included. Returns null if there is no memory; fewer if no threads. */
Crew *console_crew(int threads, int room)
{
    Crew *c = calloc(1, sizeof *c + (size_t)threads * sizeof(pthread_t));
    if (!c)
        return NULL;
    c->steps = calloc((size_t)room, sizeof *c->steps);
    c->done = calloc((size_t)room, sizeof *c->done);
    if (!c->steps || !c->done) {
        free(c->steps);
        free(c->done);
        free(c);
        return NULL;
    }
    c->room = room;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->awake, NULL);
    while (c->others < threads - 1 && !pthread_create(&c->thread[c->others], NULL, stay_awake, c))
        c->others++;
    return c;
}

/* Hand over `count` steps of an array whose members are `size` bytes apart: those of these numbers. */
void console_crew_give(Crew *c, uint8_t *steps, int size, const int64_t *which, int count)
{
    int64_t given = atomic_load(&c->given.value);
    for (int i = 0; i < count; i++)
        c->steps[given++ % c->room] = (Step *)(steps + (size_t)which[i] * (size_t)size);
    atomic_store(&c->given.value, given);
    wake(c);
}

/* Wait until the `count` steps before number `end` are played. */
void console_crew_wait(Crew *c, int64_t end, int count)
{
    while (play_next(c, end))
        ;
    for (int64_t i = end > count ? end - count : 0; i < end; i++)
        for (int spins = 0; atomic_load_explicit(&c->done[i % c->room].value, memory_order_acquire) <= i; spins++)
            pause_briefly(spins);
}

/* Wait until all that were handed over are played; returns how many that were. */
int64_t console_crew_settle(Crew *c)
{
    int64_t end = atomic_load(&c->given.value);
    console_crew_wait(c, end, (int)c->room);
    return end;
}

/* Hand over steps and wait for them: in one call, so that Python raises no interrupt between. */
void console_crew_play(Crew *c, uint8_t *steps, int size, const int64_t *which, int count)
{
    console_crew_give(c, steps, size, which, count);
    console_crew_settle(c);
}

/* Let games go into the next columns of a batch. */
static void place(Batch *b, Player *players, const int64_t *which, int count)
{
    for (int i = 0; i < count; i++) {
        b->numbers[b->taken] = (int32_t)which[i];
        players[which[i]].batch = b;
        players[which[i]].place = b->taken++;
    }
}

/* Hand over games for a batch; under actions, unless there are none because episodes begin. */
void console_vector_give(Crew *c, Batch *b, Player *players, const int64_t *which, int count, const int64_t *actions,
                         const float *strengths)
{
    place(b, players, which, count);
    for (int i = 0; actions && i < count; i++) {
        players[which[i]].step.chosen = (int32_t)actions[i];
        players[which[i]].strength = strengths[i];
    }
    console_crew_give(c, (uint8_t *)players, sizeof *players, which, count);
}

/* Fill a batch with games as they stand. */
void console_vector_show(Batch *b, Player *players, const int64_t *which, int count)
{
    place(b, players, which, count);
    for (int i = 0; i < count; i++)
        hand_out(players + which[i]);
}
