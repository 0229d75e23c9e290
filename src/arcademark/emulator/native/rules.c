/* Programs over the memory: reward, lives and end of a game. Included by core.c.
 *
 * A program is a list of numbers: an operation, and after those marked so its operand. It works on a stack of values;
 * temporaries are named values of the frame. All operations are total: damaged programs end, with some value or other.
 */
enum {
    OP_END, OP_NUMBER /* n */, OP_RAM /* a */, OP_CART /* a */, OP_BCD /* a */, OP_OLD /* r */, OP_MODE,
    OP_TEMPORARY /* t */, OP_KEEP_TEMPORARY /* t */, OP_STORE /* r */, OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD, OP_NEG,
    OP_MIN, OP_MAX, OP_BAND, OP_SHR, OP_S8, OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE, OP_AND, OP_OR, OP_NOT,
    OP_JUMP /* n */, OP_JUMP_IF_NOT /* n */, OP_BCD_OF, OP_COUNT
};

static int bcd(unsigned byte)
{
    return (int)(10 * (byte >> 4 & 15) + (byte & 15));
}

static int64_t floor_div(int64_t a, int64_t b)
{
    if (!b)
        return 0;
    int64_t q = a / b;
    return q - (a % b && (a < 0) != (b < 0));
}

/* What stands at an address of a cartridge, with no effect on it. */
static uint8_t peek_cartridge(const Console *k, unsigned address)
{
    unsigned offset = address & 0xFFF;
    if ((k->kind == CART_F8SC || k->kind == CART_F6SC) && offset >= 0x80 && offset < 0x100)
        return k->state.cart_ram[offset & 0x7F];
    return k->rom[4096 * (k->state.bank & 3) + offset];
}

static int64_t two_values(int op, int64_t a, int64_t b)
{
    switch (op) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return (int64_t)(int32_t)a * (int32_t)b;
    case OP_DIV: return floor_div(a, b);
    case OP_MOD: return b ? a - b * floor_div(a, b) : 0;
    case OP_MIN: return a < b ? a : b;
    case OP_MAX: return a > b ? a : b;
    case OP_BAND: return a & b;
    case OP_SHR: return a >> (b & 31);
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_LT: return a < b;
    case OP_LE: return a <= b;
    case OP_GT: return a > b;
    case OP_GE: return a >= b;
    case OP_AND: return a && b;
    default: return a || b;
    }
}

/* Run a program; return the value left on top. Registers are stored at once at its end. */
static int32_t evaluate(Console *k, const int32_t *program, int length)
{
    State *s = &k->state;
    int32_t old[REGISTERS], stack[MOST_VALUES] = {0}, temporary[MOST_VALUES];
    int top = 0; /* stack[0] lies below the first value */
    memcpy(old, s->registers, sizeof old);
    memset(temporary, 0, sizeof temporary);
    for (int at = 0; at < length; at++) {
        int op = program[at];
        int32_t n = 0, value;
        if (op <= OP_END || op >= OP_COUNT)
            break;
        if (op < OP_ADD ? op != OP_MODE : op == OP_JUMP || op == OP_JUMP_IF_NOT) {
            if (++at >= length)
                break;
            n = program[at];
        }
        switch (op) {
        case OP_NUMBER: value = n; break;
        case OP_RAM: value = s->ram[n & 0x7F]; break;
        case OP_CART: value = peek_cartridge(k, (unsigned)n); break;
        case OP_BCD: value = bcd(s->ram[n & 0x7F]); break;
        case OP_OLD: value = old[n & (REGISTERS - 1)]; break;
        case OP_MODE: value = s->mode; break;
        case OP_TEMPORARY: value = temporary[n & (MOST_VALUES - 1)]; break;
        case OP_KEEP_TEMPORARY:
            temporary[n & (MOST_VALUES - 1)] = stack[top];
            top -= top > 0;
            continue;
        case OP_STORE:
            s->registers[n & (REGISTERS - 1)] = stack[top];
            top -= top > 0;
            continue;
        case OP_JUMP_IF_NOT:
        case OP_JUMP:
            if (op == OP_JUMP || !stack[top])
                at += n > 0 && n < length ? n : 0; /* forward only */
            if (op == OP_JUMP_IF_NOT)
                top -= top > 0;
            continue;
        case OP_NEG: stack[top] = (int32_t)-(int64_t)stack[top]; continue;
        case OP_S8: stack[top] = (int8_t)stack[top]; continue;
        case OP_NOT: stack[top] = !stack[top]; continue;
        case OP_BCD_OF: stack[top] = bcd((unsigned)stack[top]); continue;
        default:
            if (top < 1)
                continue;
            top--;
            stack[top] = (int32_t)two_values(op, stack[top], stack[top + 1]);
            continue;
        }
        if (top < MOST_VALUES - 1)
            stack[++top] = value;
    }
    return stack[top];
}
