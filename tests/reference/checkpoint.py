#!/usr/bin/python3
"""Writes checkpoint.pt beside this file: a checkpoint as PyTorch users save it, for tests/lua/test_pt.lua. Run by hand, with
Debian's python3-torch. `checkpoint.py check FILE` loads what that test saved, and exits with 77 when there
is no PyTorch."""
import argparse
import collections
import os
import sys

try:
    import torch
except ImportError:
    print("PyTorch is not installed")
    sys.exit(77)


def write():
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.125)
    with torch.no_grad():
        for i, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.arange(parameter.numel()).reshape(parameter.shape) / 4 + i)
            parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    x = torch.arange(12.0).reshape(3, 4)
    torch.save({
        "model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3, "loss": 0.25, "name": "net \u00e9",
        "best": None, "done": False, "big": 1 << 40, "negative": -5, "shape": x.shape, "dtype": torch.float32,
        "transposed": x.t(), "rows": x[1:], "column": x[:, 2], "expanded": torch.ones(1).expand(3), "empty": torch.zeros(0, 3),
        "scalar": torch.tensor(1.5), "types": [torch.tensor([1, 2], dtype=t) for t in (
            torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)],
        "flags": torch.tensor([True, False]), "complex": torch.tensor([1 + 2j]), "parameter": torch.nn.Parameter(torch.ones(2)),
        "args": argparse.Namespace(width=8, act="relu"), "counts": collections.Counter(a=2), "pair": (1, [2, {"three": 3}]),
        "bytes": b"\x00\xff\x80", 7: "seven",
    }, os.path.join(os.path.dirname(os.path.abspath(__file__)), "checkpoint.pt"))


def check(path):
    modern = int(torch.__version__.split(".")[0]) >= 2  # 1.13 reads no numbers with weights_only
    found = torch.load(path, **({"weights_only": True} if modern else {}))
    assert found["list"] == [1, 2.5, "three", True, {"deep": [[1], [2]]}], found["list"]
    assert found["big"] == 1 << 40 and found["small"] == -(1 << 40) and found[5] == "five"
    assert torch.equal(found["matrix"], torch.tensor([[1.0, 2.0], [3.0, 4.0]])) and found["matrix"].is_contiguous()
    assert torch.equal(found["turned"], torch.tensor([[1.0, 3.0], [2.0, 4.0]]))
    types = [torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool, torch.complex64,
             torch.complex128]
    assert [x.dtype for x in found["types"]] == types, [x.dtype for x in found["types"]]
    assert all(x.real.float().tolist() == [1, 0] for x in found["types"])
    assert found["empty"].shape == (0, 3) and found["scalar"].shape == () and found["scalar"] == 1.5
    model = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    model.load_state_dict(found["model"])


write() if len(sys.argv) == 1 else check(sys.argv[2])
