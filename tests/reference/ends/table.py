#!/usr/bin/python3
"""Makes differences.json: where the engine is not exact at the ends, and what PyTorch has there.

    LUNAGRAD_ENDS_TABLE=/tmp/cpu.json build/lunagrad-tests -tc='*ends of its types*'
    LUNAGRAD_ENDS_TABLE=/tmp/vulkan.json LUNAGRAD_TEST_ALL=1 build/lunagrad-gpu-tests -tc='*ends of f32*'
    tests/reference/ends/table.py /tmp/cpu.json /tmp/vulkan.json

A row names the call, its output or gradient, the elements with their operands, the engine's values, the exact ones, and the values of Debian's
PyTorch 1.13 ("none": it has no such function, or fails). The reason of a call is in reasons.json, or that PyTorch has the
same value; a row without one is an error.
"""
import json
import os
import re
import struct
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F

warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from generate import DTYPES, find_function, upstream  # noqa: E402


def rms_norm(input, weight, normalized_shape, eps):
    return input * (input.pow(2).mean(-1, keepdim=True) + eps).rsqrt() * weight


LAYER = ("has_biases", "num_layers", "dropout", "train", "bidirectional", "batch_first")
# PyTorch's form where name or arguments differ.
FORMS = {
    "rms_norm": rms_norm, "norm_sq": lambda x: (x * x.conj()).real, "affine": lambda x, m, a: x * m + a,
    "norm": lambda x, **p: torch.linalg.vector_norm(x, p.get("p", 2.0), p.get("dim")),
    "nanmean": torch.nanmean, "dist": torch.dist,
    "corrcoef": torch.corrcoef, "std_mean": torch.std_mean, "var_mean": torch.var_mean,
    "lp_pool1d": lambda x, norm_type, kernel_size: F.lp_pool1d(x, norm_type, kernel_size[0]),
    "binary_cross_entropy_with_logits": lambda x, t, w, p, **k: F.binary_cross_entropy_with_logits(x, t, w,
    pos_weight=p, **k),
    "logsumexp": lambda x, dim=None: torch.logsumexp(x, list(range(x.dim())) if dim is None else dim),
    "linalg.matrix_norm": lambda A, ord="fro": torch.linalg.matrix_norm(A, ord), "segment_reduce": lambda data, lengths, reduce: torch.segment_reduce(data, reduce, lengths=lengths),
    "_cast": lambda x, dtype: x.to(dtype), "polygamma": lambda x, n: torch.polygamma(n, x),
    "lstm_cell": lambda x, h, c, *weights: torch.lstm_cell(x, (h, c), *weights),
    "rnn_tanh": lambda x, h, *weights, **p: torch.rnn_tanh(x, h, list(weights), *(p[name] for name in LAYER)),
    "gru": lambda x, h, *weights, **p: torch.gru(x, h, list(weights), *(p[name] for name in LAYER)),
    "lstm": lambda x, h, c, *weights, **p: torch.lstm(x, (h, c), list(weights), *(p[name] for name in LAYER)),
    "prelu": F.prelu, "full": None,
    "linspace": lambda start, end, steps, dtype: torch.linspace(start, end, steps, dtype=dtype),
    "cdist": lambda a, b, p=2.0: torch.cdist(a, b, p), "angle": torch.angle, "gather": torch.gather,
    "conv_tbc": torch.conv_tbc, "lu_solve": None, "quantile": torch.quantile,
    "prod": lambda x, dim=None: torch.prod(x) if dim is None else torch.prod(x, dim[0]),
}
LISTS = {"cat", "stack", "hstack", "vstack", "column_stack", "dstack", "block_diag", "cartesian_prod", "meshgrid"}


def numbers():
    with open(f"{HERE}/numbers.safetensors", "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header, body = json.loads(file.read(size)), file.read()
    return {name: np.frombuffer(body[slice(*entry["data_offsets"])],
        dtype=np.float32 if entry["dtype"] == "F32" else np.float64).astype(np.float64)
            for name, entry in header.items()}


def all_cases():
    found = {}
    for name in sorted(os.listdir(HERE)):
        if not name.endswith(".json") or name in ("differences.json", "left_out.json", "reasons.json"):
            continue
        row, counts = {}, {}
        for line in json.load(open(f"{HERE}/{name}")):
            row = line if "op" in line else {**row, **line}
            kind = row["op"] + " " + row["type"]
            counts[kind] = counts.get(kind, -1) + 1
            found[f"{kind} {counts[kind]}"] = row
    return found


def tensor(entry, run, arrays):
    kind, first, *shape = entry if isinstance(entry[0], str) else ["*", *entry]
    name, first = ("f32", first) if first >= 0 else ("f64", ~first)
    part = {"c64": "f32", "c128": "f64"}.get(run, run)
    dtype = run if kind == "*" else part if kind == "part" else kind
    count = int(np.prod(shape))
    if dtype in ("c64", "c128"):
        pairs = arrays[name][first:first + 2 * count].reshape(*shape, 2)
        return torch.view_as_complex(torch.tensor(pairs)).to(DTYPES[dtype])
    return torch.tensor(arrays[name][first:first + count].reshape(shape), dtype=torch.float64).to(DTYPES[dtype])


def value_of(x):
    return float(x) if isinstance(x, str) else x


def torch_values(row, arrays):
    """Outputs and gradients by the names of differences.json, or {} where PyTorch has none."""
    op, run = row["op"], row["type"]
    try:
        function = FORMS[op] if op in FORMS else find_function(op)
        operands = []
        for i, entry in enumerate(row["in"]):
            x = tensor(entry, run, arrays) if isinstance(entry, list) else value_of(entry)
            operands.append(x.requires_grad_() if "grad" in row and row["grad"][i] is not None else x)
        params = {k: DTYPES[v] if k == "dtype" else value_of(v) if v in ("inf", "-inf") else v for k,
            v in row.get("params", {}).items()}
        if "names" in row and op not in FORMS:
            try:
                results = function(**dict(zip(row["names"], operands)), **params)
            except TypeError:
                results = function(*operands, **params)
        else:
            results = function(operands, **params) if op in LISTS else function(*operands, **params)
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        found = {f"output {i}": y for i, y in enumerate(results)}
        total = [(y * upstream(y).conj()).sum().real for y in results if y.requires_grad]
        if total:
            sum(total).backward()
            kept = [x for x in operands if isinstance(x, torch.Tensor) and x.requires_grad]
            found.update({f"gradient {i}": x.grad if x.grad is not None else torch.zeros_like(x) for i,
                x in enumerate(kept)})
        return found
    except (RuntimeError, TypeError, AttributeError, ValueError, IndexError, SystemExit) as error:
        return {"error": str(error).splitlines()[0]}


def flat(x):
    x = x.detach().resolve_conj()
    return (torch.view_as_real(x) if x.is_complex() else x).reshape(-1).double()


def close(a, b):
    return a == b or (a != a and b != b) or abs(a - b) <= 2e-5 * max(abs(a), abs(b))


def main():
    arrays, cases = numbers(), all_cases()
    reasons = json.load(open(f"{HERE}/reasons.json")) if os.path.exists(f"{HERE}/reasons.json") else {}
    rows = {}
    for path in sys.argv[1:]:
        device = "vulkan" if "vulkan" in os.path.basename(path) else "cpu"
        for row in json.load(open(path)):
            rows.setdefault((row["call"], row["at"]), {})[device] = row
    table, unexplained, cached = [], [], {}
    for (call, at), by_device in rows.items():
        if call not in cached:
            cached = {call: torch_values(cases[call], arrays)}
        found = cached[call]
        same = len(by_device) == 2 and by_device["cpu"]["elements"] == by_device["vulkan"]["elements"] and all(
            close(float(a), float(b)) for a, b in zip(by_device["cpu"]["ours"], by_device["vulkan"]["ours"]))
        for device, row in by_device.items():
            if same and device == "vulkan":
                continue
            entry = dict(row)
            if not same and call.split()[1] != "f64" or len(by_device) == 1 and device == "vulkan":
                entry["device"] = device
            theirs = flat(found[at]) if at in found else None
            entry["pytorch"] = ["none" if theirs is None or i >= len(theirs) else repr(float(f"{float(theirs[i]):.6g}")) for i in row["elements"]]
            reason = next((text for pattern, text in reasons.items() if re.fullmatch(pattern, f"{call} {at}")), None)
            if reason is None:
                reason = "PyTorch has the same value" if all(
                    p != "none" and close(float(p), float(o)) for p,
                    o in zip(entry["pytorch"], entry["ours"])) else None
            entry["reason"] = reason
            table.append(entry)
            if reason is None:
                unexplained.append(f"{call}, {at} ({entry.get('device', 'both')}), {found.get('error', '')}: " + "; ".join(
                    f"{o}, exactly {e}, PyTorch {p}" for o, e,
                    p in list(zip(row["ours"], row["exact"], entry["pytorch"]))[:4]))
    with open(f"{HERE}/differences.json", "w") as out:
        out.write("[\n" + ",\n".join(json.dumps(row, separators=(",", ":")) for row in table) + "\n]\n")
    print("\n".join(unexplained))
    print(f"{len(table)} rows, {sum(len(r['elements']) for r in table)} elements, {len(unexplained)} rows without a reason")


if __name__ == "__main__":
    main()
