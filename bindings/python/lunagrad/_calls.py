"""Functions of operations, each generated from its record when it is first used.

A call costs about as much as ctypes does, so the generated code contains no general part: operands become bytes of handles,
parameters that have their default are left out, and the results come through a frame of the engine (_engine.py). Bytes cannot
change and are made for each call, so a finalizer or a signal handler that calls another operation in between does no harm.
"""
import keyword
import struct

from . import _arguments as arguments
from . import _library as lib
from ._engine import ROOM, new_frame, per_thread
from ._interrupt import FILE
from ._library import integer_param, library, pointer, real_param, sizes

_kinds = {lib.BOOLEAN: "bool", lib.INTEGER: "int", lib.REAL: "float", lib.NUMBERS: "number", lib.INTEGERS: "ints", lib.DTYPE: "dtype",
          lib.CHOICE: "str", lib.TEXT: "str", lib.TENSOR: "Tensor"}
_packs = {n: struct.Struct(f"<{n}q").pack for n in range(1, 9)}


class Argument:
    """An argument of a Python function: its slot, its name and its default. `spread`: further positional arguments join it."""

    def __init__(self, slot, name, default, has_default, spread=False, only_named=False):
        self.slot, self.name, self.default, self.has_default = slot, name, default, has_default
        self.spread, self.only_named = spread, only_named


class _Placement:
    """The parameters device and requires_grad of operations that make tensors."""

    is_input = is_list = is_number = is_dim = required = False
    index, choices = -1, ()

    def __init__(self, name, kind, default):
        self.name, self.kind, self.default = name, kind, default


def python_name(name):
    return name + "_" if keyword.iskeyword(name) else name


def arguments_of(record, as_method=False):
    """The arguments in the record's order; of a method, with input 0 first. An argument after one with a default has one, too."""
    slots = record.slots
    if as_method:
        slots.sort(key=lambda slot: not (slot.is_input and slot.index == 0))
    if record.creates:
        slots = slots + [_Placement("device", lib.TEXT, None), _Placement("requires_grad", lib.BOOLEAN, False)]
    found, optional, only_named = [], False, False
    for place, slot in enumerate(slots):
        optional |= not slot.required
        spread = not only_named and slot.required and not optional and _spreads(slots, place)
        found.append(Argument(slot, python_name(slot.name), slot.default, optional, spread, only_named or slot.index < 0))
        only_named |= spread
    return found


def _spreads(slots, place):
    """Whether the list at a place may be written as separate arguments: tensors at the end, or integers before which only tensors
    stand and after which no number stands."""
    slot, later = slots[place], slots[place + 1:]
    if slot.is_list:
        return not [other for other in later if other.index >= 0]
    if slot.is_input or slot.kind != lib.INTEGERS or any(not other.is_input for other in slots[:place]):
        return False
    return not any(other.is_input or other.kind not in (lib.BOOLEAN, lib.DTYPE, lib.CHOICE, lib.TEXT) for other in later)


def _signature(given):
    parts, named = [], False
    for argument in given:
        if argument.only_named and not named:
            named = True
            if not any(other.spread for other in given):
                parts.append("*")
        parts.append(argument.name + (f"=_d_{argument.name}" if argument.has_default else ""))
        if argument.spread:
            parts.append("*more")
            named = True
    return ", ".join(parts)


def describe(record, given):
    """The docstring."""
    lines = [record.sentence] if record.sentence else []
    if given:
        lines.append("")
    for argument in given:
        slot = argument.slot
        if slot.is_list:
            kind = "tensors"
        elif slot.is_input:
            kind = "a tensor or a number" if slot.is_number else "a tensor"
        elif slot.choices:
            kind = ("" if slot.kind in (lib.CHOICE, lib.TEXT) else _kinds[slot.kind] + " or ") + " or ".join(repr(c) for c in slot.choices)
        else:
            kind = _kinds[slot.kind]
        if slot.is_dim:
            kind += ", from 0; negative: from the end"
        if argument.has_default and slot.default is not None:
            kind += f" (default {slot.default})"
        elif argument.has_default and not slot.required:
            kind += " (optional)"
        lines.append(f"{argument.name}: {kind}")
    if record.aliases:
        lines += ["", "Also " + ", ".join(record.aliases) + "."]
    return "\n".join(lines)


def _encode(argument):
    """The expression that makes the lg_param of an argument."""
    slot, name = argument.slot, argument.name
    at = f"_n_{name}"
    if slot.choices and slot.kind not in (lib.CHOICE, lib.TEXT):  # such as "same" for a padding
        return f"(_text({at}, {name}, _k) if type({name}) is str else {_encode_kind(slot.kind, name, at)})"
    return _encode_kind(slot.kind, name, at)


def _encode_kind(kind, name, at):
    if kind == lib.BOOLEAN:
        return f"(_t_{name} if {name} is True else _f_{name} if {name} is False else _boolean({at}, {name}))"
    if kind == lib.INTEGER:
        return f"_integer_param(64, {lib.INTEGER}, {at}, {name})"
    if kind == lib.REAL:
        return f"_real_param(64, {lib.REAL}, {at}, {name})"
    if kind == lib.NUMBERS:
        return f"_number({at}, {name})"
    if kind == lib.INTEGERS:
        return f"_integers({at}, {name}, _k)"
    if kind == lib.DTYPE:
        return f"_element_type({at}, {name})"
    return f"_text({at}, {name}, _k)"


class Maker:
    """Makes the functions. `tensor_type` is the class of results."""

    def __init__(self, tensor_type, share):
        self._operands = arguments.Operands(tensor_type, share)
        self._shared = {
            "_T": tensor_type, "_new": object.__new__, "_per_thread": per_thread, "_call": library.lg_call, "_sizes": sizes,
            "_integer_param": integer_param, "_real_param": real_param, "_number": arguments.number, "_integers": arguments.integers,
            "_text": arguments.text, "_boolean": arguments.boolean,
            "_element_type": arguments.element_type, "_wrong": arguments.wrong, "_slow": self._operands, "_none": sizes[0],
            "_frame": new_frame, "_struct_error": struct.error, "_results": self.results, "_fits": self._operands.fits,
            "_listed": self._operands.listed}
        self._tensor = tensor_type

    def results(self, engine, frame, record, i, n, p, code):
        """What a call gave that has not one result: none, several, or an error."""
        memory, count = frame[0], frame[0][0]
        if code == lib.BUFFER_SIZE and count > ROOM:  # results were dropped: again, with room for them
            frame = new_frame(count)
            memory = frame[0]
            engine.run(library.lg_call, engine.p, record.handle, i, n, p or None, sizes[len(p) >> 6], frame[1], frame[2])
            count = memory[0]
        elif code:
            engine.frames.append(frame)
            raise engine.error(code)
        found = []
        for handle in memory[1:1 + count]:
            tensor = object.__new__(self._tensor)
            tensor._h, tensor._e = handle, engine
            found.append(tensor)
        if len(memory) == ROOM + 1:
            engine.frames.append(frame)
        return tuple(found)

    def function(self, record, name, as_method=False, operator=None):
        """The function of an operation. `operator`: a special method, which has two operands at most and gives NotImplemented for
        operands of unknown classes; "reflected" exchanges them."""
        given = arguments_of(record, as_method)
        if operator:
            given = [argument for argument in given if argument.slot.is_input]
            if operator == "reflected":
                given = given[::-1]
        source = _source(record, python_name(name), given, operator)
        space = dict(self._shared, _record=record, _op=record.handle)
        inputs = sorted((a.slot for a in given if a.slot.is_input and not a.slot.is_list), key=lambda slot: slot.index)
        space["_inputs"] = inputs
        if inputs:
            space["_pack"] = _packs[len(inputs)]
        for argument in given:
            address = arguments.address_of_name(argument.slot.name)
            space["_n_" + argument.name], space["_d_" + argument.name] = address, argument.default
            if argument.slot.kind == lib.BOOLEAN:
                for value in (True, False):
                    space[("_t_" if value else "_f_") + argument.name] = arguments.boolean(address, value)
        exec(compile(source, FILE, "exec"), space)
        function = space[python_name(name)]
        function.__doc__ = describe(record, given)
        function.__module__ = "lunagrad"
        function.__qualname__ = ("Tensor." if as_method or operator else "") + name
        return function


def _fast_operands(inputs, operator):
    """Lines that pack the handles of single tensors into _i, and the parameter of a float in place of the second into _p."""
    handles = ", ".join(f"{a.name}._h" if a.slot.required else f"(0 if {a.name} is None else {a.name}._h)" for a in inputs)
    lines = ["    try:"]
    number = 0 if operator == "reflected" else 1  # the operand that may be a number
    if len(inputs) == 2 and inputs[number].slot.is_number:
        second = inputs[number].name
        packed = f"0, {inputs[1].name}._h" if number == 0 else f"{inputs[0].name}._h, 0"
        lines += [f"        _t = type({second})",
                  "        if _t is _T:",
                  f"            _i = _pack({handles})",
                  "        elif _t is float:",
                  f"            _i = _pack({packed})",
                  f"            _p = _real_param(64, {lib.REAL}, _n_{second}, {second})",
                  "        elif _t is int:",
                  f"            _i = _pack({packed})",
                  f"            _p = _integer_param(64, {lib.INTEGER}, _n_{second}, {second})",
                  "        else:",
                  f"            _i = _pack({handles})"]
    else:
        lines += [f"        _i = _pack({handles})"]
    lines += ["    except (AttributeError, _struct_error):"]
    if operator:
        lines += ["        if not (" + " and ".join(f"_fits({a.name})" for a in inputs) + "): return NotImplemented"]
    values = ", ".join(a.name for a in inputs)
    return lines + ["        _k = [_k]",
                    f"        _i, _p = _slow(_record, _inputs, ({values},), _k)",
                    "        _i = _pack(*_i)"]


def _params(given):
    """Lines that append the parameters that are not at their defaults to _p."""
    lines = ["    try:"]
    for argument in given:
        name, encode = argument.name, "_p += " + _encode(argument)
        if argument.has_default and argument.default is None:
            encode = f"if {name} is not None: {encode}"
        elif argument.has_default:
            encode = f"if {name} is not _d_{name} and {name} is not None: {encode}"
        lines.append("        " + encode)
    values = ", ".join(f"{a.slot.name!r}: {a.name}" for a in given)
    return lines + ["    except _struct_error as _error:",
                    f"        raise _wrong(_record, {{{values}}}, _error) from None"]


def _source(record, name, given, operator):
    """The text of a function. Names that begin with an underscore are the function's own."""
    inputs = sorted((a for a in given if a.slot.is_input and not a.slot.is_list), key=lambda a: a.slot.index)
    tensors = [a.name for a in given if a.slot.is_list]
    params = [a for a in given if not a.slot.is_input]
    lines = [f"def {name}({_signature(given)}):", "    _e = _per_thread.engine"]
    for argument in given:
        if argument.spread:
            one = f" or isinstance({argument.name}, _T)" if argument.slot.is_list else ""
            lines += [f"    if more{one}: {argument.name} = ({argument.name}, *more)"]
    keeps = tensors or any(", _k)" in _encode(a) for a in params)
    lines += ["    _p = b''", "    _k = []" if keeps else "    _k = None"]
    count = f"_sizes[{len(inputs)}]"
    if tensors:
        values = "".join(a.name + ", " for a in inputs)
        lines += [f"    _i, _p = _listed(_record, _inputs, ({values}), {tensors[0]}, _k)"]
        count = "_sizes[len(_i) >> 3]"
    elif inputs:
        lines += _fast_operands(inputs, operator)
    else:
        lines += ["    _i = None"]
    if params:
        lines += _params(params)
    lines += ["    if _e.dead: _e.drain()"]
    call = f"_c = _call(_e.p, _op, _i, {count}, _p or None, _sizes[len(_p) >> 6]"
    if record.in_place:
        lines += ["    try:",
                  f"        {call}, None, None)",
                  "    except BaseException:",
                  "        _e.resume()",
                  "        raise",
                  "    if _c: raise _e.error(_c)",
                  f"    return {inputs[0].name}"]
        return "\n".join(lines)
    lines += ["    try:",
              "        _f = _e.frames.pop()",
              "    except IndexError:",
              "        _f = _frame()",
              "    _q, _out, _room = _f",
              f"    _q[0] = {ROOM}",
              "    try:",
              f"        {call}, _out, _room)",
              "    except BaseException:",
              "        _e.abandon(_f)",
              "        raise",
              "    if _c or _q[0] != 1:",
              f"        return _results(_e, _f, _record, _i, {count}, _p, _c)",
              "    _x = _new(_T)",
              "    _x._h = _q[1]",
              "    _x._e = _e",
              "    _e.frames.append(_f)",
              "    return _x"]
    return "\n".join(lines)
