"""The agents of the 2013 paper and their successors: baselines, SARSA on five feature sets and others, planners."""
