"""Exceptions: one class for each code of the C library, each also an exception of Python that fits."""


class Error(Exception):
    """A call of the library failed. `code` is the number of lunagrad.h."""

    code = 0


class InvalidArgumentError(Error, ValueError):
    """A number is out of range, or an argument has the wrong kind or is missing."""

    code = 1


class InvalidHandleError(Error, RuntimeError):
    """The tensor belongs to an engine that is closed: the thread that made it has ended."""

    code = 2


class WrongThreadError(Error, RuntimeError):
    """The tensor belongs to another thread."""

    code = 3


class BadStructError(Error, RuntimeError):
    """The library is older than this package."""

    code = 4


class BufferSizeError(Error, BufferError):
    """A buffer has the wrong size."""

    code = 5


class NotFoundError(Error, LookupError):
    """There is no such operation, parameter or device number."""

    code = 6


class OperandError(Error, ValueError):
    """Operands or arguments do not fit the operation."""

    code = 7


class NumericError(Error, ArithmeticError):
    """A result is not finite where it must be."""

    code = 8


class DeviceError(Error, RuntimeError):
    """There is no such device, or the device failed."""

    code = 9


class FileError(Error, OSError):
    """A file cannot be read or written."""

    code = 10


class OutOfMemoryError(Error, MemoryError):
    """The machine, the device or the limit has no room."""

    code = 11


class StoppedError(Error, RuntimeError):
    """Another thread called stop()."""

    code = 12


class BusyError(Error, RuntimeError):
    """A callback of the engine is running."""

    code = 13


class InternalError(Error, RuntimeError):
    """A fault of the library."""

    code = 14


class TimedOutError(Error, TimeoutError):
    """The time is over, and what was waited for has not happened."""

    code = 15


class ScriptError(Error, RuntimeError):
    """A script, or an evaluated line, ended with an error. The text has the script's traceback; `file` and `line` are where the error
    arose ("" and 0: unknown), `outcome` says of what kind it is: "error", "usage", "numeric", "device", "file" or "memory"."""

    code = 16
    file: "str"
    line: "int"
    outcome: "str"
    exit_code: "int"

    def __init__(self, text: "str", file: "str" = "", line: "int" = 0, outcome: "str" = "error", exit_code: "int" = 1) -> "None":
        super().__init__(text)
        self.file, self.line, self.outcome, self.exit_code = file, line, outcome, exit_code


by_code = {kind.code: kind for kind in Error.__subclasses__()}
