"""Damaged cartridges translated and played under AddressSanitizer and UBSan: `make fuzz-emulator` runs it.

    python tests/emulator/fuzz_translated.py [CARTRIDGES]

Each is a game's with bytes changed, or noise, of each kind in turn; its translation is played with `fuzz.c` on it and
on others that it was not made of, from states and under rules of chance. A fault ends it with the sanitizer's report.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from arcademark.emulator import build, games, program, translate
from arcademark.environments.emulation.atari import rom_path

GAMES = ("skiing", "pong", "asterix", "ms_pacman", "elevator_action", "road_runner", "montezuma_revenge")
GAMES = (*GAMES, "robotank", "pitfall2", "crazy_climber", "solaris", "gopher", "tutankham", "klax")
SANITIZERS = ("-std=c11", "-O0", "-g1", "-w", "-fwrapv", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
ROUNDS, SEEN = 300, 30
"""Games played on each cartridge, and addresses that its translation is told were seen in play."""


def cartridge(number: int) -> tuple[str, bytes]:
    """Return a game and a damaged cartridge of its kind."""
    chance, game = np.random.default_rng(number), GAMES[number % len(GAMES)]
    rom = np.frombuffer(rom_path(game).read_bytes(), np.uint8).copy()
    damaged = chance.random(rom.size) < (0.01, 0.1, 1, 0)[number % 4]
    rom[damaged] = chance.integers(256, size=int(damaged.sum()))
    return game, rom[: chance.integers(1, rom.size)].tobytes() if chance.random() < 0.1 else rom.tobytes()


def main(count: int) -> None:
    """Translate, compile and play that many cartridges."""
    command = build.compiler()
    if command is None:
        sys.exit("no C compiler")
    for number in range(count):
        game, rom = cartridge(number)
        kind = games.game(game).facts["cartridge"]
        places = np.random.default_rng(number).integers((8, 0x10000), size=(SEEN, 2)).tolist()
        seen = {(bank % program.BANKS[kind], address): True for bank, address in places}
        with tempfile.TemporaryDirectory() as folder:
            texts = {name: build.native(name) for name in (*build.SOURCES, *build._STEPS, "fuzz.c")}
            for name, text in (texts | translate.translation(rom, kind, seen)).items():
                (Path(folder) / name).write_text(text, "utf-8")
            (Path(folder) / "rom").write_bytes(rom)
            fuzz, parts = f"{folder}/fuzz", [f"{folder}/fuzz.c", f"{folder}/{build.MAIN}"]
            subprocess.run([*command, *SANITIZERS, "-DWITH_PROGRAM", *parts, "-o", fuzz], check=True)
            subprocess.run([fuzz, str(ROUNDS), str(1 + number * ROUNDS), f"{folder}/rom"], check=True)
        print(f"{number + 1}: {game}, {kind}, {len(rom)} bytes", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else len(GAMES))
