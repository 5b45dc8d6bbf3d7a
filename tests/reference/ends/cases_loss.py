"""Losses and distances."""
import numpy as np
from mpmath import mp, mpf
from generate_ends import Operand
from ends.cases_reduce import mean, p_norm, root, total
from ends.cases_rows import log_soft
from ends.elementwise import ONE
from ends.number import INF, NAN, V, absolute, each, exp, lift, log, log1p, maximum, piece, power, sigmoid, sqrt
from ends.scaled import SCALES, Scaled, along, pattern, scalar

INFS = np.inf


def reduced(f):
    def of(*inputs, reduction="mean", **params):
        y = np.asarray(f(*inputs, **params), dtype=object)
        flat = list(y.reshape(-1))
        return y if reduction == "none" else scalar(total(flat) if reduction == "sum" else mean(flat))
    return of


def huber(e, delta):
    return e * e * 0.5 if abs(e.v) < delta else (absolute(e) - delta / 2) * delta


def smooth(e, beta):
    return e * e * (mpf(0.5) / beta) if abs(e.v) < beta else absolute(e) - beta / 2


def limited_log(x):
    """Not below -100, as PyTorch has it; there is then no gradient to compare with, since PyTorch limits it otherwise."""
    y = log(x)
    return V(-100, ((x, NAN),)) if y.v < -100 else y


def bce(p, t):
    y = -(limited_log(p) * t + limited_log(1 - p) * (1 - t))
    slope = (p.v - t.v) / (p.v * (1 - p.v)) if p.v * (1 - p.v) > 1e-12 else NAN
    return V(y.v, ((p, slope),))


def bce_logits(a, t):
    return maximum_zero(a) - a * t + log1p(exp(-absolute_plain(a)))


def maximum_zero(a):
    return piece(a, max(a.v, mpf(0)), mpf(a.v > 0) if a.v != 0 else mpf(0.5))


def absolute_plain(a):
    return absolute(a)


def pairs(s):
    a, b = pattern(2, 3), pattern(2, 3, salt=5)
    for reduction in ("mean", "sum", "none"):
        r = {"reduction": reduction}
        some = None if reduction == "mean" else [0, 2, 4, 5]
        s("mse_loss", [a, b], reduced(lambda x, y: (x - y) * (x - y)), r, scales=some)
        s("l1_loss", [a, b], reduced(lambda x, y: each(absolute)(x - y)), r, scales=some)
        s("huber_loss", [a, b], reduced(lambda x, y, delta: each(lambda e: huber(e, delta))(x - y)),
            {"delta": 0.75, **r}, scales=some)
        s("smooth_l1_loss", [a, b], reduced(lambda x, y, beta: each(lambda e: smooth(e, beta))(x - y)),
            {"beta": 0.5, **r}, scales=some)
        s("soft_margin_loss", [a, Operand([[1, -1, 1], [-1, -1, 1]])],
          reduced(lambda x, t: each(ONE["softplus"])(-(x * t), 1, INF)), r, scales=some)
    # Differences that are too large for the type, or whose squares are, or vanish.
    s("margin_ranking_loss", [np.array([1.0, 2, -1]), np.array([2.0, -1, 1.5]), Operand([1, -1, -1], constant=True)],
      reduced(lambda x, y, t, margin: each(hinge)((x - y) * -t + margin)), {"margin": 0.5})
    s("hinge_embedding_loss", [a, Operand([[1, -1, 1], [-1, -1, 1]], constant=True)],
      reduced(lambda x, t: np.vectorize(lambda e, k: e + 0 if k.v > 0 else hinge(1 - e), otypes=[object])(x, t)))
    logits = np.array([[0, 1e-42, -1e-20, 5], [89, -89, 1e20, -1e20], [3e38, -3e38, 200, -200]])
    target = Operand([[0, 1, 0.5, 1], [1, 1, 0, 0.25], [1, 0, 0, 1]], constant=True)
    for reduction in ("mean", "none"):
        s.plain("binary_cross_entropy_with_logits", [logits, target, None, None],
            reduced(lambda x, t, *_: each(bce_logits)(x, t)),
                {"reduction": reduction})
        s.plain("binary_cross_entropy",
            [np.array([[0.5, 1e-30, 1 - 2.0 ** -20, 1], [0, 0.25, 1e-6, 1e-42]]),
            Operand([[1, 0, 1, 1], [0, 0.5, 1, 1]], constant=True), None],
                reduced(lambda x, t, *_: each(bce)(x, t)), {"reduction": reduction}, ulps=64)
    s("kl_div", [a, Operand(np.abs(b) + 0.125, constant=True)], reduced(lambda x, t: t * (each(log)(t) - x)),
        {"reduction": "sum"})
    s.plain("kl_div", [np.array([-INFS, -1e20, -3.0, -1]), Operand([0, 0, 1e-42, 0.5], constant=True)],
            lambda x, t, reduction: np.array([V(0, ((x[0], NAN),)), V(0, ((x[1], mpf(0)),)),
            *(t[2:] * (each(log)(t[2:]) - x[2:]))], dtype=object), {"reduction": "none"})
    s.plain("kl_div", [np.array([-1e20, -90, -3.0, -1]), Operand([-INFS, -200, -90, -1], constant=True)],
            lambda x, t, reduction, log_target: each(lambda p, q: V(0,
            ((p, mpf(0)),)) if q.v == -INF else exp(q) * (q - p))(x, t),
            {"reduction": "none", "log_target": True})
    s("poisson_nll_loss", [a, Operand([[0, 1, 5], [2, 0, 3]], constant=True)],
        reduced(lambda x, t: each(exp)(x) - t * x), {"reduction": "none"}, scales=[0, 1, 2, 3], whole="gradient")
    s("poisson_nll_loss", [np.abs(a) + 0.5, Operand([[0, 1, 5], [2, 0, 3]], constant=True)],
      reduced(lambda x, t, log_input: x - t * each(log)(x + 1e-8)), {"reduction": "none", "log_input": False},
      whole=False)
    var = np.array([[1, 1e-20, 1e20], [1e-3, 3e38, 1]])
    s("gaussian_nll_loss", [a, b, Operand(var)],
      reduced(lambda x, t, v: each(lambda p, q, r: (log(at_least(r, 1e-6)) + (p - q) * (p - q) / at_least(r,
      1e-6)) * 0.5)(x, t, v)),
      {"reduction": "none"}, scales=[0, 2, 3, 4], whole=False, ulps=64)


def at_least(x, low):
    return V(max(x.v, mpf(low)), ((x, mpf(x.v > low)),))


def hinge(e):
    return e + 0 if e.v > 0 else V(0, ((e, mpf(0)),))


def classes(s):
    x = pattern(3, 4)
    labels = Operand([2, 0, 3], "i64")
    odd = np.array([[-INFS, 0, 1, 2], [1e20, -1e20, 3, 0], [-3e38, 88, 90, 3e38]])

    def nll(logs, t):
        return [-logs[i, int(k)] for i, k in enumerate(t)]

    def entropy(v, t, *_, reduction="mean", label_smoothing=0.0):
        logs = along(log_soft, v)
        losses = nll(logs, t)
        if label_smoothing:
            losses = [l * (1 - mpf(label_smoothing)) - mean(list(row)) * label_smoothing for l,
                row in zip(losses, logs)]
        return np.array(losses, dtype=object) if reduction == "none" else scalar(mean(losses))
    for reduction in ("mean", "none"):
        s("cross_entropy", [x, labels, None], entropy, {"reduction": reduction})
        s.plain("cross_entropy", [odd, Operand([3, 0, 3], "i64"), None], entropy, {"reduction": reduction})
        s("nll_loss", [x, labels, None],
            lambda v, t, *_, reduction: np.array(nll(v, t),
            dtype=object) if reduction == "none" else scalar(mean(nll(v, t))),
          {"reduction": reduction})
    s("cross_entropy", [x, labels, None], entropy, {"label_smoothing": 0.25})
    s("cross_entropy", [x, Operand(np.abs(pattern(3, 4, salt=2)), constant=True), None],
      lambda v, t, *_: scalar(total([-(p * q) for p, q in zip(along(log_soft, v).reshape(-1), t.reshape(-1))]) / 3))
    for p in (1, 2):
        s("multi_margin_loss", [x, labels, None],
          lambda v, t, _, p: scalar(mean([total([power_of(hinge(1 - r[int(k)] + e), p) for j,
          e in enumerate(r) if j != int(k)]) / 4 for r, k in zip(v, t)])),
          {"p": p})
    s("multilabel_margin_loss", [x, Operand([[3, 0, -1, 1], [1, -1, 0, 2], [0, 1, 2, 3]], "i64")], multilabel,
        {"reduction": "none"})
    ctc(s)


def power_of(x, p):
    return x if p == 1 else x * x


def multilabel(v, t, reduction):
    out = []
    for row, names in zip(v, t):
        wanted = []
        for k in names:
            if k < 0:
                break
            wanted.append(int(k))
        y = V(0)
        for k in wanted:
            for j, e in enumerate(row):
                if j not in wanted:
                    y = y + hinge(1 - row[k] + e)
        out.append(y / len(row))
    return np.array(out, dtype=object)


def ctc(s):
    """All paths of three steps that spell the target 1 2, with blanks 0."""
    x = pattern(3, 1, 3)
    def loss(v, t, *_, **more):
        paths = []
        for a, b, c in np.ndindex(3, 3, 3):
            spelled = [k for i, k in enumerate((a, b, c)) if k != 0 and (i == 0 or k != (a, b, c)[i - 1])]
            if spelled == [1, 2]:
                paths.append(v[0, 0, a] + v[1, 0, b] + v[2, 0, c])
        top = max(p.v for p in paths)
        return scalar(-(log(total([exp(p - V(top)) for p in paths])) + V(top)))
    s("ctc_loss",
        {"log_probs": x, "targets": Operand([[1, 2]], "i64"), "input_lengths": Operand([3], "i64"),
        "target_lengths": Operand([2], "i64")},
      loss, {"reduction": "sum"}, scales=[0, 1, 2, 3], ulps=64)


def distances(s):
    a, b = pattern(3, 4), pattern(3, 4, salt=5)
    def cosine(x, y, eps=1e-8):
        n, m = p_norm(list(x)), p_norm(list(y))
        return total([p * q for p, q in zip(x, y)]) / (maximum(n, V(eps)) * maximum(m, V(eps)))
    s("cosine_similarity", [a, b], lambda x, y, dim: np.array([cosine(p, q) for p, q in zip(x, y)], dtype=object),
        {"dim": 1}, ulps=64)
    s("cosine_similarity", [a, Operand(b)],
        lambda x, y, dim: np.array([cosine(p, q) for p, q in zip(x, y)], dtype=object), {"dim": 1}, ulps=64)
    s("cosine_embedding_loss", [a, b, Operand([1, -1, -1], "i64")],
      lambda x, y, t, reduction: np.array([1 - cosine(p, q, 1e-12) if k > 0 else hinge(cosine(p, q, 1e-12)) for p, q,
      k in zip(x, y, t)], dtype=object),
      {"reduction": "none"}, scales=[3, 4, 5], ulps=256)
    for p in (2.0, 1.0, 3.0):
        s("pairwise_distance", [a, b], lambda x, y, p: along(lambda r: p_norm(r, p), x - y + V(1e-6)), {"p": p},
            ulps=64)
        s("pdist", [a],
            lambda x, p: np.array([p_norm(list(x[i] - x[j]), p) for i in range(3) for j in range(i + 1, 3)],
            dtype=object), {"p": p}, ulps=64)
    far = pattern(2, 4, salt=5) * 0.9375 + 1 / 1024  # no two differences are equal
    for p in (2.0, 1.0, 3.0, 0.5, INFS):
        s("cdist", [a, far],
          lambda x, y, p: np.array([[p_norm(list(u - v), p) for v in y] for u in x], dtype=object), {"p": p}, ulps=256)
    def triplet(x, y, z, reduction):
        away = lambda p, q: p_norm(list(p - q + V(1e-6)))  # noqa: E731
        return np.array([hinge(away(p, q) - away(p, r) + 1) for p, q, r in zip(x, y, z)], dtype=object)
    # The gradients of small operands are differences of equal directions.
    for sizes, grad in (([3, 4, 5], True), ([0, 1, 2], False)):
        s("triplet_margin_loss", [a, b, pattern(3, 4, salt=9)], triplet, {"reduction": "none"}, scales=sizes, grad=grad, ulps=64)


def cases(family):
    s = Scaled(family)
    pairs(s)
    classes(s)
    distances(s)
