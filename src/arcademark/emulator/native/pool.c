/* Games played as EnvPool plays them: steps, and episodes that begin. Included by steps.c.
 *
 * `Pooled` is read and written by Python too (`ale/envpool.py`), which resets games and keeps alive what is pointed to.
 */

enum { FIRST_STEP, MID_STEP, LAST_STEP };

/* A game. Of its step these are used: play, observation or null, before, newest, skipped or null, chosen, frame_skip,
 * and what the step gave. Without an observation, both screens of the newest image go to `before` and `newest`. */
typedef struct {
    Step step;
    Turn *turn;
    uint8_t *memory;               /* where its memory goes */
    int32_t begins;                /* an episode begins, in place of a step; remains 1 where the game is to be reset */
    int32_t noops, fire, fresh;    /* no-ops that are left, whether FIRE follows, and whether older images are made anew */
    int32_t episodic, fading;      /* whether a lost life ends an episode; or leaves a discount of 0 */
    int32_t limit, elapsed;        /* steps */
    int32_t ended, kind;
    float discount;
} Pooled;

size_t console_pooled_size(void)
{
    return sizeof(Pooled);
}

static void show_pooled(Pooled *p, const uint8_t *newest, const uint8_t *before)
{
    Step *s = &p->step;
    if (s->observation) {
        console_push(s->observation, newest, before);
        return;
    }
    memmove(s->newest, newest, SCREEN_BYTES);
    memmove(s->before, before, SCREEN_BYTES);
}

/* Play what comes before an episode's first observation. Returns 0 where the game is to be reset meanwhile. */
static int begin_pooled(Pooled *p)
{
    Step *s = &p->step, *game = &p->turn->step;
    Console *k = game->console;
    while (p->noops > 0) {
        p->noops--;
        turn_frame(p->turn, NULL, 0, 1.0f, !p->noops && !p->fire);
        if (game->terminated)
            return 0;
    }
    if (p->fire)
        turn_frame(p->turn, NULL, 1, 1.0f, 1);
    console_redraw(game);
    show_pooled(p, k->screen[k->state.buffer], k->screen[k->state.buffer]);
    uint8_t *stack = s->observation ? s->observation->stack : NULL;
    for (int i = 0; stack && p->fresh && i < s->observation->images - 1; i++)
        memcpy(stack + i * IMAGE * IMAGE, stack + (s->observation->images - 1) * IMAGE * IMAGE, IMAGE * IMAGE);
    s->reward = p->begins = p->ended = 0;
    p->kind = FIRST_STEP;
    p->discount = 1.0f;
    return 1;
}

static void play_pooled(Pooled *p)
{
    Step *s = &p->step, *game = &p->turn->step;
    Console *k = game->console;
    Skipped *skipped = skipping(game->held ? NULL : s->skipped, s->frame_skip, 1);
    const uint8_t *newest = NULL, *before = NULL;
    s->reward = 0;
    for (int left = s->frame_skip - 1; left >= 0 && !game->terminated; left--) {
        s->reward += turn_frame(p->turn, skipped, s->chosen, 1.0f, left < 2);
        newest = left < 2 ? k->screen[k->state.buffer] : NULL;
        if (left == 1 && k->state.partial) /* the next frame may be drawn over it */
            newest = memcpy(s->before, newest, SCREEN_BYTES);
        if (!before)
            before = newest;
    }
    if (skipped && game->terminated)
        draw_skipped(k, skipped);
    const Observation *o = s->observation;
    if (newest)
        show_pooled(p, newest, before);
    else if (o)
        show_pooled(p, o->old, o->old + (size_t)(o->screens - 1) * SCREEN_BYTES);
    p->elapsed++;
    int over = game->terminated || p->elapsed >= p->limit;
    p->ended = over || (p->episodic && 0 < game->lives && game->lives < s->lives);
    p->kind = p->ended ? LAST_STEP : MID_STEP;
    p->discount = p->ended || (p->fading && game->lives != s->lives) ? 0.0f : 1.0f;
}

/* Play a step of the game, or begin an episode where that is due. */
void console_pooled_step(Pooled *p)
{
    const Step *game = &p->turn->step;
    if (!p->begins)
        play_pooled(p);
    else if (!begin_pooled(p))
        return;
    p->step.lives = game->lives;
    p->step.terminated = game->terminated;
    memcpy(p->memory, game->console->state.ram, sizeof game->console->state.ram);
}
