"""A normalizing flow: coupling layers scale and shift one half of the features by functions of the other. Dinh,
Sohl-Dickstein, Bengio, "Density estimation using Real NVP", 2017."""
import math

import torch
import torch.nn as nn


class Coupling(nn.Module):
    def __init__(self, half, hidden):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(half, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                                 nn.Linear(hidden, 2 * half))

    def scale_and_shift(self, x):
        scale, shift = self.net(x).chunk(2, 1)
        return torch.tanh(scale), shift

    def forward(self, x):
        """The features with their halves exchanged, and the log-determinant."""
        a, b = x.chunk(2, 1)
        scale, shift = self.scale_and_shift(a)
        return torch.cat((b * torch.exp(scale) + shift, a), 1), scale.sum(1)

    def inverse(self, z):
        b, a = z.chunk(2, 1)
        scale, shift = self.scale_and_shift(a)
        return torch.cat((a, (b - shift) * torch.exp(-scale)), 1)


class RealNVP(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(s["features"] // 2, s["hidden"]) for _ in range(s["layers"]))

    def forward(self, x):
        """The log-likelihood of each x, whose features lie between 0 and 1: their logits flow to a normal distribution."""
        z, logdet = torch.log(x) - torch.log(1 - x), -(torch.log(x) + torch.log(1 - x)).sum(1)
        for layer in self.layers:
            z, d = layer(z)
            logdet = logdet + d
        return logdet - 0.5 * (z ** 2 + math.log(2 * math.pi)).sum(1)

    def inverse(self, z):
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return torch.sigmoid(z)


def setup(zoo):
    s = zoo.sizes
    module = RealNVP(s).to(zoo.device)
    model, inverse = zoo.compile(module), zoo.compile(module.inverse)
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-4)
    x, z = zoo.wave((s["batch"], s["features"])).sigmoid(), zoo.wave((s["batch"], s["features"]), 3)
    return zoo.training(module, optimizer, lambda: -model(x).mean() / s["features"], lambda: inverse(z))
