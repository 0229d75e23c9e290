/* Functions that Python calls often, as CPython's own: a call through ctypes takes longer than what most of them do.
 *
 * Neither Python's headers nor its library are needed: `console_python` is handed the functions of its stable ABI
 * (`build.py`), and what is declared of their arguments here has been the same since Python 3.7.
 */
#include "steps.c"

typedef struct PyObject PyObject;
typedef ptrdiff_t Size;
typedef PyObject *(*Function)(PyObject *, PyObject *const *, Size);

typedef struct {
    const char *name;
    Function function;
    int flags;
    const char *text;
} Method;

/* CPython's Py_buffer. */
typedef struct {
    void *bytes;
    PyObject *object;
    Size length, item_size;
    int read_only, dimensions;
    char *format;
    Size *shape, *strides, *offsets;
    void *internal;
} Buffer;

enum { FAST_CALL = 0x80, WRITABLE = 0x01 };

/* CPython's functions, and its TypeError. */
typedef struct {
    long (*as_long)(PyObject *);
    void *(*as_address)(PyObject *);
    double (*as_double)(PyObject *);
    PyObject *(*from_long)(long);
    PyObject *(*from_bool)(long);
    PyObject *(*error)(void);
    void (*set_error)(PyObject *, const char *);
    int (*get_buffer)(PyObject *, Buffer *, int);
    void (*release_buffer)(Buffer *);
    void *(*release_lock)(void);
    void (*acquire_lock)(void *);
    PyObject *(*new_function)(Method *, PyObject *, PyObject *);
    PyObject *type_error;
} Python;

static Python python;

static PyObject *refuse(const char *why)
{
    python.set_error(python.type_error, why);
    return NULL;
}

/* Emulate a frame; other threads of Python go on meanwhile. */
static PyObject *act_bound(PyObject *self, PyObject *const *given, Size count, int drawn)
{
    if (count != 1)
        return refuse("expected an action");
    long action = python.as_long(given[0]);
    if (action == -1 && python.error())
        return NULL;
    Console *k = python.as_address(self);
    void *thread = python.release_lock();
    int reward = act(k, action < 0 || action > 17 ? 0 : (int)action, drawn);
    python.acquire_lock(thread);
    return python.from_long(reward);
}

static PyObject *bound_act(PyObject *self, PyObject *const *given, Size count)
{
    return act_bound(self, given, count, 1);
}

static PyObject *bound_act_unseen(PyObject *self, PyObject *const *given, Size count)
{
    return act_bound(self, given, count, 0);
}

static PyObject *bound_game_over(PyObject *self, PyObject *const *given, Size count)
{
    (void)given;
    const Console *k = python.as_address(self);
    return count ? refuse("expected no arguments") : python.from_bool(k->state.registers[R_TERMINAL] != 0);
}

static PyObject *bound_screen(PyObject *self, PyObject *const *given, Size count)
{
    const Console *k = python.as_address(self);
    Size size = (Size)k->rows * WIDTH;
    Buffer out;
    if (count != 1)
        return refuse("expected an array");
    if (python.get_buffer(given[0], &out, WRITABLE))
        return NULL;
    int fits = out.length == size;
    if (fits)
        memcpy(out.bytes, k->screen[k->state.buffer], (size_t)size);
    python.release_buffer(&out);
    return fits ? python.from_bool(1) : refuse("the array has not the size of the screen");
}

/* Play the frames of a call of ale-py's `act`. */
static PyObject *bound_turn(PyObject *self, PyObject *const *given, Size count)
{
    if (count != 2)
        return refuse("expected an action and a strength");
    long action = python.as_long(given[0]);
    double strength = python.as_double(given[1]);
    if ((action == -1 || strength == -1) && python.error())
        return NULL;
    Turn *turn = python.as_address(self);
    void *thread = python.release_lock();
    int reward = console_turn(turn, action < 0 || action > 17 ? 0 : (int)action, (float)strength);
    python.acquire_lock(thread);
    return python.from_long(reward);
}

/* Take CPython's functions. */
void console_python(const Python *functions)
{
    python = *functions;
}

/* Return a function of Python's, on the console or turn whose address is the integer `at`; null if there is none. */
PyObject *console_bound(const char *name, PyObject *at)
{
    static Method methods[] = {{"act", bound_act, FAST_CALL, NULL},
                               {"act_unseen", bound_act_unseen, FAST_CALL, NULL},
                               {"game_over", bound_game_over, FAST_CALL, NULL},
                               {"screen", bound_screen, FAST_CALL, NULL},
                               {"turn", bound_turn, FAST_CALL, NULL}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (!strcmp(name, methods[i].name))
            return python.new_function(&methods[i], at, NULL);
    return refuse("there is no such function");
}
