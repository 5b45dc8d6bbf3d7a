#!/usr/bin/env python3
"""Writes the test cases of ONNX's operators, which the package onnx generates, into a folder: NAME.onnx, and NAME.npz with the
inputs and expected outputs under the names that they have in the graph. import.lua reads them. Cases with optional or sequence
values, text or more inputs than the graph names are left out.

    node_cases.py FOLDER
"""
import pathlib
import sys
import warnings

import numpy
import onnx

warnings.simplefilter("ignore")
for alias in (float, int, bool, object):  # onnx 1.12 uses names that numpy 1.24 has dropped
    if not hasattr(numpy, alias.__name__):
        setattr(numpy, alias.__name__, alias)
from onnx.backend.test.case.node import collect_testcases  # noqa: E402


# Random numbers; an input named "like", which numpy.savez does not write; bf16 and u64, which NumPy's files lack; lengths that onnx
# 1.12 does not round.
LEFT_OUT = ("training_dropout", "castlike", "BFLOAT16", "uint64", "downsample_scales_cubic_align_corners", "downsample_scales_linear_align_corners")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(exist_ok=True)
    written = 0
    for case in collect_testcases(None):
        if case.kind != "node" or case.model is None:
            continue
        graph = case.model.graph
        inputs, outputs = case.data_sets[0]
        names = [value.name for value in graph.input] + [value.name for value in graph.output]
        values = [*inputs, *outputs]
        if any(part in case.name for part in LEFT_OUT) or len(names) != len(values) or not all(isinstance(v, (numpy.ndarray, numpy.generic)) for v in values):
            continue
        values = [numpy.asarray(value) for value in values]
        if any(value.dtype.kind not in "biufc" for value in values):
            continue
        onnx.save(case.model, folder / f"{case.name}.onnx")
        numpy.savez(folder / f"{case.name}.npz", **dict(zip(names, values)))
        written += 1
    print(written, "cases")


main()
