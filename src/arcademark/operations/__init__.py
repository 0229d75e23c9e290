"""Operations that need a runner and the score library together: they play, replay or write runs, and return results.

`planned` says what a run takes, `progress` how far one is, `until` plays games until an estimate is narrow, `importing`
makes runs of logs, `robustness` plays modified games, `verification` tells what replaying showed, `submission` and
`videos` replay runs that are published, `seen` draws what feature sets see, `info` lists what there is.
"""
