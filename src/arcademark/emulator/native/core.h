/* A game console of 1977: processor, timer chip, picture chip, cartridge, and the rules that read its memory.
 *
 * Numbers wrap around where they overflow (-fwrapv).
 *
 * All that decides the future is in `State`, a plain struct without pointers: saving is copying. Whatever bytes a ROM
 * holds, nothing outside the `Console` handed in is read or written. Nothing is allocated, nothing is global.
 *
 *   core.c   boards them all: frames, resets, what Python calls
 *     device.c      timer chip, controllers, cartridges: whatever an address reaches
 *     picture.c     picture chip: its registers
 *     masks.c       what objects show on a line: masks of 160 bits
 *     stretches.c   what they showed and when, and where they met
 *     lines.c       the picture's lines, painted from that
 *     beam.c        how far the picture has come, and what may change next
 *     processor.c   the 6507's instructions
 *     rules.c       reward, lives and end of a game, as programs over the memory
 *   translated.c   a cartridge's program, compiled apart (`translate.py`): the core calls it in place of processor.c
 *
 * A "cycle" is the processor's, a "clock" the picture chip's: a cycle is 3 clocks, a line 228 clocks.
 */
#ifndef ARCADEMARK_CORE_H
#define ARCADEMARK_CORE_H

#include <stddef.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

enum {
    WIDTH = 160,
    MOST_ROWS = 256,
    LINE_CLOCKS = 228,
    FIRST_PIXEL = 68,      /* clock of a line at which its pixels begin */
    MOST_INSTRUCTIONS = 25000, /* in one frame call */
    NEVER = 0x7FFFFFFF,
    ROM_BYTES = 16384,
    DISPLAY_BYTES = 2048,
    REGISTERS = 16,        /* of the rules */
    MOST_CODE = 4096,      /* numbers of the rules' program */
    MOST_VALUES = 64,      /* on the rules' stack */
    MAX_STRETCHES = 256    /* of a part, until they are painted and looked through */
};

enum { CART_2K, CART_4K, CART_F8, CART_F6, CART_F8SC, CART_F6SC, CART_E0, CART_FE, CART_DPC };

enum { P0, P1, M0, M1, BL, PF, OBJECTS, COLOURS = OBJECTS, PARTS }; /* of the picture: its objects, and the colours */

/* Reasons for which the beam must be moved before anything changes. */
enum {
    FULL = 1,  /* there is room for only one more stretch of a part */
    ALONE = 2, /* whether the playfield is alone decides its colours, in a frame that is drawn */
    BAR = 4    /* the beam has not halted since a bar was begun */
};

enum { RESET_SWITCH = 40, SELECT_SWITCH = 41 }; /* beside the 18 actions of the stick */

enum { R_SCORE, R_LIVES, R_REWARD, R_TERMINAL, R_KEPT }; /* registers of the rules; the game's own follow */

typedef struct {
    uint64_t w[4]; /* pixel i is bit i % 64 of word i / 64; the last is room for `put` */
} Mask;

/* All that decides what an object shows on a line, four bytes from the lowest on:
 *   bits     a player's graphics; PF1
 *   size     NUSIZ, the ball's width; PF0
 *   place    where it begins; PF2
 *   flags    a player's: bit 3 reflected, bit 0 the first copy is not shown; a missile's: star_shape; the playfield's: reflected
 * Of the colours: COLUP0, COLUP1, COLUPF, COLUBK. */
typedef uint32_t Look;

/* Clocks throughout which a part of the picture is shown and looks the same. */
typedef struct {
    int32_t from, to;
    uint64_t columns; /* in which an object can be seen, of 4 pixels, a bit each; 0 where they are not known yet */
    Look look;
    uint32_t mixing;  /* of the colours: CTRLPF's bits 1 and 2, and bit 0 where both are set and the playfield is alone */
} Stretch;

typedef struct {
    uint8_t top[8], bottom[8], flag[8], music[8];
    uint16_t counter[8];
    double fraction;
    int32_t updated;
    uint8_t random;
} Dpc;

/* All that decides the future. */
typedef struct {
    /* the processor */
    int32_t cycles;       /* since the frame began */
    uint16_t pc, nz;      /* zero when the low byte of nz is 0, negative when bit 7 or 15 is set */
    uint8_t a, x, y, sp, carry, overflow, decimal, interrupt;
    uint8_t bus;          /* last byte transferred */
    uint8_t dead;         /* an instruction that stops the processor was met */
    uint8_t partial;      /* the last frame call ended before the frame did */
    uint8_t grayed;       /* its rest was shown in gray */

    /* memory and timer */
    uint8_t ram[128];
    int32_t timer, timer_set, timer_read;
    uint8_t timer_shift, timer_marked, ddra;

    /* the picture chip */
    uint8_t reg[64];      /* as written; colours with the bit of a PAL frame */
    uint8_t position[5];
    uint8_t old[2], old_ball;      /* shown instead of the present ones when delayed */
    uint8_t suppressed[2];         /* the first copy of a player is not shown until the line ends */
    uint8_t reflected;             /* playfield, as shown */
    uint8_t bar;                   /* the 8 pixels at the left are blank of this line (1), of the next (2) */
    uint8_t star, star_count, star_shape;
    uint8_t dumping, odd_frame;
    uint16_t collisions;           /* register r of the chip: bits 2r (its bit 7) and 2r+1 (its bit 6) */
    int32_t origin;                /* clock at which the frame's first line began, 0 or less */
    int32_t drawn, window_start;   /* clocks since the origin */
    int32_t touched;               /* clock up to which a picture is due, if the frame is not ended properly */
    int32_t vsync_end, last_hmove, dumped;

    /* the cartridge */
    uint8_t bank, slice[4];
    uint8_t cart_ram[128];
    Dpc dpc;

    /* the game */
    int32_t registers[REGISTERS];
    int32_t mode, difficulty, paddle[2];
    int32_t frames;                /* since the reset */
    int32_t buffer;                /* which of the two pictures was drawn last */
} State;

/* What a cartridge and its game are, as Python hands it over. */
typedef struct {
    int32_t kind, first_row, rows, bars;
    int32_t paddles, paddle_pair, paddles_swapped, sticks_swapped, paddle_least, paddle_most;
    int32_t illegal, lives_hidden, pal;
} Setup;

/* A cartridge and its game's rules: consoles only read it, and share it. */
typedef struct {
    Setup setup;
    int32_t code_length;
    uint64_t checksum;             /* of the cartridge's bytes */
    int32_t rules[MOST_CODE];
    uint8_t rom[ROM_BYTES], display[DISPLAY_BYTES];
} Cartridge;

typedef struct Console Console;

/* What a translated program calls of the core. */
typedef struct {
    void (*interpret)(Console *k, int32_t instructions);
    uint8_t (*read_device)(Console *k, unsigned address), (*read_picture)(Console *k, unsigned r);
    void (*write_device)(Console *k, unsigned address, uint8_t value, int later);
    void (*write_picture)(Console *k, unsigned r, uint8_t value, int later);
    void (*store[64])(Console *k, uint8_t value); /* to a register of the picture chip each */
} Core;

/* A cartridge's program, translated; of any cartridge if `kind` is negative. */
typedef struct {
    void (*run)(Console *k, const Core *core);
    int32_t kind;
    uint64_t checksum;
} Program;

/* A console with a cartridge in it. */
struct Console {
    State state;

    /* derived from the state: made anew by each frame's `resume` */
    uint32_t enabled;              /* parts that are shown: the colours in frames that are drawn */
    uint32_t careful;              /* FULL, ALONE, BAR */
    int32_t line_start, window_end;
    int32_t due;                   /* clock as far as which the beam must come at its next halt */
    int32_t shown_from[PARTS];     /* clock from which on a part looks as it does */
    int32_t epoch;                 /* what is added to such clocks: the frames since stretches were forgotten */
    int stretches[PARTS];          /* how many there are in `stretch` */
    int searched[16][2];           /* how many of its objects' are looked through, for each collision */
    int cleared[PARTS];            /* how many there were when the collisions were cleared */
    int32_t cleared_at;            /* and its clock */
    int unpainted[PARTS];          /* number of the first that is not painted, in a frame that is drawn */
    int32_t painted;               /* clock as far as which all is painted */
    uint8_t barred[MOST_ROWS + 2]; /* rows whose first 8 pixels are blank */
    int32_t blanked;               /* clock as far as which the line is blank where the picture ends on it */
    const uint8_t *code;           /* where the program runs: addresses from code_start on, code_span of them */
    uint32_t code_start, code_span;
    const uint8_t *flat;           /* the cartridge's 4 KB, where flat_start <= address < flat_start + flat_span */
    uint32_t flat_start, flat_span;
    const Program *program;        /* or null: the interpreter plays */

    /* the frame in progress */
    int32_t drawing, stop;
    int32_t cut;                   /* frames that ended before their picture did, whole ones drawn or not */
    uint8_t stick, switches, fire[2];
    int32_t charge[4];             /* cycles until a paddle is charged, -1 for never */

    /* what the cartridge says */
    int32_t kind, first_row, rows, bars, pal, last_line;
    int32_t paddles, paddle_pair, paddles_swapped, sticks_swapped, paddle_least, paddle_most;
    uint32_t illegal;              /* actions that count as none, a bit each */
    int32_t lives_hidden;          /* told as 0 when the game is over */
    int32_t temporaries;
    const Cartridge *cartridge;    /* whose bytes these are, too */
    const uint8_t *rom;

    Stretch stretch[PARTS][MAX_STRETCHES];
    uint8_t screen[2][MOST_ROWS * WIDTH];
};

size_t console_size(void);
size_t console_state_size(void);
size_t console_cartridge_size(void);
int console_cartridge(Cartridge *c, const Setup *setup, const uint8_t *rom, int size, const int32_t *rules, int length);
void console_insert(Console *k, const Cartridge *c);
int console_use(Console *k, const Program *program);
void console_set_picture(Console *k, int rows, int pal);
void console_power_on(Console *k, const uint8_t *ram);
void console_reset(Console *k, uint32_t draw, const uint8_t *cart_ram);
void console_begin(Console *k, const int32_t *at_reset, int count);
int console_frame(Console *k, int action, int switches, int drawing, int ruled);
int console_act(Console *k, int action);
int console_act_unseen(Console *k, int action);
int console_lives(const Console *k);
int console_collisions(Console *k);
int console_evaluate(Console *k, const int32_t *program, int length);
void console_save(Console *k, void *state);
void console_restore(Console *k, const void *state);
uint8_t *console_pictures(Console *k);
uint8_t *console_memory(Console *k);
int console_cut(const Console *k);
int32_t *console_numbers(Console *k);
int64_t console_play(Console *k, const uint8_t *actions, int count, int seen);

#endif
