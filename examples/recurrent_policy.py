"""A recurrent policy: RecurrentPPO of sb3-contrib observes one screen at a time and remembers earlier ones in an LSTM.

    pip install '.[sb3]'
    python examples/recurrent_policy.py --game pong --steps 1000000

`frame_stack` overrides the protocol, and every report states this.
"""

import argparse
from pathlib import Path

from sb3_contrib import RecurrentPPO

import arcademark.sb3


def main() -> None:
    """Train and save the network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="pong")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--horizon", type=int, default=128, help="steps of each environment between updates")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("models"))
    args = parser.parse_args()
    envs = arcademark.sb3.make_vec(args.game, 8, "dqn-2015", frame_stack=1)
    model = RecurrentPPO("CnnLstmPolicy", envs, 2.5e-4, args.horizon, 256, 4, seed=args.seed, verbose=1)
    model.learn(args.steps)
    path = args.out / args.game / f"seed{args.seed}.zip"
    path.parent.mkdir(parents=True, exist_ok=True)
    model.save(path)


if __name__ == "__main__":
    main()
