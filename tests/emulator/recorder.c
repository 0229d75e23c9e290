/* A program that interprets any cartridge as the core does and notes what passes between it and the picture chip.
 *
 * It is handed to the core as a translation (see `translated.c`). `offline_chip.py` compiles it, and plays what was
 * noted on a picture chip of its own.
 */
#include "core.h"

#include <string.h>

enum { READ_OF = 0x80, BEGIN = 0xC0, END };

typedef struct {
    int32_t clock; /* since the frame's first line began; at BEGIN, that line's clock since the frame began */
    uint8_t what;  /* register that was stored to, READ_OF and the register that was read, BEGIN or END of a call */
    uint8_t value; /* stored or read; at BEGIN, whether a frame begins; at END, whether it ended */
} Entry;

static const Core *core;
static Entry *entries;
static int32_t capacity, count;

void console_record(Entry *to, int32_t number);
int32_t console_recorded(void);

/* Note in memory for so many entries from now on, or nowhere. */
void console_record(Entry *to, int32_t number)
{
    entries = to;
    capacity = number;
    count = 0;
}

/* Return how many there are, and begin anew; more than were asked for if some are lost. */
int32_t console_recorded(void)
{
    int32_t noted = count;
    count = 0;
    return noted;
}

static void note(int32_t clock, unsigned what, unsigned value)
{
    if (count < capacity)
        entries[count] = (Entry){clock, (uint8_t)what, (uint8_t)value};
    count += entries && count <= capacity;
}

static int32_t now(const Console *k)
{
    return 3 * k->state.cycles - k->state.origin;
}

static int is_picture(unsigned address)
{
    return !(address & 0x1080);
}

static uint8_t read_device(Console *k, unsigned address)
{
    int32_t clock = now(k);
    uint8_t value = core->read_device(k, address);
    if (is_picture(address))
        note(clock, READ_OF | (address & 15), value);
    return value;
}

/* The whole program is fetched here, a byte at a time. */
static uint8_t fetch_device(Console *k, unsigned address)
{
    k->code_span = 0;
    return read_device(k, address);
}

static void write_picture(Console *k, unsigned r, uint8_t value, int later)
{
    note(now(k), r, value);
    core->write_picture(k, r, value, later);
}

static void write_device(Console *k, unsigned address, uint8_t value, int later)
{
    if (is_picture(address))
        write_picture(k, address & 0x3F, value, later);
    else
        core->write_device(k, address, value, later);
}

#include "processor.c"

static void run(Console *k, const Core *given)
{
    core = given;
    note(k->state.origin, BEGIN, !k->state.cycles);
    k->code_span = 0;
    interpret(k, MOST_INSTRUCTIONS);
    note(now(k), END, k->stop != 0);
}

extern const Program console_program;
const Program console_program = {run, -1, 0};
