"""Replay of recorded episodes from their actions: `episodes` replays one; `verify` and `proving` check the result.

`video` and `watch` render them; `feature_steps` yields the observations for feature sets; `offline`, `parquet`,
`tensorboard` and `scalars` export them. Runs are read, never written.
"""
