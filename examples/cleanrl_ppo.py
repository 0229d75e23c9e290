"""PPO as one plain loop in PyTorch, in the style of CleanRL, on games under a declared protocol.

    pip install '.[deep]'
    python examples/cleanrl_ppo.py --game breakout --steps 1000000

``infos["episode"]`` has raw scores of whole games, although training clips rewards and ends episodes with a life.
"""

import argparse

import numpy as np
import torch
from torch import Tensor, nn

import arcademark

ENVS, HORIZON, EPOCHS, MINIBATCHES = 8, 128, 4, 4
GAMMA, LAMBDA, CLIP, ENTROPY = 0.99, 0.95, 0.1, 0.01


class ActorCritic(nn.Module):  # type: ignore[misc]
    """The network of Mnih et al. 2015 with two heads: logits of the actions, and the value."""

    def __init__(self, actions: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            *(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3, 1)),
            *(nn.ReLU(), nn.Flatten(), nn.Linear(3136, 512), nn.ReLU()),
        )
        self.actor, self.critic = nn.Linear(512, actions), nn.Linear(512, 1)

    def forward(self, screens: Tensor) -> tuple[torch.distributions.Categorical, Tensor]:
        """Return the distribution of actions, and values."""
        seen = self.body(screens.float() / 255)
        return torch.distributions.Categorical(logits=self.actor(seen)), self.critic(seen).squeeze(-1)


def advantages(rewards: Tensor, values: Tensor, dones: Tensor, last: Tensor) -> Tensor:
    """Return generalised advantage estimates (Schulman et al. 2016); all of shape (horizon, environments)."""
    found, ahead = torch.zeros_like(rewards), torch.zeros(rewards.shape[1])
    following = torch.cat([values[1:], last[None]])
    for t in reversed(range(len(rewards))):
        error = rewards[t] + GAMMA * following[t] * (1 - dones[t]) - values[t]
        found[t] = ahead = error + GAMMA * LAMBDA * (1 - dones[t]) * ahead
    return found


def main() -> None:
    """Train and print the scores of games."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--game", default="breakout")
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--horizon", type=int, default=HORIZON)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    envs = arcademark.make_vec(args.game, ENVS, "dqn-2015", training=True, autoreset_mode="same_step")
    network = ActorCritic(envs.envs[0].environment_spec.num_actions)
    optimizer = torch.optim.Adam(network.parameters(), 2.5e-4, eps=1e-5)
    screens = torch.from_numpy(envs.reset(seed=args.seed)[0])
    for update in range(max(1, args.steps // (ENVS * args.horizon))):
        rows = []
        for _ in range(args.horizon):
            with torch.no_grad():
                policy, value = network(screens)
            action = policy.sample()
            after, reward, terminated, truncated, infos = envs.step(action.numpy())
            done = torch.from_numpy(terminated | truncated).float()
            rows.append((screens, action, policy.log_prob(action), value, torch.from_numpy(reward).float(), done))
            screens = torch.from_numpy(after)
            for i in np.flatnonzero(infos.get("_episode", [])):
                print(f"update {update}: score {infos['episode']['r'][i]:g} in {infos['episode']['l'][i]} steps")
        seen, actions, before, values, rewards, dones = (torch.stack(column) for column in zip(*rows, strict=True))
        with torch.no_grad():
            gain = advantages(rewards, values, dones, network(screens)[1])
        data = [part.flatten(0, 1) for part in (seen, actions, before, gain, gain + values)]
        for _ in range(EPOCHS):
            for chosen in torch.randperm(len(data[0])).chunk(MINIBATCHES):
                shown, taken, old, advantage, wanted = (part[chosen] for part in data)
                policy, value = network(shown)
                ratio = (policy.log_prob(taken) - old).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                gained = torch.min(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage).mean()
                loss = 0.25 * (value - wanted).pow(2).mean() - gained - ENTROPY * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 0.5)
                optimizer.step()
        print(f"update {update}: loss {loss.item():.3f}")
    envs.close()


if __name__ == "__main__":
    main()
