#!/usr/bin/python3
"""Makes the reference cases that tests/runtime/test_reference.cpp compares the engine with: FAMILY.json and FAMILY.safetensors
beside this file, optimizers.lua, packed.lua and modules.lua. Run by hand, `tests/reference/generate.py`, with Debian's python3-torch 1.13 (the
tests themselves need no Python); commit what it writes. With names of families it writes only these.

An op without a case in cases/ gets cases from the examples of its record (Op::examples, or the range of its row in
elementwise.def): family "examples", read from `build/lunagrad meta --json` ($LUNAGRAD names another program). This
needs an op whose name and arguments are PyTorch's. torch_names.txt has the names of all PyTorch functions, so that the
test accepts an op without a case only if PyTorch has no function of its name.

Each file cases/FAMILY.py is a table of calls

    case(op, inputs, **params)

where `op` and the names of `params` are both PyTorch's and the engine's, dims count from 0, and `inputs` is a list in
the op's order or a dict by the names of its inputs. PyTorch's function of that name is called with them, or the one
given as `by=`. The inputs are small multiples of powers of two that every floating type holds exactly, so that one
result in double precision is the reference of f64, f32, f16 and bf16 alike. `types` adds integer types, whose results
come from PyTorch in that type. Gradients are taken of sum(upstream(y) * y) over the floating outputs y. Cases of
`types="c128"` alone run in complex numbers, where `parts` makes real inputs; their gradients are taken of
sum(Re(conj(upstream(y)) y)). Complex numbers are stored as two real ones each.
"""
import importlib
import json
import os
import subprocess
import sys
import warnings
import zlib

import flat_numbers
import numpy as np
import torch
import torch.nn.functional as F

warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
FAMILIES = ["elementwise", "reduce", "view", "create", "matmul", "linalg", "index", "conv", "norm", "loss", "shape", "rnn",
            "complex", "fft"]
PLACES = (F, torch, torch.special, torch.linalg, torch.Tensor)
DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
          "i64": torch.int64, "i32": torch.int32, "u8": torch.uint8, "bool": torch.bool,
          "c64": torch.complex64, "c128": torch.complex128, "part": torch.float64}
NAMES = {dtype: name for name, dtype in DTYPES.items() if name != "part"}
FLOATS = ["f64", "f32", "f16", "bf16"]


class Input:
    """Elements to be drawn, or given; dtype None follows the type that the case runs in."""

    def __init__(self, shape, low=-2, high=2, dtype=None, values=None):
        self.shape, self.low, self.high, self.dtype, self.values = list(shape), low, high, dtype, values
        self.constant = False  # PyTorch has no gradient for it

    def make(self, rng, run_dtype):
        dtype = self.dtype or run_dtype
        count = int(np.prod(self.shape)) * (2 if dtype == "c128" else 1)
        if self.values is not None:
            drawn = np.array(self.values, dtype=np.complex128 if dtype == "c128" else np.float64)
            if dtype == "c128":
                return torch.tensor(drawn.reshape(self.shape))
        elif dtype == "bool":
            drawn = rng.integers(0, 2, count)
        elif dtype in ("i64", "i32", "u8"):
            low = max(0, int(np.ceil(self.low))) if dtype == "u8" else int(np.ceil(self.low))
            drawn = rng.integers(low, int(np.ceil(self.high)), count)
        else:  # k * step with |k| <= 256: eight significant bits; all different where there are enough
            step = 2.0 ** np.ceil(np.log2(max(abs(self.low), abs(self.high)) / 256))
            grid = np.arange(np.ceil(self.low / step), np.floor(self.high / step) + 1)
            drawn = rng.choice(grid, count, replace=count > len(grid)) * step
        if dtype == "c128" and self.values is None:
            return torch.view_as_complex(torch.tensor(drawn.reshape(self.shape + [2])))
        return torch.tensor(drawn.reshape(self.shape), dtype=torch.float64).to(DTYPES[dtype])


class Number:
    """A script's number as an operand."""

    def __init__(self, value):
        self.value = value


def real(*shape, low=-2, high=2):
    return Input(shape, low, high)


def parts(*shape, low=-2, high=2):
    """Real among complex inputs."""
    return Input(shape, low, high, "part")


def ids(*shape, high, low=0, dtype="i64"):
    return Input(shape, low, high, dtype)


def bools(*shape):
    return Input(shape, 0, 2, "bool")


def typed(dtype, *shape, low=-4, high=5):
    return Input(shape, low, high, dtype)


def values(data, dtype=None):
    return Input(np.array(data).shape, values=data, dtype=dtype)


def constant(spec):
    spec.constant = True
    return spec


def upstream(y):
    """The gradient that arrives at an output: odd multiples of 1/64 in an order that the C++ side repeats."""
    shape = list(y.shape) + ([2] if y.is_complex() else [])
    i = np.arange(int(np.prod(shape)))
    drawn = torch.tensor(((2 * ((i * 37 + 11) % 64) - 63) / 64).reshape(shape))
    return torch.view_as_complex(drawn) if y.is_complex() else drawn.to(y.dtype)


def find_function(op):
    if "." in op:
        table, name = op.split(".")
        return getattr(getattr(torch, table), name)
    for place in PLACES:
        if hasattr(place, op):
            return getattr(place, op)
    raise SystemExit(f"{op}: PyTorch has no such function; give by=")


class Store:
    """Numbers without repeats in two flat arrays: those that f32 holds exactly, and the others."""

    def __init__(self):
        self.arrays = {"f32": [], "f64": []}
        self.sizes = {"f32": 0, "f64": 0}
        self.seen = {}

    def add(self, tensor, dtype):
        """[dtype ("*": the dtype of the run), shape, array, offset]"""
        plain = tensor.detach().resolve_conj()
        plain = torch.view_as_real(plain) if plain.is_complex() else plain
        flat = plain.to(torch.float64).contiguous().numpy().reshape(-1)
        with np.errstate(over="ignore"):
            narrow = flat.astype(np.float32)
        exact = np.array_equal(narrow.astype(np.float64), flat, equal_nan=True)
        name, data = ("f32", narrow.tobytes()) if exact else ("f64", flat.tobytes())
        if (name, data) not in self.seen:
            self.seen[name, data] = self.sizes[name]
            self.arrays[name].append(data)
            self.sizes[name] += len(flat)
        return [dtype, list(tensor.shape), name, self.seen[name, data]]

    def save(self, path):
        flat_numbers.save(path, self.arrays, self.sizes)


class Family:
    def __init__(self, name):
        self.name, self.store, self.lines, self.skipped, self.ops = name, Store(), [], [], set()

    def case(self, op, inputs, by=None, types="", floats=True, grad=True, tolerance=1, **params):
        """One row. types: further types, "i64 i32 u8 bool"; floats False: only these. tolerance multiplies the
        bounds; an output that PyTorch lacks is left out of a tuple by giving None."""
        function = by or find_function(op)
        self.ops.add(op)
        names = list(inputs) if isinstance(inputs, dict) else None
        specs = list(inputs.values()) if names else list(inputs)
        followers = FLOATS[:2] if self.name == "fft" else FLOATS  # transforms compute 16-bit numbers in f32
        runs = ([("f64", followers)] if floats else []) + [(t, [t]) for t in types.split()]
        if types == "c128":
            runs = [("c128", ["c128", "c64"])]
        for run, stands_for in runs:
            self.run(op, names, specs, function, params, run, stands_for, grad, tolerance)

    def run(self, op, names, specs, function, params, run, stands_for, grad, tolerance):
        # A new op does not change the numbers of the other examples.
        before = sum(f'"op":"{op}"' in line for line in self.lines) if self.name == "examples" else len(self.lines)
        rng = np.random.default_rng([zlib.crc32(op.encode()), before])
        operands, stored = [], []
        for spec in specs:
            if spec is None:
                operands.append(None)
                stored.append(None)
            elif isinstance(spec, Number):
                operands.append(spec.value)
                stored.append(spec.value)
            else:
                x = spec.make(rng, run)
                stored.append(self.store.add(x, spec.dtype or "*"))
                wants_grad = grad and (x.dtype.is_floating_point or x.is_complex()) and not spec.constant
                operands.append(x.requires_grad_() if wants_grad else x)
        given = {k: DTYPES[v] if k == "dtype" else v for k, v in params.items()}
        try:
            results = self.call(function, names, operands, given)
        except (RuntimeError, TypeError, IndexError) as error:
            if run in FLOATS + ["c128"]:
                raise SystemExit(f"{op}: {error}")
            self.skipped.append(f"{op} {run}: {str(error).splitlines()[0]}")
            return
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        line = {"op": op, "types": stands_for, "in": stored}
        if names:
            line["names"] = names
        if params:
            line["params"] = {k: "inf" if v == float("inf") else "-inf" if v == float("-inf") else v
                              for k, v in params.items()}
        def name_of(y):
            if y.dtype == DTYPES[run]:
                return "*"
            if run in FLOATS and y.is_complex():
                return "complex"
            return "part" if run == "c128" and y.dtype == torch.float64 else NAMES[y.dtype]

        line["out"] = [y is not None and self.store.add(y, name_of(y)) for y in results]
        total = [(y * upstream(y).conj()).sum().real for y in results if y is not None and y.requires_grad]
        if total and self.backward(op, sum(total)):
            line["grad"] = [self.store.add(x.grad if x.grad is not None else torch.zeros_like(x), s[0])
                            if isinstance(x, torch.Tensor) and x.requires_grad else None
                            for x, s in zip(operands, stored)]
        if tolerance != 1:
            line["tolerance"] = tolerance
        self.lines.append(json.dumps(line, separators=(",", ":")))

    @staticmethod
    def call(function, names, operands, given):
        try:
            return function(**dict(zip(names, operands)), **given) if names else function(*operands, **given)
        except TypeError:  # a function in Python whose operands have no names, or others
            return function(*operands, **given)

    def backward(self, op, loss):
        """Whether PyTorch has the gradient, which it computes."""
        try:
            loss.backward()
        except RuntimeError as error:
            if "is not implemented" not in str(error):
                raise
            self.skipped.append(f"{op}: {str(error).splitlines()[0]}")
            return False
        return True

    def save(self):
        self.store.save(f"{HERE}/{self.name}.safetensors")
        with open(f"{HERE}/{self.name}.json", "w") as out:
            out.write("[\n" + ",\n".join(self.lines) + "\n]\n")


def torch_names():
    places = [("", place) for place in PLACES] + [("fft.", torch.fft), ("linalg.", torch.linalg)]
    return sorted({before + name for before, place in places for name in dir(place)
                   if name[0] != "_" and callable(getattr(place, name, None))})


def input_of(operand):
    shape, low, high = operand["shape"], operand["low"], operand["high"]
    return {"real": lambda: real(*shape, low=low, high=high), "complex": lambda: real(*shape, low=low, high=high),
            "index": lambda: ids(*shape, low=low, high=high), "boolean": lambda: bools(*shape),
            "absent": lambda: None}[operand["kind"]]()


def of_list(function, tensors, params):
    """A function of a list of tensors: cat takes the list, block_diag its elements."""
    try:
        return function(tensors, **params)
    except TypeError:
        return function(*tensors, **params)


def example_cases(case):
    """Cases of the ops that no family of FAMILIES has, from the examples of their records."""
    program = os.environ.get("LUNAGRAD", os.path.join(HERE, "../../build/lunagrad"))
    records = json.loads(subprocess.run([program, "meta", "--json"], check=True, capture_output=True).stdout)
    covered = set()
    for family in FAMILIES:
        with open(f"{HERE}/{family}.json") as file:
            covered |= {line["op"] for line in json.load(file)}
    names = set(torch_names())
    for record in records:
        op = record["name"]
        if op in covered or op not in names or op[0] == "_":
            continue
        for example in record["examples"]:
            operands = example["inputs"]
            complexes = any(operand["kind"] == "complex" for operand in operands)
            options = dict(example["params"], floats=not complexes, types="c128" if complexes else "")
            if not operands or op == "float_power":  # results of a type of their own
                options.update(floats=False, types="f64 f32" if operands else options.get("dtype", "f32"))
            if op == "sgn":  # 1.13 gives subnormal numbers
                options["grad"] = False
            if any(operand["name"] == "tensors" for operand in operands):  # a list of any number of tensors
                function = find_function(op)
                case(op, [input_of(operand) for operand in operands], by=lambda *t, f=function, **p: of_list(f, t, p), **options)
            else:
                case(op, {operand["name"]: input_of(operand) for operand in operands}, **options)


def main():
    wanted = sys.argv[1:] or FAMILIES + ["optimizers", "packed", "modules", "examples"]
    sys.path.insert(0, HERE)
    sys.modules["generate"] = sys.modules["__main__"]
    size = 0
    with open(f"{HERE}/torch_names.txt", "w") as out:
        out.write("\n".join(torch_names()) + "\n")
    for name in wanted:
        module = None if name == "examples" else importlib.import_module("cases." + name)
        if name in ("optimizers", "packed", "modules"):
            module.write(f"{HERE}/{name}.lua")
            continue
        family = Family(name)
        (module.cases if module else example_cases)(family.case)
        family.save()
        size += sum(os.path.getsize(f"{HERE}/{name}.{end}") for end in ("json", "safetensors"))
        print(f"{name}: {len(family.lines)} cases of {len(family.ops)} ops")
        for line in family.skipped:
            print("  not in PyTorch:", line)
    print(f"{size / 1024:.0f} KiB")


if __name__ == "__main__":
    main()
