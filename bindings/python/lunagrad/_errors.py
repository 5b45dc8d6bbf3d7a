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


by_code = {kind.code: kind for kind in Error.__subclasses__()}
