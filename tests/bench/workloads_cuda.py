"""The workloads of lua/lunagrad/bench_device.lua in PyTorch on a CUDA device, under the same names. A server as
workloads_torch.py; products and convolutions of f32 are computed in f32, not in TF32, unless the name says so."""
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)
torch.set_default_device("cuda")
torch.backends.cudnn.allow_tf32 = False
LARGE = 2 ** 28


def unary(f):
    def setup():
        x = torch.rand(LARGE)
        return lambda: f(x)
    return setup


def binary(f):
    def setup():
        a, b = torch.rand(LARGE), torch.rand(LARGE)
        return lambda: f(a, b)
    return setup


def rows(f):
    def setup():
        x = torch.randn(65536, 1024)
        return lambda: f(x)
    return setup


def layer_norm(backward):
    def setup():
        weight, bias = torch.ones(1024, requires_grad=True), torch.zeros(1024, requires_grad=True)
        x, g = torch.randn(65536, 1024, requires_grad=backward), torch.ones(65536, 1024)

        def call():
            x.grad = None
            y = F.layer_norm(x, (1024,), weight, bias)
            if backward:
                y.backward(g)
        return call
    return setup


def product(n, dtype, tf32=False):
    def setup():
        a, b = torch.randn(n, n).to(dtype), torch.randn(n, n).to(dtype)

        def call():
            torch.backends.cuda.matmul.allow_tf32 = tf32
            return a @ b
        return call
    return setup


def conv2d(backward):
    def setup():
        x = torch.randn(64, 64, 56, 56, requires_grad=backward)
        w = torch.randn(64, 64, 3, 3, requires_grad=backward)
        g = torch.ones(64, 64, 56, 56)

        def call():
            x.grad = w.grad = None
            y = F.conv2d(x, w, padding=1)
            if backward:
                y.backward(g)
        return call
    return setup


def tiny_add():
    a, b = torch.ones(4, requires_grad=True), torch.ones(4)

    def call():
        for _ in range(1000):
            a + b
    return call


def training(build, x, y, optimizer, bf16=False, compiled=False):
    def setup():
        torch.backends.cuda.matmul.allow_tf32 = False
        model, inputs, targets = build(), x(), y()
        if compiled:
            model = torch.compile(model)
        step = optimizer(model.parameters())

        def call():
            step.zero_grad()
            with torch.autocast("cuda", torch.bfloat16, enabled=bf16):
                loss = F.cross_entropy(model(inputs), targets)
            loss.backward()
            step.step()
        return call
    return setup


def graph(setup):
    """The same call, recorded once and replayed."""
    def recorded():
        call = setup()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                call()
        torch.cuda.synchronize()
        recording = torch.cuda.CUDAGraph()
        with torch.cuda.graph(recording):
            call()
        return recording.replay
    return recorded


def mlp():
    return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 7 * 7, 10))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(65, 384), nn.Embedding(256, 384)
        self.blocks = nn.ModuleList(nn.TransformerEncoderLayer(
            384, 6, dim_feedforward=1536, activation="gelu", batch_first=True, norm_first=True, dropout=0)
            for _ in range(6))
        self.norm, self.head = nn.LayerNorm(384), nn.Linear(384, 65)
        self.mask = nn.Transformer.generate_square_subsequent_mask(256)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight
        for block in self.blocks:
            x = block(x, src_mask=self.mask, is_causal=True)
        return self.head(self.norm(x)).flatten(0, 1)


def labels(n, classes):
    return torch.arange(n).remainder(classes)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=1e-3)


def recordable_adam(parameters):
    return torch.optim.Adam(parameters, lr=1e-3, capturable=True)


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=1e-4)


def mlp_step(optimizer):
    return training(mlp, lambda: torch.rand(128, 784), lambda: labels(128, 10), optimizer)


def cnn_step(optimizer):
    return training(cnn, lambda: torch.rand(256, 1, 28, 28), lambda: labels(256, 10), optimizer)


def gpt_step(bf16, compiled=False):
    return training(Gpt, lambda: labels(64 * 256, 65).view(64, 256), lambda: labels(64 * 256, 65), adamw, bf16, compiled)


# name: (operations a call, function that sets up and returns the call, calls between two waits for the device, True:
# the host's time alone)
WORKLOADS = {
    "add 2^28": (1, binary(lambda a, b: a + b), 20),
    "gelu 2^28": (1, unary(F.gelu), 20),
    "sum 2^28": (1, unary(torch.sum), 20),
    "softmax 65536x1024": (1, rows(lambda x: x.softmax(1)), 20),
    "layer_norm 65536x1024": (1, layer_norm(False), 20),
    "layer_norm forward+backward": (1, layer_norm(True), 20),
    "transposed copy 65536x1024": (1, rows(lambda x: x.t().contiguous()), 20),
    "matmul 4096 f32": (1, product(4096, torch.float32), 20),
    "matmul 4096 f32, high beside TF32": (1, product(4096, torch.float32, tf32=True), 20),
    "matmul 8192 f16": (1, product(8192, torch.float16), 20),
    "matmul 8192 bf16": (1, product(8192, torch.bfloat16), 20),
    "conv2d 64x64x56x56 3x3": (1, conv2d(False), 20),
    "conv2d forward+backward": (1, conv2d(True), 20),
    "tiny add, grad": (1000, tiny_add, 1, True),
    "mlp step": (1, mlp_step(adam), 50),
    "mlp step beside a CUDA graph": (1, graph(mlp_step(recordable_adam)), 50),
    "cnn step": (1, cnn_step(adam), 20),
    "cnn step beside a CUDA graph": (1, graph(cnn_step(recordable_adam)), 20),
    "gpt step": (1, gpt_step(False), 3),
    "gpt step beside torch.compile": (1, gpt_step(False, True), 3),
    "gpt step bf16": (1, gpt_step(True), 3),
    "gpt step bf16 beside torch.compile": (1, gpt_step(True, True), 3),
}


def best_call(call, calls, seconds, host_alone):
    """Best time of one call over about `seconds`; waits for the device after every `calls` calls. These waits do not
    count where only the host's time is asked for."""
    best, rounds, start = float("inf"), 0, time.perf_counter()
    while rounds < 3 or time.perf_counter() - start < seconds:
        t = time.perf_counter()
        for _ in range(calls):
            call()
        handed_over = time.perf_counter()
        torch.cuda.synchronize()
        best = min(best, ((handed_over if host_alone else time.perf_counter()) - t) / calls)
        rounds += 1
    return best, rounds


def main():
    ready = {}
    for line in sys.stdin:
        name = line.strip()
        per_call, setup, calls, *host_alone = WORKLOADS[name]
        best, rounds = float("nan"), 0
        try:
            if name not in ready:
                ready.clear()
                ready[name] = setup()
                best_call(ready[name], calls, 0.2, host_alone)
            best, rounds = best_call(ready[name], calls, 0.25, host_alone)
        except RuntimeError as error:  # as torch.compile's without a compiler
            print(f"{name}: {error}", file=sys.stderr)
        print(f"{best / per_call:.9g} {rounds}", flush=True)


if __name__ == "__main__":
    main()
