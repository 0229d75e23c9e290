"""Linear action values, learnt with eligibility traces: kernels and classes.

One step, with state s, action a and next state s' (Sutton and Barto 1998, §8.4)::

    take(a)      every trace of the episode decays by γλ and is dropped below the threshold;
                 the traces of the features of s, for a, become the features' values (1 if binary)
    see(s')      `values` become those of s'
    update(u)    every weight changes by u times its trace, and `values` accordingly

    see(s) ─→ take ─→ see ─→ update ─→ take ─→ … ─→ take ─→ update ─→ end()

Between `end` and the first `see` the weights are exact and there are no traces. `weights`, shape (rows, at least
num_actions), has a row per feature; only the first `num_actions` columns are used. `features` is the feature of each
row in use, None if each feature has the row of its number. `read` changes the values of a state to those of the next
one, in an episode without learning.
"""
