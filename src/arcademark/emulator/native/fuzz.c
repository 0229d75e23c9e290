/* Plays damaged cartridges: `make fuzz-console` builds it with the compiler's sanitizers.
 *
 *   fuzz ROUNDS [FIRST [CARTRIDGE]]
 *
 * Each round makes a cartridge of chance (noise, or noise that looks a little like a program), puts it in as each kind
 * there is, and plays it under rules, states and actions of chance. A fault ends it with the sanitizer's report. With a
 * file, three of four rounds play that cartridge: the one that is translated, where the core is a translation.
 */
#include "steps.c"

#include <stdio.h>
#include <stdlib.h>

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

/* A step of chance, its screens in memory that is just as large as they are. */
static void play_step(Console *k, State *state)
{
    static Shrink shrink;
    static Skipped skipped;
    static uint8_t pairs[128 * 128], old[2 * SCREEN_BYTES], stack[4 * IMAGE * IMAGE];
    size_t bytes = (size_t)k->rows * WIDTH;
    uint8_t *before = malloc(bytes), *newest = malloc(bytes), *out = malloc(sizeof stack), *repeats = malloc(4);
    Observation observation = {&shrink, pairs, old, stack, 1 + (int)(any_number() & 1), 1 + (int)(any_number() & 3)};
    for (int i = 0; i < IMAGE; i++)
        shrink.left[i] = i * 40 / 21 > WIDTH - TAPS ? WIDTH - TAPS : i * 40 / 21;
    for (int i = 0; i <= WORDS; i++) {
        shrink.first[i] = i * 21 / 5;
        shrink.last[i] = (i * 21 + 4) / 5;
    }
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
    memcpy(fitting, rom, (size_t)size);
    for (int i = 0; i < length; i++)
        rules[i] = any_number() & 1 ? (int32_t)any_number() : (int32_t)(any_number() % 40);
    Setup setup = {.kind = (int32_t)(any_number() % 11) - 1, .first_row = (int32_t)(any_number() % 120) - 5,
                   .rows = (int32_t)(any_number() % 300) - 5, .bars = any_number() & 1, .pal = any_number() & 1,
                   .paddles = any_number() % 4 == 0, .paddle_least = 27450, .paddle_most = 790196};
#ifdef CARTRIDGE_KIND
    if (chosen)
        setup.kind = CARTRIDGE_KIND;
#endif
    fill(ram, sizeof ram);
    without_stops(ram, sizeof ram);
    if (console_insert(k, &setup, fitting, size, rules, length)) {
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
            console_save(k, state);
            alive += !k->state.dead;
        }
    }
    free(fitting);
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
