"""The updates of PPO over one batch of experience: epochs of small minibatches through small networks. Schulman and others,
"Proximal policy optimization algorithms", 2017."""
import math

import torch
import torch.nn as nn
from torch.distributions import Categorical


def net(inputs, width, outputs):
    return nn.Sequential(nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, outputs))


class Agent(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.actor, self.critic = net(s["observations"], s["width"], s["actions"]), net(s["observations"], s["width"], 1)

    def forward(self, obs):
        return self.actor(obs), self.critic(obs).squeeze(-1)


def setup(zoo):
    s = zoo.sizes
    module = Agent(s).to(zoo.device)
    agent = zoo.compile(module)
    optimizer = torch.optim.Adam(module.parameters(), lr=3e-4, eps=1e-5)
    obs, actions = zoo.wave((s["samples"], s["observations"])), zoo.ids((s["samples"],), s["actions"])
    old, advantages = zoo.wave((s["samples"],), 1) * 0.05 - math.log(s["actions"]), zoo.wave((s["samples"],), 2)
    returns = zoo.wave((s["samples"],), 3)

    def minibatch(index):
        adv = advantages[index]
        adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        with zoo.autocast():
            logits, value = agent(obs[index])
            policy = Categorical(logits=logits)
            ratio = (policy.log_prob(actions[index]) - old[index]).exp()
            pg_loss = torch.max(-adv * ratio, -adv * ratio.clamp(0.8, 1.2)).mean()
            v_loss = 0.5 * ((value - returns[index]) ** 2).mean()
            loss = pg_loss - 0.01 * policy.entropy().mean() + 0.5 * v_loss
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 0.5)
        optimizer.step()
        return loss

    def step():
        for epoch in range(1, s["epochs"] + 1):
            order = (zoo.ids((s["samples"],), s["samples"], epoch) if zoo.fixed
                     else torch.randperm(s["samples"], device=zoo.device))
            for index in order.split(s["minibatch"]):
                loss = minibatch(index)
        return loss

    def infer():
        with zoo.autocast():
            return agent(obs)[0]
    return {"module": module, "step": step, "infer": infer}
