/* An agent in C, in one file without a library; docs/messages.md describes the messages.

       cc -O3 -o agent examples/agent.c
       arcademark run --agent-command './agent --batch 8' --games pong --episodes 3

   Its actions come from a generator that depends on the episode's seed and on observations, so that an episode is
   the same in any batch. It maps observations into memory; with --pipes it receives them instead. */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A value in MessagePack. kind: i integer, b boolean, s string, d data, a array, m map, o other; n: its number or
   length; at: the address of its content, or after a number. */
struct value {
    char kind;
    uint64_t n;
    const uint8_t *at;
};

static uint64_t number(const uint8_t *p, int bytes) {
    uint64_t n = 0;
    while (bytes--) n = n << 8 | *p++;
    return n;
}

static struct value read_value(const uint8_t *p) {
    uint8_t b = *p++;
    int bytes = 0;
    if (b < 0x80) return (struct value){'i', b, p};
    if (b < 0x90) return (struct value){'m', b & 15, p};
    if (b < 0xa0) return (struct value){'a', b & 15, p};
    if (b < 0xc0) return (struct value){'s', b & 31, p};
    if (b >= 0xe0) return (struct value){'i', (uint64_t)(int8_t)b, p};
    if (b == 0xc2 || b == 0xc3) return (struct value){'b', b & 1, p};
    if (b == 0xca || b == 0xcb) bytes = 4 << (b - 0xca);
    if (bytes) return (struct value){'o', 0, p + bytes};
    if (b >= 0xcc && b <= 0xd3) bytes = 1 << ((b - 0xcc) & 3);
    if (bytes) return (struct value){'i', number(p, bytes), p + bytes};
    if (b >= 0xc4 && b <= 0xc6) return (struct value){'d', number(p, bytes = 1 << (b - 0xc4)), p + bytes};
    if (b >= 0xd9 && b <= 0xdb) return (struct value){'s', number(p, bytes = 1 << (b - 0xd9)), p + bytes};
    if (b == 0xdc || b == 0xdd) return (struct value){'a', number(p, bytes = 2 << (b - 0xdc)), p + bytes};
    if (b == 0xde || b == 0xdf) return (struct value){'m', number(p, bytes = 2 << (b - 0xde)), p + bytes};
    return (struct value){'o', 0, p};
}

static const uint8_t *after(const uint8_t *p) {
    struct value v = read_value(p);
    if (v.kind == 's' || v.kind == 'd') return v.at + v.n;
    p = v.at;
    if (v.kind == 'm') v.n *= 2;
    if (v.kind == 'm' || v.kind == 'a')
        while (v.n--) p = after(p);
    return p;
}

static int is(struct value v, const char *text) {
    return v.kind == 's' && v.n == strlen(text) && !memcmp(v.at, text, v.n);
}

/* Return the address of a map's value under a name. */
static const uint8_t *member(const uint8_t *map, const char *name) {
    struct value v = read_value(map);
    const uint8_t *p = v.at;
    while (v.n--) {
        int found = is(read_value(p), name);
        p = after(p);
        if (found) return p;
        p = after(p);
    }
    fprintf(stderr, "the message has no '%s'\n", name);
    exit(1);
}

/* Messages: four bytes of length, the highest first, and a map. */
static uint8_t *came, out[1 << 16];
static size_t room, length;

static int receive(void) {
    uint8_t head[4];
    if (fread(head, 1, 4, stdin) < 4) return 0;
    size_t size = number(head, 4);
    if (size > room && !(came = realloc(came, room = size))) return 0;
    return fread(came, 1, size, stdin) == size;
}

static void put(uint8_t byte) { out[length++] = byte; }

static void put_text(const char *text) {
    put(0xa0 | strlen(text)); /* up to 31 bytes */
    while (*text) put(*text++);
}

static void put_number(uint32_t n) { /* below 2^16 */
    put(0xcd), put(n >> 8), put(n);
}

static void begin(const char *type, int members) {
    length = 4;
    put(0x80 | members), put_text("type"), put_text(type);
}

static void send_message(void) {
    for (int i = 0; i < 4; i++) out[i] = (length - 4) >> (24 - 8 * i);
    fwrite(out, 1, length, stdout);
    fflush(stdout);
}

int main(int count, char **words) {
    int batch = 1, pipes = 0;
    for (int i = 1; i < count; i++) {
        if (!strcmp(words[i], "--pipes")) pipes = 1;
        if (!strcmp(words[i], "--batch") && i + 1 < count) batch = atoi(words[++i]);
    }
    begin("agent", 2), put_text("version"), put_number(1), send_message();

    if (!receive()) return 1;
    uint32_t actions = read_value(member(member(came, "action"), "n")).n;
    size_t bytes = read_value(member(member(came, "observation"), "bytes")).n; /* of one observation */
    const uint8_t *mapped = NULL;
    if (!pipes) {
        struct value memory = read_value(member(came, "memory"));
        char path[4096];
        snprintf(path, sizeof path, "%.*s", (int)memory.n, (const char *)memory.at);
        mapped = mmap(NULL, bytes * batch, PROT_READ, MAP_SHARED, open(path, O_RDONLY), 0);
        if (mapped == MAP_FAILED) return perror(path), 1;
    }
    begin("ready", 3), put_text("batch_size"), put_number(batch);
    put_text("observations"), put_text(pipes ? "bytes" : "memory"), send_message();

    uint32_t *states = calloc(batch, sizeof *states);
    while (receive()) { /* until standard input ends */
        struct value first = read_value(member(came, "first")), seeds = read_value(member(came, "seeds"));
        const uint8_t *seen = pipes ? read_value(member(came, "observations")).at : mapped;
        begin("actions", 2), put_text("actions"), put(0xdc), put(first.n >> 8), put(first.n);
        for (uint64_t row = 0, rows = first.n; row < rows; row++) {
            if (read_value(first.at).n) states[row] = read_value(seeds.at).n;
            first.at = after(first.at), seeds.at = after(seeds.at);
            uint32_t sum = 0;
            for (size_t i = 0; i < bytes; i++) sum += seen[row * bytes + i];
            states[row] = states[row] * 1664525u + 1013904223u + sum;
            put_number((states[row] >> 16) % actions);
        }
        send_message();
    }
    return 0;
}
