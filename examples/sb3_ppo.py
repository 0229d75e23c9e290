"""PPO of Stable-Baselines3 on a game under a declared protocol; the saved network can be scored directly.

    pip install '.[sb3]'
    python examples/sb3_ppo.py --game breakout --steps 1000000 --seed 0
    arcademark run 'models/{game}/seed{seed}.zip' --games breakout --seeds 1 --protocol sb3-atari

Hyperparameters are those of Schulman et al. 2017 for Atari, but constant.
"""

import argparse
from pathlib import Path

from stable_baselines3 import PPO

import arcademark.sb3


def main() -> None:
    """Train and save the network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="breakout")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--horizon", type=int, default=128, help="steps of each environment between updates")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("models"))
    args = parser.parse_args()
    envs = arcademark.sb3.make_vec(args.game, 8, "sb3-atari")
    model = PPO(
        "CnnPolicy", envs, 2.5e-4, args.horizon, 256, 4, clip_range=0.1, ent_coef=0.01, seed=args.seed, verbose=1
    )
    model.learn(args.steps)
    path = args.out / args.game / f"seed{args.seed}.zip"
    path.parent.mkdir(parents=True, exist_ok=True)
    model.save(path)


if __name__ == "__main__":
    main()
