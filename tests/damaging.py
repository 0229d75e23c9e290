"""Files damaged at random: bits, pieces, and hostile values in place of what stood there."""

WORDS = (
    '1e400 1e-400 1e300 2.5e15 NaN Infinity null true "x" [] -1 0x10 1_0 1,234 1.234 1.234.567 45% ±1 − ٣ \u2028 '
    "\u202e \0 \" ' \\ | ; , # \x1b[31m \"\\ud800\" @SUM(1) \\textbf{1} ** 9223372036854775808 True '<U9' PAR1 "
    "(9999999999999,) __import__('os') __index_level_0__ 🎮 2024-01-01"
)
HOSTILE = [
    *(word.encode() for word in WORDS.split(" ")),
    *(b"9" * 400, b"9" * 5000, b"-" + b"9" * 19, b"[" * 900, b"{" * 900, b'{"a":' * 900, b"(" * 200, b"A" * 200_000),
    *(b"\xff", b"\xff\xfe", b"\xef\xbb\xbf", "é".encode("latin-1"), b"\x93NUMPY\x09\x00", b"PK\x03\x04"),
    *(b"\r", b"\n\n", b"\t", b" ", b"=cmd|' /C calc'!A0", b"'descr': '|O'", b"(3, -1)", b"2 ** 9"),
]

MARKS = (b",", b";", b"\n", b"\t", b":", b"[", b"]", b"{", b"}", b"|")
"""What values stand between."""


def damaged(content, rng):
    """Change a file's bytes in some ways: bits, pieces, and hostile values in place of what stood there."""
    for _ in range(int(rng.integers(1, 5))):
        at, length = int(rng.integers(0, len(content) + 1)), int(rng.integers(1, 20))
        hostile = HOSTILE[int(rng.integers(len(HOSTILE)))]
        kind = int(rng.integers(8))
        if kind == 0 and at < len(content):
            content = content[:at] + bytes([content[at] ^ 1 << int(rng.integers(8))]) + content[at + 1 :]
        elif kind == 1:
            content = content[:at] + content[at + length :]
        elif kind == 2:
            content = content[:at] + content[at : at + length] * int(rng.integers(2, 50)) + content[at + length :]
        elif kind == 3:
            content = content[:at]
        elif kind == 4:
            content = content[:at] + rng.bytes(length) + content[at + length :]
        elif kind == 5:
            content = content[:at] + hostile + content[at:]
        else:  # a value
            begin = max((content.rfind(mark, 0, at) + 1 for mark in MARKS), default=0)
            blank = content[begin : begin + 1] == b" "
            ends = [found for mark in MARKS if (found := content.find(mark, begin)) >= 0]
            content = content[: begin + blank] + hostile + content[min(ends, default=len(content)) :]
        if not content:
            return b""
    return content
