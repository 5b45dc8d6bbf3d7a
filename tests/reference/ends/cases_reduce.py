"""Reductions, running sums, order and counts."""
import numpy as np
from mpmath import mp, mpf
from generate_ends import Operand
from ends.number import INF, NAN, V, absolute, each, exp, lift, log, maximum, power, sqrt
from ends.scaled import Scaled, along, pattern, scalar, whole_numbers


def total(row):
    y = V(0)
    for x in row:
        y = y + x
    return y


def product(row):
    y = V(1)
    for x in row:
        y = y * x
    return y


def mean(row):
    return total(row) / len(row)


def variance(row, correction=1):
    m = mean(row)
    return total([(x - m) * (x - m) for x in row]) / max(len(row) - correction, 0)


def root(x):
    """The square root, whose gradient at 0 is 0."""
    return V(0, ((x, mpf(0)),)) if x.v == 0 else sqrt(x)


def p_norm(row, p=2.0):
    if p == 0:
        return V(sum(x.v != 0 for x in row))
    sizes = [absolute(x) for x in row]
    if abs(p) == INF:
        y = extreme(sizes, p > 0)[0]
        return y
    if all(x.v == 0 for x in row):
        return V(0 if p > 0 else INF if p < 0 else 0, tuple((x, mpf(0)) for x in row))
    return power(total([power(x, V(p)) for x in sizes]), V(1) / V(p))


def extreme(row, largest=True):
    """The element and its place; NaN wins; of equal ones the first."""
    best = 0
    for i, x in enumerate(row):
        b = row[best]
        if b.v != b.v:
            break
        if x.v != x.v or (x.v > b.v if largest else x.v < b.v):
            best = i
    return row[best] + V(-0.0), best


def shared_extreme(row, largest=True):
    best = extreme(row, largest)[0]
    equal = [x for x in row if x.v == best.v]
    return V(best.v, tuple((x, mpf(1) / len(equal)) for x in equal))


def lse(row):
    top = max((x.v for x in row), default=-INF) if all(x.v == x.v for x in row) else NAN
    if top != top or mp.isinf(top):
        share = mpf(0) if top == INF else NAN
        return V(top, tuple((x, NAN if x.v == top else share) for x in row))
    return log(total([exp(x) for x in row]))


def order(row, descending=False):
    """Places in order; NaN is the largest."""
    key = lambda i: (row[i].v != row[i].v, row[i].v if row[i].v == row[i].v else mpf(0))  # noqa: E731
    if descending:
        return sorted(range(len(row)),
            key=lambda i: (row[i].v == row[i].v, -row[i].v if row[i].v == row[i].v else mpf(0)))
    return sorted(range(len(row)), key=key)


def flat(f):
    return lambda x, **params: scalar(f(list(np.asarray(x, dtype=object).reshape(-1))))


def rows(f):
    return lambda x, dim=-1, keepdim=False, **params: along(lambda row: f(row, **params), x, dim, keepdim)


def running(f):
    """f of each beginning of a row."""
    return lambda x, dim=-1, **params: along(lambda row: [f(row[:i + 1]) for i in range(len(row))], x, dim)


def two(f):
    """Both results of f for each row."""
    return lambda x, dim=-1, **params: (along(lambda row: f(row, **params)[0], x, dim),
                                        along(lambda row: f(row, **params)[1], x, dim))


INDEX = ("*", "i64")
NANS, INFS = np.nan, np.inf
ODD = np.array([[1.0, -0.0, 0.0, -INFS, INFS, 3e38], [1e-42, -1e-42, 0, 1e-38, -3e38, 2], [1, NANS, 2, INFS, -INFS, 0]])


def cases(family):
    s = Scaled(family)
    sums(s)
    scans(s)
    orders(s)
    counts(s)


def sums(s):
    x = pattern(3, 5)
    for op, f in (("sum", total), ("mean", mean), ("amax", shared_extreme),
        ("amin", lambda r: shared_extreme(r, False)),
                  ("nansum", total), ("nanmean", mean)):
        s(op, [x], flat(f))
        s(op, [x], lambda v, dim, f=f: along(f, v, dim[0]), {"dim": [1]}, scales=[0, 5])
    for op, f in (("max", extreme), ("min", lambda r: extreme(r, False))):
        s(op, [x], flat(lambda r, f=f: f(r)[0]), scales=[0, 5])
        s(op, [x], lambda v, dim, f=f: (along(lambda r: f(r)[0], v, dim), along(lambda r: V(f(r)[1]), v, dim)),
            {"dim": 1},
          scales=[0, 5], outputs=INDEX)
        s.plain(op, [ODD], lambda v, dim, f=f: (along(lambda r: f(r)[0], v, dim), along(lambda r: V(f(r)[1]), v, dim)),
            {"dim": 1},
                grad=False, outputs=INDEX)
        s.plain("arg" + op, [ODD], lambda v, dim, f=f: along(lambda r: V(f(r)[1]), v, dim), {"dim": 1}, grad=False,
            outputs="i64")
    s("aminmax", [x],
        lambda v, dim: (along(lambda r: extreme(r, False)[0], v, dim), along(lambda r: extreme(r)[0], v, dim)),
        {"dim": 1},
      scales=[0, 5])
    s("prod", [pattern(2, 4)], flat(product), scales=[0, 2, 3, 4])
    far = np.array([[1e20, 1e-20, 1e20, 1e-20], [1e38, 1e-38, 2, 3], [1e-38, 1e38, 0, 2]])
    s.plain("prod", [far], lambda v, dim: along(product, v, dim[0]), {"dim": [1]})
    # A mean whose sum is too large for the type.
    for dtype, top in (("f32", 3e38), ("f64", 1.5e308)):
        big = np.array([[top, top, -top / 4], [top, top / 2, top]])
        s.family.case("mean", dtype, [big], lambda v, dim: along(mean, v, dim[0]), {"dim": [1]})
        s.family.case("nanmean", dtype, [big], lambda v, dim: along(mean, v, dim[0]), {"dim": [1]})
    s.plain("sum", [np.array([[1e20, 1, -1e20], [INFS, 1, 2], [-INFS, INFS, 1]])[1:]],
        lambda v, dim: along(total, v, dim[0]), {"dim": [1]})
    y = np.array([[1.0, 2.5, -1.5, 0.25], [3, 3.5, 4.25, 3.125]])
    for correction in (0, 1):
        for op, f in (("var", variance), ("std", lambda r, correction: root(variance(r, correction)))):
            s(op, [y], lambda v, dim, correction, f=f: along(lambda r: f(r, correction), v, dim[0]),
                {"dim": [1], "correction": correction})
        for op, f in (("var_mean", variance), ("std_mean", lambda r, correction: root(variance(r, correction)))):
            s(op, [y],
                lambda v, dim, correction, f=f: (along(lambda r: f(r, correction), v, dim[0]), along(mean, v, dim[0])),
              {"dim": [1], "correction": correction}, scales=[0, 2, 4])
    for p in (2.0, 1.0, 3.0, 20.0, 0.5, 0.0, -1.0, -3.0, INFS, -INFS):
        s("norm", [y], lambda v, p, dim: along(lambda r: p_norm(r, p), v, dim[0]), {"p": p, "dim": [1]}, ulps=64)
        s("vector_norm", [y], lambda v, ord: scalar(p_norm(list(v.reshape(-1)), ord)), {"ord": p}, scales=[2, 4],
            ulps=64)
        s("linalg.vector_norm", [y], lambda v, ord: scalar(p_norm(list(v.reshape(-1)), ord)), {"ord": p}, scales=[1],
            ulps=64)
    s("norm", [np.array([[0.005, 0.005]])], lambda v, p: scalar(p_norm(list(v.reshape(-1)), p)), {"p": 20.0}, ulps=64)
    s("dist", [y, y[::-1] * 0.5], lambda a, b, p: scalar(p_norm(list((a - b).reshape(-1)), p)), {"p": 3.0}, ulps=64)
    s("dist", [y, y[::-1] * 0.5], lambda a, b: scalar(p_norm(list((a - b).reshape(-1)))), ulps=64)
    s("logsumexp", [x], lambda v, dim: along(lse, v, dim[0]), {"dim": [1]})
    s.plain("logsumexp",
        [np.array([[-INFS, 0, 1], [-INFS, -INFS, -3e38], [INFS, 0, 1], [-INFS, -INFS, -INFS], [88.5, 88, 87],
        [-1e4, -1e4, -2e4]])],
            lambda v, dim: along(lse, v, dim[0]), {"dim": [1]})
    for op, f in (("all", lambda r: V(int(all(e.v != 0 for e in r)))),
        ("any", lambda r: V(int(any(e.v != 0 for e in r))))):
        s.plain(op, [ODD], lambda v, dim, f=f: along(f, v, dim[0]), {"dim": [1]}, grad=False, outputs="bool")
    s.plain("count_nonzero", [ODD], lambda v, dim: along(lambda r: V(sum(e.v != 0 for e in r)), v, dim[0]),
        {"dim": [1]}, grad=False, outputs="i64")
    s.plain("nansum", [np.array([[1, NANS, 3e38], [NANS, NANS, NANS], [INFS, 1, NANS]])],
            lambda v, dim: along(lambda r: total([e for e in r if e.v == e.v]), v, dim[0]), {"dim": [1]}, grad=False)
    s.plain("nanmean", [np.array([[1, NANS, 3e38], [NANS, NANS, NANS], [INFS, 1, NANS]])],
            lambda v, dim: along(lambda r: mean([e for e in r if e.v == e.v]) if any(e.v == e.v for e in r) else V(NAN),
            v, dim[0]),
            {"dim": [1]}, grad=False)
    # Deviations of one sign in both rows: a sum of products that overflow with both signs depends on its order.
    s("cov", [np.stack([y[0], 0.75 * y[0] + 0.125 * y[1]])], covariance, {"correction": 1})
    s("corrcoef", [y], correlation, ulps=64)
    for p in (1.0, 2.0, 3.0):
        s("renorm", [y], lambda v, p, dim, maxnorm: along(lambda r: limited(r, p, maxnorm), v, 1),
            {"p": p, "dim": 0, "maxnorm": 0.5}, ulps=64)


def limited(row, p, most):
    n = p_norm(row, p)
    return [x * (V(most) / n) for x in row] if n.v > most else [x + 0 for x in row]


def covariance(v, correction=1):
    centred = [[x - mean(list(row)) for x in row] for row in v]
    out = np.empty((len(v), len(v)), dtype=object)
    for i in range(len(v)):
        for j in range(len(v)):
            out[i, j] = total([a * b for a, b in zip(centred[i], centred[j])]) / (v.shape[1] - correction)
    return out


def correlation(v):
    c = covariance(v)
    out = np.empty(c.shape, dtype=object)
    for i, j in np.ndindex(*c.shape):
        out[i, j] = c[i, j] / (sqrt(c[i, i]) * sqrt(c[j, j]))
    return out


def scans(s):
    x = pattern(2, 5)
    s("cumsum", [x], running(total), {"dim": 1})
    s("cumprod", [x], running(product), {"dim": 1}, scales=[0, 2, 3, 4], whole=False)
    for op, largest in (("cummax", True), ("cummin", False)):
        def last(row, largest=largest):
            best = 0
            for i, e in enumerate(row):
                if row[best].v == row[best].v and (e.v != e.v or (e.v >= row[best].v if largest else e.v <= row[best].v)) or \
                        row[best].v != row[best].v and e.v != e.v:
                    best = i
            return row[best] + V(-0.0), V(best)
        s(op, [x], lambda v, dim, f=last: (along(lambda r: [f(r[:i + 1])[0] for i in range(len(r))], v, dim),
                                           along(lambda r: [f(r[:i + 1])[1] for i in range(len(r))], v, dim)),
                                           {"dim": 1}, outputs=INDEX,
          scales=[0, 5])
        s.plain(op, [ODD], lambda v, dim, f=last: (along(lambda r: [f(r[:i + 1])[0] for i in range(len(r))], v, dim),
                                                   along(lambda r: [f(r[:i + 1])[1] for i in range(len(r))], v, dim)),
                                                   {"dim": 1},
                outputs=INDEX, grad=False)
    s("logcumsumexp", [x], running(lse), {"dim": 1})
    s.plain("logcumsumexp",
        [np.array([[-INFS, 0, 1], [-INFS, -INFS, 2], [0, INFS, 1], [88.5, 88, 87], [-1e4, -1e4, 3e38]])], running(lse),
        {"dim": 1})
    s("diff", [x], lambda v: v[:, 1:] - v[:, :-1])
    s("trapezoid", [x], lambda v: along(lambda r: total([(a + b) * 0.5 for a, b in zip(r, r[1:])]), v))
    s("trapz", [x], lambda v: along(lambda r: total([(a + b) * 0.5 for a, b in zip(r, r[1:])]), v), scales=[0, 5])
    s("cumulative_trapezoid", [x],
        lambda v: along(lambda r: [total([(a + b) * 0.5 for a, b in zip(r[:i], r[1:i + 1])]) for i in range(1, len(r))],
        v))


def orders(s):
    def picked(row, places):
        return [row[i] + V(-0.0) for i in places], [V(i) for i in places]

    def sorted_by(f):
        return lambda v, dim=-1, **p: (along(lambda r: picked(r, f(r, **p))[0], v, dim),
            along(lambda r: picked(r, f(r, **p))[1], v, dim))
    for descending in (False, True):
        s.plain("sort", [ODD], sorted_by(lambda r, descending: order(r, descending)), {"descending": descending},
            outputs=INDEX, grad=False)
        s.plain("argsort", [ODD], lambda v, descending: along(lambda r: [V(i) for i in order(r, descending)], v),
            {"descending": descending},
                outputs="i64", grad=False)
    s("sort", [pattern(2, 5)], sorted_by(order), outputs=INDEX, scales=[0, 5])
    s.plain("msort", [ODD.T], lambda v: along(lambda r: [r[i] for i in order(r)], v, 0), grad=False)
    plain = ODD[:2]  # several NaN or zeros have no order among topk's results
    s.plain("topk", [plain[1:]], sorted_by(lambda r, k: order(r, True)[:k]), {"k": 3}, outputs=INDEX)
    s.plain("kthvalue", [plain[1:]], two(lambda r, k: (r[order(r)[k - 1]] + 0, V(order(r)[k - 1]))), {"k": 2, "dim": 1},
        outputs=INDEX)
    middle = lambda r: order(r)[(len(r) - 1) // 2]  # noqa: E731
    nan_first = lambda r: next((i for i, e in enumerate(r) if e.v != e.v), None)  # noqa: E731
    s.plain("median", [np.delete(ODD, 1, 1)],
        two(lambda r: (r[middle(r)] + 0, V(middle(r))) if nan_first(r) is None else
                                                  (r[nan_first(r)] + 0, V(nan_first(r)))), {"dim": 1}, outputs=INDEX,
                                                  grad=False)
    def nan_middle(r):
        places = [i for i in order(r) if r[i].v == r[i].v]
        return places[(len(places) - 1) // 2]
    s.plain("nanmedian", [np.delete(ODD, 1, 1)], two(lambda r: (r[nan_middle(r)] + 0, V(nan_middle(r)))), {"dim": 1},
        outputs=INDEX, grad=False)
    s.plain("mode", [np.array([[INFS, 1, INFS, 1, INFS], [-INFS, 3e38, 3e38, 0, 1]])],
            two(lambda r: max(((e, V(i)) for i, e in enumerate(r)),
            key=lambda t: (sum(o.v == t[0].v for o in r), -t[0].v, t[1].v))),
            {"dim": 1}, outputs=INDEX, grad=False)
    quantiles(s)


def quantiles(s):
    def value(row, q):
        if any(e.v != e.v for e in row):
            return V(NAN)
        row = [row[i] for i in order(row)]
        place = mpf(float(q.v)) * (len(row) - 1)
        low = int(mp.floor(place))
        high, weight = min(low + 1, len(row) - 1), place - int(mp.floor(place))
        if weight == 0 or row[low].v == row[high].v:
            return V(row[low].v, ((row[low], 1 - weight), (row[high], weight)))
        return row[low] * (1 - weight) + row[high] * weight
    for dtype, top in (("f32", 3e38), ("f64", 1.5e308)):
        for data in ([0, INFS], [-top, top], [-INFS, 1], [-top, top, 1, -top, 2], [1e-42, 3e-42],
            [-top, top, INFS, INFS, -INFS]):
            for op in ("quantile", "nanquantile"):
                # parts that both types hold exactly
                s.family.case(op, dtype, [np.array(data), Operand([0, 0.25, 0.5, 0.75, 1], constant=True)],
                              lambda v, q: np.array([value(list(v), e) for e in q], dtype=object), ulps=8, whole=False,
                              grad=np.isfinite(data).all())


def counts(s):
    x = np.array([3e38, -INFS, 0.0, -0.0, 1e-42, INFS, 1e-42, -INFS, 2, 2])
    def unique(v, **_):
        found = sorted({e.v for e in v})
        return np.array([V(e) for e in found], dtype=object)
    s.plain("unique", [x], unique, grad=False)
    s.plain("unique_consecutive", [np.array([INFS, INFS, 3e38, 0.0, -0.0, -INFS, -INFS])],
            lambda v: np.array([V(e) for e in (INF, 3e38, 0, -INF)], dtype=object) if v[2].v == 3e38 else
            np.array([V(INF), V(v[2].v), V(0), V(-INF)], dtype=object), grad=False)
    s.plain("isin", [x, np.array([0.0, INFS, 1e-42])],
        lambda v, t: np.array([V(int(any(e.v == o.v for o in t))) for e in v], dtype=object),
            grad=False, outputs="bool")
    edges = np.array([-INFS, -3e38, -1e-42, 0, 1e-42, 3e38, INFS])
    probe = np.array([-INFS, -3.3e38, -0.0, 1e-41, 3.3e38, INFS, 1])
    for right in (False, True):
        def places(b, v, right=right):
            return np.array([V(sum(e.v < o.v or right and e.v == o.v for e in b)) for o in v], dtype=object)
        s.plain("searchsorted", [edges, probe], lambda b, v, right: places(b, v), {"right": right}, grad=False,
            outputs="i64")
        s.plain("bucketize", [probe, edges], lambda v, b, right: places(b, v), {"right": right}, grad=False,
            outputs="i64")
    s("histc", [np.array([-1.0, -0.5, 0, 0.25, 0.75, 1])], lambda v, bins: whole_numbers([1, 1, 2, 2]), {"bins": 4},
        grad=False, scales=[2, 3, 4, 5])
    s.plain("bincount", [Operand([0, 3, 3, 1], "i64"), np.array([3e37, 1e-42, 1.5e-42, INFS])],
            lambda i, w: np.array([w[0] + 0, w[3] + 0, V(0), w[1] + w[2]], dtype=object), grad=False)
