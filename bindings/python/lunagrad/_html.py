"""What notebooks show: tables of small tensors, summaries of others, and the metrics of a run as curves. All texts are escaped."""
import math
from html import escape

from ._engine import no_grad
from ._text import EDGE, THRESHOLD, cells_of, facts_of, shown_of, text_of

WIDTH, HEIGHT, MARGIN = 240, 48, 3  # of a curve


def html_of(x):
    """A table of a tensor of one or two dims, with gaps if it is large; the text of a small tensor of more dims; the facts of others."""
    if x.ndim in (1, 2) and x.numel():
        return _table(x)
    if x.numel() <= THRESHOLD:
        return f"<pre>{escape(text_of(x))}</pre>"
    return f"<table><caption>tensor {escape(facts_of(x))}</caption>{_summary(x)}</table>"


def _table(x):
    part, gaps = shown_of(x)
    shape = part.shape if x.ndim == 2 else (1, *part.shape)
    gaps = gaps if x.ndim == 2 else {dim + 1 for dim in gaps}
    cells = iter(cells_of(part._numbers(), x.dtype))
    rows = []
    for i in range(shape[0]):
        row = [f"<td>{escape(next(cells))}</td>" for _ in range(shape[1])]
        if 1 in gaps:
            row.insert(EDGE, "<td>…</td>")
        if 0 in gaps and i == EDGE:
            rows.append(f"<tr><td colspan=\"{len(row)}\">…</td></tr>")
        rows.append(f"<tr>{''.join(row)}</tr>")
    return f"<table><caption>tensor {escape(facts_of(x))}</caption>{''.join(rows)}</table>"


def _summary(x):
    """Rows with the smallest, the largest and the mean number of a tensor, and how many are not finite."""
    with no_grad():
        x = x.detach()
        x = x.abs() if x.dtype.is_complex else x.float() if x.dtype.is_floating_point and x.dtype.itemsize < 4 else x
        rows = []
        if x.dtype.is_floating_point:
            finite = x.isfinite()
            count = finite.sum().item()
            if count < x.numel():
                rows.append(("not finite", x.numel() - count))
                x = x[finite]
        if x.numel():
            numbers = x.to(dtype="u8") if x.dtype == "bool" else x
            floats = numbers if x.dtype.is_floating_point else numbers.float()
            rows += [("smallest", numbers.amin().item()), ("largest", numbers.amax().item()), ("mean", floats.mean().item())]
    return "".join(f"<tr><th>{name}</th><td>{_number(value)}</td></tr>" for name, value in rows)


def _number(value):
    return escape(f"{value:.6g}" if isinstance(value, float) else str(value))


def _curve(name, points):
    """A curve as SVG. Numbers that are not finite are gaps in it."""
    finite = [(step, value) for step, value in points if math.isfinite(value)]
    if len(finite) < 2:
        return ""
    first, last = finite[0][0], max(finite[-1][0], finite[0][0] + 1)
    low, high = min(value for _, value in finite), max(value for _, value in finite)
    parts, part = [], []
    for step, value in points + [(last, math.nan)]:
        if math.isfinite(value):
            across = MARGIN + (WIDTH - 2 * MARGIN) * (step - first) / (last - first)
            # Halves, since the difference of two numbers may not be finite.
            up = 0.5 if high == low else (value / 2 - low / 2) / (high / 2 - low / 2)
            part.append(f"{across:.1f},{HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * up:.1f}")
        elif part:
            parts.append(f"<polyline points=\"{' '.join(part)}\"/>")
            part = []
    return (f"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" fill=\"none\" "
            f"stroke=\"currentColor\"><title>{escape(name)}: {_number(low)} to {_number(high)}</title>{''.join(parts)}</svg>")


def html_of_run(result):
    """A table of the metrics of a run with their curves, and of its values."""
    rows = [f"<tr><th>{escape(name)}</th><td>{_number(value)}</td><td>{_curve(name, result.curves.get(name, []))}</td></tr>"
            for name, value in result.metrics.items()]
    rows += [f"<tr><th>{escape(str(name))}</th><td colspan=\"2\"><pre>{escape(_short(value))}</pre></td></tr>"
             for name, value in result.values.items()]
    facts = f"{result.outcome}, {result.steps} steps, {result.seconds:.1f} s"
    return f"<table><caption>run: {escape(facts + (', ' + result.folder if result.folder else ''))}</caption>{''.join(rows)}</table>"


def _short(value):
    text = repr(value)
    return text if len(text) <= 1000 else text[:1000] + " …"
