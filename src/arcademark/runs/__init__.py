"""Plan, play and remember: what to do, do one, what happened.

`plan` and `store` reach no emulator; `trial` and `engines` do.
"""
