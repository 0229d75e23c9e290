"""The picture chip once more, offline: every pixel and every collision recomputed from what programs store.

    python tests/emulator/offline_chip.py [GAMES] [--frames 1000]

`recorder.c` notes what passes between a cartridge's program and the emulator's picture chip, from a reset on. `Chip`
knows nothing else: it was written from the chip's documented behaviour, shares no code with the emulator's, draws
everything, and looks at every pixel. Its pixels are compared with the emulator's in frames that are drawn, its
collisions at each read and after every other frame, drawn or not. A line is printed for each game; the first
difference ends the tool.

A row is a number of 160 bits, of which bit 0 is the pixel at the left.
"""

import argparse
import ctypes
import functools
from pathlib import Path

import numpy as np

from arcademark.emulator import build
from arcademark.emulator.machine import WIDTH, Machine
from arcademark.environments.emulation.atari import rom_path
from arcademark.suite.subsets import resolve_tasks

LINE, FIRST_PIXEL = 228, 68
"""Clocks of a line, and that of its first pixel."""

VBLANK, NUSIZ0, COLUP0, COLUBK, CTRLPF, REFP0, PF0, PF1, PF2 = 0x01, 0x04, 0x06, 0x09, 0x0A, 0x0B, 0x0D, 0x0E, 0x0F
RESP0, RESM0, RESBL, GRP0, GRP1, ENAM0, ENABL, HMP0, HMM0 = 0x10, 0x12, 0x14, 0x1B, 0x1C, 0x1D, 0x1F, 0x20, 0x22
VDELP0, VDELBL, RESMP0, HMOVE, HMCLR, CXCLR = 0x25, 0x27, 0x28, 0x2A, 0x2B, 0x2C

P0, P1, M0, M1, BALL, FIELD = range(6)
PAIRS = (
    *((M0, P1), (M0, P0), (M1, P0), (M1, P1), (P0, FIELD), (P0, BALL), (P1, FIELD), (P1, BALL)),
    *((M0, FIELD), (M0, BALL), (M1, FIELD), (M1, BALL), (BALL, FIELD), None, (P0, P1), (M0, M1)),
)
"""What collides, two pairs per register that tells: first that of its bit 7, then that of its bit 6."""

DELAYS = {VBLANK: 1, NUSIZ0: 8, NUSIZ0 + 1: 8, REFP0: 1, REFP0 + 1: 1, RESM0: 8, RESM0 + 1: 8, GRP0: 1, GRP1: 1}
FIELD_DELAYS = (4, 5, 2, 3)
"""Clocks after which stores show; those to the playfield by the cycle of the line."""

COPIES = ((0,), (0, 16), (0, 32), (0, 16, 32), (0, 64), (0,), (0, 32, 64), (0,))
LATE = {(M0, 60, 69): 8, (M1, 9, 18): 3, (BALL, 54, 60): 10, (BALL, 54, 69): 10, (BALL, 9, 18): 3}
LATE |= {(BALL, 21, 30): 6, (BALL, 18, 27): 5}
"""Positions after a reset of position so many clocks after HMOVE, at that clock of the line."""

STAR_MOVES = (18, 33, 0, 17)
ALL = (1 << WIDTH) - 1
LEFT = (1 << WIDTH // 2) - 1

ENTRY = np.dtype([("clock", np.int32), ("what", np.uint8), ("value", np.uint8)], align=True)
READ, BEGIN, END = 0x80, 0xC0, 0xC1
MAX_ENTRIES = 1 << 20


def turned(row, by):
    """Return a row moved to the right; what leaves it comes in at the left."""
    return (row << by | row >> WIDTH - by) & ALL if by else row & ALL


@functools.cache
def player_bits(graphics, reflected, dot, first):
    """Return what a player shows at position 0: dots of that width, bit 7 at the left, from that pixel on."""
    bits = [graphics >> bit & 1 for bit in (range(8) if reflected else range(7, -1, -1))]
    return sum(bit * ((1 << dot) - 1) << first + dot * place for place, bit in enumerate(bits))


@functools.cache
def field_bits(first, second, third, reflected):
    """Return what the playfield shows."""
    bits = [*(first >> bit & 1 for bit in range(4, 8)), *(second >> bit & 1 for bit in range(7, -1, -1))]
    bits += [third >> bit & 1 for bit in range(8)]
    return sum(bit * 15 << 4 * place for place, bit in enumerate(bits + (bits[::-1] if reflected else bits)))


class Chip:
    """The picture chip, just reset.

    Attributes
    ----------
    collisions : int
        The bits found so far, in the order of `PAIRS`.
    screen : numpy.ndarray
        The picture of the frame, shape (rows, 160), uint8; meaningless where `painted` is False.
    """

    def __init__(self, first_row, rows, bars, pal):
        self._window, self._bars, self._pal = (first_row * LINE, (first_row + rows) * LINE), bars, pal
        self._registers, self._position = [0] * 64, [0] * 5
        self._old, self._old_ball = [0, 0], 0
        self._suppressed, self._reflected, self._bar = [False, False], 0, False
        self._star, self._star_count, self._star_shape = False, 0, 0
        self.collisions = self._odd = 0
        self._origin = self._last_move = self._end = 0
        self._at, self._line_ended = first_row * LINE, False
        self._masks = self._found_whole = None
        self._segments = []
        self.screen, self.painted = np.zeros((rows, WIDTH), np.uint8), np.zeros((rows, WIDTH), bool)

    # ---- frames

    def begin(self, origin):
        """Begin a frame, of which the first line began at that clock, 0 or less."""
        self._last_move -= self._end + self._origin
        if self._pal:
            self._odd = self._end // LINE & 1
            for register in range(COLUP0, COLUBK + 1):
                self._registers[register] = self._registers[register] & 0xFE | self._odd
        self._origin, self._at, self._line_ended = origin, self._window[0], False
        self._segments.clear()
        self.painted[:] = False

    def end(self, clock):
        """End a frame, or a call that another continues."""
        self._end = clock

    def whole(self):
        """Return whether all of the picture was drawn."""
        return self._at >= self._window[1]

    # ---- drawing

    def _draw(self, clock):
        clock = min(clock, self._window[1])
        while self._at < clock:
            if self._line_ended:
                self._end_line()
            start = self._at - self._at % LINE
            self._segment(start, self._at - start, min(clock - start, LINE))
            self._at = min(clock, start + LINE)
            self._line_ended = self._at == start + LINE

    def _end_line(self):
        self._line_ended = False
        self._reflect(self._registers[CTRLPF] & 1)
        self._show_copies(0)
        self._show_copies(1)
        if self._star:
            self._star_count = self._star_count + 1 & 3
            self._position[M0] = (self._position[M0] - STAR_MOVES[self._star_count]) % WIDTH
            self._star_shape = self._star_count if self._star_count < 3 else 0
            self._masks = None

    def _segment(self, start, first, end):
        """Draw clocks of a line."""
        left, right = max(0, first - FIRST_PIXEL), max(0, end - FIRST_PIXEL)
        row, blank = (start - self._window[0]) // LINE, self._registers[VBLANK] & 2
        bar = self._bar and first < FIRST_PIXEL + 8
        if right > left:
            masks = self._objects()
            if not blank:
                if (left, right) != (0, WIDTH):
                    self.collisions |= self._found((1 << right) - (1 << left))
                else:
                    if self._found_whole is None:
                        self._found_whole = self._found(ALL)
                    self.collisions |= self._found_whole
            self._segments.append((row, left, right, None if blank else self._layers(masks), self._colours()))
        if bar:
            if left < 8:
                self._segments.append((row, left, 8, None, None))
            if end >= FIRST_PIXEL + 8:
                self._bar = False

    def _found(self, seen):
        masks, found = self._objects(), 0
        for bit, pair in enumerate(PAIRS):
            if pair and masks[pair[0]] & masks[pair[1]] & seen:
                found |= 1 << bit
        return found

    def _colours(self):
        return bytes(self._registers[register] for register in (COLUBK, COLUP0, COLUP0 + 1, COLUP0 + 2))

    def _layers(self, masks):
        """Return the pixels in the colours of both players and of the playfield; none is in two of them."""
        one, two, ball, field = masks[P0] | masks[M0], masks[P1] | masks[M1], masks[BALL], masks[FIELD]
        score, first = self._registers[CTRLPF] & 2, self._registers[CTRLPF] & 4
        if score and first and not any(self._enabled()[:FIELD]):
            return field & LEFT, field & ~LEFT, 0
        if first:
            front = ball | field
            return one & ~front, two & ~one & ~front, front
        if score:
            one, two, field = one | field & LEFT, two | field & ~LEFT, 0
        return one, two & ~one, (ball | field) & ~one & ~two

    def picture(self):
        """Return what is drawn of the frame's picture; `painted` tells what that is."""
        blank = 0, 0, 0
        layers = b"".join(row.to_bytes(20, "little") for _, _, _, rows, _ in self._segments for row in rows or blank)
        bits = np.unpackbits(np.frombuffer(layers, np.uint8).reshape(-1, 3, 20), axis=2, bitorder="little")
        colours = np.frombuffer(b"".join(c if m else bytes(4) for *_, m, c in self._segments), np.uint8).reshape(-1, 4)
        pixels = np.take_along_axis(colours, bits[:, 0] + 2 * bits[:, 1] + 3 * bits[:, 2], 1)
        for (row, left, right, *_), line in zip(self._segments, pixels, strict=True):
            self.screen[row, left:right] = line[left:right]
            self.painted[row, left:right] = True
        return self.screen

    # ---- objects

    def _enabled(self):
        registers = self._registers
        graphics = [self._old[i] if registers[VDELP0 + i] & 1 else registers[GRP0 + i] for i in (0, 1)]
        missiles = [registers[ENAM0 + i] & 2 and not registers[RESMP0 + i] & 2 for i in (0, 1)]
        ball = (self._old_ball if registers[VDELBL] & 1 else registers[ENABL]) & 2
        return *graphics, *missiles, ball, registers[PF0] & 0xF0 | registers[PF1] | registers[PF2]

    def _objects(self):
        if self._masks is None:
            enabled = self._enabled()
            self._masks = [self._player(i, enabled[i]) for i in (0, 1)]
            self._masks += [self._missile(i) if enabled[M0 + i] else 0 for i in (0, 1)]
            ball = turned((1 << (1 << (self._registers[CTRLPF] >> 4 & 3))) - 1, self._position[BALL])
            self._masks += [ball if enabled[BALL] else 0]
            self._masks += [field_bits(*self._registers[PF0 : PF2 + 1], self._reflected)]
            self._found_whole = None
        return self._masks

    def _player(self, i, graphics):
        kind = self._registers[NUSIZ0 + i] & 7
        dot = {5: 2, 7: 4}.get(kind, 1)
        shown = player_bits(graphics, bool(self._registers[REFP0 + i] & 8), dot, int(dot > 1))
        return self._copies(shown, kind, self._position[i], self._suppressed[i])

    def _missile(self, i):
        wide = self._registers[NUSIZ0 + i] >> 4 & 3
        if i == 0 and self._star_shape:
            if self._star_shape == 2:
                return 0
            wide |= 1
        return self._copies((1 << (1 << wide)) - 1, self._registers[NUSIZ0 + i] & 7, self._position[M0 + i], False)

    def _copies(self, shown, kind, position, without_first):
        row = 0
        for offset in COPIES[kind][1 if without_first else 0 :]:
            row |= turned(shown, (position + offset) % WIDTH)
        return row

    def _show_copies(self, i, suppressed=False):
        if self._suppressed[i] != suppressed:
            self._suppressed[i], self._masks = suppressed, None

    def _reflect(self, reflected):
        if self._reflected != reflected:
            self._reflected, self._masks = reflected, None

    # ---- accesses

    def read(self, register, clock):
        """Return the bits 7 and 6 that a register of collisions drives at a clock."""
        self._draw(clock)
        return (self.collisions >> 2 * register & 1) << 7 | (self.collisions >> 2 * register + 1 & 1) << 6

    def store(self, register, value, clock):
        """Store to a register at a clock since the frame's first line began."""
        registers, column = self._registers, clock % LINE
        late = FIELD_DELAYS[column // 3 % 4] if PF0 <= register <= PF2 else DELAYS.get(register, 0)
        self._draw(clock + late)
        if RESP0 <= register <= RESP0 + 1:
            self._place_player(register - RESP0, column, clock)
        elif RESM0 <= register <= RESBL:
            self._place(M0 + register - RESM0, column, clock)
        elif RESMP0 <= register <= RESMP0 + 1:
            i = register - RESMP0
            if registers[register] & 2 and not value & 2:
                middle = {5: 8, 7: 16}.get(registers[NUSIZ0 + i] & 7, 4)
                self._position[M0 + i] = (self._position[i] + middle) % WIDTH
                self._star_shape = self._star_shape if i else 0
        elif register == HMOVE:
            self._move(column // 3, clock)
        elif register == HMCLR:
            registers[HMP0 : HMP0 + 5] = [0] * 5
        elif register == CXCLR:
            self.collisions = 0
        elif register == GRP0:
            self._old[1] = registers[GRP1]
        elif register == GRP1:
            self._old[0], self._old_ball = registers[GRP0], registers[ENABL]
        elif register == CTRLPF and column < 147:
            self._reflected = value & 1
        elif NUSIZ0 <= register <= NUSIZ0 + 1:
            self._suppressed[register - NUSIZ0] = False
            if register == NUSIZ0:
                self._star_shape = 0
        elif register == HMM0:
            if clock + self._origin == self._last_move + 63 and registers[HMM0] >> 4 == 7 and value >> 4 == 6:
                self._star, self._star_count = True, 0
        elif COLUP0 <= register <= COLUBK:
            value = value & 0xFE | self._odd
        if register == PF0:
            value &= 0xF0
        if register not in (HMOVE, HMCLR, CXCLR):
            registers[register] = value
        if register > 2 and not COLUP0 <= register <= COLUBK:
            self._masks = None

    def _place_player(self, i, column, clock):
        place = 3 if column < FIRST_PIXEL else (column - FIRST_PIXEL + 5) % WIDTH
        kind = self._registers[NUSIZ0 + i] & 7
        width = {5: 16, 7: 32}.get(kind, 8)
        ahead = [(place - self._position[i] - offset) % WIDTH for offset in COPIES[kind]]
        delayed, within = any(pixels < 4 for pixels in ahead), any(4 <= pixels < 4 + width for pixels in ahead)
        if within and not delayed:
            self._draw(clock + 11)
        self._position[i] = place
        self._suppressed[i] = not delayed

    def _place(self, which, column, clock):
        place = 2 if column < FIRST_PIXEL else (column - FIRST_PIXEL + 4) % WIDTH
        since = clock + self._origin - self._last_move
        self._position[which] = LATE.get((which, since, column), place)
        if which == M0:
            self._star_shape = 0

    def _move(self, cycle, clock):
        for which, register in enumerate(self._registers[HMP0 : HMP0 + 5]):
            move = 16 - (register >> 4) if register >> 4 > 7 else -(register >> 4)
            if 3 <= cycle <= 20:
                move = max(move, (3 * cycle + 1) // 4 - 9)
            elif 21 <= cycle <= 54:
                move = 0
            elif 55 <= cycle <= 74:
                move = min(0, move + 6 - (3 * (cycle - 55) + 2) // 4)
            self._position[which] = (self._position[which] + move) % WIDTH
        if self._bars and (cycle <= 20 or cycle == 75):
            self._bar = True
        self._suppressed = [False, False]
        self._star, self._star_shape = False, 0
        self._last_move = clock + self._origin


@functools.cache
def recorder():
    """Return the core, playing what records."""
    text = Path(__file__).with_name("recorder.c").read_text("utf-8")
    compiled = build.library((build.version(), text), lambda: {build.MAIN: text}, (*build.FLAGS, "-O1"))
    core = build.TranslatedCore(compiled)
    compiled.console_record.argtypes = ctypes.c_void_p, ctypes.c_int32
    return core


class Recorded(Machine):
    """A game whose picture chip is followed by a `Chip`, which is compared after each frame.

    Attributes
    ----------
    compared : dict
        Numbers of pixels, reads of collisions and frames that were compared.
    """

    def __init__(self, name, rom):
        self._chip, self.compared = None, {"frames": 0, "reads": 0, "pixels": 0}
        self._entries = np.zeros(MAX_ENTRIES, ENTRY)
        core = recorder()
        core.translation.console_record(self._entries.ctypes.data, MAX_ENTRIES)
        super().__init__(name, rom, chosen=core)

    def reset(self, mode, difficulty):
        """Reset machine and game; the first one is the first that the chip follows."""
        facts = self._game.facts
        self._chip = Chip(facts["first_line"], self.rows, facts["bars"], self.pal)
        self.core.translation.console_recorded()
        super().reset(mode, difficulty)

    def _frame(self, action, **given):
        lines = super()._frame(action, **given)
        self.follow(drawn=True)
        return lines

    def play(self, action, *, drawn):
        """Play a frame of the game."""
        (self.act if drawn else self.act_unseen)(action)
        self.follow(drawn=drawn)

    def follow(self, *, drawn):
        """Follow what was recorded, and compare: the picture where the last frame was `drawn`."""
        count, chip = self.core.translation.console_recorded(), self._chip
        assert count <= MAX_ENTRIES
        if chip is None:
            return
        for clock, what, value in self._entries[:count].tolist():
            if what < READ:
                chip.store(what, value, clock)
            elif what == BEGIN:
                if value:
                    chip.begin(clock)
            elif what == END:
                chip.end(clock)
                self.compared["frames"] += 1
            else:
                bits, register = chip.read(what & 7, clock), what & 15
                if register < 8:
                    self.compared["reads"] += 1
                    assert bits == value & 0xC0, (
                        f"register {register} at {divmod(clock, LINE)}: {bits:02x}, {value:02x}"
                    )
        if self.compared["frames"] % 2:  # this finds them all; else they last into the next frame
            found = self.collisions()
            assert chip.collisions == found, f"collisions {chip.collisions:04x}, the core's {found:04x}"
        if drawn:
            theirs, ours = np.empty_like(chip.screen), chip.picture()
            self.screen(theirs)
            assert chip.painted.all() or not chip.whole()
            self.compared["pixels"] += int(chip.painted.sum())
            wrong = np.argwhere((ours != theirs) & chip.painted)
            assert not len(wrong), f"{len(wrong)} pixels, first {wrong[0].tolist()}"


def compare(game, frames, seed=0):
    """Play a game under random actions, every third frame drawn; return the numbers of what was compared."""
    machine, rng = Recorded(game, rom_path(game).read_bytes()), np.random.default_rng(seed)
    for frame in range(frames):
        if frame % 5 == 0:
            action = int(rng.integers(18))
        try:
            machine.play(action, drawn=frame % 3 == 0)
        except AssertionError as error:
            raise AssertionError(f"{game}, frame {frame}: {error}") from None
        if machine.game_over():
            machine.reset(machine.mode, 0)
    return machine.compared


def main():
    """Compare the games asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("games", nargs="?", default="atari-57", help="a suite, a subset or games (%(default)s)")
    parser.add_argument("--frames", type=int, default=1_000, help="of play, beside those of resets")
    asked = parser.parse_args()
    for game in resolve_tasks(asked.games):
        print(
            game, *(f"{number:,} {what}" for what, number in compare(game, asked.frames).items()), sep=", ", flush=True
        )


if __name__ == "__main__":
    main()
