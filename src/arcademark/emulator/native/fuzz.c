/* Plays damaged cartridges: `make fuzz-console` builds it with the compiler's sanitizers.
 *
 *   fuzz ROUNDS [FIRST [CARTRIDGE]]
 *
 * Each round makes a cartridge of chance (noise, or noise that looks a little like a program), puts it in as each kind
 * there is, and plays it under rules, states and actions of chance. A fault ends it with the sanitizer's report. With a
 * file, three of four rounds play that cartridge: by its translation, where that is compiled with this (-DWITH_PROGRAM).
 */
#include "steps.c"

#include <stdio.h>
#include <stdlib.h>

#ifdef WITH_PROGRAM
extern const Program console_program;
#endif

static uint64_t chance;
static uint8_t given[20000];
static int given_size;
static long alive; /* frames after which the processor still ran */

static uint32_t any_number(void)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (uint32_t)(chance >> 32);
}

static void fill(uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)any_number();
}

/* Stores to the picture chip and waits, so that programs do more than stop. */
static void like_a_program(uint8_t *rom, int size)
{
    for (int i = 0; i + 4 < size; i += 4) {
        uint32_t kind = any_number() % 8;
        if (kind > 4)
            continue;
        rom[i] = kind ? 0xA9 : 0xA5;
        rom[i + 2] = kind < 4 ? 0x85 : 0x95;
        rom[i + 3] = (uint8_t)(any_number() & (kind == 3 ? 0xFF : 0x3F));
    }
}

/* What stops the processor ends a round too soon. */
static void without_stops(uint8_t *bytes, int count)
{
    for (int i = 0; i < count; i++)
        if ((bytes[i] & 0x1F) == 0x12 || ((bytes[i] & 0x1F) == 2 && bytes[i] < 0x80))
            bytes[i] = 0xEA;
}

static void fill_shrink(Shrink *t)
{
    for (int i = 0; i < IMAGE; i++)
        t->left[i] = i * 40 / 21 > WIDTH - TAPS ? WIDTH - TAPS : i * 40 / 21;
    for (int i = 0; i <= WORDS; i++) {
        t->first[i] = i * 21 / 5;
        t->last[i] = (i * 21 + 4) / 5;
    }
}

/* A step of chance, its screens in memory that is just as large as they are. */
static void play_step(Console *k, State *state)
{
    static Shrink shrink;
    static Skipped skipped;
    static uint8_t pairs[128 * 128], old[2 * SCREEN_BYTES], stack[4 * IMAGE * IMAGE];
    size_t bytes = (size_t)k->rows * WIDTH;
    uint8_t *before = malloc(bytes), *newest = malloc(bytes), *out = malloc(sizeof stack), *repeats = malloc(4);
    Observation observation = {&shrink, pairs, old, stack, 1 + (int)(any_number() & 1), 1 + (int)(any_number() & 3)};
    fill_shrink(&shrink);
    fill(pairs, sizeof pairs);
    fill(repeats, 4);
    Step step = {.console = k, .play = console_step, .repeats = repeats, .before = before, .newest = newest};
    step.observation = any_number() & 1 ? &observation : NULL;
    step.held = any_number() & 1 ? state : NULL;
    step.out = any_number() & 1 ? out : NULL;
    step.frames = any_number() % 4;
    step.cap = any_number() % 8;
    step.chosen = (int32_t)any_number();
    step.frame_skip = (int32_t)(any_number() % 6) - 1;
    step.before_at = (int32_t)(any_number() % 6) - 1;
    step.newest_at = any_number() & 1 ? step.before_at + 1 : (int32_t)(any_number() % 6) - 1;
    step.last_shown = any_number() & 1;
    if (any_number() & 1) {
        step.skipped = &skipped;
        step.newest_at = step.frame_skip - 1;
        step.before_at = step.frame_skip - 2;
    }
    step.repeat_count = any_number() & 1 ? 4 : 0;
    step.next_repeat = (int32_t)(any_number() % 8) - 2;
    step.life_ends = any_number() & 1;
    console_step(&step);
    console_redraw(&step);
    free(before);
    free(newest);
    free(out);
    free(repeats);
}

/* Memory that is just as large as was asked for, until `free_rooms`. */
static void *rooms[64];
static int room_count;

static void *room(size_t bytes)
{
    return rooms[room_count++] = malloc(bytes);
}

static uint8_t *filled_room(size_t bytes)
{
    uint8_t *made = room(bytes);
    fill(made, bytes);
    return made;
}

static void free_rooms(void)
{
    while (room_count)
        free(rooms[--room_count]);
}

/* Indices below a bound. */
static int32_t *any_indices(int count, int bound)
{
    int32_t *indices = room((size_t)count * sizeof *indices);
    for (int i = 0; i < count; i++)
        indices[i] = (int32_t)(any_number() % (unsigned)bound);
    return indices;
}

static float *any_weights(int count)
{
    float *weights = room((size_t)count * sizeof *weights);
    for (int i = 0; i < count; i++)
        weights[i] = (float)(any_number() % 64) / 192;
    return weights;
}

static void begin_player(Player *player, Console *k, const Playing *g, const Batch *batch, int usual)
{
    static Shrink shrink;
    fill_shrink(&shrink);
    *player = (Player){.playing = g, .batch = batch, .restart = 1, .seeded = 1};
    player->stack = room((size_t)g->images * g->height * g->width * g->channels);
    player->pooled = room((size_t)k->rows * WIDTH * g->channels);
    player->shrinking = room((size_t)k->rows * g->width * g->channels * sizeof *player->shrinking);
    player->merged = room(2 * MOST_ROWS * WIDTH);
    player->step = (Step){.console = k, .play = (void (*)(Step *))console_vector_step, .frame_skip = g->frame_skip};
    player->step.skipped = any_number() & 1 ? room(sizeof(Skipped)) : NULL;
    if (usual) {
        player->step.observation = room(sizeof(Observation));
        *player->step.observation = (Observation){&shrink, filled_room(128 * 128), filled_room(2 * SCREEN_BYTES),
                                                  player->stack, 1 + (int)(any_number() & 1), g->images};
    }
}

/* Steps of a vector of one game, or of two by two threads, under settings and a reset of chance, with and without the
 * usual observation. */
static void play_vector(Console *k, const State *start)
{
    static const int OPS[] = {0, 1, 17, RESET_SWITCH, SELECT_SWITCH, SCRIPT_BEGIN, SCRIPT_PRESS, SCRIPT_UNTIL, SCRIPT_STEP};
    static const int32_t BEGIN[4] = {0, 3, NEVER, 0}, REACHED[] = {OP_NUMBER, 1};
    int usual = (size_t)k->rows * WIDTH == SCREEN_BYTES && any_number() & 1, n = usual || any_number() & 1 ? 1 : 3;
    int height = usual ? IMAGE : 1 + (int)(any_number() % 90), width = usual ? IMAGE : 1 + (int)(any_number() % 90);
    int images = 1 + (int)(any_number() & 3), terms = 1 + (int)(any_number() % 3), blocks = !usual && any_number() & 1;
    int games = any_number() & 3 ? 1 : 2;
    int32_t script[8];
    for (int i = 0; i < 8; i += 2) {
        script[i] = OPS[any_number() % (sizeof OPS / sizeof *OPS)];
        script[i + 1] = (int32_t)(any_number() % 3);
    }
    size_t bytes = (size_t)images * height * width * n * games;
    Playing playing = {.script = script, .script_length = 8, .begin = BEGIN, .begin_count = 4, .reached = REACHED,
                       .reached_length = 2, .start = start, .pictures = filled_room(sizeof k->screen),
                       .colours = room(256 * n), .row = any_indices(terms * height, k->rows),
                       .column = any_indices(terms * width, WIDTH), .row_weight = any_weights(terms * height),
                       .column_weight = any_weights(terms * width), .cap = any_number() % 40,
                       .repeat_probability = any_number() & 1 ? 0.25 : 0, .loading_draws = 3, .channels = n,
                       .images = images, .height = height, .width = width, .row_terms = terms, .column_terms = terms,
                       .frame_skip = 1 + (int)(any_number() % 5), .noops = (int)(any_number() % 3)};
    fill((uint8_t *)playing.colours, 256 * n);
    playing.cart_ram = any_number() & 1;
    playing.all_drawn = any_number() & 1;
    playing.maxpool = playing.frame_skip > 1 && any_number() & 1;
    playing.fire = any_number() & 1;
    playing.episodic = any_number() & 1;
    playing.life_info = any_number() & 1;
    playing.clipped = any_number() & 1;
    playing.same_step = any_number() & 1;
    if (blocks && k->rows / height) {
        playing.block_height = k->rows / height;
        playing.block_width = WIDTH / width;
    }
    Batch batch = {room(bytes), room(bytes), room(5 * games * sizeof(int32_t)), room(3 * games), games, 0};
    Player *players = room(games * sizeof *players);
    Console *second = room(sizeof *second);
    memcpy(second, k, sizeof *k);
    console_restore(second, start);
    for (int i = 0; i < games; i++)
        begin_player(players + i, i ? second : k, &playing, &batch, usual);
    Crew *crew = games > 1 ? console_crew(2, games) : NULL;
    for (int i = 0; i < 4; i++) {
        int64_t which[] = {0, 1}, actions[2];
        float strengths[2];
        for (int j = 0; j < games; j++) {
            actions[j] = players[j].step.chosen = (int32_t)(any_number() % 20) - 1;
            strengths[j] = players[j].strength = (float)(any_number() % 5) / 2 - 1;
        }
        batch.taken = 0;
        if (crew) {
            console_vector_give(crew, &batch, players, which, games, actions, strengths);
            console_crew_wait(crew, console_crew_settle(crew), games);
            batch.taken = 0;
            console_vector_show(&batch, players, which, games);
        } else {
            for (int j = 0; j < games; j++)
                console_vector_step(players + j);
        }
    }
    if (crew)
        console_crew_end(crew);
    free_rooms();
}

static uint32_t any_draw(void *nothing)
{
    (void)nothing;
    return any_number();
}

/* Steps and beginnings of a game as EnvPool has them, with and without the usual observation. */
static void play_pool(Console *k)
{
    static Shrink shrink;
    static Skipped skipped;
    static State held;
    int usual = (size_t)k->rows * WIDTH == SCREEN_BYTES && any_number() & 1, images = 1 + (int)(any_number() & 3);
    if ((size_t)k->rows * WIDTH < SCREEN_BYTES)
        return;
    uint8_t *before = malloc(SCREEN_BYTES), *newest = malloc(SCREEN_BYTES), *memory = malloc(sizeof k->state.ram);
    uint8_t *old = malloc(2 * SCREEN_BYTES), *pairs = malloc(128 * 128), *stack = malloc((size_t)images * IMAGE * IMAGE);
    fill(old, 2 * SCREEN_BYTES);
    fill(pairs, 128 * 128);
    fill_shrink(&shrink);
    Observation observation = {&shrink, pairs, old, stack, 1 + (int)(any_number() & 1), images};
    Turn turn = {.step = {.console = k, .frame_skip = 1}, .draw = any_draw, .repeat_below = any_number() & 1 ? 1 << 30 : 0};
    turn.step.held = any_number() & 1 ? &held : NULL;
    Pooled game = {.turn = &turn, .memory = memory, .limit = 5, .fire = any_number() & 1, .episodic = any_number() & 1};
    game.step = (Step){.before = before, .newest = newest, .frame_skip = 1 + (int)(any_number() % 5)};
    game.step.observation = usual ? &observation : NULL;
    game.step.skipped = any_number() & 1 ? &skipped : NULL;
    for (int i = 0; i < 6; i++) {
        game.begins = game.fresh = !i || !(any_number() & 3);
        game.noops = (int32_t)(any_number() % 3);
        game.step.chosen = (int32_t)(any_number() % 18);
        console_pooled_step(&game);
    }
    console_redraw(&turn.step);
    void *all[] = {before, newest, memory, old, pairs, stack};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void play_round(Console *k, State *state)
{
    static const int SIZES[] = {1, 2048, 4096, 8192, 10495, 16384, 20000};
    static uint8_t rom[20000];
    int32_t rules[64];
    uint8_t ram[128];
    int size = SIZES[any_number() % 7], length = (int)(any_number() % 64);
    fill(rom, sizeof rom);
    if (any_number() & 3)
        like_a_program(rom, size);
    if (any_number() & 7)
        without_stops(rom, size);
    int chosen = given_size && any_number() & 3;
    if (chosen) {
        size = given_size;
        memcpy(rom, given, sizeof rom);
    }
    uint8_t *fitting = malloc((size_t)size);
    Cartridge *cartridge = malloc(sizeof *cartridge);
    memcpy(fitting, rom, (size_t)size);
    for (int i = 0; i < length; i++)
        rules[i] = any_number() & 1 ? (int32_t)any_number() : (int32_t)(any_number() % 40);
    Setup setup = {.kind = (int32_t)(any_number() % 11) - 1, .first_row = (int32_t)(any_number() % 120) - 5,
                   .rows = (int32_t)(any_number() % 300) - 5, .bars = any_number() & 1, .pal = any_number() & 1,
                   .paddles = any_number() % 4 == 0, .paddle_least = 27450, .paddle_most = 790196};
#ifdef WITH_PROGRAM
    if (chosen)
        setup.kind = console_program.kind;
#endif
    fill(ram, sizeof ram);
    without_stops(ram, sizeof ram);
    if (console_cartridge(cartridge, &setup, fitting, size, rules, length)) {
        console_insert(k, cartridge);
#ifdef WITH_PROGRAM
        console_use(k, &console_program);
#endif
        console_power_on(k, ram);
        for (int i = 0; i < 12; i++) {
            if (any_number() % 4 == 0)
                console_reset(k, any_number(), ram);
            if (any_number() % 8 == 0) {
                fill((uint8_t *)state, sizeof *state);
                console_restore(k, state);
            }
            console_frame(k, (int)(any_number() % 42), -1, (int)(any_number() & 1), 0);
            k->state.registers[R_TERMINAL] = 0;
            console_act(k, (int)(any_number() % 20) - 1);
            play_step(k, state);
            if (any_number() % 8 == 0)
                console_collisions(k);
            console_save(k, state);
            if (any_number() % 16 == 0)
                play_vector(k, state);
            if (any_number() % 8 == 0)
                play_pool(k);
            alive += !k->state.dead;
        }
    }
    free(fitting);
    free(cartridge);
}

int main(int count, char **words)
{
    long rounds = count > 1 ? atol(words[1]) : 1000, first = count > 2 ? atol(words[2]) : 1;
    FILE *file = count > 3 ? fopen(words[3], "rb") : NULL;
    if (file) {
        given_size = (int)fread(given, 1, sizeof given, file);
        fclose(file);
    }
    Console *k = malloc(sizeof *k);
    State *state = malloc(sizeof *state);
    for (long i = first; i < first + rounds; i++) {
        chance = UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)i;
        play_round(k, state);
    }
    free(state);
    free(k);
    printf("%ld damaged cartridges played, %ld frames to their end\n", rounds, alive);
    return 0;
}
