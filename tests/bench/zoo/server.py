"""PyTorch's side of tests/bench/zoo/run, with the commands of server.lua and one more, "save FILE".

  server.py MODEL DTYPE FIXED DEVICE THREADS COMPILE NAME=VALUE…

COMPILE is "eager" or a mode of torch.compile. Runs with PyTorch 1.13 and later."""
import contextlib
import importlib
import math
import pathlib
import resource
import sys
import time

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


class Zoo:
    """What a model is built with: sizes, device, autocast, data that both sides make alike."""

    def __init__(self, dtype, fixed, device, mode, sizes):
        self.dtype, self.fixed, self.device, self.mode, self.sizes = dtype, fixed, device, mode, sizes

    def autocast(self):
        if self.dtype == "bf16":
            return torch.autocast(self.device, torch.bfloat16)
        return contextlib.nullcontext()

    def compile(self, thing):
        return thing if self.mode == "eager" else torch.compile(thing, mode=self.mode)

    @staticmethod
    def spread(shape, n, k):
        i = torch.arange(math.prod(shape))
        return ((i * i % 1000003 * 7919 + i * 31 + k * 104729) % 1000003 % n).view(*shape)

    def wave(self, shape, k=0):
        return ((self.spread(shape, 2017, k).float() / 1008 - 1) * 1.732).to(self.device)

    def ids(self, shape, n, k=0):
        return self.spread(shape, n, k).to(self.device)

    def noise(self, shape):
        return self.wave(shape, 5) if self.fixed else torch.randn(*shape, device=self.device)

    def uniform(self, shape):
        return self.ids(shape, 2017, 5).float() / 2017 if self.fixed else torch.rand(*shape, device=self.device)

    def training(self, module, optimizer, loss_of, infer):
        """What most models return: a step with a loss, and inference."""
        def step():
            optimizer.zero_grad()
            with self.autocast():
                loss = loss_of()
            loss.backward()
            optimizer.step()
            return loss

        def infer_of():
            with self.autocast():
                return infer()
        return {"module": module, "step": step, "infer": infer_of}


class Server:
    def __init__(self, zoo, model):
        self.zoo, self.model, self.warm = zoo, model, set()
        self.module = model["module"]

    def synchronize(self):
        if self.zoo.device == "cuda":
            torch.cuda.synchronize()

    def infer_once(self):
        with torch.no_grad():
            return self.model["infer"]()

    def timed_round(self, mode):
        call = self.model["step"] if mode == "step" else self.infer_once
        calls = self.zoo.sizes.get("calls", 1)
        self.module.train(mode == "step")
        if mode not in self.warm:
            for _ in range(2 if self.zoo.mode == "eager" else 5):
                call()
            self.synchronize()
            self.warm.add(mode)
        best, rounds, start = float("inf"), 0, time.perf_counter()
        while rounds < 3 or time.perf_counter() - start < 0.25:
            t = time.perf_counter()
            for _ in range(calls):
                call()
            self.synchronize()
            best = min(best, (time.perf_counter() - t) / calls)
            rounds += 1
        return f"{best:.9g} {rounds * calls}"

    def step(self, _):
        return self.timed_round("step")

    def infer(self, _):
        return self.timed_round("infer")

    def save(self, path):
        torch.save(self.module.state_dict(), path)
        return "ok"

    def loss(self, _):
        self.module.train()
        return f"{self.model['step']().item():.9g}"

    def output(self, _):
        self.module.eval()
        return f"{self.infer_once().float().abs().mean().item():.9g}"

    def memory(self, _):
        return str(peak(self.zoo.device))


def peak(device):
    """The most memory of this process so far, in bytes; on the GPU the tensors' memory."""
    if device == "cuda":
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def value_of(text):
    items = [float(x) if "." in x or "e" in x else int(x) for x in text.split(",")]
    return items if "," in text else items[0]


def answer(f, *args):
    try:
        text, ok = f(*args), True
    except Exception as error:
        text, ok = "error " + " ".join(f"{type(error).__name__}: {error}".split()), False
    print(text, flush=True)
    return ok


def main():
    name, dtype, fixed, device, threads, mode, *settings = sys.argv[1:]
    torch.manual_seed(1)
    if int(threads):
        torch.set_num_threads(int(threads))
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = dtype == "high"
    zoo = Zoo(dtype, fixed == "fixed", device, mode, {k: value_of(v) for k, v in (s.split("=") for s in settings)})
    server, base = None, peak(device)

    def begin():
        nonlocal server
        server = Server(zoo, importlib.import_module("models." + name).setup(zoo))
        return f"ready {sum(p.numel() for p in server.module.parameters())} {base}"

    if answer(begin):
        for line in sys.stdin:
            command, _, argument = line.strip().partition(" ")
            answer(getattr(server, command), argument)


if __name__ == "__main__":
    main()
