"""PyTorch's side of tests/bench/zoo/ops: `ops.py DEVICE THREADS BATCH SECONDS CLOCK DTYPE`, with the lines of ops.lua."""
import sys
import time
import warnings

import torch
import torch.nn.functional as F

PLACES = (F, torch, torch.special, torch.linalg, torch.Tensor)
OTHER_NAMES = {"im2col": "unfold", "col2im": "fold"}


def definite(shape):
    x = torch.rand(*shape)
    return x @ x.t() / shape[0] + torch.eye(shape[0])


MAKERS = {
    "real": lambda shape, low, high: torch.rand(*shape) * (high - low) + low,
    "given": lambda shape, low, high: torch.rand(*shape) * (high - low) + low,
    "index": lambda shape, low, high: torch.randint(int(low), int(high), tuple(shape)),
    "boolean": lambda shape, low, high: torch.rand(*shape) > 0.5,
    "complex": lambda shape, low, high: torch.randn(*shape, dtype=torch.complex64),
    "sign": lambda shape, low, high: torch.randn(*shape).sign(),
    "sorted": lambda shape, low, high: torch.rand(*shape).sort()[0],
    "permutation": lambda shape, low, high: torch.randperm(shape[0]),
    "definite": lambda shape, low, high: definite(shape),
}


def find(name):
    if "." in name:
        place, field = name.split(".")
        return getattr(getattr(torch, place), field)
    name = OTHER_NAMES.get(name, name)
    for place in PLACES:
        if hasattr(place, name):
            return getattr(place, name)
    raise LookupError(name)


class Ops:
    def __init__(self, device, batch, seconds, clock, dtype):
        self.dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
        self.device, self.batch, self.seconds = device, batch, seconds
        self.clock = time.process_time if clock == "processor" else time.perf_counter
        self.inputs, self.call, self.step = [], None, None

    def value(self, text):
        kind, rest = text[0], text[1:]
        if kind == "l":
            return [int(x) for x in rest.split(",") if x]
        if kind != "t":
            return {"n": lambda: None, "i": lambda: int(rest), "f": lambda: float(rest), "b": lambda: rest == "1",
                    "s": lambda: rest}[kind]()
        name, shape, low, high = rest.split(":")
        x = MAKERS[name]([int(i) for i in shape.split(",") if i], float(low), float(high)).to(self.device)
        if x.is_floating_point():
            x = x.to(self.dtype)
        if name != "given":
            self.inputs.append(x)
        return x

    def row(self, fields):
        self.inputs, self.call, self.step = [], None, None
        positional, named, op, module, as_list = [], {}, None, None, False
        for field in fields.split("\t"):
            kind, rest = field.split("=", 1)
            if kind == "op":
                op = rest
            elif kind == "module":
                module = rest
            elif kind == "list":
                as_list = True
            elif kind == "p":
                positional.append(self.value(rest))
            else:
                name, value = rest.split(":", 1)
                named[name] = self.value(value)
        if module:
            f = getattr(torch.nn, module)(*positional[1:], **named).to(self.device, self.dtype)
            positional, named = positional[:1], {}
            self.inputs += list(f.parameters())
        else:
            try:
                f = find(op)
            except (LookupError, AttributeError):
                return "lacks"
        if as_list:
            positional = [positional]
        if op in ("zeros", "ones", "rand", "randn", "full", "randint", "randperm", "arange", "linspace", "eye"):
            named["device"] = self.device
        if op in ("zeros", "ones", "rand", "randn", "full", "linspace", "eye"):
            named["dtype"] = self.dtype

        def run():
            return f(*positional, **named)

        def call():
            with torch.no_grad():
                run()
        call()
        self.call = call
        leaves = [x.requires_grad_() for x in self.inputs if x.is_floating_point() or x.is_complex()]

        def result():
            y = run()
            for item in y if isinstance(y, (tuple, list)) else [y]:
                if isinstance(item, torch.Tensor) and item.requires_grad:
                    return item
            return None
        y = result() if leaves else None
        if y is None:
            return "none"
        seed = torch.ones_like(y)

        def step():
            for x in leaves:
                x.grad = None
            result().backward(seed)
        try:
            step()
        except (RuntimeError, NotImplementedError) as error:
            return "none " + " ".join(str(error).split())
        self.step = step
        return "grad"

    def timed(self, f):
        def batch(calls):
            t = self.clock()
            for _ in range(calls):
                f()
            if self.device == "cuda":
                torch.cuda.synchronize()
            return (self.clock() - t) / calls
        calls = max(1, min(1000, int(self.batch / batch(1))))
        best, rounds, start = float("inf"), 0, self.clock()
        while rounds < 3 or self.clock() - start < self.seconds:
            best = min(best, batch(calls))
            rounds += 1
        return f"{best:.9g}"

    def forward(self, _):
        return self.timed(self.call)

    def both(self, _):
        return self.timed(self.step)


def main():
    device, threads, batch, seconds, clock, dtype = sys.argv[1:]
    warnings.simplefilter("ignore")
    if int(threads):
        torch.set_num_threads(int(threads))
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    ops = Ops(device, float(batch), float(seconds), clock, dtype)
    for line in sys.stdin:
        command, _, rest = line.rstrip("\n").partition("\t")
        try:
            print(getattr(ops, command)(rest), flush=True)
        except Exception as error:
            print("error " + " ".join(f"{type(error).__name__}: {error}".split()), flush=True)


if __name__ == "__main__":
    main()
