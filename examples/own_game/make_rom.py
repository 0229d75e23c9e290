"""Make catch.bin, a small game for the Atari 2600: python examples/own_game/make_rom.py [FOLDER].

A ball falls in one of eight columns. The joystick moves the paddle below, the button makes the ball fall faster. A
caught ball scores a point, a missed one costs one of three lives; the game is over with the last. The console's RESET
switch begins a game.
"""

import re
import sys
from pathlib import Path

SOURCE = """
; memory: the score as two decimal digits, lives, columns of paddle and ball, the ball's row, chance, a count of frames
score = $80
lives = $81
paddle = $82
ball = $83
row = $84
chance = $85
count = $86

start   sei
        cld
        ldx #$ff
        txs
        lda #0
        tax
clear   sta $00,x           ; clear the picture chip and the memory
        inx
        bne clear
        lda #$a5
        sta chance
        lda #$84            ; blue behind
        sta $09
        lda #$1e            ; a yellow paddle
        sta $06
        lda #$0e            ; a white ball
        sta $07

frame   lda #2              ; three lines of vertical sync
        sta $02
        sta $00
        sta $02
        sta $02
        lda #43             ; 37 lines of blank, in which the game goes on
        sta $296
        lda #0
        sta $02
        sta $00
        lda #2
        sta $01
        inc count
        lda chance          ; the next of 255 numbers that look random
        lsr
        bcc drawn
        eor #$b4
drawn   sta chance

        lda $282            ; RESET: a new game
        and #1
        bne play
        lda #0
        sta score
        sta row
        lda #3
        sta lives
        sta paddle
        sta ball
        jmp place

play    lda lives
        beq place
        lda count           ; the paddle moves every fourth frame
        and #3
        bne fall
        bit $280            ; bit 7: right, bit 6: left; 0 where the stick is held there
        bmi left
        lda paddle
        cmp #7
        beq left
        inc paddle
left    bit $280
        bvs fall
        lda paddle
        beq fall
        dec paddle

fall    lda #3              ; the ball falls every fourth frame, every second while the button is held
        bit $0c             ; bit 7: the button, 0 where it is held
        bmi timed
        lda #1
timed   and count
        bne place
        inc row
        lda row
        cmp #11
        bne place
        lda ball            ; the ball is down
        cmp paddle
        bne missed
        sed
        clc
        lda score
        adc #1
        sta score
        cld
        jmp next
missed  dec lives
next    lda #0
        sta row
        lda chance
        and #7
        sta ball

place   sta $02             ; a column is as many turns of five cycles into a line
        lda paddle
        clc
        adc #4
        tax
turn0   dex
        bne turn0
        sta $10
        sta $02
        lda ball
        clc
        adc #4
        tax
turn1   dex
        bne turn1
        sta $11

blank   lda $284            ; until the blank is over
        bne blank
        sta $02
        sta $01

        ldy #0              ; twelve rows of sixteen lines
rows    sta $02
        lda #0
        cpy row
        bne noball
        lda #$3c
noball  sta $1c
        lda #0
        cpy #11
        bne nopad
        lda #$ff
nopad   sta $1b
        ldx #15
lines   sta $02
        dex
        bne lines
        iny
        cpy #12
        bne rows

        sta $02
        lda #0
        sta $1b
        lda #2              ; 30 lines of blank
        sta $01
        lda #35
        sta $296
over    lda $284
        bne over
        jmp frame
"""

ORIGIN = 0xF800
CODES = {  # an instruction and its operand: n a number, z an address below 256, w any address, r a branch's target
    "sei": 0x78, "cld": 0xD8, "sed": 0xF8, "clc": 0x18, "txs": 0x9A, "tax": 0xAA, "inx": 0xE8, "dex": 0xCA,
    "iny": 0xC8, "lsr": 0x4A, "ldx n": 0xA2, "ldy n": 0xA0, "lda n": 0xA9, "eor n": 0x49, "and n": 0x29,
    "adc n": 0x69, "cmp n": 0xC9, "cpy n": 0xC0, "lda z": 0xA5, "and z": 0x25, "sta z": 0x85, "inc z": 0xE6,
    "dec z": 0xC6, "cmp z": 0xC5, "cpy z": 0xC4, "bit z": 0x24, "sta z,x": 0x95, "lda w": 0xAD, "sta w": 0x8D,
    "bit w": 0x2C, "jmp w": 0x4C, "bne r": 0xD0, "beq r": 0xF0, "bcc r": 0x90, "bmi r": 0x30,
    "bvs r": 0x70,
}  # fmt: skip


def assembled(source: str) -> bytes:
    """Assemble a program and return the cartridge, 2,048 bytes."""
    places: dict[str, int] = {}
    lines: list[tuple[int, str, str, str]] = []
    at = ORIGIN
    for line in source.splitlines():
        text = line.partition(";")[0].rstrip()
        if found := re.fullmatch(r"(\w+) = \$(\w+)", text):
            places[found[1]] = int(found[2], 16)
        elif found := re.fullmatch(r"(\w*)\s+(\w{3})(?:\s+(#?)(\$?\w+)(,x)?)?", text):
            label, name, number, operand, indexed = (part or "" for part in found.groups())
            places |= {label: at} if label else {}
            wide = re.fullmatch(r"\$\w{3,4}", operand) or name == "jmp"
            kind = "n" if number else "r" if f"{name} r" in CODES else "w" if wide else "z" if operand else ""
            lines.append((at, f"{name} {kind}{indexed}".strip(), operand, kind))
            at += {"": 1, "w": 3}.get(kind, 2)
    code = bytearray()
    for at, instruction, operand, kind in lines:
        value = places[operand] if operand in places else int(operand.lstrip("$") or "0", 16 if "$" in operand else 10)
        code.append(CODES[instruction])
        if kind == "r":
            code += (value - at - 2).to_bytes(1, "little", signed=True)
        elif kind:
            code += value.to_bytes(2 if kind == "w" else 1, "little")
    code += bytes(2048 - 4 - len(code))
    return bytes(code + 2 * ORIGIN.to_bytes(2, "little"))  # addresses of the first instruction, and for BRK


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    (folder / "catch.bin").write_bytes(assembled(SOURCE))
    print(folder / "catch.bin")
