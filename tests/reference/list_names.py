#!/usr/bin/env python3
"""Prints the public names of the PyTorch that Python finds, one a line: functions, classes and, of classes, attributes that
are in __all__ or in dir() without a leading underscore and have a text of documentation. lua/pytorch/names.txt is its output for PyTorch
2.11, and `lunagrad help torch.NAME` says of each of these names whether Lunagrad has it.

    tests/reference/list_names.py > lua/pytorch/names.txt
"""
import importlib
import types
import warnings

warnings.filterwarnings("ignore")
MODULES = ["torch", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.utils.rnn",
           "torch.nn.utils.parametrize", "torch.nn.utils.parametrizations", "torch.optim", "torch.optim.lr_scheduler",
           "torch.optim.swa_utils", "torch.linalg", "torch.fft", "torch.special", "torch.func", "torch.distributions",
           "torch.distributions.transforms", "torch.autograd", "torch.autograd.functional", "torch.utils.data",
           "torch.signal.windows"]
CLASSES = ["torch.Tensor", "torch.nn.Module", "torch.optim.Optimizer"]



def documented(holder, name, of_class):
    value = getattr(holder, name, None)
    origin = getattr(value, "__module__", None) or "torch"
    if isinstance(value, types.ModuleType) or origin.split(".")[0] not in ("torch", "builtins") or origin == "torch.overrides":
        return False
    return bool(getattr(value, "__doc__", None)) and (of_class or callable(value))


def names_of(path):
    of_class = path in CLASSES
    if of_class:
        module, _, name = path.rpartition(".")
        holder = getattr(importlib.import_module(module), name)
    else:
        holder = importlib.import_module(path)
    listed = set(dir(holder)) | set(getattr(holder, "__all__", []))
    return [f"{path}.{name}" for name in listed if name[0] != "_" and documented(holder, name, of_class)]


def main():
    found = set()
    for path in MODULES + CLASSES:
        try:
            found |= set(names_of(path))
        except ImportError:
            pass  # an older PyTorch
    print("\n".join(sorted(found)))


if __name__ == "__main__":
    main()
