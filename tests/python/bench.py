#!/usr/bin/env python3
"""Times calls of operations on 10 elements, beside numpy and PyTorch: processor time of the fastest of several rounds, in ns.

tests/python/bench.py LIBRARY
"""
import os
import sys
import timeit
from time import thread_time

here = os.path.dirname(os.path.abspath(__file__))
os.environ["LUNAGRAD_LIBRARY"] = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(here, "..", "..", "bindings", "python"))
import lunagrad as lg  # noqa: E402

CASES = [("x + y", "x + y", "x + y", "x + y"), ("add(x, y)", "m.add(x, y)", "m.add(x, y)", "m.add(x, y)"),
         ("x * 2.5", "x * 2.5", "x * 2.5", "x * 2.5"), ("x * 2", "x * 2", "x * 2", "x * 2"), ("2.5 - x", "2.5 - x", "2.5 - x", "2.5 - x"),
         ("x.exp()", "x.exp()", "m.exp(x)", "x.exp()"), ("x += y", "x.__iadd__(y)", "x.__iadd__(y)", "x.__iadd__(y)"),
         ("x.sum()", "x.sum()", "x.sum()", "x.sum()"), ("x.sum(0)", "x.sum(0)", "x.sum(0)", "x.sum(0)"),
         ("x.softmax(0)", "x.softmax(0)", None, "x.softmax(0)"), ("x.reshape(2, 5)", "x.reshape(2, 5)", "x.reshape(2, 5)", "x.reshape(2, 5)"),
         ("cat", "m.cat([x, y])", "m.concatenate([x, y])", "m.cat([x, y])"), ("x[3]", "x[3]", "x[3]", "x[3]"), ("x[2:5]", "x[2:5]", "x[2:5]", "x[2:5]"),
         ("x.shape", "x.shape", "x.shape", "x.shape"), ("x.item()", "s.item()", "s.item()", "s.item()"),
         ("from numpy", "m.asarray(a)", None, "m.from_numpy(a)"), ("to numpy", "x.numpy()", None, "x.numpy()"),
         ("zeros(10)", "m.zeros(10)", "m.zeros(10)", "m.zeros(10)")]


def time(code, names):
    if code is None:
        return "-"
    timer, number = timeit.Timer(code, timer=thread_time, globals=names), 500
    return f"{min(timer.repeat(50, number)) / number * 1e9:.0f}"


def main():
    modules = [("Lunagrad", lg, dict(m=lg, x=lg.ones(10), y=lg.zeros(10), s=lg.tensor(1.5)))]
    try:
        import numpy
        array = numpy.ones(10, "f4")
        modules[0][2]["a"] = array
        modules.append(("numpy " + numpy.__version__, numpy, dict(m=numpy, x=array.copy(), y=numpy.zeros(10, "f4"), s=numpy.float32(1.5))))
        import torch
        modules.append(("PyTorch " + torch.__version__, torch,
                        dict(m=torch, x=torch.ones(10), y=torch.zeros(10), s=torch.tensor(1.5), a=array)))
    except ImportError as error:
        print(f"there is no {error.name}")
    print(f"{'':16}" + "".join(f"{name:>18}" for name, _, _ in modules))
    for name, *codes in CASES:
        print(f"{name:16}" + "".join(f"{time(code, names):>18}" for code, (_, _, names) in zip(codes, modules)))


main()
