"""Finds and loads liblunagrad. Everything that depends on lunagrad.h by its layout stands here: structs, constants, functions.

Functions have no argtypes: ctypes would convert each argument at each call. Arguments are `pointer(n)` and `size(n)`, made once,
bytes (their address is given), or None (a null pointer).
"""
import ctypes
import os
import struct
from ctypes import c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

from . import _errors

NAME = "liblunagrad.so.0"


def load():
    """The library inside of the package, else the file that LUNAGRAD_LIBRARY names, else what the system's loader finds."""
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), NAME)
    named = os.environ.get("LUNAGRAD_LIBRARY")
    places = [(inside, "inside of the package")] if os.path.exists(inside) else []
    places += [(named, "LUNAGRAD_LIBRARY")] if named else []
    places += [(NAME, "the system's loader: ldconfig, LD_LIBRARY_PATH")]
    tried = [] if os.path.exists(inside) else [f"{inside}: there is no such file"]
    tried += [] if named else ["LUNAGRAD_LIBRARY: not set"]
    for path, place in places:
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            tried.append(f"{path} ({place}): {error}")
    raise ImportError(f"{NAME} is not found. Tried:\n  " + "\n  ".join(tried))


library = load()
pointer = c_void_p.from_param
size = c_size_t.from_param
int32 = c_int32.from_param
double = c_double.from_param
uint64 = c_uint64.from_param


class Sizes(dict):
    """size(n) by n."""

    def __missing__(self, n):
        return self.setdefault(n, size(n)) if n < 4096 else size(n)


sizes = Sizes()

LIST, IN_PLACE, CREATES, RANDOM = 1, 2, 4, 8  # of operations
REQUIRED, IS_LIST, NUMBER, DIM = 1, 2, 4, 8  # of arguments
CONTIGUOUS, REQUIRES_GRAD, LEAF, HAS_GRAD, READ_ONLY = 1, 2, 4, 8, 16  # of tensors
BOOLEAN, INTEGER, REAL, NUMBERS, INTEGERS, DTYPE, CHOICE, TEXT, TENSOR, TABLE = range(1, 11)  # kinds
RETAIN_GRAPH, CREATE_GRAPH, ALLOW_UNUSED = 1, 2, 4
BUFFER_SIZE, VALUE, STOPPED, TIMED_OUT, SCRIPT = 5, 7, 12, 15, 16
KEEPS_TAPE = 2  # of sessions
PAUSED, PRELOAD, SANDBOX, INTERACTIVE = 1, 2, 4, 8  # of runs
AT_STEP, NOW = int32(0), int32(1)  # of stops

# lg_param, up to the last member that a kind reads: size, kind, name, integer, real, text, list, list_length, tensor.
PARAM_BYTES = 64
integer_param = struct.Struct("<IiQq40x").pack
real_param = struct.Struct("<IiQ8xd32x").pack
text_param = struct.Struct("<IiQ16xQ24x").pack
list_param = struct.Struct("<IiQ24xQQ8x").pack


# lg_tensor_info as 24 integers of 64 bits: its size and the dtype, ndim and flags, then these.
TENSOR_INFO_BYTES = 192
SHAPE, STRIDES, OFFSET, NUMEL, NBYTES, DEVICE, ID, VERSION = 2, 10, 18, 19, 20, 21, 22, 23


class EngineInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("grad_enabled", c_int32), ("device", c_char_p), ("seed", c_uint64),
                ("memory_limit", c_uint64), ("memory_in_use", c_uint64), ("tensors", c_uint64), ("texts", c_uint64),
                ("threads", c_int32), ("reserved", c_uint32), ("values", c_uint64), ("sessions", c_uint64)]


class DeviceInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("is_cpu", c_int32), ("name", c_char_p), ("description", c_char_p),
                ("in_use", c_uint64), ("reserved", c_uint64), ("peak", c_uint64), ("total", c_uint64)]


class Wrap(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("dtype", c_int32), ("data", c_void_p), ("bytes", c_uint64), ("shape", c_void_p),
                ("strides", c_void_p), ("ndim", c_uint32), ("flags", c_uint32), ("release", c_void_p), ("user", c_void_p)]


class OpInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("flags", c_uint32), ("name", c_char_p), ("sentence", c_char_p),
                ("aliases", ctypes.POINTER(c_char_p)), ("n_aliases", c_size_t), ("n_inputs", c_size_t), ("n_params", c_size_t)]


class ArgumentInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("flags", c_uint32), ("name", c_char_p), ("position", c_uint32), ("kind", c_int32),
                ("default_kind", c_int32), ("n_choices", c_uint32), ("default_integer", c_int64), ("default_real", c_double),
                ("default_text", c_char_p), ("default_list", ctypes.POINTER(c_int64)), ("default_list_length", c_size_t),
                ("choices", ctypes.POINTER(c_char_p))]


class Data(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("kind", c_int32), ("integer", c_int64), ("real", c_double), ("text", c_void_p),
                ("length", c_size_t), ("tensor", c_void_p), ("n_items", c_size_t), ("n_fields", c_size_t), ("reserved", c_uint64)]


class EventData(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("kind", c_int32), ("text", c_void_p), ("length", c_size_t), ("file", c_char_p),
                ("line", c_int32), ("stream", c_int32), ("step", c_int64), ("total", c_int64), ("time", c_double),
                ("state", c_int32), ("outcome", c_int32), ("exit_code", c_int32), ("dropped", c_uint32),
                ("names", ctypes.POINTER(c_char_p)), ("values", ctypes.POINTER(c_double)), ("n_values", c_size_t)]


class Module(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("reserved", c_uint32), ("name", c_char_p), ("text", c_char_p), ("length", c_size_t)]


MODULE_BYTES = ctypes.sizeof(Module)


class SessionOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("flags", c_uint32), ("device", c_char_p), ("seed", c_uint64), ("library", c_char_p),
                ("modules", ctypes.POINTER(Module)), ("n_modules", c_size_t), ("sink", c_void_p), ("on_event", c_void_p),
                ("user", c_void_p), ("event_limit", c_uint64), ("close_seconds", c_double)]


class Run(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("flags", c_uint32), ("name", c_char_p), ("arguments", ctypes.POINTER(c_char_p)),
                ("n_arguments", c_size_t), ("params", ctypes.POINTER(c_char_p)), ("n_params", c_size_t), ("device", c_char_p),
                ("seed", c_uint64), ("steps", c_int64), ("memory_limit", c_uint64), ("folder", c_char_p), ("resume", c_char_p)]


class SessionInfo(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("state", c_int32), ("events", c_uint64), ("silence", c_double), ("device", c_char_p),
                ("seed", c_uint64)]


def sized(kind):
    """A struct that knows its size."""
    return kind(struct_size=ctypes.sizeof(kind))


def last_error():
    """The message of this thread's latest call that failed."""
    text = c_char_p()
    library.lg_last_error(ctypes.byref(text), None)
    return text.value.decode("utf-8", "replace")


def error_of(code):
    """The exception of a code that a call of this thread has just given."""
    return _errors.by_code.get(code, _errors.InternalError)(last_error())


def plain_text(text, what):
    """The bytes of a text for a function that takes it up to a zero byte; `what` says in messages what it is."""
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"{what} is a text, and {type(text).__name__} is given")
    found = text.encode() if isinstance(text, str) else text
    if b"\0" in found:
        raise ValueError(f"{what} has a zero byte")
    return found


def check(code):
    if code:
        raise error_of(code)


library.lg_version.restype = c_uint32
_version = library.lg_version()
library_version = f"{_version // 1000000}.{_version // 1000 % 1000}.{_version % 1000}"
