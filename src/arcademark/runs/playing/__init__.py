"""One trial, played: the loop (`trial`), an episode in it (`slot`), planners' and trainers' loops.

`events` is what it yields. Knows of no directory: what is yielded is recorded elsewhere.
"""
