"""Tensors, operations, gradients and scripts of Lunagrad, for people who keep their data in Python.

Every operation of the library is a function here (lunagrad.softmax, lunagrad.linalg.solve) and, where its first operand is a tensor,
a method: help(lunagrad.softmax). Dims and positions count from 0; in messages of the library they count from 1.
"""
from . import _functions
from ._dtypes import bf16, boolean, c64, c128, dtype, f16, f32, f64, i32, i64, u8
from ._engine import (Device, devices, enable_grad, get_device, get_num_threads, is_grad_enabled, manual_seed, no_grad, set_device,
                      set_grad_enabled, set_memory_limit, set_num_threads, stop, synchronize)
from ._errors import (BadStructError, BufferSizeError, BusyError, DeviceError, Error, FileError, InternalError, InvalidArgumentError,
                      InvalidHandleError, NotFoundError, NumericError, OperandError, OutOfMemoryError, ScriptError, StoppedError,
                      TimedOutError, WrongThreadError)
from ._events import Event
from ._functions import Tensor
from ._gradients import grad
from ._library import library_version as __version__
from ._result import RunResult
from ._run import run
from ._session import session

float32, float64, float16, bfloat16 = f32, f64, f16, bf16
int32, int64, uint8, complex64, complex128 = i32, i64, u8, c64, c128

globals().update(_functions.tables())


def tensor(data: "_Data", dtype: "_DType | None" = None, device: "str | None" = None, requires_grad: "bool" = False) -> "Tensor":
    """A tensor with a copy of the data: numbers, nested lists, arrays, tensors. Tensor(data) shares memory where it can."""
    copy = True if not isinstance(data, (bool, int, float, complex, list, tuple, range)) else None
    return Tensor(data, dtype, device, requires_grad, copy)


def asarray(data: "_Data", dtype: "_DType | None" = None, device: "str | None" = None, copy: "bool | None" = None) -> "Tensor":
    """A tensor on the memory of an array, or a copy where memory cannot be shared."""
    return Tensor(data, dtype, device, copy=copy)


def from_dlpack(data: "_Array") -> "Tensor":
    """A tensor on the memory of an object with `__dlpack__`, never a copy."""
    return Tensor(data, copy=False)


def __getattr__(name):
    record = _functions.by_name.get(name)
    if record is None:
        if name.endswith("_") and name[:-1] in _functions.by_name:  # a word of Python
            record = _functions.by_name[name[:-1]]
        else:
            raise AttributeError(f"lunagrad has no {name!r}")
    made = globals()[name] = _functions.function(record.name)
    return made


def __dir__():
    return sorted({*globals(), *(name for name in _functions.by_name if "." not in name)})
