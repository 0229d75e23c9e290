"""Operations that need a runner and the score library together: they play, replay or write runs, and return results.

`planned` estimates the cost of a run, `progress` reports progress, `until` plays games until an estimate is narrow,
`importing` makes runs from logs, `robustness` compares runs of modified games, `verification` is the document of a
replay, `submission` and `videos` replay runs for publication, `seen` draws the views of feature sets, `info` lists
facts.
"""
