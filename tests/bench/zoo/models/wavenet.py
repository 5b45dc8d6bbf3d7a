"""Dilated causal convolutions with gates, skips and classes of samples. Van den Oord and others, "WaveNet: a generative model
for raw audio", 2016."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Layer(nn.Module):
    def __init__(self, channels, skips, dilation):
        super().__init__()
        self.dilation = dilation
        self.conv = nn.Conv1d(channels, 2 * channels, 2, dilation=dilation)
        self.skip, self.residual = nn.Conv1d(channels, skips, 1), nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        filters, gate = self.conv(F.pad(x, (self.dilation, 0))).chunk(2, 1)
        y = torch.tanh(filters) * torch.sigmoid(gate)
        return x + self.residual(y), self.skip(y)


class WaveNet(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.embedding = nn.Embedding(256, s["channels"])
        self.layers = nn.ModuleList(Layer(s["channels"], s["skips"], 2 ** i)
                                    for _ in range(s["stacks"]) for i in range(s["depth"]))
        self.out1, self.out2 = nn.Conv1d(s["skips"], s["skips"], 1), nn.Conv1d(s["skips"], 256, 1)

    def forward(self, ids):
        x, total = self.embedding(ids).transpose(1, 2), 0
        for layer in self.layers:
            x, skip = layer(x)
            total = total + skip
        return self.out2(F.relu(self.out1(F.relu(total))))


def setup(zoo):
    s = zoo.sizes
    module = WaveNet(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
    data = zoo.ids((s["batch"], s["length"] + 1), 256)
    x, y = data[:, :-1], data[:, 1:]
    return zoo.training(module, optimizer, lambda: F.cross_entropy(model(x), y), lambda: model(x))
