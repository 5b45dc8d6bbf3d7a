"""Arguments of operations: Python's values as operands and as parameters (lg_param) of the library.

The generated functions (_calls.py) write the common cases themselves and come here for the rest. What a parameter points to is
appended to `keep`, which lives until the call has returned.
"""
import array
import ctypes
from operator import index

from . import _library as lib
from ._dtypes import dtype_of
from ._library import integer_param, list_param, real_param, text_param

_names = {}


def address_of_name(name):
    """The address of a parameter's name, which stays."""
    if name not in _names:
        _names[name] = ctypes.create_string_buffer(name.encode())
    return ctypes.addressof(_names[name])


def number(address, value):
    """A parameter that is a boolean, an integer or a real."""
    kind = type(value)
    if kind is float:
        return real_param(64, lib.REAL, address, value)
    if kind is bool:
        return integer_param(64, lib.BOOLEAN, address, value)
    if kind is int:
        return integer_param(64, lib.INTEGER, address, value)
    if hasattr(value, "__index__"):
        return integer_param(64, lib.INTEGER, address, index(value))
    if hasattr(value, "__float__"):
        return real_param(64, lib.REAL, address, float(value))
    raise TypeError(f"a number is expected, and {type(value).__name__} is given")


def integers(address, value, keep):
    """A parameter that is a list of integers, or one integer."""
    if type(value) is int:
        return integer_param(64, lib.INTEGER, address, value)
    if type(value) is tuple or type(value) is list:
        numbers = array.array("q", value)
        keep.append(numbers)
        return list_param(64, lib.INTEGERS, address, *numbers.buffer_info())
    if isinstance(value, str) or not hasattr(value, "__iter__") and not hasattr(value, "__index__"):
        raise TypeError(f"integers are expected, and {type(value).__name__} is given")
    if not hasattr(value, "__iter__") or hasattr(value, "__index__") and getattr(value, "ndim", 1) == 0:
        return integer_param(64, lib.INTEGER, address, index(value))
    numbers = array.array("q", map(index, value))
    keep.append(numbers)
    return list_param(64, lib.INTEGERS, address, *numbers.buffer_info())


def text(address, value, keep):
    """A parameter that is a text, or one of a few."""
    if not isinstance(value, str):
        raise TypeError(f"a text is expected, and {type(value).__name__} is given")
    if "\0" in value:
        raise ValueError("a text with a zero byte is no argument")
    held = ctypes.create_string_buffer(value.encode())
    keep.append(held)
    return text_param(64, lib.TEXT, address, ctypes.addressof(held))


def element_type(address, value):
    return integer_param(64, lib.DTYPE, address, dtype_of(value).code)


def boolean(address, value):
    """True, False, or what is equal to them, such as numpy's."""
    if value is not True and value is not False and not (hasattr(value, "__bool__") and value in (0, 1)):
        raise TypeError(f"True or False is expected, and {value!r} is given")
    return integer_param(64, lib.BOOLEAN, address, bool(value))


def wrong(record, values, error):
    """The exception for parameters that struct.pack refuses, with the name and the kind of the first that is wrong."""
    for slot in record.slots:
        value = values.get(slot.name)
        if slot.is_input or value is None:
            continue
        if slot.kind == lib.INTEGER:
            kind, fits = "an integer", hasattr(value, "__index__")
        elif slot.kind == lib.REAL:
            kind, fits = "a number", hasattr(value, "__float__")
        else:
            continue
        if not fits:
            return TypeError(f"{record.name}: '{slot.name}' is {kind}, and {type(value).__name__} is given")
    return OverflowError(f"{record.name}: a number is out of range: {error}")


class Operands:
    """Slow path of operands: numbers, arrays of other libraries, absent ones."""

    def __init__(self, tensor_type, share):
        self._tensor, self._share = tensor_type, share

    def is_foreign(self, value):
        return hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")

    def fits(self, value):
        """Whether an operator takes the value; Python asks the value's own class otherwise."""
        return isinstance(value, (self._tensor, bool, int, float, complex)) or self.is_foreign(value)

    def __call__(self, record, inputs, values, keep):
        """The handles of operands, and the parameters of those that are numbers. `inputs` are their slots."""
        handles, params = [], b""
        for slot, value in zip(inputs, values):
            handle = 0
            if isinstance(value, self._tensor):
                handle = value._h
            elif value is None:
                if slot.required:
                    raise TypeError(f"{record.name}: '{slot.name}' is a tensor, and None is given")
            elif slot.is_number and isinstance(value, (bool, int, float)):
                params += self._number(record, slot, value)
            elif slot.is_number and isinstance(value, complex) or self.is_foreign(value):
                shared = self._share(value)
                keep.append(shared)
                handle = shared._h
            else:
                expected = "a tensor or a number" if slot.is_number else "a tensor"
                raise TypeError(f"{record.name}: '{slot.name}' is {expected}, and {type(value).__name__} is given"
                                + ("; lunagrad.tensor(…) makes one" if isinstance(value, (list, tuple)) else ""))
            handles.append(handle)
        return handles, params

    def listed(self, record, inputs, values, tensors, keep):
        """The bytes of the handles of single operands and of a list of tensors, and the parameters of numbers."""
        if isinstance(tensors, self._tensor) or self.is_foreign(tensors):
            tensors = tuple(tensors)
        try:
            handles = [tensor._h for tensor in tensors]
        except AttributeError:
            handles = [self._element(record, tensor, keep) for tensor in tensors]
        except TypeError:
            raise TypeError(f"{record.name}: a list of tensors is expected, and {type(tensors).__name__} is given") from None
        params = b""
        if values:
            singles, params = self(record, inputs, values, keep)
            handles = singles + handles
        return array.array("q", handles).tobytes(), params

    def _element(self, record, value, keep):
        if isinstance(value, self._tensor):
            return value._h
        if not self.is_foreign(value):
            raise TypeError(f"{record.name}: a list of tensors is expected, and {type(value).__name__} is in it")
        shared = self._share(value)
        keep.append(shared)
        return shared._h

    @staticmethod
    def _number(record, slot, value):
        try:
            return number(address_of_name(slot.name), value)
        except Exception as error:
            raise OverflowError(f"{record.name}: '{slot.name}' = {value} does not fit 64 bits") from error
