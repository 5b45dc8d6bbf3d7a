"""Rows of op_rows.py as the lines that ops.lua and ops.py read: fields between tabs, "op=NAME", "list=1" (the operands are one
list), "module=NAME", "p=VALUE" by position and "k=NAME:VALUE" by name. A value is i5, f0.5, b1, sTEXT, l1,2, n (none), or a
tensor tKIND:SHAPE:LOW:HIGH."""

# Parameters that count dims: from 1 in Lua.
DIMS = {"dim", "dims", "dim0", "dim1", "dim2", "axis", "axes"}


def encoded(value):
    if value is None:
        return "n"
    if isinstance(value, tuple):
        kind, shape, low, high = value
        return f"t{kind}:{','.join(map(str, shape))}:{low}:{high}"
    if isinstance(value, bool):
        return f"b{int(value)}"
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, float):
        return f"f{value}"
    if isinstance(value, str):
        return "s" + value
    return "l" + ",".join(map(str, value))


def from_one(name, value):
    if name not in DIMS:
        return value
    if isinstance(value, list):
        return [x + 1 if x >= 0 else x for x in value]
    return value + 1 if isinstance(value, int) and value >= 0 else value


def line(record, row, for_lua):
    """The line of one side. A parameter fills the hole that its place among the operands left."""
    fields = ["op=" + record["name"]]
    if "module" in row:
        fields.append("module=" + row["module"])
    if record["arguments"] and record["arguments"][0] == "tensors":
        fields.append("list=1")
    params = {k: from_one(k, v) if for_lua else v for k, v in row["params"].items()}
    values = row["inputs"] + row["args"]
    for i, name in enumerate(record["arguments"][:len(values)]):
        if values[i] is None and name in params:
            values = values[:i] + [params.pop(name)] + values[i + 1:]
    while values and values[-1] is None:
        values = values[:-1]
    fields += ["p=" + encoded(value) for value in values]
    return "\t".join(fields + [f"k={k}:{encoded(v)}" for k, v in params.items()])
