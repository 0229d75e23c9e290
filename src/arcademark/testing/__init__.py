"""Checks of the contracts of agents, planners, environments and feature sets, for their authors.

Each takes a function that returns a new object, and raises `AssertionError` with the difference. They need no test
framework; in one, call a check in a test::

    def test_my_agent_conforms():
        env = environment_spec("toy", protocol("world-records"))
        check_agent(lambda: MyAgent(env), env, np.random.default_rng(0))
"""

from arcademark.testing.agents import check_agent
from arcademark.testing.environments import check_environment
from arcademark.testing.features import check_features
from arcademark.testing.planners import check_planner

__all__ = ["check_agent", "check_environment", "check_features", "check_planner"]
