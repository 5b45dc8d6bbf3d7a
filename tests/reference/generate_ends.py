#!/usr/bin/python3
"""Makes tests/reference/ends/FAMILY.json and ends/numbers.safetensors: values and gradients of every op at the ends of its
types, +-0, subnormal numbers, 1e+-20, 1e+-38, the largest numbers, infinities, NaN and Lua numbers that an integer type lacks.
They are computed with 700 bits by Debian's python3-mpmath 1.2 and rounded once to the type. tests/runtime/test_ends.cpp
compares the engine with them. Run by hand, `tests/reference/generate_ends.py`; the tests need no Python. Takes a few minutes.

A case is a line

    {"op", "type", "in": [...], "names": [...], "params": {...}, "out": [...], "grad": [...], "ulps": k}

A number array is [offset, sizes ...] in the array of f32, or with ~offset in the array of f64, after its type if this is not the case's.
A line without "op" takes the fields that it lacks from the line before. An element of an output must differ by at most k ulps from the exact one, which is
rounded once; with "whole" by k ulps of the tensor's largest finite element ("gradient": only of gradients), and the parts of a
complex number by k ulps of the larger one. NaN must be NaN, and infinite must be infinite.
With "zeros" the sign of a zero counts. A NaN among expected gradients says that there is no gradient to compare with. A case
with "error" is a call that must fail with a message that contains it.
"""
import importlib
import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import flat_numbers  # noqa: E402
from mpmath import mpf  # noqa: E402
from ends.number import BITS, NAN, backward, floats, lift, lifted, parts  # noqa: E402

FAMILIES = ["elementwise", "integers", "reduce", "rows", "loss", "windows", "matrices", "complex", "layout"]


class Store:
    """Numbers without repeats in two flat arrays: those that f32 holds exactly, and the others."""

    def __init__(self):
        self.arrays, self.sizes, self.seen = {"f32": [], "f64": []}, {"f32": 0, "f64": 0}, {}

    def add(self, array, dtype, shape=None):
        """[dtype if it is not the case's, offset, sizes ...]; an offset into the array of f64 is ~offset. Complex numbers are two real ones."""
        flat = np.ascontiguousarray(array)
        flat = (flat.view(np.float64) if np.iscomplexobj(flat) else flat.astype(np.float64)).reshape(-1)
        with np.errstate(over="ignore"):
            narrow = flat.astype(np.float32)
        exact = np.array_equal(narrow.astype(np.float64), flat, equal_nan=True)
        name, data = ("f32", narrow.tobytes()) if exact else ("f64", flat.tobytes())
        if (name, data) not in self.seen:
            self.seen[name, data] = self.sizes[name]
            self.arrays[name].append(data)
            self.sizes[name] += len(flat)
        place = self.seen[name, data] if name == "f32" else ~self.seen[name, data]
        return ([] if dtype == "*" else [dtype]) + [place, *(np.shape(array) if shape is None else shape)]

    def save(self, path):
        flat_numbers.save(path, self.arrays, self.sizes)


class Operand:
    """Elements of the case's type; with another dtype they have no gradient."""

    def __init__(self, array, dtype="*", constant=False):
        array = np.asarray(array)
        self.array = array if np.iscomplexobj(array) else array.astype(np.float64)
        self.dtype, self.constant = dtype, constant


def upstream(shape):
    """The gradient that arrives at an output: odd multiples of 1/64 in an order that the C++ side repeats."""
    i = np.arange(int(np.prod(shape)))
    return (((2 * ((i * 37 + 11) % 64) - 63) / 64)).reshape(shape)


def narrowed(values, dtype):
    """The numbers of the type that are nearest to the values."""
    if np.iscomplexobj(values):
        return narrowed(values.real, dtype) + 1j * narrowed(values.imag, dtype)
    return floats(lifted(values), dtype)


class Family:
    def __init__(self, name, store):
        self.name, self.store, self.lines, self.ops, self.last = name, store, [], set(), {}

    def write(self, line):
        self.ops.add(line["op"])
        own = {k: v for k, v in line.items() if self.last.get(k) != v}
        if "op" in own or set(self.last) - set(line):
            own = line
        self.lines.append(json.dumps(own, separators=(",", ":")))
        self.last = line

    def case(self, op, dtype, inputs, function, params=None, ulps=4, whole=False, zeros=False, grad=True, outputs="*",
             overflow=True):
        """One call. inputs: arrays or Operands, a list or a dict by name; None is absent, a number is a script's number.
        function takes arrays of V (plain arrays for operands of another dtype) and gives one array or a tuple; None in it is an
        output that is not compared. outputs: the type of each. overflow False: no gradients where they or a value are rounded to infinity."""
        part = {"c64": "f32", "c128": "f64"}.get(dtype, dtype)
        names = list(inputs) if isinstance(inputs, dict) else None
        given = list(inputs.values()) if names else list(inputs)
        stored, arguments, leaves = [], [], []
        for x in given:
            if x is None or isinstance(x, (int, float)):
                stored.append(x if x is None or abs(x) < np.inf else str(x))
                arguments.append(x)
                leaves.append(None)
                continue
            x = x if isinstance(x, Operand) else Operand(x)
            follows = x.dtype in ("*", "part")
            values = x.array
            if part in BITS and part != "f64" and follows:
                values = narrowed(values, part)
            stored.append(self.store.add(values, x.dtype))
            arguments.append(lifted(values) if follows else values)
            leaves.append(arguments[-1] if follows and not x.constant and grad else None)
        results = function(*arguments, **(params or {}))
        results = list(results) if isinstance(results, tuple) else [results]
        types = [outputs] * len(results) if isinstance(outputs, str) else list(outputs)
        line = {"op": op, "type": dtype, "in": stored}
        if names:
            line["names"] = names
        if params:
            line["params"] = {k: str(v) if isinstance(v, float) and abs(v) == np.inf else v for k, v in params.items()}
        line["out"] = []
        roots, seeds = [], []
        for y, kind in zip(results, types):
            if y is None:
                line["out"].append(None)
                continue
            follows = kind in ("*", "part", "complex")
            kind_of_values = part if follows else kind
            values = floats(y, kind_of_values if kind_of_values in BITS else "f64")
            line["out"].append(self.store.add(values, kind, np.shape(y)))
            if (follows or kind == "f64") and grad:
                for element, value, seed in zip(parts(y), values.reshape(-1), upstream(values.shape).reshape(-1)):
                    roots.append(lift(element))
                    seeds.append(NAN if not overflow and np.isinf(value) else float(seed))
        if roots and any(leaf is not None for leaf in leaves):
            for leaf in leaves:
                for x in [] if leaf is None else parts(leaf):
                    x.grad = mpf(0)
            backward(roots, seeds)
            line["grad"] = []
            for leaf, entry in zip(leaves, stored):
                values = None if leaf is None else floats([x.grad for x in parts(leaf)], part)
                if leaf is not None and not overflow:
                    values[np.isinf(values)] = NAN
                line["grad"].append(None if leaf is None else self.store.add(values,
                    entry[0] if isinstance(entry[0], str) else "*", np.shape(leaf)))
        if ulps != 4:
            line["ulps"] = ulps
        if whole:
            line["whole"] = whole
        if zeros:
            line["zeros"] = True
        self.write(line)

    def wrong(self, op, dtype, inputs, message, params=None):
        stored = [x if x is None or isinstance(x, (int, float)) else self.store.add(x.array, x.dtype) for x in inputs]
        self.write({"op": op, "type": dtype, "in": stored, "params": params or {}, "error": message})

    def save(self):
        with open(f"{HERE}/ends/{self.name}.json", "w") as out:
            out.write("[\n" + ",\n".join(self.lines) + "\n]\n")


def main():
    wanted = sys.argv[1:] or FAMILIES
    store, size = Store(), 0
    sys.modules["generate_ends"] = sys.modules["__main__"]
    for name in wanted:
        family = Family(name, store)
        importlib.import_module("ends.cases_" + name).cases(family)
        family.save()
        size += os.path.getsize(f"{HERE}/ends/{name}.json")
        print(f"{name}: {len(family.lines)} cases of {len(family.ops)} ops", flush=True)
    if wanted == FAMILIES:
        store.save(f"{HERE}/ends/numbers.safetensors")
        print(f"{(size + os.path.getsize(f'{HERE}/ends/numbers.safetensors')) / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
