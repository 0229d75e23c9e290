"""Play one trial: the loop (`trial`), an episode in it (`slot`), planners' and trainers' loops.

They yield `events`, which are recorded elsewhere: nothing here knows a run's directory.
"""
