/* The processor's part of a translated cartridge, compiled apart from the core, whose functions it is handed (`Core`).
 *
 * Each instruction that was found in the cartridge stands in `blocks.inc`, as the interpreter's own text of it with the
 * operand a constant, under a label a block. Whatever is not there is interpreted, an instruction at a time. What
 * translate.py knows of the cartridge stands before this text: FLAT_START, FLAT_SPAN, LONGEST, ROM, CARTRIDGE_KIND and
 * CARTRIDGE_SUM; or TRACED, of any cartridge.
 */
#define TRANSLATED
#include "core.h"

#include <string.h>

#include "masks.c"
#include "stretches.c"
#include "beam.c"
#include "processor.c"

/* What takes compilers long in a function of thousands of blocks, and gains little there, is left out. */
#if defined(__GNUC__) && !defined(__clang__)
#define SPARING __attribute__((optimize("O1", "expensive-optimizations", "ipa-ra", "caller-saves")))
#else
#define SPARING
#endif

/* ---- accesses, as the interpreter's, where bank and operand are known ------------------------------------------ */

#undef SYNC_MAP
#undef FETCH
#undef PC
#undef GO_TO
#undef READ
#undef READ_ZERO
#undef READ_SLOWLY
#undef WRITE_TO
#undef WRITE_ZERO
#undef NEXT
#define SYNC_MAP ((void)0)
#define FETCH() (bus = (uint8_t)operand, operand >>= 8, bus)
#define PC here
#define GO_TO(address) here = (uint16_t)(address)
#define NEXT ((void)0)
#define decimal s->decimal
#define interrupt s->interrupt

#define READ_SLOWLY(address) \
    (SYNC_OUT, (address) & 0x1080 ? core->read_device(k, address) : core->read_picture(k, (address) & 15))
#define READ(address)                                                                            \
    (where = (address),                                                                          \
     bus = where & 0x1000 ? ((where & 0xFFF) - FLAT_START < FLAT_SPAN ? ROM(where) : READ_SLOWLY(where)) \
           : (where & 0x280) == 0x80 ? ram[where & 0x7F] : READ_SLOWLY(where))
#define READ_ZERO(address) (where = (address), bus = where & 0x80 ? ram[where & 0x7F] : READ_SLOWLY(where))
/* A store that is not to memory may end the frame, at the instruction's end. */
#define WRITE_TO(address, byte, later)                                                           \
    do {                                                                                         \
        uint8_t written = (uint8_t)(byte);                                                       \
        where = (address);                                                                       \
        if ((where & 0x1280) == 0x80) {                                                          \
            ram[where & 0x7F] = written;                                                         \
        } else if (!(where & 0x1000) || (where & 0xFFF) - FLAT_START >= FLAT_SPAN) {             \
            s->cycles = cycles;                                                                  \
            core->write_device(k, where, written, later);                                              \
            cycles = s->cycles;                                                                  \
            ended = k->stop;                                                                     \
        }                                                                                        \
        bus = written;                                                                           \
    } while (0)
#define WRITE_ZERO(byte)                                                                         \
    do {                                                                                         \
        bus = (uint8_t)(byte);                                                                   \
        if (ea & 0x80) {                                                                         \
            ram[ea & 0x7F] = bus;                                                                \
        } else {                                                                                 \
            s->cycles = cycles;                                                                  \
            core->write_picture(k, ea & 0x3F, bus, 0);                                                 \
            cycles = s->cycles;                                                                  \
            ended = k->stop;                                                                     \
        }                                                                                        \
    } while (0)

/* ---- stores to the picture chip's registers -------------------------------------------------------------------- */

/* What is the same throughout a frame. */
typedef struct {
    int32_t limit;     /* cycles from which on a store ends the frame */
    int32_t columns;   /* whole columns of 3 clocks before the frame's first cycle */
    int32_t wait;      /* cycles of a line, or one less where it does not begin with a cycle */
    int32_t origin, drawing;
    uint8_t odd;
} Frame;

static inline Frame frame_of(const Console *k)
{
    const State *s = &k->state;
    int32_t end = (k->last_line + 1) * LINE_CLOCKS + s->origin;
    return (Frame){.limit = (end + 2) / 3, .columns = -s->origin / 3, .wait = s->origin % 3 ? 75 : 76,
                   .origin = s->origin, .drawing = k->drawing, .odd = k->pal ? s->odd_frame : 0};
}

/* A function for each part of the picture: at each store its text would be most of the program. */
#define CHANGER(part) \
    static __attribute__((noinline)) int change_##part(Console *k, int32_t clock) { return change_ahead(k, clock, part); }
CHANGER(P0) CHANGER(P1) CHANGER(M0) CHANGER(M1) CHANGER(BL) CHANGER(PF) CHANGER(COLOURS)
static int (*const CHANGERS[OBJECTS])(Console *, int32_t) = {change_P0, change_P1, change_M0, change_M1, change_BL, change_PF};

/* Change an object, which will then be shown if it is in `present`. Returns 0 where the core must. */
INLINE int change_quickly(Console *k, int32_t clock, int object, unsigned present)
{
    if (!CHANGERS[object](k, clock))
        return 0;
    k->enabled = (k->enabled & ~(1u << object)) | present;
    return 1;
}

/* Store to a register as `write_picture` does. Returns 0 where the core must. */
INLINE int store_quickly(Console *k, const Frame *f, unsigned r, uint8_t value, int32_t cycles)
{
    State *s = &k->state;
    uint8_t *reg = s->reg;
    int32_t clock = 3 * cycles - f->origin;
    if (cycles >= f->limit)
        return 0;
    switch (r) { /* when it takes effect */
    case VSYNC: case VBLANK: case RESP0: case RESP1: case RESM0: case RESM1: case RESBL: case CXCLR: return 0;
    case NUSIZ0: case NUSIZ1: clock += 8; break;
    case PF0: case PF1: case PF2: clock += 2 + ((cycles + f->columns + 2) & 3); break;
    case GRP0: case GRP1: case REFP0: case REFP1: clock++; break;
    }
    if (k->careful & BAR && !halt_quickly(k, clock))
        return 0;
    switch (r) {
    case NUSIZ0: case NUSIZ1:
        if (reg[r] != value || s->suppressed[r - NUSIZ0] || (r == NUSIZ0 && s->star_shape))
            return 0;
        break;
    case COLUP0: case COLUP1: case COLUPF: case COLUBK:
        value = (uint8_t)((value & 0xFE) | f->odd);
        if (f->drawing && reg[r] != value) {
            if (!change_COLOURS(k, clock))
                return 0;
            reg[r] = value;
            return 1;
        }
        reg[r] = value;
        break;
    case CTRLPF:
        if (reg[r] != value || s->reflected != (value & 1))
            return 0;
        break;
    case PF0: case PF1: case PF2:
        value = r == PF0 ? value & 0xF0 : value;
        if (reg[r] != value) {
            uint8_t all = value | (r == PF0 ? 0 : reg[PF0]) | (r == PF1 ? 0 : reg[PF1]) | (r == PF2 ? 0 : reg[PF2]);
            if (!change_quickly(k, clock, PF, (unsigned)(all != 0) << PF))
                return 0;
            reg[r] = value;
            return 1;
        }
        break;
    case GRP0: case GRP1: {
        int own = P0 + (int)r - GRP0, other = P1 - (int)r + GRP0;
        uint8_t delayed = reg[GRP0 + other - P0];
        int own_changes = !(reg[VDELP0 + own - P0] & 1) && reg[r] != value;
        int other_changes = reg[VDELP0 + other - P0] & 1 && s->old[other - P0] != delayed;
        if (r == GRP1 && reg[VDELBL] & 1)
            return 0;
        if (own_changes && !change_quickly(k, clock, own, (unsigned)(value != 0) << own))
            return 0;
        if (other_changes && !change_quickly(k, clock, other, (unsigned)(delayed != 0) << other))
            return 0;
        reg[r] = value;
        s->old[r == GRP0] = reg[r == GRP0 ? GRP1 : GRP0];
        if (r == GRP1)
            s->old_ball = reg[ENABL];
        if (own_changes | other_changes)
            return 1;
        break;
    }
    case REFP0: case REFP1:
        if (reg[r] != (value & 8)) {
            int object = P0 + (int)r - REFP0;
            if (!change_quickly(k, clock, object, k->enabled & 1u << object))
                return 0;
            reg[r] = value & 8;
            return 1;
        }
        break;
    case ENAM0: case ENAM1:
        if (reg[r] != (value & 2)) {
            int object = M0 + (int)r - ENAM0;
            unsigned present = (unsigned)(value & ~reg[RESMP0 + r - ENAM0] & 2) << (object - 1);
            if (!change_quickly(k, clock, object, present))
                return 0;
            reg[r] = value & 2;
            return 1;
        }
        break;
    case ENABL: case RESMP0: case RESMP1:
        if (reg[r] != (value & 2))
            return 0;
        break;
    case VDELP0: case VDELP1: case VDELBL:
        if (reg[r] != (value & 1))
            return 0;
        break;
    case HMM0:
        if (reg[r] >> 4 == 7 && value >> 4 == 6)
            return 0;
        /* fall through */
    case HMP0: case HMP1: case HMM1: case HMBL:
        reg[r] = value;
        break;
    case HMCLR:
        memset(&reg[HMP0], 0, 5);
        break;
    case HMOVE: {
        uint32_t column = (uint32_t)(cycles + f->columns) % (LINE_CLOCKS / 3), moving;
        memcpy(&moving, &reg[HMP0], 4);
        if (k->careful & BAR || line_matters(s) | s->star_shape || (moving | reg[HMBL]) & 0xF0F0F0F0 || column > 12)
            return 0;
        pass(k, halt(k, clock));
        if (k->bars)
            begin_bar(k, s->drawn - k->line_start < FIRST_PIXEL + 8 ? 1 : 2);
        s->last_hmove = 3 * cycles;
        return 1;
    }
    }
    s->touched = clock;
    return 1;
}

#define STORE_CHIP(r, byte, after)                     \
    bus = (uint8_t)(byte);                             \
    if (!store_quickly(k, &frame, r, bus, cycles)) {   \
        s->cycles = cycles;                            \
        core->store[r](k, bus);                        \
        if (k->stop) {                                 \
            here = after;                              \
            goto out;                                  \
        }                                              \
    }
#define WAIT_LINE(byte, after)                                                  \
    bus = (uint8_t)(byte);                                                      \
    if (store_quickly(k, &frame, WSYNC, bus, cycles)) {                         \
        int32_t left = frame.wait - (int32_t)((uint32_t)(cycles + frame.columns) % 76); \
        cycles += left == 76 ? 0 : left;                                        \
    } else {                                                                    \
        s->cycles = cycles;                                                     \
        core->store[WSYNC](k, bus);                                             \
        cycles = s->cycles;                                                     \
        if (k->stop) {                                                          \
            here = after;                                                       \
            goto out;                                                           \
        }                                                                       \
    }

/* ---- blocks ---------------------------------------------------------------------------------------------------- */

/* Begin a block of so many instructions. At places that are reached from further on, and wherever `dispatch` leads,
 * there are as many instructions left to the frame as may be done before the next such place: the last ones of a frame
 * that never ends are counted one by one. */
#define BLOCK(label, address, count) \
    label:                           \
    budget -= (count);
#define BLOCK_AT_END(label, address, count) \
    label:                                  \
    if (budget < LONGEST) {                 \
        here = address;                     \
        goto interpreted;                   \
    }                                       \
    budget -= (count);

#define DO_WITH(bytes, text)         \
    do {                             \
        operand = bytes;             \
        text;                        \
    } while (0);
#define DO_STORING(bytes, text, after) \
    do {                               \
        int ended = 0;                 \
        operand = bytes;               \
        text;                          \
        if (ended) {                   \
            here = after;              \
            goto out;                  \
        }                              \
    } while (0);

/* After what may change the bank; `left` instructions of the block are not done. */
#define BANK_CHECK(address, left)    \
    if (!IN_BANK(address)) {         \
        here = address;              \
        budget += left;              \
        goto dispatch;               \
    }

/* In the core that finds where programs go: note each place that is not the next one, by bank and address: the upper
 * bits of the address, and 16 where no fixed way leads there. */
#ifdef TRACED
static uint8_t *traced;
void console_trace(uint8_t *places);
void console_trace(uint8_t *places)
{
    traced = places;
}

static unsigned bank_at(const Console *k, uint16_t address)
{
    const State *s = &k->state;
    return k->kind == CART_E0 ? s->slice[address >> 10 & 3] & 7u : k->kind == CART_FE ? !(address & 0x2000) : s->bank & 3u;
}

static void trace(const Console *k, uint16_t before, unsigned bank_before)
{
    const State *s = &k->state;
    unsigned bank = bank_at(k, s->pc), passed = (uint16_t)(s->pc - before - 1);
    unsigned code = k->rom[k->kind == CART_E0 ? 1024 * bank_before + (before & 0x3FF) : 4096 * bank_before + (before & 0xFFF)];
    int fixed = before & 0x1000 && bank == bank_before && (passed < 3 || (code & 0x1F) == 0x10 || code == 0x4C || code == 0x20);
    if (traced && s->pc & 0x1000 && (passed >= 3 || !fixed))
        traced[bank << 12 | (s->pc & 0xFFF)] |= (uint8_t)(s->pc >> 12 | !fixed << 4);
}
#else
#define bank_at(k, address) 0
#define trace(k, before, bank) ((void)0)
#endif

SPARING static void run(Console *k, const Core *core)
{
    State *s = &k->state;
    uint8_t *const ram = s->ram, a, x, y, sp, bus, slow;
    uint16_t nz, here = s->pc;
    unsigned carry, overflow, m, n, ea, base, where;
    uint32_t operand;
    int32_t cycles, budget = MOST_INSTRUCTIONS;
    const Frame frame = frame_of(k);
    (void)slow;
#include "labels.inc"
    static const void *const last[] = {&&out}; /* there may be no other label whose address is taken */
    (void)last;
    goto load;

interpreted:
    s->pc = here;
    s->cycles = cycles;
    s->bus = bus;
    s->nz = nz;
    s->a = a;
    s->x = x;
    s->y = y;
    s->sp = sp;
    s->carry = (uint8_t)carry;
    s->overflow = IS_OVERFLOW != 0;
    do {
        unsigned bank = bank_at(k, here);
        core->interpret(k, 1);
        trace(k, here, bank);
        (void)bank;
        if (!--budget || k->stop || s->dead)
            return;
        here = s->pc;
    } while (!LABEL_AT(here) || budget < LONGEST);
load:
    cycles = s->cycles;
    bus = s->bus;
    nz = s->nz;
    a = s->a;
    x = s->x;
    y = s->y;
    sp = s->sp;
    carry = s->carry;
    overflow = s->overflow << 7u;
dispatch:
    if (!LABEL_AT(here) || budget < LONGEST)
        goto interpreted;
    goto *LABEL_AT(here);

#include "blocks.inc"

out:
    s->pc = here;
    s->cycles = cycles;
    s->bus = bus;
    s->nz = nz;
    s->a = a;
    s->x = x;
    s->y = y;
    s->sp = sp;
    s->carry = (uint8_t)carry;
    s->overflow = IS_OVERFLOW != 0;
}
#undef decimal
#undef interrupt

extern const Program console_program;
const Program console_program = {run, CARTRIDGE_KIND, CARTRIDGE_SUM};
