/* Whatever an address reaches: timer chip, controllers, cartridge. Included by core.c. */

/* ---- timer and switches ---------------------------------------------------------------------------------------- */

/* Whole cycles before the timer next counts down are not kept: what it shows is found when it is read. */
static uint8_t read_timer(State *s, int flag)
{
    uint32_t since = (uint32_t)s->cycles - 1 - (uint32_t)s->timer_set, period = (uint32_t)s->timer << s->timer_shift;
    uint32_t steps = (uint32_t)((int32_t)since >> s->timer_shift);
    int32_t value = (int32_t)((uint32_t)s->timer - steps - 1);
    if (flag)
        return value >= 0 || s->timer_marked ? 0 : 0x80;
    if (value >= 0)
        return (uint8_t)value;
    int32_t over = (int32_t)(period - since - 1);
    if (over <= -2 && !s->timer_marked) {
        s->timer_marked = 1;
        s->timer_read = s->cycles;
    }
    if (!s->timer_marked)
        return (uint8_t)over;
    return (uint8_t)((uint32_t)s->timer - steps - ((uint32_t)s->timer_read - ((uint32_t)s->timer_set + period)));
}

static uint8_t read_riot(Console *k, unsigned address)
{
    switch (address & 7) {
    case 0: return k->stick;
    case 1: return k->state.ddra;
    case 2: return k->switches;
    case 3: return 0;
    default: return read_timer(&k->state, address & 1);
    }
}

static void write_riot(State *s, unsigned address, uint8_t value)
{
    static const uint8_t SHIFTS[4] = {0, 3, 6, 10};
    if ((address & 0x14) == 0x14) {
        s->timer = value;
        s->timer_shift = SHIFTS[address & 3];
        s->timer_set = s->cycles;
        s->timer_marked = 0;
    } else if ((address & 7) == 1) {
        s->ddra = value;
    }
}

/* ---- the cartridge with a chip of its own ---------------------------------------------------------------------- */

static void clock_random(Dpc *d)
{
    unsigned r = d->random;
    d->random = (uint8_t)(r << 1 | (~(r >> 7 ^ r >> 5 ^ r >> 4 ^ r >> 3) & 1));
}

static void update_music(State *s)
{
    Dpc *d = &s->dpc;
    double ticks = 15750.0 * (s->cycles - d->updated) / 1193191.66666667 + d->fraction;
    int32_t whole = ticks > 0 ? (int32_t)ticks : 0;
    d->updated = s->cycles;
    d->fraction = ticks - whole;
    if (!whole)
        return;
    for (int i = 5; i < 8; i++) {
        if (!d->music[i])
            continue;
        int32_t low = d->top[i] ? (d->counter[i] & 255) - whole % (d->top[i] + 1) : 0;
        if (low < 0)
            low += d->top[i] + 1;
        d->counter[i] = (uint16_t)((d->counter[i] & 0x700) | (low & 255));
        if (low <= d->bottom[i])
            d->flag[i] = 0;
        else if (low <= d->top[i])
            d->flag[i] = 0xFF;
    }
}

static uint8_t read_dpc(Console *k, unsigned offset)
{
    static const uint8_t LEVELS[8] = {0, 4, 5, 9, 6, 10, 11, 15};
    State *s = &k->state;
    Dpc *d = &s->dpc;
    unsigned i = offset & 7;
    uint8_t value = 0, low = (uint8_t)d->counter[i];
    if (low == d->top[i])
        d->flag[i] = 0xFF;
    else if (low == d->bottom[i])
        d->flag[i] = 0;
    switch (offset >> 3 & 7) {
    case 0:
        if (i < 4) {
            value = d->random;
        } else {
            unsigned level = 0;
            update_music(s);
            for (unsigned voice = 0; voice < 3; voice++)
                if (d->music[5 + voice] && d->flag[5 + voice])
                    level |= 1u << voice;
            value = LEVELS[level];
        }
        break;
    case 1: value = k->cartridge->display[2047 - d->counter[i]]; break;
    case 2: value = k->cartridge->display[2047 - d->counter[i]] & d->flag[i]; break;
    case 7: value = d->flag[i]; break;
    }
    if (!(i >= 5 && d->music[i]))
        d->counter[i] = (d->counter[i] - 1) & 0x7FF;
    return value;
}

static void write_dpc(State *s, unsigned offset, uint8_t value)
{
    Dpc *d = &s->dpc;
    unsigned i = offset & 7;
    switch (offset >> 3 & 7) {
    case 0:
        d->top[i] = value;
        d->flag[i] = 0;
        break;
    case 1: d->bottom[i] = value; break;
    case 2:
        d->counter[i] = (uint16_t)((d->counter[i] & 0x700) | (i >= 5 && d->music[i] ? d->top[i] : value));
        break;
    case 3:
        d->counter[i] = (uint16_t)((value & 7) << 8 | (d->counter[i] & 255));
        if (i >= 5)
            d->music[i] = value >> 4 & 1;
        break;
    case 6: d->random = 1; break;
    }
}

/* ---- banks ----------------------------------------------------------------------------------------------------- */

/* Find anew which bytes stand in the cartridge's 4 KB, and forget where the program runs. */
static void map_banks(Console *k)
{
    static const uint16_t STARTS[] = {0, 0, 0, 0, 0x100, 0x100, 0, 0, 0x80};
    static const uint16_t ENDS[] = {0x1000, 0x1000, 0xFF8, 0xFF6, 0xFF8, 0xFF6, 0, 0, 0xFC0};
    k->flat = k->rom + 4096 * (k->state.bank & 3);
    k->flat_start = STARTS[k->kind];
    k->flat_span = (uint32_t)ENDS[k->kind] - STARTS[k->kind];
    k->code_span = 0;
}

static void touch_bank(Console *k, unsigned offset)
{
    State *s = &k->state;
    unsigned bank = s->bank, least = k->kind == CART_F6 || k->kind == CART_F6SC ? 0xFF6 : 0xFF8;
    switch (k->kind) {
    case CART_F8: case CART_F6: case CART_F8SC: case CART_F6SC: case CART_DPC:
        if (offset >= least && offset <= 0xFF9)
            bank = offset - least;
        break;
    case CART_E0:
        if (offset >= 0xFE0 && offset < 0xFF8) {
            s->slice[(offset - 0xFE0) >> 3] = offset & 7;
            k->code_span = 0;
        }
        break;
    }
    if (bank != s->bank) {
        s->bank = (uint8_t)bank;
        map_banks(k);
    }
}

static uint8_t read_cartridge(Console *k, unsigned address)
{
    State *s = &k->state;
    unsigned offset = address & 0xFFF;
    if (k->kind == CART_DPC && (offset < 0x80 || offset >= 0xFC0)) {
        clock_random(&s->dpc);
        if (offset < 0x40)
            return read_dpc(k, offset);
    }
    touch_bank(k, offset);
    switch (k->kind) {
    case CART_E0: return k->rom[1024 * (s->slice[offset >> 10] & 7) + (offset & 0x3FF)];
    case CART_FE: return k->rom[(address & 0x2000 ? 0 : 4096) + offset];
    case CART_F8SC: case CART_F6SC:
        if (offset >= 0x80 && offset < 0x100)
            return s->cart_ram[offset & 0x7F];
        break;
    }
    return k->rom[4096 * (s->bank & 3) + offset];
}

static void write_cartridge(Console *k, unsigned address, uint8_t value)
{
    unsigned offset = address & 0xFFF;
    if (k->kind == CART_DPC && (offset < 0x80 || offset >= 0xFC0)) {
        clock_random(&k->state.dpc);
        if (offset >= 0x40 && offset < 0x80)
            write_dpc(&k->state, offset, value);
    }
    if ((k->kind == CART_F8SC || k->kind == CART_F6SC) && offset < 0x80)
        k->state.cart_ram[offset] = value;
    touch_bank(k, offset);
}

/* ---- the bus --------------------------------------------------------------------------------------------------- */

static uint8_t read_device(Console *k, unsigned address)
{
    if (address & 0x1000)
        return read_cartridge(k, address);
    if (!(address & 0x80))
        return read_picture(k, address & 15);
    if (address & 0x200)
        return read_riot(k, address);
    return k->state.ram[address & 0x7F];
}

static void write_device(Console *k, unsigned address, uint8_t value, int later)
{
    if (address & 0x1000)
        write_cartridge(k, address, value);
    else if (!(address & 0x80))
        write_picture(k, address & 0x3F, value, later);
    else if (address & 0x200)
        write_riot(&k->state, address, value);
    else
        k->state.ram[address & 0x7F] = value;
}

/* Fetch a byte of the program that is not in the part known, and find that part where there is one. */
static uint8_t fetch_device(Console *k, unsigned address)
{
    unsigned offset = address & 0xFFF;
    k->code_span = 0;
    if (!(address & 0x1000)) {
        if ((address & 0x280) == 0x80) {
            k->code = k->state.ram;
            k->code_start = address & 0xFF80;
            k->code_span = 128;
        }
    } else if (k->kind == CART_FE) {
        k->code = k->rom + (address & 0x2000 ? 0 : 4096);
        k->code_start = address & 0xF000;
        k->code_span = 4096;
    } else if (k->kind == CART_E0) {
        if (offset < 0xFE0) {
            k->code = k->rom + 1024 * (k->state.slice[offset >> 10] & 7);
            k->code_start = address & 0xFC00;
            k->code_span = offset < 0xC00 ? 0x400 : 0x3E0;
        }
    } else if (offset - k->flat_start < k->flat_span) {
        k->code = k->flat + k->flat_start;
        k->code_start = (address & 0xF000) + k->flat_start;
        k->code_span = k->flat_span;
    }
    return read_device(k, address);
}

static void reset_cartridge(Console *k, const uint8_t *cart_ram)
{
    static const uint8_t BANKS[] = {0, 0, 1, 0, 1, 0, 0, 0, 1};
    State *s = &k->state;
    s->bank = BANKS[k->kind];
    for (int i = 0; i < 4; i++)
        s->slice[i] = (uint8_t)(4 + i);
    if (cart_ram)
        memcpy(s->cart_ram, cart_ram, sizeof s->cart_ram);
    s->dpc.fraction = 0;
    s->dpc.updated = 0;
    map_banks(k);
}
