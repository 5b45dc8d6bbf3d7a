"""The workloads of lua/lunagrad/bench.lua in PyTorch, under the same names. Each entry is (operations a call, function
that sets up and returns the call to be timed). Runs as a server: a workload's name on standard input gives one timed
round on standard output, "<seconds of the best call> <calls>"."""
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(2)
torch.manual_seed(1)


def tiny_add(requires_grad):
    def setup():
        a = torch.ones(4, requires_grad=requires_grad)
        b = torch.ones(4)

        def call():
            for _ in range(1000):
                a + b
        return call
    return setup


def chain(op, backward):
    def setup():
        a = torch.ones(4, requires_grad=True)
        b = torch.ones(4)

        def call():
            x = a
            for _ in range(1000):
                x = op(x, b)
            if backward:
                a.grad = None
                x.sum().backward()
        return call
    return setup


def training(build, x, y, loss):
    def setup():
        model = build()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

        def call():
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()
        return call
    return setup


def mlp():
    return nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))


def tiny_mlp():
    return nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))


def cnn():
    return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(32 * 7 * 7, 10))


class Gpt(nn.Module):
    def __init__(self, vocabulary, length, width, layers):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(width, 4, 4 * width, activation="gelu", batch_first=True, norm_first=True)
            for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)
        self.mask = torch.full((length, length), float("-inf")).triu(1)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(self.norm(x)).flatten(0, 1)


def gpt():
    return Gpt(65, 64, 128, 2)


def labels(n, classes):
    return torch.arange(n) % classes


def elementwise(f, n=10_000_000):
    def setup():
        a, b = torch.rand(n), torch.rand(n)
        with torch.no_grad():
            return lambda: f(a, b)
    return setup


def forward_backward(f, shape, backward):
    def setup():
        x = torch.randn(shape, requires_grad=backward)

        def call():
            y = f(x)
            if backward:
                x.grad = None
                y.backward(torch.ones_like(y)) if y.dim() else y.backward()
        return call
    return setup


def conv(backward):
    def setup():
        x = torch.randn(32, 32, 28, 28, requires_grad=backward)
        w = torch.randn(64, 32, 3, 3, requires_grad=backward)
        g = torch.ones(32, 64, 28, 28)

        def call():
            y = F.conv2d(x, w, padding=1)
            if backward:
                x.grad = w.grad = None
                y.backward(g)
        return call
    return setup


def depthwise():
    x = torch.randn(32, 64, 28, 28, requires_grad=True)
    w = torch.randn(64, 1, 3, 3, requires_grad=True)
    g = torch.ones(32, 64, 28, 28)

    def call():
        y = F.conv2d(x, w, padding=1, groups=64)
        x.grad = w.grad = None
        y.backward(g)
    return call


def conv1d():
    x = torch.randn(16, 64, 1024, requires_grad=True)
    w = torch.randn(64, 64, 5, requires_grad=True)
    g = torch.ones(16, 64, 1024)

    def call():
        y = F.conv1d(x, w, padding=2)
        x.grad = w.grad = None
        y.backward(g)
    return call


def attention(batch, heads, length, features):
    def setup():
        q, k, v = (torch.randn(batch, heads, length, features, requires_grad=True) for _ in range(3))
        g = torch.ones(batch, heads, length, features)
        mask = torch.full((length, length), float("-inf")).triu(1)
        scale = features ** -0.5

        def call():
            q.grad = k.grad = v.grad = None
            ((q @ k.transpose(-2, -1) * scale + mask).softmax(-1) @ v).backward(g)
        return call
    return setup


def lstm_layer():
    lstm, x, g = nn.LSTM(128, 128), torch.randn(64, 32, 128), torch.ones(64, 32, 128)

    def call():
        lstm.zero_grad()
        lstm(x)[0].backward(g)
    return call


def lstm_written_out():
    wi, wh, x = nn.Linear(128, 512), nn.Linear(128, 512), torch.randn(64, 32, 128)

    def call():
        wi.zero_grad()
        wh.zero_grad()
        h, c = torch.zeros(32, 128), torch.zeros(32, 128)
        for t in range(64):
            i, f, g, o = (wi(x[t]) + wh(h)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        h.sum().backward()
    return call


def adam_large():
    params = [torch.randn(1024, 1024, requires_grad=True) for _ in range(8)]
    for p in params:
        p.grad = torch.randn(1024, 1024)
    optimizer = torch.optim.Adam(params, lr=1e-3)
    return optimizer.step


def sgemm():
    a, b = torch.randn(1024, 1024), torch.randn(1024, 1024)
    return lambda: a @ b


rows, images = (8192, 1024), (32, 64, 56, 56)
targets = labels(8192, 1024)
weight, bias = torch.ones(1024), torch.zeros(1024)

def on(make, f):
    def setup():
        x = make()
        return lambda: f(x)
    return setup


def square():
    return torch.randn(512, 512)


def positive():
    x = torch.randn(1024, 1024)
    return x @ x.t() + 1024 * torch.eye(1024)


def million():
    return torch.randn(1000000)


WORKLOADS = {
    "tiny add": (1000, tiny_add(False)),
    "tiny add, grad": (1000, tiny_add(True)),
    "add chain forward": (1000, chain(torch.add, False)),
    "add chain forward+backward": (1000, chain(torch.add, True)),
    "mul chain forward+backward": (1000, chain(torch.mul, True)),
    "mlp step": (1, training(mlp, torch.rand(128, 784), labels(128, 10), F.cross_entropy)),
    "tiny mlp step": (1, training(tiny_mlp, torch.rand(64, 2), torch.rand(64, 1), F.mse_loss)),
    "cnn step": (1, training(cnn, torch.rand(64, 1, 28, 28), labels(64, 10), F.cross_entropy)),
    "gpt step": (1, training(gpt, labels(1024, 65).view(16, 64), labels(1024, 65), F.cross_entropy)),
    "add 1e7": (1, elementwise(lambda a, b: a + b)),
    "tanh 1e7": (1, elementwise(lambda a, b: a.tanh())),
    "exp 1e7": (1, elementwise(lambda a, b: a.exp())),
    "7-op chain 1e7": (1, elementwise(lambda a, b: ((a * b + a).tanh() * 2 - b).exp() + a)),
    "softmax forward": (1, forward_backward(lambda x: x.softmax(1), rows, False)),
    "softmax forward+backward": (1, forward_backward(lambda x: x.softmax(1), rows, True)),
    "layer_norm forward": (1, forward_backward(lambda x: F.layer_norm(x, (1024,), weight, bias), rows, False)),
    "layer_norm forward+backward": (1, forward_backward(lambda x: F.layer_norm(x, (1024,), weight, bias), rows, True)),
    "cross_entropy forward": (1, forward_backward(lambda x: F.cross_entropy(x, targets), rows, False)),
    "cross_entropy forward+backward": (1, forward_backward(lambda x: F.cross_entropy(x, targets), rows, True)),
    "gelu forward": (1, forward_backward(F.gelu, rows, False)),
    "gelu forward+backward": (1, forward_backward(F.gelu, rows, True)),
    "conv2d forward": (1, conv(False)),
    "conv2d forward+backward": (1, conv(True)),
    "conv1d forward+backward": (1, conv1d),
    "depthwise forward+backward": (1, depthwise),
    "max_pool 3x3 forward+backward": (1, forward_backward(lambda x: F.max_pool2d(x, 3, 2, 1), images, True)),
    "avg_pool 3x3 forward+backward": (1, forward_backward(lambda x: F.avg_pool2d(x, 3, 2, 1), images, True)),
    "attention 16x4x64x32 forward+backward": (1, attention(16, 4, 64, 32)),
    "attention 4x8x512x64 forward+backward": (1, attention(4, 8, 512, 64)),
    "lstm forward+backward": (1, lstm_layer),
    "lstm written out": (1, lstm_written_out),
    "adam 8.4M": (1, adam_large),
    "sgemm 1024": (1, sgemm),
    "fft 2^20": (1, on(lambda: torch.randn(1 << 20, dtype=torch.complex64), torch.fft.fft)),
    "svd 512": (1, on(square, lambda x: torch.linalg.svd(x, full_matrices=False))),
    "lu 512": (1, on(square, torch.linalg.lu_factor)),
    "cholesky 1024": (1, on(positive, torch.linalg.cholesky)),
    "sort 1e6": (1, on(million, torch.sort)),
    "unique 1e6": (1, on(million, torch.unique)),
    "median 1e6": (1, on(million, torch.median)),
    "topk 1000 of 1e6": (1, on(million, lambda x: x.topk(1000))),
}


def best_call(call, seconds):
    """Best time of one call over about `seconds`."""
    best, calls, start = float("inf"), 0, time.perf_counter()
    while calls < 3 or time.perf_counter() - start < seconds:
        t = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - t)
        calls += 1
    return best, calls


def main():
    ready = {}
    for line in sys.stdin:
        name = line.strip()
        per_call, setup = WORKLOADS[name]
        if name not in ready:
            ready.clear()
            ready[name] = setup()
            best_call(ready[name], 0.2)
        best, calls = best_call(ready[name], 0.25)
        print(f"{best / per_call:.9g} {calls}", flush=True)


if __name__ == "__main__":
    main()
