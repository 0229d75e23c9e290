"""One trial, played: the loop (`trial`), an episode in it (`slot`), planners' and trainers' loops, and people's.

`scheduling`, `progress` and `speed` tell how long it takes; `events` is what it yields. Knows of no directory: what is
yielded is recorded elsewhere.
"""
