"""Values that Python and a script exchange: lg_value.

| Lua | Python |
|---|---|
| nil, booleans, integers, reals, tensors | None, bool, int, float, Tensor |
| a text | str, or bytes where it is no UTF-8 |
| a table of items | a list |
| a table of fields, and an empty table | a dict |
| a table of both | a dict, whose items have the keys 1, 2, … |
"""
from ctypes import byref, c_char_p, c_size_t, c_void_p, cast, string_at

from . import _library as lib
from ._library import check, library, pointer, size, sized
from ._tensor import Tensor, _owned

MOST_NESTED = 64  # tables


def text_of_bytes(data):
    """A text of Lua: str, or bytes that are no UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


# ---- from the library ----


def from_value(engine, handle):
    """What a value is in Python. `engine` owns the value."""
    data = sized(lib.Data)
    check(library.lg_value_get(handle, byref(data)))
    kind = data.kind
    if kind == lib.REAL:
        return data.real
    if kind == lib.INTEGER:
        return data.integer
    if kind == lib.BOOLEAN:
        return bool(data.integer)
    if kind == lib.TEXT:
        return text_of_bytes(string_at(data.text, data.length))
    if kind == lib.TENSOR:
        found = c_void_p()
        check(library.lg_value_tensor(handle, byref(found)))
        return _owned(engine, found.value)
    return _from_table(engine, handle, data) if kind == lib.TABLE else None


def taken_value(engine, handle):
    """The same, of a value that is released then."""
    try:
        return from_value(engine, handle)
    finally:
        library.lg_value_release(handle)


def _from_table(engine, handle, data):
    found, items = c_void_p(), []
    for index in range(data.n_items):
        check(library.lg_table_item(handle, size(index), byref(found)))
        items.append(taken_value(engine, pointer(found.value)))
    if items and not data.n_fields:
        return items
    fields = dict(enumerate(items, 1))
    name, length = c_void_p(), c_size_t()
    for index in range(data.n_fields):
        check(library.lg_table_field_at(handle, size(index), byref(name), byref(length), byref(found)))
        key = text_of_bytes(string_at(name.value, length.value))
        fields[key] = taken_value(engine, pointer(found.value))
    return fields


# ---- to the library ----


def to_value(engine, given, depth=0):
    """A new handle of a value. `depth`: the tables that it is in."""
    given = _plain(given)
    if isinstance(given, (list, tuple, dict)):
        if depth >= MOST_NESTED:
            raise ValueError(f"tables are nested more than {MOST_NESTED} deep")
        return _to_table(engine, given, depth)
    return _made(engine, _data_of(given))


def _plain(given):
    """Numbers of numpy as Python's, and arrays as tensors."""
    if isinstance(given, (Tensor, bool, int, float, str, bytes, list, tuple, dict)) or given is None:
        return given
    if getattr(given, "shape", None) == () and hasattr(given, "item"):
        return given.item()
    if hasattr(given, "__dlpack__") or hasattr(given, "__array_interface__"):
        return Tensor(given)
    raise TypeError(f"a script takes None, booleans, numbers, texts, tensors, lists and dicts, and {type(given).__name__} is given")


def _data_of(given):
    data = sized(lib.Data)
    if isinstance(given, bool):
        data.kind, data.integer = lib.BOOLEAN, given
    elif isinstance(given, int):
        if not -1 << 63 <= given < 1 << 63:
            raise OverflowError(f"{given} does not fit the 64 bits of an integer of Lua")
        data.kind, data.integer = lib.INTEGER, given
    elif isinstance(given, float):
        data.kind, data.real = lib.REAL, given
    elif isinstance(given, Tensor):
        data.kind, data.tensor, data.owner = lib.TENSOR, given._h, given
    elif given is not None:
        held = given.encode() if isinstance(given, str) else given
        data.kind, data.length, data.owner = lib.TEXT, len(held), held
        data.text = cast(c_char_p(held), c_void_p).value
    return data


def _made(engine, data):
    found = c_void_p()
    check(library.lg_value_make(engine.p, byref(data), byref(found)))
    return found.value


def _to_table(engine, given, depth):
    data = sized(lib.Data)
    data.kind = lib.TABLE
    made = _made(engine, data)
    table = pointer(made)
    try:
        items, fields = (given, {}) if isinstance(given, (list, tuple)) else _parts(given)
        for index, item in enumerate(items):
            if item is None:
                raise ValueError("a list of a script has no None inside")
            _put(engine, table, library.lg_table_set_item, size(index), item, depth)
        for name, field in fields.items():
            _put(engine, table, library.lg_table_set_field, lib.plain_text(name, "the name of a field"), field, depth)
    except BaseException:
        library.lg_value_release(table)
        raise
    return made


def _put(engine, table, function, key, given, depth):
    inner = pointer(to_value(engine, given, depth + 1))
    try:
        check(function(table, key, inner))
    finally:
        library.lg_value_release(inner)


def _parts(given):
    """The items of a dict, whose keys are 1, 2, …, and its fields."""
    items = {key: value for key, value in given.items() if type(key) is int}
    if sorted(items) != list(range(1, len(items) + 1)):
        raise ValueError(f"the keys of a table are texts, and numbers from 1 without gaps; {sorted(items)[:10]} are given")
    return [items[key] for key in range(1, len(items) + 1)], {key: value for key, value in given.items() if type(key) is not int}
