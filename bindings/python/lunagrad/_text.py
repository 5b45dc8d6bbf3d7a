"""How tensors are printed, as Lunagrad prints them. _html.py is for notebooks."""
import math

PRECISION, THRESHOLD, EDGE, WIDTH = 4, 1000, 3, 100


def _format_of(values):
    """One format for all floats of a tensor, so that they align. Zeros, NaN and infinities do not choose it."""
    finite = [abs(value) for value in values if math.isfinite(value)]
    whole = all(value == math.floor(value) for value in finite)
    sizes = [value for value in finite if value]
    scientific = bool(sizes) and (max(sizes) >= 1e8 or not whole and (max(sizes) / min(sizes) > 1000 or min(sizes) < 1e-4))

    def write(value):
        if not math.isfinite(value):
            return str(value)
        if scientific:
            return f"{value:.{PRECISION}e}"
        return f"{value:.0f}." if whole else f"{value:.{PRECISION}f}"
    return write


def _complex_cells(values):
    write = _format_of([part for value in values for part in (value.real, value.imag)])
    real, imaginary = [write(value.real) for value in values], [write(abs(value.imag)) for value in values]
    real_width, imaginary_width = max(map(len, real)), max(map(len, imaginary))
    signs = ["-" if math.copysign(1, value.imag) < 0 else "+" for value in values]
    return [f"{a:>{real_width}} {sign} {b:>{imaginary_width}}i" for a, sign, b in zip(real, signs, imaginary)]


def cells_of(values, dtype):
    """The texts of a flat list of numbers."""
    if not values:
        return []
    if dtype.is_complex:
        return _complex_cells(values)
    if dtype.is_floating_point:
        return list(map(_format_of(values), values))
    return [str(value).lower() for value in values]


class _Rows:
    """Writes cells as nested rows. `gaps`: the dims that are summarised, where "..." stands after the first EDGE positions."""

    def __init__(self, cells, shape, gaps):
        self.cells, self.shape, self.gaps = iter(cells), shape, gaps
        self.width = max(map(len, cells))

    def write(self, dim, indent):
        if dim == len(self.shape):
            return next(self.cells)
        last = dim + 1 == len(self.shape)
        parts = []
        for i in range(self.shape[dim]):
            if dim in self.gaps and i == EDGE:
                parts.append("...")
            parts.append(f"{next(self.cells):>{self.width}}" if last else self.write(dim + 1, indent + 1))
        if not last:
            return "[" + ("," + "\n" * (len(self.shape) - dim - 1) + " " * (indent + 1)).join(parts) + "]"
        per_line = max(1, (WIDTH - min(indent, 40)) // (self.width + 2))
        lines = [", ".join(parts[i:i + per_line]) for i in range(0, len(parts), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def shown_of(x):
    """The part of a tensor that is shown, without history, and the dims that have a gap."""
    x, gaps = x.detach(), set()
    if x.numel() > THRESHOLD:
        for dim, n in enumerate(x.shape):
            if n > 2 * EDGE:
                gaps.add(dim)
                ends = type(x)([*range(EDGE), *range(n - EDGE, n)])
                x = x.index_select(dim, ends.to(x.device))
    return x, gaps


def facts_of(x):
    facts = f"shape=[{', '.join(map(str, x.shape))}], dtype={x.dtype.name}, device={x.device}"
    return facts + (", requires_grad=true" if x.requires_grad else "")


def text_of(x):
    """tensor([[1., 2.],
               [3., 4.]], shape=[2, 2], dtype=f32, device=cpu)"""
    if x.numel() == 0:
        return f"tensor([], {facts_of(x)})"
    part, gaps = shown_of(x)
    cells = cells_of(part._numbers(), x.dtype)
    return f"tensor({_Rows(cells, part.shape, gaps).write(0, len('tensor('))}, {facts_of(x)})"
