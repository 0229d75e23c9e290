"""Linear action values that are learnt with traces: kernels and the objects around them.

One step, with s the state, a the action taken there and s' the state that follows (Sutton and Barto 1998, §8.4)::

    take(a)      every trace of the episode decays by γλ and is dropped below the threshold;
                 the traces of the features of s, for a, become what the features are (1 if binary)
    see(s')      `values` become those of s'
    update(u)    every weight changes by u times its trace, and `values` with them

    see(s) ─→ take ─→ see ─→ update ─→ take ─→ … ─→ take ─→ update ─→ end()

Between `end` and the first `see` the weights are exact and there are no traces. `weights`, shape (rows, at least
num_actions), has a row a feature; only the first `num_actions` columns are used. `features` has the feature of each row
in use, and is None where each feature has the row of its number. `read` changes the values of a state to those of the
next one of an episode that nothing is learnt from.
"""
