"""Movements of elements, which keep all bits, and sums by index."""
import numpy as np
from mpmath import mp, mpf
from generate_ends import Operand
from ends.cases_reduce import mean, product, total
from ends.number import INF, NAN, V, each, lift
from ends.scaled import Scaled, pattern, whole_numbers

INFS = np.inf
# Twelve elements whose bits tell them apart.
BITS = {"f32": [INFS, -INFS, -0.0, 0.0, 1e-45, -1e-42, 3.4028234663852886e38, -3.4028234663852886e38, 1,
    1.1754943508222875e-38, -2, 1e20],
        "f64": [INFS, -INFS, -0.0, 0.0, 5e-324, -1e-310, 1.7976931348623157e308, -1.7976931348623157e308, 1,
        2.2250738585072014e-308, -2, 1e160]}


def same(x):
    return each(lambda v: V(v.v, ((v, 1),), v.neg))(x)


def cases(family):
    for dtype in ("f32", "f64"):
        bits = np.array(BITS[dtype])
        moved(family, dtype, bits)
        indexed(family, dtype, bits)
        made(family, dtype)
    sums(Scaled(family))


def moved(family, dtype, bits):
    m, c, row = bits.reshape(3, 4), bits.reshape(2, 3, 2), bits

    def case(op, inputs, f, params=None, **more):
        family.case(op, dtype, inputs,
            lambda *x, **p: f(*[same(a) if isinstance(a, np.ndarray) and a.dtype == object else a for a in x], **p),
                    params, ulps=0, zeros=True, **more)
    case("view", [m], lambda x, shape: x.reshape(shape), {"shape": [6, 2]})
    case("reshape", [m], lambda x, shape: x.reshape(shape), {"shape": [2, 6]})
    for op in ("reshape_as", "view_as"):
        case(op, [m, Operand(np.zeros((6, 2)), constant=True)], lambda x, o: x.reshape(6, 2))
    for op in ("flatten", "ravel"):
        case(op, [c], lambda x: x.reshape(-1))
    case("unflatten", [row], lambda x, dim, sizes: x.reshape(sizes), {"dim": 0, "sizes": [3, 4]})
    case("squeeze", [m[None]], lambda x: x[0])
    case("unsqueeze", [m], lambda x, dim: x[:, None], {"dim": 1})
    case("transpose", [c], lambda x, dim0, dim1: np.swapaxes(x, dim0, dim1), {"dim0": 0, "dim1": 2})
    case("t", [m], lambda x: x.T)
    case("permute", [c], lambda x, dims: np.transpose(x, dims), {"dims": [2, 0, 1]})
    case("movedim", [c], lambda x, source, destination: np.moveaxis(x, source, destination),
        {"source": [0], "destination": [2]})
    for op, p in (("broadcast_to", {"size": [2, 3, 4]}), ("expand", {"size": [2, 3, 4]})):
        case(op, [m[None]], lambda x, size: np.broadcast_to(x, size), p)
    case("expand_as", [m[None], Operand(np.zeros((2, 3, 4)), constant=True)],
        lambda x, o: np.broadcast_to(x, (2, 3, 4)))
    case("narrow", [m], lambda x, dim, start, length: x[:, 1:3], {"dim": 1, "start": 1, "length": 2})
    case("select", [m], lambda x, dim, index: x[:, 2], {"dim": 1, "index": 2})
    case("diagonal", [m], lambda x: np.diagonal(x))
    case("linalg.diagonal", [m], lambda A: np.diagonal(A))
    case("unfold", [row], lambda x, dimension, size, step: np.stack([x[0:4], x[3:7], x[6:10]]),
        {"dimension": 0, "size": 4, "step": 3})
    for op in ("clone", "contiguous"):
        case(op, [m], lambda x: x)
    case("atleast_1d", [row], lambda x: x)
    case("atleast_2d", [row], lambda x: x[None])
    case("atleast_3d", [row], lambda x: x[None, :, None])
    case("cat", [m, m[:1]], lambda x, y: np.concatenate([x, y]))
    case("stack", [m, m[::-1]], lambda x, y, dim: np.stack([x, y], dim), {"dim": 1})
    for op, f in (("hstack", np.hstack), ("vstack", np.vstack), ("column_stack", np.column_stack),
        ("dstack", np.dstack)):
        case(op, [m, m[::-1]], lambda x, y, f=f: f([x, y]))
    case("roll", [m], lambda x, shifts, dims: np.roll(x, 1, 1), {"shifts": [1], "dims": [1]})
    case("flip", [m], lambda x, dims: x[::-1, ::-1], {"dims": [0, 1]})
    case("fliplr", [m], lambda x: x[:, ::-1])
    case("flipud", [m], lambda x: x[::-1])
    case("rot90", [m], lambda x, k, dims: np.rot90(x, k, dims), {"k": 1, "dims": [0, 1]})
    case("tile", [m], lambda x, dims: np.tile(x, dims), {"dims": [2, 1]})
    case("repeat_interleave", [row, 2], lambda x, n: np.repeat(x, 2))
    case("diag", [row[:3]], lambda x: placed(np.full((3, 3), V(0), dtype=object), x))
    case("diagflat", [row[:3]], lambda x: placed(np.full((3, 3), V(0), dtype=object), x))
    case("diag_embed", [row[:3]], lambda x: placed(np.full((3, 3), V(0), dtype=object), x))
    case("block_diag", [m[:1], m[:1, :1]],
        lambda x, y: np.block([[x, np.full((1, 1), V(0), dtype=object)], [np.full((1, 4), V(0), dtype=object), y]]))
    case("meshgrid", [row[:3], row[3:5]],
        lambda x, y: (np.broadcast_to(x[:, None], (3, 2)), np.broadcast_to(y[None], (3, 2))))
    case("cartesian_prod", [row[:2], row[2:4]], lambda x, y: np.array([[a, b] for a in x for b in y], dtype=object))
    case("combinations", [row[:3]], lambda x: np.array([[x[0], x[1]], [x[0], x[2]], [x[1], x[2]]], dtype=object))
    case("pad", [m], lambda x, pad, mode: np.pad(x, [(0, 0), (1, 2)], mode="reflect"),
        {"pad": [1, 2], "mode": "reflect"})
    case("pad", [m], lambda x, pad, value: np.pad(x, [(0, 0), (1, 0)], constant_values=V(-INF)),
        {"pad": [1, 0], "value": -INFS})
    case("tril", [m], lambda x: np.where(np.tri(3, 4, dtype=bool), x, V(0)))
    case("triu", [m], lambda x: np.where(np.tri(3, 4, -1, dtype=bool), V(0), x))
    case("real", [m], lambda x: x)
    image = bits.reshape(1, 4, 3, 1)
    case("pixel_shuffle", [image],
        lambda x, upscale_factor: x.reshape(1, 2, 2, 3, 1).transpose(0, 3, 1, 4, 2).reshape(1, 1, 6, 2),
        {"upscale_factor": 2})
    case("pixel_unshuffle", [bits.reshape(1, 1, 6, 2)],
        lambda x, downscale_factor: x.reshape(1, 3, 2, 1, 2).transpose(0, 2, 4, 1, 3).reshape(1, 4, 3, 1),
        {"downscale_factor": 2})
    case("channel_shuffle", [image], lambda x, groups: x[:, [0, 2, 1, 3]], {"groups": 2})
    case("slice", [m], lambda x, dim, **_: x[:, 1:3], {"dim": 1, "start": 1, "length": 2})


def placed(out, x):
    for i, e in enumerate(x):
        out[i, i] = e
    return out


def indexed(family, dtype, bits):
    m, row = bits.reshape(3, 4), bits
    i64 = lambda *k: Operand(np.array(k), "i64")  # noqa: E731

    def case(op, inputs, f, params=None, **more):
        prepare = lambda a: same(a) if isinstance(a,
            np.ndarray) and a.dtype == object else a.astype(int) if isinstance(a, np.ndarray) else a  # noqa: E731
        family.case(op, dtype, inputs, lambda *x, **p: f(*[prepare(a) for a in x], **p), params, ulps=0, zeros=True,
            **more)

    def written(f):
        def of(x, *rest, **params):
            out = np.array(x, dtype=object)
            f(out, *rest)
            return out
        return of
    index = {"input": m, "index": i64(2, 0)}
    case("index_select", index, lambda x, i, dim: x[i], {"dim": 0})
    case("gather", {"input": m, "index": Operand([[2, 0, 1, 1]], "i64")}, lambda x, i, dim: np.take_along_axis(x, i, 0),
        {"dim": 0})
    case("take", [m, i64(11, 0, 5)], lambda x, i: x.reshape(-1)[i])
    case("take_along_dim", [m, Operand([[2, 0, 1, 1]], "i64")], lambda x, i, dim: np.take_along_axis(x, i, 0),
        {"dim": 0})
    case("embedding", [i64(2, 0, 1), m], lambda i, w: w[i])
    case("index", [m, i64(2, 0), i64(3, 1)], lambda x, i, j: x[i, j])
    mask = Operand([[1, 0, 1, 0], [0, 0, 1, 1], [1, 1, 0, 0]], "bool")
    case("masked_select", [m, mask], lambda x, k: x[k != 0])
    for value in (INFS, -INFS, 1e-42):
        case("masked_fill", [m, mask],
            lambda x, k, value: np.where(k != 0, V(float(np.float32(value)) if dtype == "f32" else value), x),
            {"value": value})
        case("index_fill", {**index, "value": value},
            lambda x, i, v, dim: np.where((np.arange(3) != 1)[:, None],
            V(float(np.float32(value)) if dtype == "f32" else value), x),
             {"dim": 0})
    case("nonzero", [row], lambda x: whole_numbers([[i] for i, e in enumerate(x) if e.v != 0]), grad=False,
        outputs="i64")
    source = m[::-1].copy()
    case("index_copy", {"input": m, "index": i64(2, 0), "source": source[:2]},
        written(lambda x, i, s: x.__setitem__(i, s)), {"dim": 0})
    case("scatter", {"input": m, "index": Operand([[2, 0, 1, 1]], "i64"), "src": source[:1]},
        written(lambda x, i, s: np.put_along_axis(x, i, s, 0)), {"dim": 0})
    case("put", [m, i64(11, 0), row[3:5]], written(lambda x, i, s: np.put(x, i, s)))
    case("index_put", {"input": m, "values": source[:2], "indices": i64(2, 0)},
        lambda x, s, i: written(lambda y: y.__setitem__(i, s))(x))
    case("masked_scatter", [m, mask, row], written(lambda x, k, s: x.__setitem__(k != 0, s[:6])))
    case("select_scatter", [m, row[:3]], written(lambda x, s: x.__setitem__((slice(None), 1), s)),
        {"dim": 1, "index": 1})
    case("slice_scatter", [m, m[:, :2]], written(lambda x, s: x.__setitem__((slice(None), slice(1, 3)), s)),
        {"dim": 1, "start": 1, "end": 3})
    case("as_strided_scatter", [m, row[:3]], written(lambda x, s: x.reshape(-1).__setitem__([0, 2, 4], s)),
        {"size": [3], "stride": [2]})
    case("diagonal_scatter", [m, row[:3]], written(lambda x, s: [x.__setitem__((k, k), s[k]) for k in range(3)]))


def sums(s):
    x, y = pattern(3, 2), pattern(2, 2, salt=5)
    def added(x, i, src, **_):
        out = np.array(x, dtype=object)
        for k, r in zip(i.astype(int), src):
            out[k] = out[k] + r
        return out
    index = Operand([2, 2], "i64")
    s("index_add", {"input": x, "index": index, "source": y}, added, {"dim": 0})
    wide = Operand([[2, 2], [2, 0]], "i64")
    def scattered(combine, x, i, src):
        out = np.array(x, dtype=object)
        for a, b in np.ndindex(2, 2):
            k = int(i[a, b])
            out[k, b] = combine(out[k, b], src[a, b])
        return out
    s("scatter_add", {"input": x, "index": wide, "src": y},
        lambda x, i, src, dim: scattered(lambda p, q: p + q, x, i, src), {"dim": 0})
    s("scatter_reduce", {"input": x, "index": wide, "src": y},
        lambda x, i, src, dim, reduce: scattered(lambda p, q: p + q, x, i, src), {"dim": 0, "reduce": "sum"},
        scales=[0, 5])
    s("scatter_reduce", {"input": x, "index": wide, "src": y},
        lambda x, i, src, dim, reduce: scattered(lambda p, q: p * q, x, i, src), {"dim": 0, "reduce": "prod"},
      scales=[2, 3], whole=False)
    s("index_reduce", {"input": x, "index": index, "source": y}, lambda x, i, src, dim, reduce: averaged(x, src),
        {"dim": 0, "reduce": "mean"}, scales=[0, 2, 4, 5])
    s("segment_reduce", {"data": pattern(4), "lengths": Operand([3, 1], "i64")},
        lambda v, lengths, reduce: np.array([total(list(v[:3])), v[3] + 0], dtype=object), {"reduce": "sum"})
    s("segment_reduce", {"data": pattern(4), "lengths": Operand([3, 1], "i64")},
        lambda v, lengths, reduce: np.array([mean(list(v[:3])), v[3] + 0], dtype=object), {"reduce": "mean"})
    weight = pattern(4, 2)
    s("embedding_bag", {"input": Operand([0, 2, 2, 1], "i64"), "weight": weight, "offsets": Operand([0, 3], "i64")},
      lambda i, w, o, mode: np.stack([(w[0] + w[2] + w[2]) / 3, w[1] + 0]), {"mode": "mean"})
    s("embedding_bag", {"input": Operand([0, 2, 2, 1], "i64"), "weight": weight, "offsets": Operand([0, 3], "i64")},
      lambda i, w, o, mode: np.stack([w[0] + w[2] + w[2], w[1] + 0]), {"mode": "sum"})
    for dtype, top in (("f32", 3e38), ("f64", 1.5e308)):
        s.family.case("segment_reduce", dtype, {"data": np.array([top, top / 2, top]), "lengths": Operand([3], "i64")},
                      lambda v, lengths, reduce: np.array([mean(list(v))], dtype=object), {"reduce": "mean"})
        s.family.case("embedding_bag", dtype,
            {"input": Operand([0, 1, 0], "i64"), "weight": np.array([[top, -top], [top, 1]]),
            "offsets": Operand([0], "i64")},
                      lambda i, w, o, mode: np.stack([(w[0] + w[1] + w[0]) / 3]), {"mode": "mean"})


def averaged(x, src):
    out = np.array(x, dtype=object)
    out[2] = (out[2] + src[0] + src[1]) / 3
    return out


def made(family, dtype):
    top = float(np.finfo(np.float32 if dtype == "f32" else np.float64).max)
    for value in (INFS, -INFS, top, -0.0, 1e-45 if dtype == "f32" else 5e-324):
        family.case("full", dtype, [], lambda size, fill_value, dtype: each(V)(np.full(size, fill_value)),
            {"size": [2], "fill_value": value, "dtype": dtype}, ulps=0, zeros=True)
        family.case("full_like", dtype, [Operand([1, 2], constant=True)],
            lambda x, fill_value: each(V)(np.full(2, fill_value)), {"fill_value": value}, ulps=0, zeros=True)
    for op, value in (("zeros", 0), ("ones", 1)):
        family.case(op, dtype, [], lambda size, dtype, v=value: each(V)(np.full(size, float(v))),
            {"size": [2], "dtype": dtype}, ulps=0, zeros=True)
        family.case(op + "_like", dtype, [Operand([np.nan, INFS], constant=True)],
            lambda x, v=value: each(V)(np.full(2, float(v))), ulps=0, zeros=True)
    def line(start, end, steps, dtype):
        return np.array([V(mpf(start) + (mpf(end) - mpf(start)) * k / (steps - 1)) for k in range(steps)], dtype=object)
    big = 2.0 ** 127 if dtype == "f32" else 2.0 ** 1023
    small = 2.0 ** -140 if dtype == "f32" else 2.0 ** -1060
    for low, high in ((-big, big), (0.0, big), (0.0, small), (-1e20, 1e20), (1.0, 2.0)):
        family.case("linspace", dtype, [], line, {"start": low, "end": high, "steps": 5, "dtype": dtype}, ulps=8,
            whole=True)
    family.case("logspace", dtype, [],
        lambda start, end, steps, base, dtype: np.array([V(mpf(10) ** k) for k in (-30, -10, 10, 30)], dtype=object),
                {"start": -30.0, "end": 30.0, "steps": 4, "base": 10.0, "dtype": dtype}, ulps=64)
    family.case("arange", dtype, [],
        lambda start, end, step, dtype: np.array([V(k * 2.0 ** 100) for k in range(4)], dtype=object),
                {"start": 0.0, "end": 2.0 ** 102, "step": 2.0 ** 100, "dtype": dtype})
    family.case("eye", dtype, [], lambda n, dtype: whole_numbers(np.eye(2)), {"n": 2, "dtype": dtype})
    for op, f in (("fft.fftfreq", [0, 1, -2, -1]), ("fft.rfftfreq", [0, 1, 2])):
        for d in (1e-30, 1e30, 1.0):
            family.case(op, dtype, [],
                lambda n, d, dtype, f=f: np.array([V(mpf(k) / (4 * mpf(d))) for k in f], dtype=object),
                {"n": 4, "d": d, "dtype": dtype})
    for op, f in windows().items():
        family.case(op, dtype, [],
            lambda window_length, dtype, f=f: np.array([V(f(mpf(k) / 5)) for k in range(5)], dtype=object),
            {"window_length": 5, "dtype": dtype},
                    ulps=4, whole=True)


def windows():
    turn = lambda k, t: mp.cos(2 * mp.pi * k * t)  # noqa: E731
    return {"hann_window": lambda t: (1 - turn(1, t)) / 2,
        "hamming_window": lambda t: mpf(0.54) - mpf(0.46) * turn(1, t),
            "blackman_window": lambda t: mpf(0.42) - turn(1, t) / 2 + mpf(0.08) * turn(2, t),
            "bartlett_window": lambda t: 1 - abs(2 * t - 1),
            "kaiser_window": lambda t: mp.besseli(0, 12 * mp.sqrt(1 - (2 * t - 1) ** 2)) / mp.besseli(0, 12)}
