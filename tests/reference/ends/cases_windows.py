"""Convolutions, pools and resizing."""
import numpy as np
from mpmath import mp, mpf
from generate_ends import Operand
from ends.cases_reduce import extreme, mean, p_norm, total
from ends.number import INF, V, each, lift, power
from ends.scaled import Scaled, pattern, whole_numbers

INFS = np.inf


def convolve(x, w, b=None, padding=0):
    """Sums of products of windows of x [N, C, ...] with w [out, C, ...]."""
    n = x.ndim - 2
    if padding:
        x = np.pad(x, [(0, 0), (0, 0)] + [(padding, padding)] * n, constant_values=V(0))
    sizes = [x.shape[2 + d] - w.shape[2 + d] + 1 for d in range(n)]
    out = np.empty((x.shape[0], w.shape[0], *sizes), dtype=object)
    for place in np.ndindex(*out.shape):
        window = x[(place[0], slice(None)) + tuple(slice(i, i + k) for i, k in zip(place[2:], w.shape[2:]))]
        y = total([p * q for p, q in zip(window.reshape(-1), w[place[1]].reshape(-1))])
        out[place] = y if b is None else y + b[place[1]]
    return out


def transposed(x, w, b=None):
    """Each element times w [C, out, ...], added where its window is."""
    n = x.ndim - 2
    sizes = [x.shape[2 + d] + w.shape[2 + d] - 1 for d in range(n)]
    out = np.full((x.shape[0], w.shape[1], *sizes), V(0), dtype=object)
    for place in np.ndindex(*x.shape):
        for k in np.ndindex(*w.shape[1:]):
            to = (place[0], k[0]) + tuple(i + j for i, j in zip(place[2:], k[1:]))
            out[to] = out[to] + x[place] * w[(place[1],) + k]
    return out if b is None else out + b.reshape((1, -1) + (1,) * n)


def pooled(f, size):
    """f of each window of `size` elements along each of the last dims, without overlap; f takes elements and their places."""
    def of(x, **params):
        n = x.ndim - 2
        counts = [s // size for s in x.shape[2:]]
        out = np.empty((*x.shape[:2], *counts), dtype=object)
        flat = np.arange(int(np.prod(x.shape[2:]))).reshape(x.shape[2:])
        for place in np.ndindex(*out.shape):
            window = tuple(slice(i * size, (i + 1) * size) for i in place[2:])
            out[place] = f(list(x[place[:2] + window].reshape(-1)), list(flat[window].reshape(-1)), **params)
        return out
    return of


def largest(row, places, **_):
    return extreme(row)[0]


def place_of_largest(row, places, **_):
    return V(int(places[extreme(row)[1]]))


def average(row, places, **_):
    return mean(row)


def resized(x, size, weights):
    """Along each of the last dims a weighted sum of elements; weights(position, size) gives places and weights."""
    for d, count in enumerate(size):
        axis = x.ndim - len(size) + d
        moved = np.moveaxis(x, axis, -1)
        out = np.empty((*moved.shape[:-1], count), dtype=object)
        for place in np.ndindex(*out.shape):
            row = moved[place[:-1]]
            parts = [(row[i], w) for i, w in weights(place[-1], len(row), count) if w != 0]
            out[place] = total([e * w for e, w in parts])
        x = np.moveaxis(out, -1, axis)
    return x


def linear_weights(i, n, count, corners=False):
    place = mpf(i) * (n - 1) / (count - 1) if corners else max((mpf(i) + mpf(0.5)) * n / count - mpf(0.5), mpf(0))
    low = min(int(mp.floor(place)), n - 1)
    high, share = min(low + 1, n - 1), place - low
    return [(low, mpf(1))] if low == high or share == 0 else [(low, 1 - share), (high, share)]


def area_weights(i, n, count):
    first, last = i * n // count, -(-(i + 1) * n // count)
    return [(k, mpf(1) / (last - first)) for k in range(first, last)]


def nearest_weights(i, n, count):
    return [(i * n // count, mpf(1))]


def exact_weights(i, n, count):
    return [(int(mp.floor((mpf(i) + mpf(0.5)) * n / count)), mpf(1))]


def cubic_weights(i, n, count):
    a = mpf(-0.75)
    place = (mpf(i) + mpf(0.5)) * n / count - mpf(0.5)
    low = int(mp.floor(place))
    t = place - low
    near = lambda s: ((a + 2) * s - (a + 3)) * s * s + 1  # noqa: E731
    far = lambda s: ((a * s - 5 * a) * s + 8 * a) * s - 4 * a  # noqa: E731
    return [(min(max(low + k, 0), n - 1), w) for k,
        w in ((-1, far(t + 1)), (0, near(t)), (1, near(1 - t)), (2, far(2 - t)))]


def sampled(x, grid):
    """Bilinear, zeros outside, corners not aligned: each corner with its weight, if it is not 0."""
    n, c, h, w = x.shape
    out = np.empty((n, c, *grid.shape[1:3]), dtype=object)
    for b, k, i, j in np.ndindex(*out.shape):
        px = (mpf(float(grid[b, i, j, 0])) + 1) * w / 2 - mpf(0.5)
        py = (mpf(float(grid[b, i, j, 1])) + 1) * h / 2 - mpf(0.5)
        x0, y0 = int(mp.floor(px)), int(mp.floor(py))
        parts = []
        for dy, wy in ((0, 1 - (py - y0)), (1, py - y0)):
            for dx, wx in ((0, 1 - (px - x0)), (1, px - x0)):
                if 0 <= y0 + dy < h and 0 <= x0 + dx < w and wx * wy != 0:
                    parts.append(x[b, k, y0 + dy, x0 + dx] * (wx * wy))
        out[b, k, i, j] = total(parts)
    return out


def cases(family):
    s = Scaled(family, ulps=32)
    shapes = {1: (1, 2, 5), 2: (1, 2, 4, 3), 3: (1, 2, 2, 3, 2)}
    for n, shape in shapes.items():
        x, w, b = pattern(*shape), pattern(2, 2, *[2] * n, salt=3), pattern(2, salt=4)
        s(f"conv{n}d", [x, Operand(w), b], convolve)
        s(f"conv{n}d", [x, w * 0.5, None], lambda x, w, _: convolve(x, w), scales=[2])
        s(f"conv_transpose{n}d", [x, Operand(w), b], transposed, scales=[0, 2, 4, 5] if n < 3 else [0, 4])
        even = pattern(*[2 * (d // 2) if i > 1 else d for i, d in enumerate(shape)])
        odd = np.resize(np.array([-INFS, 1, 3e38, -3e38, INFS, -0.0, 1e-42, 2]), even.shape)
        two = {"kernel_size": [2] * n}
        s(f"max_pool{n}d", [even], pooled(largest, 2), two, scales=[0, 5])
        s.plain(f"max_pool{n}d", [odd], pooled(largest, 2), two, grad=False)
        s(f"avg_pool{n}d", [even], pooled(average, 2), two)
        sizes = {"output_size": [d // 2 for d in even.shape[2:]]}
        s(f"adaptive_avg_pool{n}d", [even], lambda x, output_size: pooled(average, 2)(x), sizes)
        s(f"adaptive_max_pool{n}d", [even], lambda x, output_size: pooled(largest, 2)(x), sizes, scales=[0, 5])
        for p in (2.0, 3.0):
            s(f"lp_pool{n}d", [np.abs(even)],
                lambda x, norm_type, kernel_size: pooled(lambda r, _: p_norm(r, norm_type), 2)(x),
              {"norm_type": p, **two}, ulps=64)
        s.plain(f"lp_pool{n}d", [np.where(np.arange(even.size).reshape(even.shape) < even.size // 2, 0, np.abs(even))],
                lambda x, norm_type, kernel_size: pooled(lambda r, _: p_norm(r, norm_type), 2)(x),
                {"norm_type": 2.0, **two}, ulps=64)
        places = pooled(lambda r, q: q[1], 2)(even).astype(float)
        def unpooled(x, i, kernel_size):
            out = np.full((*x.shape[:2], int(np.prod(even.shape[2:]))), V(0), dtype=object)
            for place in np.ndindex(*x.shape):
                out[place[0], place[1], int(i[place])] = x[place] + V(-0.0)
            return out.reshape(even.shape)
        s(f"max_unpool{n}d", [pooled(lambda r, q: r[0].v, 2)(each(V)(even)).astype(float), Operand(places, "i64")],
            unpooled, two, scales=[0, 5])
    for dtype, top in (("f32", 3e38), ("f64", 1.5e308)):  # sums of a window that are too large
        x = np.array([[[top, top, -top, top / 2]]])
        family.case("avg_pool1d", dtype, [x], pooled(average, 2), {"kernel_size": [2]})
        family.case("adaptive_avg_pool1d", dtype, [x], lambda x, output_size: pooled(average, 2)(x),
            {"output_size": [2]})
        family.case("avg_pool2d", dtype, [x.reshape(1, 1, 2, 2)], pooled(average, 2), {"kernel_size": [2, 2]})
        family.case("interpolate", dtype, [x], lambda x, size, mode: resized(x, size, area_weights),
            {"size": [2], "mode": "area"})
        for op, p in (("lp_pool1d", 2.0), ("lp_pool1d", 20.0)):
            family.case(op, dtype, [np.abs(x) / 4],
                lambda x, norm_type, kernel_size: pooled(lambda r, _: p_norm(r, norm_type), 2)(x),
                        {"norm_type": p, "kernel_size": [2]}, ulps=64)
        flip = np.array([[[top, -top, top, 1]]])
        family.case("interpolate", dtype, [flip], lambda x, size, mode: resized(x, size, linear_weights),
            {"size": [8], "mode": "linear"}, ulps=16, whole=True)
    s("conv_tbc", [pattern(3, 1, 2), Operand(pattern(2, 2, 2, salt=3)), pattern(2, salt=4)],
      lambda x, w, b: np.transpose(convolve(np.transpose(x, (1, 2, 0)), np.transpose(w, (2, 1, 0)), b), (2, 0, 1)),
      scales=[0, 2, 4])
    line, image = pattern(1, 2, 4), pattern(1, 1, 3, 4)
    for mode, f in (("nearest", nearest_weights), ("nearest-exact", exact_weights), ("area", area_weights)):
        s("interpolate", [line], lambda x, size, mode, f=f: resized(x, size, f), {"size": [6], "mode": mode},
            scales=[0, 5])
    s("interpolate", [np.array([[[0.0, 1]]])], lambda x, size, mode: resized(x, size, nearest_weights),
        {"size": [82], "mode": "nearest"}, scales=[3])
    s("interpolate", [line], lambda x, size, mode: resized(x, size, linear_weights), {"size": [7], "mode": "linear"},
        ulps=64)
    for corners in (False, True):
        s("interpolate", [image],
            lambda x, size, mode, align_corners: resized(x, size,
            lambda i, n, c: linear_weights(i, n, c, align_corners)),
          {"size": [5, 6], "mode": "bilinear", "align_corners": corners}, ulps=64, scales=[0, 2, 4, 5])
    s("interpolate", [image], lambda x, size, mode: resized(x, size, cubic_weights),
        {"size": [5, 6], "mode": "bicubic"}, ulps=256, scales=[0, 2, 4, 5])
    s.plain("interpolate", [np.array([[[1.0, INFS, 3]]])], lambda x, size, mode: resized(x, size, linear_weights),
        {"size": [3], "mode": "linear"}, grad=False)
    grid = np.array([[[[-0.75, -2 / 3], [0.25, 0.0]], [[0.5, 0.25], [1.5, 0]]]]).astype(np.float32).astype(float)
    s("grid_sample", [image, Operand(grid, constant=True)],
        lambda x, g, align_corners: sampled(x, each(lambda v: v.v)(g)), {"align_corners": False}, ulps=256)
    pixel = np.array([[[[-0.75, 0.0]]]])
    s.plain("grid_sample",
        [np.array([[[[5, INFS, 3e38, 1], [INFS, INFS, 3, 1], [7, 1, -INFS, 0]]]])[:, :, ::-1],
        Operand(pixel, constant=True)],
            lambda x, g, align_corners: np.array([[[[x[0, 0, 1, 0] + V(-0.0)]]]], dtype=object),
            {"align_corners": False}, grad=False)
    s("affine_grid", [pattern(1, 2, 3)], affine, {"size": [1, 1, 2, 2], "align_corners": True}, scales=[0, 2, 3, 4])
    s("im2col", [image], lambda x, kernel_size: columns(x), {"kernel_size": [2, 2]}, scales=[0, 5])
    s("col2im", [pattern(1, 4, 6)], images, {"output_size": [3, 4], "kernel_size": [2, 2]}, scales=[0, 5])


def columns(x):
    parts = [x[0, 0, a:a + 2, b:b + 3].reshape(-1) for a in range(2) for b in range(2)]
    return np.array([parts], dtype=object)


def images(x, output_size, kernel_size):
    out = np.full((1, 1, 3, 4), V(0), dtype=object)
    for k, (a, b) in enumerate(np.ndindex(2, 2)):
        for i, (p, q) in enumerate(np.ndindex(2, 3)):
            out[0, 0, a + p, b + q] = out[0, 0, a + p, b + q] + x[0, k, i]
    return out


def affine(t, size, align_corners):
    ends = (V(-1), V(1))
    return np.array([[[[t[0, r, 0] * x + t[0, r, 1] * y + t[0, r, 2] for r in range(2)] for x in ends] for y in ends]],
        dtype=object)
