"""Dtypes: constants such as lunagrad.f32, found also by the names of Lunagrad, PyTorch and numpy."""
import array


class dtype:
    """The type of a tensor's elements. Equal to its names: lunagrad.f32 == "float32"."""

    __slots__ = ("code", "name", "long_name", "itemsize", "is_floating_point", "is_complex", "typestr", "dlpack")

    def __init__(self, code, name, long_name, itemsize, typestr, dlpack):
        self.code, self.name, self.long_name, self.itemsize, self.typestr = code, name, long_name, itemsize, typestr
        self.dlpack = dlpack  # code and bits
        self.is_floating_point, self.is_complex = 4 <= code <= 7, code >= 8

    def __repr__(self):
        return "lunagrad." + self.name

    def __str__(self):
        return self.name

    def __eq__(self, other):
        return self is other or isinstance(other, str) and other in (self.name, self.long_name)

    def __hash__(self):
        return hash(self.name)

    def __reduce__(self):
        return dtype_of, (self.name,)


table = [dtype(*row) for row in (
    (0, "bool", "bool", 1, "|b1", (6, 8)), (1, "u8", "uint8", 1, "|u1", (1, 8)), (2, "i32", "int32", 4, "<i4", (0, 32)),
    (3, "i64", "int64", 8, "<i8", (0, 64)), (4, "f16", "float16", 2, "<f2", (2, 16)), (5, "bf16", "bfloat16", 2, None, (4, 16)),
    (6, "f32", "float32", 4, "<f4", (2, 32)), (7, "f64", "float64", 8, "<f8", (2, 64)), (8, "c64", "complex64", 8, "<c8", (5, 64)),
    (9, "c128", "complex128", 16, "<c16", (5, 128)))]
boolean, u8, i32, i64, f16, bf16, f32, f64, c64, c128 = table
by_typestr = {kind.typestr: kind for kind in table if kind.typestr}
_names = {name: kind for kind in table for name in (kind.name, kind.long_name)}
_names |= {"half": f16, "float": f32, "double": f64, "int": i32, "long": i64, "byte": u8, "cfloat": c64, "cdouble": c128}
_known = {bool: boolean, int: i64, float: f32, complex: c64} | {kind: kind for kind in table}


def dtype_of(given):
    """The dtype of a name, a dtype of numpy or PyTorch, or Python's bool, int, float, complex."""
    try:
        return _known[given]
    except (KeyError, TypeError):
        pass
    name = given if isinstance(given, str) else getattr(given, "__name__", None) or str(given)
    name = name.removeprefix("torch.").removeprefix("lunagrad.").removesuffix("_")
    if name not in _names:
        raise TypeError(f"there is no dtype {given!r}; there are " + ", ".join(kind.name for kind in table))
    return _names[name]


def elements_of(values, kind):
    """The bytes of a flat list of numbers; bf16 as f32, which the caller converts."""
    import struct
    if kind is boolean:
        return bytes(map(bool, values))
    if kind is f16:
        return struct.pack(f"<{len(values)}e", *values)
    if kind.is_complex:
        values = [part for value in values for part in (complex(value).real, complex(value).imag)]
    letter = {"u8": "B", "i32": "i", "i64": "q", "bf16": "f", "f32": "f", "f64": "d", "c64": "f", "c128": "d"}[kind.name]
    return array.array(letter, values).tobytes()


def numbers_of(data, kind):
    """Python's numbers of the bytes of any dtype but bf16."""
    if kind is boolean:
        return [byte != 0 for byte in data]
    view = memoryview(data)
    if kind is f16:
        import struct
        return list(struct.unpack(f"<{len(data) // 2}e", data))
    letter = {"u8": "B", "i32": "i", "i64": "q", "f32": "f", "f64": "d", "c64": "f", "c128": "d"}[kind.name]
    found = view.cast(letter).tolist()
    return list(map(complex, found[::2], found[1::2])) if kind.is_complex else found
