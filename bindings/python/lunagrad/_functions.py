"""The operations as functions, methods and operators. A function is generated when it is first asked for (_calls.py)."""
import sys
import types

from . import _library as lib
from ._calls import Maker, python_name
from ._records import by_name
from ._tensor import Tensor

_maker = Maker(Tensor, Tensor)
_made = {}


def function(name):
    """The function of an operation, of one with a table by its whole name: "linalg.solve"."""
    record = by_name[name]
    if record.name not in _made:
        _made[record.name] = _maker.function(record, record.name.rpartition(".")[2])
    return _made[record.name]


class _Lazy:
    """A method that takes its own place in the class when it is first used."""

    def __init__(self, name, record, operator=None):
        self._given = name, record, operator

    def __get__(self, instance, owner):
        name, record, operator = self._given
        made = _maker.function(record, name, True, operator)
        setattr(Tensor, name, made)
        return made.__get__(instance, owner)


# Special methods and their operations; "r" for the one with exchanged operands, "i" for the one in place.
_operators = {"add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide", "mod": "remainder", "pow": "pow",
              "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
              "rshift": "bitwise_right_shift"}
_others = {"lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "eq": "eq", "ne": "ne", "neg": "neg", "abs": "abs",
           "invert": "bitwise_not", "pos": "positive"}


def _methods():
    found = {python_name(name): (record, None) for name, record in by_name.items() if record.has_method}
    found = {name: given for name, given in found.items() if name not in Tensor.__dict__ and name not in ("real", "imag")}
    for name, op in (_operators | _others).items():
        found[f"__{name}__"] = by_name[op], "plain"
    for name, op in _operators.items():
        found[f"__r{name}__"] = by_name[op], "reflected"
        if op + "_" in by_name:
            found[f"__i{name}__"] = by_name[op + "_"], "plain"
    return found


methods = _methods()  # by name: the record, and for special methods how it is called


def _install():
    for name, (record, operator) in methods.items():
        setattr(Tensor, name, _Lazy(name, record, operator))
    for name in ("real", "imag"):
        setattr(Tensor, name, property(function(name), doc=by_name[name].sentence))


class _Table(types.ModuleType):
    """The operations of a table, such as lunagrad.linalg."""

    def __getattr__(self, name):
        record = by_name.get(f"{self.__name__.rpartition('.')[2]}.{name}")
        if record is None:
            raise AttributeError(f"{self.__name__} has no {name!r}")
        made = function(record.name)
        setattr(self, name, made)
        return made

    def __dir__(self):
        start = self.__name__.rpartition(".")[2] + "."
        return [name.removeprefix(start) for name in by_name if name.startswith(start)]


def tables():
    """The tables by name, as modules."""
    found = {}
    for name in by_name:
        table = name.rpartition(".")[0]
        if table and table not in found:
            module = found[table] = _Table("lunagrad." + table, f"The operations of {table}.")
            sys.modules[module.__name__] = module
    return found


_install()
