/* Boards, frames and games; see core.h. All other parts are included here, so that the compiler sees them at once. */

#include "core.h"

#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "masks.c"
#include "stretches.c"
#include "lines.c"
#include "beam.c"
#include "picture.c"
#include "device.c"
#include "processor.c"
#include "rules.c"

/* ---- controllers ----------------------------------------------------------------------------------------------- */

enum { UP = 1, RIGHT = 2, LEFT = 4, DOWN = 8, FIRE = 16, STEP = 23000 };

/* Cycles until a paddle at a position (its resistance) is charged. */
static int32_t charge_time(int32_t position)
{
    return position ? (int32_t)(1.6 * position * 0.01e-6 * 1.19e6) : 0;
}

static void hold_paddles(Console *k, unsigned keys, int placed)
{
    State *s = &k->state;
    int first = k->paddles_swapped ? 1 : 0;
    s->paddle[0] += keys & LEFT ? STEP : keys & RIGHT ? -STEP : 0;
    if (s->paddle[0] < k->paddle_least)
        s->paddle[0] = k->paddle_least;
    if (s->paddle[0] > k->paddle_most)
        s->paddle[0] = k->paddle_most;
    k->charge[first] = placed ? charge_time(s->paddle[0]) : 0;
    k->charge[1 - first] = placed ? charge_time(s->paddle[1]) : 0;
    k->charge[2] = k->charge[3] = k->paddle_pair ? 0 : -1;
    k->stick = keys & FIRE ? (first ? 0xBF : 0x7F) : 0xFF;
    k->fire[0] = k->fire[1] = 0x80;
}

static void hold_stick(Console *k, unsigned keys)
{
    unsigned port = k->sticks_swapped ? 1 : 0, shift = port ? 0 : 4;
    unsigned pins = (keys & UP ? 1u : 0) | (keys & DOWN ? 2u : 0) | (keys & LEFT ? 4u : 0) | (keys & RIGHT ? 8u : 0);
    k->stick = (uint8_t)(0xFF & ~(pins << shift));
    k->fire[port] = keys & FIRE ? 0 : 0x80;
    k->fire[1 - port] = 0x80;
    for (int i = 0; i < 4; i++)
        k->charge[i] = -1;
}

/* Hold what an action holds; `switches` in place of the game's difficulty, if not negative: then paddles rest at 0. */
static void hold(Console *k, int action, int switches)
{
    static const uint8_t KEYS[18] = {0, FIRE, UP, RIGHT, LEFT, DOWN, UP | RIGHT, UP | LEFT, DOWN | RIGHT, DOWN | LEFT,
                                     FIRE | UP, FIRE | RIGHT, FIRE | LEFT, FIRE | DOWN, FIRE | UP | RIGHT,
                                     FIRE | UP | LEFT, FIRE | DOWN | RIGHT, FIRE | DOWN | LEFT};
    unsigned keys = action >= 0 && action < 18 ? KEYS[action] : 0;
    unsigned difficulty = (unsigned)(switches < 0 ? k->state.difficulty : switches) & 3;
    k->switches = (uint8_t)(0x3F | difficulty << 6);
    if (action == RESET_SWITCH)
        k->switches &= 0xFE;
    if (action == SELECT_SWITCH)
        k->switches &= 0xFD;
    if (k->paddles)
        hold_paddles(k, keys, switches < 0);
    else
        hold_stick(k, keys);
}

#define STORED(r) store_##r,
static const Core CORE = {interpret, read_device, read_picture, write_device, write_picture, {EACH(STORED)}};

/* ---- frames ---------------------------------------------------------------------------------------------------- */

static void start_frame(Console *k)
{
    State *s = &k->state;
    int32_t cycles = s->cycles, clocks = 3 * cycles, passed = clock_of(s);
    s->odd_frame = passed / LINE_CLOCKS & 1;
    s->buffer ^= 1;
    s->origin = -(passed % LINE_CLOCKS);
    s->timer_set -= cycles;
    s->timer_read -= cycles;
    s->dumped -= cycles;
    s->last_hmove -= clocks;
    if (s->vsync_end != NEVER)
        s->vsync_end -= clocks;
    s->dpc.updated -= cycles;
    s->cycles = 0;
    s->drawn = s->window_start = k->first_row * LINE_CLOCKS;
    s->touched = 0;
    s->bar = s->bar != 0;
    s->grayed = 0;
    begin_epoch(k);
    if (k->pal)
        for (int r = COLUP0; r <= COLUBK; r++)
            s->reg[r] = (uint8_t)((s->reg[r] & 0xFE) | s->odd_frame);
}

/* Show the rest of a frame that a dead processor never ends in gray. */
static void gray_rest(Console *k)
{
    State *s = &k->state;
    int32_t row = clock_of(s) / LINE_CLOCKS - k->first_row;
    if (s->grayed)
        return;
    s->grayed = 1;
    if (!k->drawing || row >= k->rows)
        return;
    uint8_t *screen = k->screen[s->buffer];
    for (int32_t i = WIDTH * (row < 0 ? 0 : row); i < WIDTH * k->rows; i++)
        screen[i] = (screen[i] & 15) >> 1;
}

/* Emulate until the program ends the frame, or for the most instructions. */
static void frame(Console *k)
{
    State *s = &k->state;
    if (!s->partial)
        start_frame(k);
    resume(k);
    k->stop = 0;
    s->partial = 1;
    if (!s->dead && k->program)
        k->program->run(k, &CORE);
    else if (!s->dead)
        interpret(k, MOST_INSTRUCTIONS);
    k->cut += !k->stop || s->drawn < (k->first_row + k->rows) * LINE_CLOCKS;
    if (k->stop) {
        s->partial = 0;
    } else {
        advance(k, s->touched);
        s->touched = 0;
        settle(k);
        gray_rest(k);
    }
}

/* ---- what Python calls ----------------------------------------------------------------------------------------- */

size_t console_size(void)
{
    return sizeof(Console);
}

size_t console_state_size(void)
{
    return sizeof(State);
}

size_t console_cartridge_size(void)
{
    return sizeof(Cartridge);
}

/* Make a cartridge. Returns 0 if something is out of bounds. */
int console_cartridge(Cartridge *c, const Setup *setup, const uint8_t *rom, int size, const int32_t *rules, int length)
{
    memset(c, 0, sizeof *c);
    if (setup->kind < CART_2K || setup->kind > CART_DPC || size < 1 || length < 0 || length > MOST_CODE ||
        setup->first_row < 0 || setup->first_row > 100 || setup->rows < 1 || setup->rows > MOST_ROWS)
        return 0;
    c->setup = *setup;
    c->checksum = UINT64_C(0xCBF29CE484222325);
    for (int i = 0; i < size; i++)
        c->checksum = (c->checksum ^ rom[i]) * UINT64_C(0x100000001B3);
    if (setup->kind == CART_DPC) {
        memcpy(c->rom, rom, size < 8192 ? (size_t)size : 8192);
        if (size > 8192)
            memcpy(c->display, rom + 8192, size - 8192 < DISPLAY_BYTES ? (size_t)size - 8192 : DISPLAY_BYTES);
    } else {
        memcpy(c->rom, rom, size < ROM_BYTES ? (size_t)size : ROM_BYTES);
        if (setup->kind == CART_2K)
            memcpy(c->rom + 2048, c->rom, 2048);
    }
    c->code_length = length;
    memcpy(c->rules, rules, (size_t)length * sizeof *rules);
    return 1;
}

/* Put a cartridge in, which must stay as long as the console. */
void console_insert(Console *k, const Cartridge *c)
{
    const Setup *setup = &c->setup;
    memset(k, 0, sizeof *k);
    k->cartridge = c;
    k->rom = c->rom;
    k->kind = setup->kind;
    k->first_row = setup->first_row;
    k->bars = setup->bars;
    k->paddles = setup->paddles;
    k->paddle_pair = setup->paddle_pair;
    k->paddles_swapped = setup->paddles_swapped;
    k->sticks_swapped = setup->sticks_swapped;
    k->paddle_least = setup->paddle_least;
    k->paddle_most = setup->paddle_most;
    k->illegal = (uint32_t)setup->illegal;
    k->lives_hidden = setup->lives_hidden;
    console_set_picture(k, setup->rows, setup->pal);
    map_banks(k);
}

/* Play by a translation from now on, or by the interpreter (null). Returns 0 if it is of another cartridge. */
int console_use(Console *k, const Program *program)
{
    const Cartridge *c = k->cartridge;
    if (program && program->kind >= 0 && (program->kind != c->setup.kind || program->checksum != c->checksum))
        return 0;
    k->program = program;
    return 1;
}

/* Set the rows that are shown, and the television standard. */
void console_set_picture(Console *k, int rows, int pal)
{
    k->rows = rows < 1 ? 1 : rows > MOST_ROWS ? MOST_ROWS : rows;
    k->pal = pal;
    k->last_line = pal ? 342 : 290;
}

void console_power_on(Console *k, const uint8_t *ram)
{
    State *s = &k->state;
    memset(s, 0, sizeof *s);
    memcpy(s->ram, ram, sizeof s->ram);
    s->dpc.random = 1;
    for (int i = 0; i < 2; i++)
        s->paddle[i] = (k->paddle_least + k->paddle_most) / 2;
    reset_picture(k);
}

/* Reset the whole machine; memory is kept. `draw` and `cart_ram` are what chance gives. */
void console_reset(Console *k, uint32_t draw, const uint8_t *cart_ram)
{
    State *s = &k->state;
    s->cycles = 0;
    s->timer = 25 + (int32_t)(draw % 75);
    s->timer_shift = 6;
    s->timer_set = s->timer_read = 0;
    s->timer_marked = s->ddra = 0;
    reset_picture(k);
    reset_cartridge(k, k->kind == CART_F8SC || k->kind == CART_F6SC ? cart_ram : NULL);
    s->a = s->x = s->y = s->carry = s->overflow = s->decimal = s->interrupt = s->dead = 0;
    s->nz = 1;
    s->sp = 0xFF;
    unsigned low = read_device(k, 0xFFFC), high = read_device(k, 0xFFFD);
    s->bus = (uint8_t)high;
    s->pc = (uint16_t)(high << 8 | low);
    for (int i = 0; i < 2; i++)
        s->paddle[i] = (k->paddle_least + k->paddle_most) / 2;
    s->frames = 0;
}

/* Set the rules' registers to where a game begins; NEVER leaves one as it is. */
void console_begin(Console *k, const int32_t *at_reset, int count)
{
    for (int i = 0; i < count && i < REGISTERS; i++)
        if (at_reset[i] != NEVER)
            k->state.registers[i] = at_reset[i];
}

/* Emulate one frame of a reset; returns the line on which it ended. */
int console_frame(Console *k, int action, int switches, int drawing, int ruled)
{
    hold(k, action, switches);
    k->drawing = drawing;
    frame(k);
    if (ruled)
        evaluate(k, k->cartridge->rules, k->cartridge->code_length);
    return clock_of(&k->state) / LINE_CLOCKS;
}

static int act(Console *k, int action, int drawing)
{
    int32_t *registers = k->state.registers;
    if (registers[R_TERMINAL])
        return 0;
    if (action < 0 || action > 17 || k->illegal >> action & 1)
        action = 0;
    hold(k, action, -1);
    k->drawing = drawing;
    frame(k);
    evaluate(k, k->cartridge->rules, k->cartridge->code_length);
    k->state.frames++;
    return registers[R_REWARD];
}

/* Emulate one frame, none if the game is over; returns its reward. */
int console_act(Console *k, int action)
{
    return act(k, action, 1);
}

/* The same in a frame whose screen nobody asks for. */
int console_act_unseen(Console *k, int action)
{
    return act(k, action, 0);
}

/* Play actions until they or the game end; the last `seen` of each four frames are drawn. Returns the reward. */
int64_t console_play(Console *k, const uint8_t *actions, int count, int seen)
{
    int64_t reward = 0;
    for (int i = 0; i < count && !k->state.registers[R_TERMINAL]; i++)
        reward += act(k, actions[i], (i & 3) >= 4 - seen);
    return reward;
}

int console_lives(const Console *k)
{
    const int32_t *registers = k->state.registers;
    return k->lives_hidden && registers[R_TERMINAL] ? 0 : registers[R_LIVES];
}

/* Return the collisions so far: of register r of the chip, bit 7 is bit 2r, and bit 6 bit 2r + 1. */
int console_collisions(Console *k)
{
    find_all_collisions(k);
    return k->state.collisions;
}

int console_evaluate(Console *k, const int32_t *program, int length)
{
    return evaluate(k, program, length);
}

/* How far a finished picture was drawn decides nothing, and is left out: states are equal where play goes on alike. */
void console_save(Console *k, void *state)
{
    State *s = &k->state;
    find_all_collisions(k);
    if (!s->partial)
        s->drawn = s->window_start = s->touched = s->grayed = 0;
    memcpy(state, s, sizeof *s);
}

/* Whatever bytes a state holds, what is used as an index is within bounds after this. */
void console_restore(Console *k, const void *state)
{
    State *s = &k->state;
    memcpy(s, state, sizeof *s);
    s->buffer &= 1;
    s->timer_shift &= 15;
    s->star_count &= 3;
    s->bar &= 3;
    for (int i = 0; i < 5; i++)
        s->position[i] %= WIDTH;
    for (int i = 0; i < 8; i++)
        s->dpc.counter[i] &= 0x7FF;
    if (!(s->dpc.fraction >= 0 && s->dpc.fraction < 1))
        s->dpc.fraction = 0;
    map_banks(k);
    forget_stretches(k);
}

/* Both pictures: frames that are cut short show what an earlier one left. */
uint8_t *console_pictures(Console *k)
{
    return k->screen[0];
}

/* Frames so far that ended before their picture did, or were not ended by the program. */
int console_cut(const Console *k)
{
    return k->cut;
}

/* The 128 bytes of memory. */
uint8_t *console_memory(Console *k)
{
    return k->state.ram;
}

/* The rules' registers, then mode, difficulty and paddles, frames since the reset, and which picture was drawn last. */
int32_t *console_numbers(Console *k)
{
    return k->state.registers;
}
