"""Recorded episodes, played again from their actions: `episodes` plays one; `verify` and `proving` check what it gives.

`video` and `watch` show them; `feature_steps` shows what features see; `offline`, `parquet`, `tensorboard` and
`scalars` give them to other tools. Reads stores, and writes none.
"""
