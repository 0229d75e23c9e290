/* The picture chip's registers. Included by core.c. */

static inline int32_t clock_of(const State *s)
{
    return 3 * s->cycles - s->origin;
}

/* A picture up to this clock is due, though nothing seen has changed. */
static inline void touch(Console *k, int32_t clock)
{
    if (k->careful & BAR)
        advance(k, clock); /* what is blank ahead of a bar depends on where the beam first halts */
    k->state.touched = clock;
}

/* Write a register that only objects' shapes depend on. */
static inline void write_plain(Console *k, unsigned r, uint8_t value, int32_t clock, unsigned objects, unsigned present)
{
    if (k->state.reg[r] == value) {
        touch(k, clock);
        return;
    }
    change_objects(k, clock, objects, present);
    k->state.reg[r] = value;
}

static void write_colour(Console *k, unsigned r, uint8_t value, int32_t clock)
{
    value = (uint8_t)((value & 0xFE) | (k->pal ? k->state.odd_frame : 0));
    if (!k->drawing || k->state.reg[r] == value)
        touch(k, clock);
    else
        change(k, clock, 1u << COLOURS, k->enabled);
    k->state.reg[r] = value;
}

static void write_nusiz(Console *k, int i, uint8_t value, int32_t clock)
{
    State *s = &k->state;
    unsigned objects = 1u << (P0 + i) | 1u << (M0 + i);
    if (s->suppressed[i] || (i == 0 && s->star_shape)) {
        advance(k, clock);
    } else if (s->reg[NUSIZ0 + i] == value) {
        touch(k, clock);
        return;
    }
    change(k, clock, objects, k->enabled);
    s->reg[NUSIZ0 + i] = value;
    s->suppressed[i] = 0;
    if (i == 0)
        s->star_shape = 0;
}

static void write_ctrlpf(Console *k, uint8_t value, int32_t clock)
{
    State *s = &k->state;
    if (s->reg[CTRLPF] == value && s->reflected == (value & 1)) {
        touch(k, clock);
        return;
    }
    change(k, clock, 1u << PF | 1u << BL | 1u << COLOURS, k->enabled);
    s->reg[CTRLPF] = value;
    find_alone(k);
    if (within_line(clock) < 147)
        s->reflected = value & 1;
}

/* Place an object where the beam is. */
static void move_to(Console *k, int object, unsigned position)
{
    change(k, k->state.drawn, 1u << object, k->enabled);
    k->state.position[object] = (uint8_t)position;
}

/* Place a player: what it shows on the rest of the line depends on where the beam finds the old place. */
static void place_player(Console *k, int i, int32_t clock)
{
    State *s = &k->state;
    advance(k, clock);
    int h = (int)within_line(clock), to = h < FIRST_PIXEL ? 3 : (h - FIRST_PIXEL + 5) % WIDTH;
    unsigned nusiz = s->reg[NUSIZ0 + i] & 7;
    int width = nusiz == 5 ? 16 : nusiz == 7 ? 32 : 8, delay = 0, display = 0;
    for (int copy = 0; copy < COPIES[nusiz][0]; copy++) {
        int offset = copy ? COPIES[nusiz][copy] : 0;
        int ahead = (to - s->position[P0 + i] - offset + 3 * WIDTH) % WIDTH;
        delay |= ahead < 4;
        display |= ahead >= 4 && ahead < 4 + width;
    }
    if (display && !delay)
        advance(k, clock + 11);
    move_to(k, P0 + i, (unsigned)to);
    s->suppressed[i] = !delay;
}

/* Place a missile or the ball. A few places depend on how long ago the last HMOVE was. */
static void place_small(Console *k, int object, int32_t clock, int32_t drawn)
{
    static const int16_t LATE[][4] = {{M0, 60, 69, 8}, {M1, 9, 18, 3}, {BL, 54, 60, 10}, {BL, 54, 69, 10},
                                      {BL, 9, 18, 3}, {BL, 21, 30, 6}, {BL, 18, 27, 5}};
    State *s = &k->state;
    advance(k, drawn);
    int h = (int)within_line(clock), to = h < FIRST_PIXEL ? 2 : (h - FIRST_PIXEL + 4) % WIDTH;
    int32_t since = 3 * s->cycles - s->last_hmove;
    for (size_t i = 0; i < sizeof LATE / sizeof *LATE; i++)
        if (LATE[i][0] == object && LATE[i][1] == since && LATE[i][2] == h)
            to = LATE[i][3];
    move_to(k, object, (unsigned)to);
    if (object == M0)
        s->star_shape = 0;
}

static void write_resmp(Console *k, int i, uint8_t value, int32_t clock)
{
    State *s = &k->state;
    unsigned nusiz = s->reg[NUSIZ0 + i] & 7;
    int released = s->reg[RESMP0 + i] & 2 && !(value & 2);
    unsigned present = (unsigned)(s->reg[ENAM0 + i] & ~value & 2) << (M0 + i - 1);
    if (released)
        advance(k, clock);
    write_plain(k, RESMP0 + (unsigned)i, value, clock, 1u << (M0 + i), present);
    if (!released)
        return;
    move_to(k, M0 + i, (s->position[P0 + i] + (nusiz == 5 ? 8u : nusiz == 7 ? 16u : 4u)) % WIDTH);
    if (i == 0)
        s->star_shape = 0;
}

/* Write a player's graphics; the other's old ones become the present ones, and player 1's write renews the ball. */
static void write_graphics(Console *k, int i, uint8_t value, int32_t clock)
{
    State *s = &k->state;
    uint8_t other = s->reg[GRP1 - i];
    unsigned objects = 0, present = 0;
    if (!(s->reg[VDELP0 + i] & 1) && s->reg[GRP0 + i] != value) {
        objects = 1u << (P0 + i);
        present = (unsigned)(value != 0) << (P0 + i);
    }
    if (s->reg[VDELP1 - i] & 1 && s->old[1 - i] != other) {
        objects |= 1u << (P1 - i);
        present |= (unsigned)(other != 0) << (P1 - i);
    }
    if (i == 1 && s->reg[VDELBL] & 1 && s->old_ball != s->reg[ENABL]) {
        objects |= 1u << BL;
        present |= (s->reg[ENABL] & 2u) << (BL - 1);
    }
    if (!objects)
        touch(k, clock);
    else if (objects == 1u << (P0 + i))
        change_objects(k, clock, 1u << (P0 + i), present);
    else if (objects == 1u << (P1 - i))
        change_objects(k, clock, 1u << (P1 - i), present);
    else
        change_objects(k, clock, objects, present);
    s->reg[GRP0 + i] = value;
    s->old[1 - i] = other;
    if (i == 1)
        s->old_ball = s->reg[ENABL];
}

/* What HMOVE moves an object at a column (of 3 clocks) of the line, by the upper half of the object's register: in full
 * where it comes at the line's begin; later the first steps are lost, or further ones are made. */
enum { HMOVE_COLUMNS = LINE_CLOCKS / 3 };
#define IN_FULL(h) ((h) < 8 ? -(h) : 16 - (h))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define BELOW_ZERO(a) ((a) < 0 ? (a) : 0)
#define MOVED_AT(x, h) ((x) <= 2 || (x) == 75 ? IN_FULL(h) : (x) <= 20 ? LARGER(IN_FULL(h), (3 * (x) + 1) / 4 - 9) \
                        : (x) <= 54 ? 0 : BELOW_ZERO(IN_FULL(h) + 6 - (3 * ((x) - 55) + 2) / 4))
#define MOVED(n) MOVED_AT((n) >> 4, (n) & 15)
static const int8_t MOVES[16 * HMOVE_COLUMNS] = {
    SIXTY_FOUR(MOVED, 0), SIXTY_FOUR(MOVED, 64), SIXTY_FOUR(MOVED, 128), SIXTY_FOUR(MOVED, 192), SIXTY_FOUR(MOVED, 256),
    SIXTY_FOUR(MOVED, 320), SIXTY_FOUR(MOVED, 384), SIXTY_FOUR(MOVED, 448), SIXTY_FOUR(MOVED, 512),
    SIXTY_FOUR(MOVED, 576), SIXTY_FOUR(MOVED, 640), SIXTY_FOUR(MOVED, 704), SIXTY_FOUR(MOVED, 768),
    SIXTY_FOUR(MOVED, 832), SIXTY_FOUR(MOVED, 896), SIXTY_FOUR(MOVED, 960), SIXTY_FOUR(MOVED, 1024),
    SIXTY_FOUR(MOVED, 1088), SIXTY_FOUR(MOVED, 1152)};

static void move_all(Console *k, int32_t clock)
{
    State *s = &k->state;
    int x = (int)(within_line(clock) / 3), move[5];
    advance(k, clock);
    if (k->bars && (x <= 20 || x == 75))
        begin_bar(k, s->drawn - k->line_start < FIRST_PIXEL + 8 ? 1 : 2);
    s->last_hmove = 3 * s->cycles;
    int still = !((s->reg[HMP0] | s->reg[HMP1] | s->reg[HMM0] | s->reg[HMM1] | s->reg[HMBL]) & 0xF0) && !MOVES[16 * x];
    if (still && !(s->suppressed[0] | s->suppressed[1] | s->star | s->star_shape))
        return;
    unsigned moved = (s->suppressed[0] ? 1u << P0 : 0) | (s->suppressed[1] ? 1u << P1 : 0);
    moved |= s->star | s->star_shape ? 1u << M0 : 0;
    for (int i = 0; i < 5; i++) { /* in the order of the HM registers */
        move[i] = MOVES[16 * x + (s->reg[HMP0 + i] >> 4)];
        moved |= (unsigned)(move[i] != 0) << i;
    }
    if (!moved)
        return;
    change(k, s->drawn, moved, k->enabled);
    for (unsigned rest = moved; rest; rest &= rest - 1) {
        int object = __builtin_ctz(rest), to = s->position[object] + move[object];
        s->position[object] = (uint8_t)(to < 0 ? to + WIDTH : to >= WIDTH ? to - WIDTH : to);
    }
    s->suppressed[0] = s->suppressed[1] = 0;
    s->star = s->star_shape = 0;
}

static void write_vblank(Console *k, uint8_t value, int32_t clock)
{
    State *s = &k->state;
    if (!s->dumping && value & 0x80) {
        s->dumping = 1;
    } else if (s->dumping && !(value & 0x80)) {
        s->dumping = 0;
        s->dumped = s->cycles;
    }
    if (s->reg[VBLANK] == value) {
        touch(k, clock + 1);
        return;
    }
    advance(k, clock + 1);
    settle(k);
    s->reg[VBLANK] = value;
}

static inline void write_playfield(Console *k, unsigned r, uint8_t value, int32_t clock)
{
    static const uint8_t DELAY[4] = {4, 5, 2, 3};
    const State *s = &k->state;
    uint8_t first = r == PF0 ? value : s->reg[PF0], second = r == PF1 ? value : s->reg[PF1];
    uint8_t third = r == PF2 ? value : s->reg[PF2];
    clock += DELAY[clock / 3 & 3];
    if (s->reg[r] == value) {
        touch(k, clock);
        return;
    }
    uint32_t enabled = (k->enabled & ~(1u << PF)) | (unsigned)((first | second | third) != 0) << PF;
    change(k, clock, 1u << PF, enabled);
    k->state.reg[r] = value;
}

static void write_vsync(Console *k, uint8_t value, int32_t clock)
{
    State *s = &k->state;
    int32_t now = 3 * s->cycles;
    touch(k, clock);
    s->reg[VSYNC] = value;
    if (value & 2) {
        s->vsync_end = now + LINE_CLOCKS;
    } else if (now >= s->vsync_end) {
        s->vsync_end = NEVER;
        k->stop = 1;
    }
}

/* Write to a register; `later` for what one instruction pushes after its first byte. */
INLINE void write_register(Console *k, unsigned r, uint8_t value, int later)
{
    State *s = &k->state;
    int32_t clock = clock_of(s);
    unsigned present, left;
    if (later)
        k->due = halt(k, s->touched); /* the instruction's store before may take effect after this one */
    if (clock >= (k->last_line + 1) * LINE_CLOCKS)
        k->stop = 1;
    switch (r) {
    case VSYNC: write_vsync(k, value, clock); break;
    case VBLANK: write_vblank(k, value, clock); break;
    case WSYNC:
        touch(k, clock);
        if (!later && (left = within_line(clock)))
            s->cycles += (LINE_CLOCKS - left) / 3;
        break;
    case NUSIZ0: case NUSIZ1: write_nusiz(k, (int)r - NUSIZ0, value, clock + 8); break;
    case COLUP0: case COLUP1: case COLUPF: case COLUBK: write_colour(k, r, value, clock); break;
    case CTRLPF: write_ctrlpf(k, value, clock); break;
    case REFP0: case REFP1: write_plain(k, r, value & 8, clock + 1, 1u << (P0 + r - REFP0), k->enabled & 1u << (P0 + r - REFP0)); break;
    case PF0: write_playfield(k, r, value & 0xF0, clock); break;
    case PF1: case PF2: write_playfield(k, r, value, clock); break;
    case RESP0: case RESP1: place_player(k, (int)r - RESP0, clock); break;
    case RESM0: case RESM1: place_small(k, M0 + (int)r - RESM0, clock, clock + 8); break;
    case RESBL: place_small(k, BL, clock, clock); break;
    case GRP0: case GRP1: write_graphics(k, (int)r - GRP0, value, clock + 1); break;
    case ENAM0: case ENAM1:
        present = (unsigned)(value & ~s->reg[RESMP0 + r - ENAM0] & 2) << (M0 + r - ENAM0 - 1);
        write_plain(k, r, value & 2, clock, 1u << (M0 + r - ENAM0), present);
        break;
    case ENABL:
        present = (s->reg[VDELBL] & 1 ? s->old_ball : value) & 2u;
        write_plain(k, r, value & 2, clock, 1u << BL, present << (BL - 1));
        break;
    case HMM0:
        if (3 * s->cycles == s->last_hmove + 63 && s->reg[HMM0] >> 4 == 7 && value >> 4 == 6) {
            advance(k, clock);
            s->star = 1;
            s->star_count = 0;
        }
        /* fall through */
    case HMP0: case HMP1: case HMM1: case HMBL:
        touch(k, clock);
        s->reg[r] = value;
        break;
    case VDELP0: case VDELP1:
        present = (value & 1 ? s->old[r - VDELP0] : s->reg[GRP0 + r - VDELP0]) != 0;
        write_plain(k, r, value & 1, clock, 1u << (P0 + r - VDELP0), present << (P0 + r - VDELP0));
        break;
    case VDELBL:
        present = (value & 1 ? s->old_ball : s->reg[ENABL]) & 2u;
        write_plain(k, r, value & 1, clock, 1u << BL, present << (BL - 1));
        break;
    case RESMP0: case RESMP1: write_resmp(k, (int)r - RESMP0, value & 2, clock); break;
    case HMOVE: move_all(k, clock); break;
    case HMCLR:
        touch(k, clock);
        memset(&s->reg[HMP0], 0, 5);
        break;
    case CXCLR:
        advance(k, clock);
        clear_collisions(k);
        break;
    default: touch(k, clock); /* sound, and nothing */
    }
    if (k->stop) {
        advance(k, clock);
        settle(k);
    }
}

static void write_picture(Console *k, unsigned r, uint8_t value, int later)
{
    write_register(k, r, value, later);
}

/* A function for each register. */
#define STORER(r) static void store_##r(Console *k, uint8_t value) { write_register(k, r, value, 0); }
#define EIGHT(T, h) T(h##0) T(h##1) T(h##2) T(h##3) T(h##4) T(h##5) T(h##6) T(h##7)
#define EIGHT_MORE(T, h) T(h##8) T(h##9) T(h##A) T(h##B) T(h##C) T(h##D) T(h##E) T(h##F)
#define EACH(T) EIGHT(T, 0x0) EIGHT_MORE(T, 0x0) EIGHT(T, 0x1) EIGHT_MORE(T, 0x1) EIGHT(T, 0x2) EIGHT_MORE(T, 0x2) \
                EIGHT(T, 0x3) EIGHT_MORE(T, 0x3)
EACH(STORER)

static uint8_t read_paddle(const Console *k, int i)
{
    const State *s = &k->state;
    if (k->charge[i] <= 0)
        return k->charge[i] ? 0 : 0x80;
    return !s->dumping && (uint32_t)s->cycles > (uint32_t)(s->dumped + k->charge[i]) ? 0x80 : 0;
}

static uint8_t read_picture(Console *k, unsigned r)
{
    State *s = &k->state;
    uint8_t value = 0;
    if (r < 8) {
        advance(k, clock_of(s));
        find_collisions(k, 3u << 2 * r);
        value = (uint8_t)((s->collisions >> 2 * r & 1) << 7 | (s->collisions >> (2 * r + 1) & 1) << 6);
    } else {
        touch(k, clock_of(s));
        if (r < 12)
            value = read_paddle(k, (int)r - 8);
        else if (r < 14)
            value = k->fire[r - 12];
    }
    return value | (s->bus & 0x3F);
}

static void reset_picture(Console *k)
{
    State *s = &k->state;
    memset(s->reg, 0, sizeof s->reg);
    memset(s->position, 0, sizeof s->position);
    s->old[0] = s->old[1] = s->old_ball = 0;
    s->suppressed[0] = s->suppressed[1] = 0;
    s->reflected = s->bar = s->star = s->star_count = s->star_shape = s->dumping = s->odd_frame = 0;
    s->collisions = 0;
    s->origin = s->drawn = s->window_start = s->touched = s->last_hmove = s->dumped = 0;
    s->vsync_end = NEVER;
    memset(k->screen, 0, sizeof k->screen);
    forget_stretches(k);
    resume(k);
}
