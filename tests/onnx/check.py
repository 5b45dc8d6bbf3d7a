#!/usr/bin/env python3
"""Checks the ONNX files of a folder: models from models.lua, and samples of operations, named op-1, op-2, …, from
test_onnx_ops.cpp. Runs onnx.checker, strict inference of the shapes, and where onnxruntime is installed the values, for
the inputs in name.npz and for another batch in name.other.npz.

    check.py FOLDER      prints a line for each model, and one for all samples; exit code 1 when one fails

Debian 12 has no evaluator. values.log is what this prints on Debian 13 (python3-onnx, python3-onnxruntime) about the
folder build/onnx-models, which ctest -R onnx fills.
"""
import pathlib
import sys

import numpy
import onnx
import onnx.checker
import onnx.shape_inference

try:
    import onnxruntime
except ImportError:
    onnxruntime = None


def difference(found, wanted):
    """The largest difference as a part of 1 + the value wanted; infinite where shapes, types or NaN differ."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return numpy.inf
    if not numpy.issubdtype(wanted.dtype, numpy.floating):
        return 0.0 if numpy.array_equal(found, wanted) else numpy.inf
    if wanted.size == 0:
        return 0.0
    found, wanted = found.astype(numpy.float64), wanted.astype(numpy.float64)
    same = (found == wanted) | (numpy.isnan(found) & numpy.isnan(wanted))
    with numpy.errstate(invalid="ignore"):
        apart = numpy.where(same, 0.0, numpy.abs(found - wanted) / (1 + numpy.abs(wanted)))
    return float(numpy.max(numpy.nan_to_num(apart, nan=numpy.inf)))


def check_structure(model):
    onnx.checker.check_model(model, full_check=True)
    inferred = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    assert len(inferred.graph.output) == len(model.graph.output)
    names = [node.name for node in model.graph.node]
    assert len(set(names)) == len(names), "two nodes have one name"


def compare(session, path):
    """The largest difference over all outputs, and the outputs that are too far."""
    arrays = numpy.load(path)
    outputs = [output.name for output in session.get_outputs()]
    found = session.run(outputs, {value.name: arrays[value.name] for value in session.get_inputs()})
    apart = {name: difference(value, arrays[name]) for name, value in zip(outputs, found)}
    half = any(arrays[name].dtype == numpy.float16 for name in outputs)
    return max(apart.values()), [name for name, value in apart.items() if not value < (2e-3 if half else 2e-5)]


def check(path):
    """Returns the report on a file, the differences of its values, and its errors."""
    model = onnx.load(path)
    check_structure(model)
    words, differences, far = [f"{len(model.graph.node):4} nodes"], [], []
    if onnxruntime is None:
        return words, differences, far
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    for suffix, label in ((".npz", "apart"), (".other.npz", "another batch")):
        values = path.with_suffix(suffix)
        if values.exists():
            most, wrong = compare(session, values)
            words.append(f"{label} {most:.1e}")
            differences.append(most)
            far += wrong
    return words, differences, far


def main():
    if onnxruntime is not None:
        print(f"onnx {onnx.__version__}, onnxruntime {onnxruntime.__version__}")
    failed, models, samples, operations, most = 0, 0, 0, set(), 0.0
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.onnx")):
        try:
            words, differences, far = check(path)
            fault = "FAR APART: " + ", ".join(far) if far else ""
        except Exception as error:  # whatever it is, the other files are looked at
            words, differences, fault = [], [], str(error).strip().splitlines()[0]
        operation, is_sample, _ = path.stem.partition("-")
        if fault:
            failed += 1
            print(f"{path.stem:18} {fault}")
        elif is_sample:
            samples += 1
            operations.add(operation)
            most = max([most, *differences])
        else:
            models += 1
            print(f"{path.stem:18}", "  ".join(words))
    values = f", values at most {most:.1e} apart" if onnxruntime is not None else ""
    print(f"{samples} samples of {len(operations)} operations{values}")
    print(f"{models + samples} valid, {failed} failed")
    return 1 if failed or models == 0 or samples == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
