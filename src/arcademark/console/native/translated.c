/* The processor's part of a translated cartridge. Put into the core's text after processor.c, by translate.py.
 *
 * Each instruction that was found in the cartridge stands in `TRANSLATION`, as the interpreter's own text of it with the
 * operand a constant, under a label a block. Whatever is not there is interpreted, an instruction at a time.
 */

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

#define READ_SLOWLY(address) \
    (SYNC_OUT, (address) & 0x1080 ? read_device(k, address) : read_chip(k, (address) & 15))
#define READ(address)                                                                            \
    (where = (address),                                                                          \
     bus = where & 0x1000 ? ((where & 0xFFF) - FLAT_START < FLAT_SPAN ? ROM[where & 0xFFF] : READ_SLOWLY(where)) \
           : (where & 0x280) == 0x80 ? ram[where & 0x7F] : READ_SLOWLY(where))
#define READ_ZERO(address) (where = (address), bus = where & 0x80 ? ram[where & 0x7F] : READ_SLOWLY(where))
#define WRITE_TO(address, byte, later)                                                           \
    do {                                                                                         \
        uint8_t written = (uint8_t)(byte);                                                       \
        where = (address);                                                                       \
        if ((where & 0x1280) == 0x80) {                                                          \
            ram[where & 0x7F] = written;                                                         \
        } else if (!(where & 0x1000) || (where & 0xFFF) - FLAT_START >= FLAT_SPAN) {             \
            s->cycles = cycles;                                                                  \
            write_device(k, where, written, later);                                              \
            cycles = s->cycles;                                                                  \
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
            WRITE_CHIP(ea & 0x3F, bus);                                                          \
            cycles = s->cycles;                                                                  \
        }                                                                                        \
    } while (0)
#define WRITE_CHIP(r, byte) \
    (__builtin_constant_p(r) ? CHIP[r](k, byte) : write_picture(k, r, byte, 0))

static __attribute__((noinline)) uint8_t read_chip(Console *k, unsigned r)
{
    return read_picture(k, r);
}

/* A function for each of the chip's registers. */
#define WRITER(r) static __attribute__((noinline)) void write_##r(Console *k, uint8_t v) { write_register(k, r, v, 0); }
#define EIGHT(T, h) T(h##0) T(h##1) T(h##2) T(h##3) T(h##4) T(h##5) T(h##6) T(h##7)
#define EIGHT_MORE(T, h) T(h##8) T(h##9) T(h##A) T(h##B) T(h##C) T(h##D) T(h##E) T(h##F)
#define EACH(T) EIGHT(T, 0x0) EIGHT_MORE(T, 0x0) EIGHT(T, 0x1) EIGHT_MORE(T, 0x1) EIGHT(T, 0x2) EIGHT_MORE(T, 0x2) \
                EIGHT(T, 0x3) EIGHT_MORE(T, 0x3)
EACH(WRITER)
#define NAMED(r) write_##r,
static void (*const CHIP[64])(Console *k, uint8_t v) = {EACH(NAMED)};

/* ---- blocks ---------------------------------------------------------------------------------------------------- */

/* Begin a block of so many instructions, unless the frame's last are to be counted one by one. */
#define BLOCK(label, address, count) \
    label:                           \
    if (budget <= (count)) {         \
        here = address;              \
        goto interpreted;            \
    }                                \
    budget -= (count);

#define DO_WITH(bytes, text)         \
    do {                             \
        operand = bytes;             \
        text;                        \
    } while (0);

/* After what may end the frame, or may change the bank; `left` instructions of the block are not done. */
#define STOP_CHECK(address)          \
    if (k->stop) {                   \
        here = address;              \
        goto out;                    \
    }
#define BANK_CHECK(now, address, left) \
    if (s->bank != now) {            \
        here = address;              \
        budget += left;              \
        goto dispatch;               \
    }

/* Pass over rounds of a loop that waits for the timer while it shows the same. */
#define WAIT(time, count) \
    do { \
        int32_t rounds = unchanged(s, cycles - (time) + 4) / (time); /* from the last read on */ \
        if (rounds > (budget - 1) / (count)) \
            rounds = (budget - 1) / (count); \
        if (rounds > 0) { \
            cycles += rounds * (time); \
            budget -= rounds * (count); \
        } \
    } while (0)

/* Cycles after these for which the timer shows what it shows then; 0 once it has run out. */
static inline int32_t unchanged(const State *s, int32_t cycles)
{
    int32_t since = cycles - 1 - s->timer_set;
    if (since < 0 || since >> s->timer_shift >= s->timer)
        return 0;
    return (((since >> s->timer_shift) + 1) << s->timer_shift) - 1 - since;
}

/* In the core that finds where programs go: note each place that is not the next one, by bank and address. */
#ifdef TRACED
static uint8_t *traced;
void console_trace(uint8_t *places);
void console_trace(uint8_t *places)
{
    traced = places;
}

static void trace(const State *s, uint16_t before, unsigned bank_before)
{
    unsigned bank = s->bank & 3, passed = (uint16_t)(s->pc - before - 1);
    if (traced && s->pc & 0x1000 && (passed >= 3 || s->bank != bank_before))
        traced[bank << 12 | (s->pc & 0xFFF)] = (uint8_t)(s->pc >> 12);
}
#else
#define trace(s, before, bank) ((void)0)
#endif

static void run(Console *k)
{
    State *s = &k->state;
    uint8_t *const ram = s->ram, a, x, y, sp, bus, slow;
    uint16_t nz, here = s->pc;
    unsigned carry, overflow, decimal, interrupt, m, n, ea, base, where;
    uint32_t operand;
    int32_t cycles, budget = MOST_INSTRUCTIONS;
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
    s->overflow = (uint8_t)overflow;
    s->decimal = (uint8_t)decimal;
    s->interrupt = (uint8_t)interrupt;
    do {
        unsigned bank = s->bank;
        interpret(k, 1);
        trace(s, here, bank);
        (void)bank;
        if (!--budget || k->stop || s->dead)
            return;
        here = s->pc;
    } while (!LABEL_AT(here) || budget < 64);
load:
    cycles = s->cycles;
    bus = s->bus;
    nz = s->nz;
    a = s->a;
    x = s->x;
    y = s->y;
    sp = s->sp;
    carry = s->carry;
    overflow = s->overflow;
    decimal = s->decimal;
    interrupt = s->interrupt;
dispatch:
    if (!LABEL_AT(here))
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
    s->overflow = (uint8_t)overflow;
    s->decimal = (uint8_t)decimal;
    s->interrupt = (uint8_t)interrupt;
}

/* Refuse any cartridge but the one that was translated. */
#undef console_insert
int console_insert(Console *k, const Setup *setup, const uint8_t *rom, int size, const int32_t *rules, int length);
int console_insert(Console *k, const Setup *setup, const uint8_t *rom, int size, const int32_t *rules, int length)
{
#ifdef CARTRIDGE_KIND
    uint64_t sum = UINT64_C(0xCBF29CE484222325);
    for (int i = 0; i < size; i++)
        sum = (sum ^ rom[i]) * UINT64_C(0x100000001B3);
    if (setup->kind != CARTRIDGE_KIND || sum != CARTRIDGE_SUM)
        return 0;
#endif
    return insert_any(k, setup, rom, size, rules, length);
}
#define console_insert insert_any
