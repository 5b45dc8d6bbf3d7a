"""PyTorch's side of tests/bench/steps: the same models. steps.py WORKLOAD eager|compiled cpu|cuda THREADS"""
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

name, way, device, threads = sys.argv[1:5]
if int(threads):
    torch.set_num_threads(int(threads))
torch.manual_seed(1)
if device == "cuda":
    torch.set_default_device(device)


class Loop(nn.Module):
    def __init__(self, inputs, width):
        super().__init__()
        self.input, self.state = nn.Linear(inputs, 4 * width), nn.Linear(width, 4 * width)
        self.head, self.width = nn.Linear(width, 1), width

    def forward(self, x):
        h, c = torch.zeros(x.shape[0], self.width), torch.zeros(x.shape[0], self.width)
        for t in range(x.shape[1]):
            i, f, g, o = (self.input(x[:, t]) + self.state(h)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        return self.head(h)


def workload():
    if name == "tiny":
        net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
        return net, torch.randn(32, 2), torch.randn(32, 1), F.mse_loss
    if name == "loop":
        return Loop(16, 32), torch.randn(8, 20, 16), torch.randn(8, 1), F.mse_loss
    labels = torch.arange(64) % 10
    if name == "mlp":
        net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
        return net, torch.rand(64, 784), labels, F.cross_entropy
    net = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
                        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 7 * 7, 10))
    return net, torch.rand(64, 1, 28, 28), labels, F.cross_entropy


def compiled(f):
    return torch.compile(f, mode="reduce-overhead" if device == "cuda" else "default") if way == "compiled" else f


def chain():
    n = 10 ** 7 if device == "cpu" else 2 ** 27
    x, y = torch.randn(n), torch.randn(n)
    f = compiled(lambda x, y: ((x * y + 1).relu() * 0.5 - y).abs() + x)
    return lambda: f(x, y)


def products():
    n = 256 if device == "cpu" else 1024
    x, seed = torch.randn(n, n), torch.randn(n, n)
    weights = [torch.randn(n, n, requires_grad=True) for _ in range(4)]
    f = compiled(lambda x: x @ weights[0] @ weights[1] @ weights[2] @ weights[3])

    def step():
        for w in weights:
            w.grad = None
        y = f(x)
        y.backward(seed)
        return y
    return step


def training():
    net, x, y, loss_of = workload()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, fused=device == "cuda")
    model = compiled(net)

    def step():
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss
    return step


step = {"chain": chain, "products": products}.get(name, training)()


def wait():
    if device == "cuda":
        torch.cuda.synchronize()


for _ in range(20):
    step()
wait()
print("ready", flush=True)
for _ in sys.stdin:
    best, end = float("inf"), time.perf_counter() + 0.3
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(20):
            step()
        wait()
        best = min(best, (time.perf_counter() - start) / 20)
    print(f"{best:.9g}", flush=True)
