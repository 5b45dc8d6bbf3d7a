"""Softmax, normalisations, attention and recurrent cells."""
import numpy as np
from mpmath import mp, mpf
from generate_ends import Operand
from ends.cases_reduce import mean, p_norm, rows, total
from ends.number import INF, NAN, V, each, exp, log, maximum, sigmoid, sqrt, tanh
from ends.scaled import Scaled, along, pattern

INFS = np.inf


def soft(row):
    """The softmax of a row; NaN if its elements are all -inf, or if it has inf."""
    top = max(x.v for x in row)
    if mp.isinf(top) or top != top:
        return [V(NAN, tuple((x, NAN) for x in row)) for _ in row]
    parts = [V(0, ((x, mpf(0)),)) if x.v == -INF else exp(x - V(top)) for x in row]
    # the largest one counts as a constant, which the quotient does not depend on
    whole = total(parts)
    return [p / whole for p in parts]


def log_soft(row):
    top = max(x.v for x in row)
    if mp.isinf(top) or top != top:
        return [V(NAN, tuple((x, NAN) for x in row)) for _ in row]
    whole = log(total([V(0, ((x, mpf(0)),)) if x.v == -INF else exp(x - V(top)) for x in row])) + V(top)
    return [x - whole for x in row]


def normed(row, eps, centre=True):
    m = mean(row) if centre else V(0)
    d = [x - m for x in row]
    scale = sqrt(mean([x * x for x in d]) + V(eps))
    return [x / scale for x in d]


def channels(f):
    """f of all elements of each channel, dim 1."""
    def of(x):
        moved = np.moveaxis(x, 1, 0)
        out = np.empty(moved.shape, dtype=object)
        for c in range(len(moved)):
            out[c] = np.array(f(list(moved[c].reshape(-1))), dtype=object).reshape(moved[c].shape)
        return np.moveaxis(out, 0, 1)
    return of


def groups_of(f, parts):
    """f of all elements of each of the parts of the channels, for each item."""
    def of(x):
        out = np.empty(x.shape, dtype=object)
        size = x.shape[1] // parts
        for n in range(len(x)):
            for g in range(parts):
                block = x[n, g * size:(g + 1) * size]
                out[n, g * size:(g + 1) * size] = np.array(f(list(block.reshape(-1))),
                    dtype=object).reshape(block.shape)
        return out
    return of


def wide(w, ndim):
    return w.reshape((1, -1) + (1,) * (ndim - 2))


def softmaxes(s):
    x = pattern(2, 4)
    odd = np.array([[-INFS, 0, 1, 2], [-INFS, -INFS, -INFS, -3e38], [88, 89, 90, -3e38], [-1e20, -1e20, -1e20, 1e20],
        [0, 1e-42, -0.0, -1e-38],
                    [INFS, 0, 1, 2], [-INFS, -INFS, -INFS, -INFS]])
    for op, f in (("softmax", soft), ("log_softmax", log_soft), ("softmin", lambda r: soft([-e for e in r]))):
        s(op, [x], rows(f), {"dim": 1}, whole="gradient")
        s.plain(op, [-odd if op == "softmin" else odd], rows(f), {"dim": 1}, whole="gradient")
    s("glu", [x], lambda v, dim: v[:, :2] * each(sigmoid)(v[:, 2:]), {"dim": 1}, whole=False)
    s.plain("glu", [np.array([[1, 2, 3e38, -5, 100, -1e4, -3e38, 88]])],
        lambda v, dim: v[:, :4] * each(sigmoid)(v[:, 4:]), {"dim": 1}, whole=False)


def norms(s):
    x = np.array([[1.0, -1, 1, -1], [3, 1, -2, 0.5], [2, 2, 2, 2.25]])
    w, b = Operand([1, 0.5, -2, 1.5]), Operand([0.25, -1, 2, 0])
    for eps in (1e-5,):
        s("layer_norm", {"input": x, "weight": w, "bias": b},
            lambda v, w, b, normalized_shape, eps: along(lambda r: normed(r, eps), v) * w + b,
          {"normalized_shape": [4], "eps": eps}, ulps=256)
        s("layer_norm", {"input": x}, lambda v, normalized_shape: along(lambda r: normed(r, 1e-5), v),
            {"normalized_shape": [4]}, ulps=256)
        s("rms_norm", {"input": x, "weight": w},
            lambda v, w, normalized_shape, eps: along(lambda r: normed(r, eps, False), v) * w,
          {"normalized_shape": [4], "eps": eps}, ulps=64)
    for p in (2.0, 1.0, 3.0):
        s("normalize", [x], lambda v, p, dim: along(lambda r: [e / maximum(p_norm(r, p), V(1e-12)) for e in r], v),
            {"p": p, "dim": 1}, ulps=64)
    image = pattern(2, 4, 3)
    s("batch_norm", [image, None, None, w, b],
      lambda v, m, q, w, b, training: channels(lambda r: normed(r, 1e-5))(v) * wide(w, 3) + wide(b, 3),
      {"training": True}, ulps=512)
    mean_, var = Operand([0.5, 1, -2, 0], constant=True), Operand([1, 1e-20, 4, 1e20], constant=True)
    s("batch_norm", [image, mean_, var, w, b],
      lambda v, m, q, w, b, training: (v - wide(m, 3)) / wide(each(sqrt)(q + 1e-5), 3) * wide(w, 3) + wide(b, 3),
      {"training": False}, ulps=64)
    s("group_norm", {"input": image, "weight": w, "bias": b},
      lambda v, w, b, num_groups: groups_of(lambda r: normed(r, 1e-5), 2)(v) * wide(w, 3) + wide(b, 3),
      {"num_groups": 2}, ulps=512)
    s("instance_norm", [image, None, None, w, b],
      lambda v, m, q, w, b: groups_of(lambda r: normed(r, 1e-5), 4)(v) * wide(w, 3) + wide(b, 3), ulps=2048)

    def response(v, size, alpha=1e-4, beta=0.75, k=1.0):
        out = np.empty(v.shape, dtype=object)
        for n, c, i in np.ndindex(*v.shape):
            near = [v[n, j, i] * v[n, j, i] for j in range(max(0, c - 1), min(4, c + 2))]
            base = total(near) / 3 * V(alpha) + V(k)
            out[n, c, i] = v[n, c, i] / exp(log(base) * V(beta))
        return out
    s("local_response_norm", [image], response, {"size": 3}, ulps=64)


def attention(q, k, v, mask=None, is_causal=False, scale=None):
    scores = np.array([[total([a * b for a,
        b in zip(x, y)]) * V(mpf(1) / mp.sqrt(len(x)) if scale is None else scale) for y in k] for x in q],
                      dtype=object)
    if mask is not None:
        scores = scores + mask
    if is_causal:
        scores = np.array([[x if j <= i else V(-INF) for j, x in enumerate(row)] for i, row in enumerate(scores)],
            dtype=object)
    shares = [soft(list(row)) for row in scores]
    return np.array([[total([p * y for p, y in zip(row, column)]) for column in v.T] for row in shares], dtype=object)


def attentions(s):
    q, k, v = pattern(3, 4, salt=1), pattern(5, 4, salt=2), pattern(5, 2, salt=3)
    op = "scaled_dot_product_attention"
    s(op, [Operand(q), Operand(k), v, None], attention, ulps=64)
    s(op, [q * 0.25, Operand(k), Operand(v), None], attention, scales=[0, 1, 2, 3], ulps=64)
    s.plain(op, [q * 100, k * 100, v, None], attention, ulps=4096)
    mask = np.array([[0, -INFS, 0, 1e4, 0], [-INFS, -INFS, -INFS, -INFS, 0], [-3e38, 0, -1e20, 0, -INFS]])
    s.plain(op, [q, k, v, Operand(mask, constant=True)], attention, ulps=64)
    s.plain(op, [q, k, v * 1e20, None], attention, {"is_causal": True}, ulps=64)


def turned(x, c, s):
    a, b = x[..., :2], x[..., 2:4]
    return np.concatenate([a * c - b * s, b * c + a * s], -1)


def recurrent(s):
    x, h = pattern(2, 3, salt=1), pattern(2, 2, salt=2)
    w, u, b, d = pattern(2, 3, salt=3), pattern(2, 2, salt=4), pattern(2, salt=5), pattern(2, salt=6)

    def product(a, m):
        return np.array([[total([p * q for p, q in zip(row, column)]) for column in m] for row in a], dtype=object)
    for scale in ("f32", 1e20), ("f64", 1e160), ("f32", 1e-42), ("f64", 1e-312), ("f32", 30.0):
        for op, f in (("rnn_tanh_cell", tanh), ("rnn_relu_cell", lambda y: y + 0 if y.v > 0 else V(0, ((y, mpf(0)),)))):
            s.family.case(op, scale[0], [x * scale[1], h * scale[1], w, u, b, d],
                          lambda x, h, w, u, b, d, f=f: each(f)(product(x, w) + b + product(h, u) + d), ulps=64,
                          whole=True)

            layer = op[:-5]
            def layers(x, h, w, u, b, d, f=f, **_):
                y = each(f)(product(x[0], w) + b + product(h[0], u) + d)
                z = each(f)(product(x[1], w) + b + product(y, u) + d)
                return np.stack([y, z]), z[None]
            s.family.case(layer, scale[0], [np.stack([x, x[::-1]]) * scale[1], h[None], w, u, b, d], layers,
                          {"has_biases": True, "num_layers": 1, "dropout": 0.0, "train": False, "bidirectional": False,
                          "batch_first": False}, ulps=64, whole=True)

        def lstm(x, h, c, w, u, b, d):
            i, f, g, o = np.split(product(x, w) + b + product(h, u) + d, 4, 1)
            cell = each(sigmoid)(f) * c + each(sigmoid)(i) * each(tanh)(g)
            return each(sigmoid)(o) * each(tanh)(cell), cell
        gates = [pattern(8, 3), pattern(8, 2), pattern(8), pattern(8, salt=1)]
        one = {"has_biases": True, "num_layers": 1, "dropout": 0.0, "train": False, "bidirectional": False,
            "batch_first": False}

        def lstm_layer(x, h, c, w, u, b, d, **_):
            y, cell = lstm(x[0], h[0], c[0], w, u, b, d)
            return y[None], y[None], cell[None]
        s.family.case("lstm", scale[0], [x[None] * scale[1], h[None], h[None] * 2, *gates], lstm_layer, one, ulps=128,
            whole=True)
        s.family.case("lstm_cell", scale[0],
            [x * scale[1], h, h * 2, pattern(8, 3), pattern(8, 2), pattern(8), pattern(8, salt=1)], lstm, ulps=128,
            whole=True)

        def gru(x, h, w, u, b, d):
            p, q = product(x, w) + b, product(h, u) + d
            r, z = each(sigmoid)(p[:, :2] + q[:, :2]), each(sigmoid)(p[:, 2:4] + q[:, 2:4])
            n = each(tanh)(p[:, 4:] + r * q[:, 4:])
            return n + z * (h - n)
        gates = [pattern(6, 3), pattern(6, 2), pattern(6), pattern(6, salt=1)]

        def gru_layer(x, h, w, u, b, d, **_):
            y = gru(x[0], h[0], w, u, b, d)
            return y[None], y[None]
        s.family.case("gru", scale[0], [x[None] * scale[1], h[None], *gates], gru_layer, one, ulps=128, whole=True)
        s.family.case("gru_cell", scale[0],
            [x * scale[1], h, pattern(6, 3), pattern(6, 2), pattern(6), pattern(6, salt=1)], gru, ulps=128, whole=True)


def cases(family):
    s = Scaled(family)
    softmaxes(s)
    norms(s)
    attentions(s)
    s("rope", [pattern(2, 3, 5)[..., :4], Operand(pattern(3, 2, salt=1)), Operand(pattern(3, 2, salt=2))], turned)
    recurrent(s)
