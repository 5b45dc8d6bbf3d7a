"""The records of the library's operations: what each takes, in the order of its arguments."""
from ctypes import byref, c_char_p, c_size_t, c_void_p

from . import _library as lib
from ._dtypes import table
from ._library import check, library, pointer, size, sized


class Slot:
    """An argument: input or parameter `index` of the operation."""

    __slots__ = ("name", "is_input", "index", "required", "is_list", "is_number", "is_dim", "kind", "default", "choices")

    def __init__(self, info, is_input, index):
        self.name, self.is_input, self.index, self.kind = info.name.decode(), is_input, index, info.kind
        self.required = bool(info.flags & lib.REQUIRED)
        self.is_list, self.is_number = bool(info.flags & lib.IS_LIST), bool(info.flags & lib.NUMBER)
        self.is_dim = bool(info.flags & lib.DIM)
        self.choices = tuple(info.choices[i].decode() for i in range(info.n_choices))
        self.default = _default_of(info)


def _default_of(info):
    kind = info.default_kind
    if kind == lib.BOOLEAN:
        return bool(info.default_integer)
    if kind == lib.INTEGER:
        return info.default_integer
    if kind == lib.REAL:
        return info.default_real
    if kind == lib.INTEGERS:
        return tuple(info.default_list[i] for i in range(info.default_list_length))
    if kind == lib.DTYPE:
        return table[info.default_integer]
    return info.default_text.decode() if kind in (lib.TEXT, lib.CHOICE) else None


class Record:
    """An operation. `slots` are in the order of the signature, `inputs` in the order of the library's operands."""

    def __init__(self, handle, info):
        self.handle = handle
        self.flags, self.name, self.sentence = info.flags, info.name.decode(), info.sentence.decode()
        self.aliases = tuple(info.aliases[i].decode() for i in range(info.n_aliases))
        self.in_place, self.creates = bool(info.flags & lib.IN_PLACE), bool(info.flags & lib.CREATES)
        self._counts = info.n_inputs, info.n_params

    @property
    def slots(self):
        found = []
        for is_input, count in ((True, self._counts[0]), (False, self._counts[1])):
            get = library.lg_op_get_input if is_input else library.lg_op_get_param
            for index in range(count):
                argument = sized(lib.ArgumentInfo)
                check(get(self.handle, size(index), byref(argument)))
                found.append((argument.position, Slot(argument, is_input, index)))
        return [slot for _, slot in sorted(found, key=lambda pair: pair[0])]

    @property
    def has_method(self):
        """Whether it is a method: its first input is one tensor, and its name has no table."""
        if not self._counts[0] or "." in self.name:
            return False
        argument = sized(lib.ArgumentInfo)
        check(library.lg_op_get_input(self.handle, size(0), byref(argument)))
        return not argument.flags & lib.IS_LIST


def _read():
    count = c_size_t()
    check(library.lg_op_count(byref(count)))
    handle, info, found = c_void_p(), sized(lib.OpInfo), {}
    for index in range(count.value):
        check(library.lg_op_at(size(index), byref(handle)))
        op = pointer(handle.value)
        check(library.lg_op_get_info(op, byref(info)))
        record = Record(op, info)
        found[record.name] = record
    for record in list(found.values()):
        for alias in record.aliases:
            found.setdefault(alias, record)
    return found


by_name = _read()  # second names included
