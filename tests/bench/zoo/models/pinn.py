"""A network that solves Burgers' equation: its loss has derivatives of the output by the inputs. Raissi, Perdikaris,
Karniadakis, "Physics-informed neural networks", 2019. Not compiled: torch.compile has no second order."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, s):
        super().__init__()
        layers = [nn.Linear(2, s["width"]), nn.Tanh()]
        for _ in range(1, s["layers"]):
            layers += [nn.Linear(s["width"], s["width"]), nn.Tanh()]
        self.net = nn.Sequential(*layers, nn.Linear(s["width"], 1))

    def forward(self, x, t):
        return self.net(torch.cat((x, t), 1))


def derivative(y, x):
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)


def setup(zoo):
    s = zoo.sizes
    model = Net(s).to(zoo.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    points = zoo.wave((s["points"], 2)) / 1.74
    x, t = points[:, 0:1].clone().requires_grad_(), (0.5 * points[:, 1:2] + 0.5).requires_grad_()
    border, times = zoo.wave((s["known"], 1)) / 1.74, 0.5 * zoo.wave((s["known"], 1), 1) / 1.74 + 0.5
    first, start, ones = -torch.sin(math.pi * border), torch.zeros_like(times), torch.ones_like(times)

    def loss():
        u = model(x, t)
        u_x, u_t = derivative(u, (x, t))
        u_xx, = derivative(u_x, (x,))
        residual = u_t + u * u_x - 0.01 / math.pi * u_xx
        known = F.mse_loss(model(border, start), first)
        ends = (model(ones, times) ** 2).mean() + (model(-ones, times) ** 2).mean()
        return (residual ** 2).mean() + known + ends
    return zoo.training(model, optimizer, loss, lambda: model(x, t))
