"""The calls that random programs are made of: how each is written in Lua and what it is in PyTorch.

A call takes earlier values of the program and random numbers and returns (Lua text, PyTorch function), or None where the
values do not suit it: the wrong shape, equal elements where their order matters, arguments near a pole or a kink. Values are
called v1, v2, ... in Lua; positions count from 1 there and from 0 in PyTorch.
"""
import torch
import torch.nn.functional as F

CALLS = []


def call(weight=1):
    def add(function):
        CALLS.extend([function] * weight)
        return function
    return add


def numbers(values):
    return "{" + ", ".join(str(int(v)) for v in values) + "}"


def positions(dims):
    return numbers(d + 1 for d in dims)


def boolean(b):
    return "true" if b else "false"


def distinct(x):
    flat = x.detach().reshape(-1)
    if flat.numel() < 2:
        return True
    ordered = flat.sort()[0]
    return bool(((ordered[1:] - ordered[:-1]) > 1e-6).all())


def away(x, *points):
    return all(bool(((x.detach() - p).abs() > 1e-4).all()) for p in points)


def above(x, low):
    return bool((x.detach() > low).all())


def within(x, low, high):
    return bool(((x.detach() > low) & (x.detach() < high)).all())


def some_dim(r, x):
    return r.randrange(x.dim()) if x.dim() else None


# --- one operand ---

UNARY = {
    "neg": (torch.neg, None), "exp": (torch.exp, lambda x: within(x, -20, 3)), "log": (torch.log, lambda x: above(x, .05)),
    "sqrt": (torch.sqrt, lambda x: above(x, .05)), "rsqrt": (torch.rsqrt, lambda x: above(x, .1)),
    "reciprocal": (torch.reciprocal, lambda x: bool((x.abs() > .2).all())), "sin": (torch.sin, None), "cos": (torch.cos, None),
    "tanh": (torch.tanh, None), "sigmoid": (torch.sigmoid, None), "square": (torch.square, None), "erf": (torch.erf, None),
    "atan": (torch.atan, None), "asinh": (torch.asinh, None), "abs": (torch.abs, lambda x: away(x, 0)),
    "sinh": (torch.sinh, lambda x: within(x, -3, 3)), "cosh": (torch.cosh, lambda x: within(x, -3, 3)),
    "expm1": (torch.expm1, lambda x: within(x, -20, 3)), "log1p": (torch.log1p, lambda x: above(x, -.8)),
    "log2": (torch.log2, lambda x: above(x, .05)), "exp2": (torch.exp2, lambda x: within(x, -20, 4)),
    "asin": (torch.asin, lambda x: within(x, -.9, .9)), "acos": (torch.acos, lambda x: within(x, -.9, .9)),
    "atanh": (torch.atanh, lambda x: within(x, -.9, .9)), "acosh": (torch.acosh, lambda x: above(x, 1.2)),
    "sinc": (torch.sinc, lambda x: away(x, 0)), "frac": (torch.frac, lambda x: away(x - x.round(), 0)),
    "relu": (torch.relu, lambda x: away(x, 0)), "silu": (F.silu, None), "mish": (F.mish, None), "gelu": (F.gelu, None),
    "softplus": (F.softplus, None), "softsign": (F.softsign, lambda x: away(x, 0)), "logsigmoid": (F.logsigmoid, None),
    "elu": (F.elu, lambda x: away(x, 0)), "selu": (F.selu, lambda x: away(x, 0)), "celu": (F.celu, lambda x: away(x, 0)),
    "tanhshrink": (F.tanhshrink, None), "relu6": (F.relu6, lambda x: away(x, 0, 6)),
    "hardtanh": (F.hardtanh, lambda x: away(x, -1, 1)), "hardswish": (F.hardswish, lambda x: away(x, -3, 3)),
    "hardsigmoid": (F.hardsigmoid, lambda x: away(x, -3, 3)), "leaky_relu": (F.leaky_relu, lambda x: away(x, 0)),
}


@call(10)
def unary(r, pick):
    a, x = pick()
    name = r.choice(sorted(UNARY))
    function, suits = UNARY[name]
    if suits and not suits(x):
        return None
    return f"lg.{name}({a})", lambda v: function(v[a])


@call(3)
def with_number(r, pick):
    a, x = pick()
    c = round(r.uniform(-2.5, 2.5), r.choice([0, 1, 3])) or 1.5
    form = r.choice(["{0} + {1}", "{1} - {0}", "{0} * {1}", "{0} / {1}", "{1} / {0}", "{0} ^ {1}", "{1} ^ {0}"])
    if form == "{1} / {0}" and not (x.abs() > .2).all():
        return None
    if form == "{0} ^ {1}" and not above(x, .1):
        return None
    if form == "{1} ^ {0}":
        c = abs(c)
        if not within(x, -4, 4):
            return None
    text = form.format(a, f"({c})")
    python = form.format("x", f"({c})").replace("^", "**")
    return text, lambda v: eval(python, {"x": v[a]})


@call(2)
def with_number_operand(r, pick):
    a, x = pick()
    b, y = pick(shape=x.shape)
    c = round(r.uniform(-2, 2), 2)
    kind = r.randrange(5)
    if kind == 0 and b:
        return f"lg.lerp({a}, {b}, {c})", lambda v: torch.lerp(v[a], v[b], c)
    if kind == 1 and away(x, c):
        return f"lg.clamp({a}, {c}, {c + 1})" if away(x, c + 1) else None, lambda v: torch.clamp(v[a], c, c + 1)
    if kind == 2 and away(x, 0) and (x.abs() + abs(c) > .3).all():
        return f"lg.atan2({a}, {c})", lambda v: torch.atan2(v[a], torch.tensor(c, dtype=v[a].dtype))
    if kind == 3 and b:
        return f"lg.add({a}, {b}, {{alpha = {c}}})", lambda v: torch.add(v[a], v[b], alpha=c)
    if kind == 4 and away(x, c):
        return f"lg.maximum({a}, {c})", lambda v: torch.maximum(v[a], torch.tensor(c, dtype=v[a].dtype))
    return None


@call(3)
def along(r, pick):
    a, x = pick()
    d = some_dim(r, x)
    if d is None:
        return None
    name = r.choice(["softmax", "log_softmax", "cumsum", "cumprod", "flip", "softmin", "logsumexp"])
    function = {"softmax": torch.softmax, "log_softmax": torch.log_softmax, "cumsum": torch.cumsum, "cumprod": torch.cumprod,
                "flip": lambda t, k: torch.flip(t, [k]), "softmin": F.softmin, "logsumexp": torch.logsumexp}[name]
    if name in ("softmax", "log_softmax", "softmin", "logsumexp") and x.numel() == 0:
        return None
    return f"lg.{name}({a}, {d + 1})", lambda v: function(v[a], d)


# --- two and three operands ---

@call(10)
def binary(r, pick):
    a, x = pick()
    b, y = pick(broadcast=x.shape)
    if b is None:
        return None
    name = r.choice(["add", "sub", "mul", "div", "maximum", "minimum", "atan2", "pow", "logaddexp"])
    if name == "div" and not (y.abs() > .2).all():
        return None
    if name in ("maximum", "minimum") and not away(x - y, 0):
        return None
    if name == "atan2" and not (away(x, 0) and (x.abs() + y.abs() > .2).all()):  # its cut
        return None
    if name == "pow" and not (within(x, .1, 10) and within(y, -3, 3)):
        return None
    return f"lg.{name}({a}, {b})", lambda v: getattr(torch, name)(v[a], v[b])


@call(2)
def ternary(r, pick):
    a, x = pick()
    b, y = pick(broadcast=x.shape)
    if b is None:
        return None
    c, z = pick(broadcast=torch.broadcast_shapes(x.shape, y.shape))
    if c is None:
        return None
    s = round(r.uniform(-2, 2), 1)
    kind = r.randrange(4)
    if kind == 0:
        return f"lg.addcmul({a}, {b}, {c}, {s})", lambda v: torch.addcmul(v[a], v[b], v[c], value=s)
    if kind == 1 and (z.abs() > .2).all():
        return f"lg.addcdiv({a}, {b}, {c}, {s})", lambda v: torch.addcdiv(v[a], v[b], v[c], value=s)
    if kind == 2 and z.shape == y.shape == x.shape and away(z.abs(), .5):
        return f"lg.lerp({a}, {b}, {c})", lambda v: torch.lerp(v[a], v[b], v[c])
    if kind == 3 and away(z, 0):
        return f"lg.where(lg.gt({c}, 0), {a}, {b})", lambda v: torch.where(v[c] > 0, v[a], v[b])
    return None


# --- reductions ---

@call(5)
def reduction(r, pick):
    a, x = pick()
    name = r.choice(["sum", "mean", "prod", "var", "std", "amax", "amin", "norm", "logsumexp"])
    some = x.dim() > 0 and r.random() < .8
    dims = sorted(r.sample(range(x.dim()), r.randint(1, x.dim()))) if some else []
    if name == "prod":
        dims = dims[:1]
    keep = bool(dims) and r.random() < .4
    count = 1
    for d in dims or range(x.dim()):
        count *= x.shape[d]
    if name in ("amax", "amin", "norm", "logsumexp", "mean") and (count == 0 or x.numel() == 0):
        return None
    if name in ("var", "std") and (count < 2 or x.numel() == 0):
        return None
    if name in ("amax", "amin") and not distinct(x):
        return None
    if name == "std" and not above(torch.var(x, dims or list(range(x.dim()))), 1e-3):
        return None
    python = dims or list(range(x.dim()))
    if name == "norm":
        p = r.choice([1, 2, 3])
        if not away(x, 0):
            return None
        if not dims:
            return f"lg.norm({a}, {p})", lambda v: torch.linalg.vector_norm(v[a], p)
        return (f"lg.norm({a}, {p}, {positions(dims)}, {boolean(keep)})",
                lambda v: torch.linalg.vector_norm(v[a], p, python, keep))
    if name == "logsumexp" and not python:
        return f"lg.logsumexp({a})", lambda v: torch.logsumexp(v[a], 0)
    if name == "prod":
        if not dims:
            return f"lg.prod({a})", lambda v: torch.prod(v[a])
        return (f"lg.prod({a}, {dims[0] + 1}, {boolean(keep)})", lambda v: torch.prod(v[a], dims[0], keep))
    if not dims:
        return f"lg.{name}({a})", lambda v: getattr(torch, name)(v[a]) if name != "logsumexp" else torch.logsumexp(v[a], python)
    if name in ("var", "std"):
        return (f"lg.{name}({a}, {positions(dims)}, {{keepdim = {boolean(keep)}}})",
                lambda v: getattr(torch, name)(v[a], python, True, keep))
    return (f"lg.{name}({a}, {positions(dims)}, {boolean(keep)})", lambda v: getattr(torch, name)(v[a], python, keepdim=keep))


@call()
def statistics(r, pick):
    a, x = pick()
    b, y = pick()
    if x.dim() > 2 or x.numel() == 0 or (x.shape[-1] if x.dim() else 1) < 2:
        return None
    if y.shape == x.shape and away(x - y, 0) and r.random() < 0.5:
        return f"lg.dist({a}, {b})", lambda v: torch.dist(v[a], v[b])
    return f"lg.cov({a})", lambda v: torch.cov(v[a])


@call()
def replaced(r, pick):
    a, x = pick()
    b, y = pick()
    d = some_dim(r, x)
    if d is None or x.shape[d] == 0 or x.shape[:d] + x.shape[d + 1:] != y.shape:
        return None
    i = r.randrange(x.shape[d])
    return f"lg.select_scatter({a}, {b}, {d + 1}, {i + 1})", lambda v: torch.select_scatter(v[a], v[b], d, i)


@call(2)
def picked(r, pick):
    a, x = pick()
    d = some_dim(r, x)
    if d is None or x.shape[d] == 0 or not distinct(x):
        return None
    name = r.choice(["max", "min", "median", "sort", "topk"])
    if name == "topk":
        k = r.randint(1, x.shape[d])
        return f"(lg.topk({a}, {k}, {d + 1}))", lambda v: torch.topk(v[a], k, d)[0]
    if name == "sort":
        down = r.random() < .5
        return f"(lg.sort({a}, {d + 1}, {boolean(down)}))", lambda v: torch.sort(v[a], d, down)[0]
    return f"(lg.{name}({a}, {d + 1}))", lambda v: getattr(torch, name)(v[a], d)[0]


# --- views ---

@call(8)
def view(r, pick):
    a, x = pick()
    n = x.dim()
    kind = r.choice(["transpose", "permute", "unsqueeze", "squeeze", "reshape", "expand", "narrow", "select", "slice",
                     "flatten", "unfold", "diagonal", "movedim", "chunk", "contiguous"])
    if kind == "unsqueeze" and n < 5:
        d = r.randint(0, n)
        return f"{a}:unsqueeze({d + 1})", lambda v: v[a].unsqueeze(d)
    if kind == "squeeze":
        return f"{a}:squeeze()", lambda v: v[a].squeeze()
    if kind == "contiguous":
        return f"{a}:contiguous()", lambda v: v[a].contiguous()
    if kind == "expand" and n < 5:
        size = [r.choice([1, 2, 3])] + [s if s != 1 else r.choice([1, 2, 4]) for s in x.shape]
        if x.numel() > 60:
            return None
        return f"{a}:expand({numbers(size)})", lambda v: v[a].expand(size)
    if n == 0:
        return None
    d, e = r.randrange(n), r.randrange(n)
    size = x.shape[d]
    if kind == "transpose":
        return f"{a}:transpose({d + 1}, {e + 1})", lambda v: v[a].transpose(d, e)
    if kind == "permute":
        order = list(range(n))
        r.shuffle(order)
        return f"{a}:permute({positions(order)})", lambda v: v[a].permute(order)
    if kind == "movedim":
        return f"{a}:movedim({d + 1}, {e + 1})", lambda v: v[a].movedim(d, e)
    if kind == "flatten":
        d, e = min(d, e), max(d, e)
        return f"{a}:flatten({d + 1}, {e + 1})", lambda v: v[a].flatten(d, e)
    if kind == "reshape" and x.numel():
        factors = [f for f in range(1, x.numel() + 1) if x.numel() % f == 0]
        f = r.choice(factors)
        return f"{a}:reshape({{{f}, -1}})", lambda v: v[a].reshape(f, -1)
    if kind == "narrow":
        start = r.randint(0, size)
        length = r.randint(0, size - start)
        if start == size and length == 0:
            start = max(0, size - 1) if size else 0
        return (f"{a}:narrow({d + 1}, {start + 1}, {length})" if size else None), lambda v: v[a].narrow(d, start, length)
    if kind == "select" and size:
        i = r.randrange(size)
        return f"{a}:select({d + 1}, {i + 1})", lambda v: v[a].select(d, i)
    if kind == "slice" and size:
        i, s = r.randrange(size), r.randint(1, 3)
        return f"{a}:slice({d + 1}, {i + 1}, {size}, {s})", lambda v: v[a][(slice(None),) * d + (slice(i, size, s),)]
    if kind == "unfold" and size and n < 5:
        w = r.randint(1, size)
        s = r.randint(1, 3)
        return f"{a}:unfold({d + 1}, {w}, {s})", lambda v: v[a].unfold(d, w, s)
    if kind == "diagonal" and n >= 2 and d != e:
        o = r.randint(-1, 1)
        return f"{a}:diagonal({o}, {d + 1}, {e + 1})", lambda v: torch.diagonal(v[a], o, d, e)
    if kind == "chunk" and size:
        c = r.randint(1, size)
        parts = len(x.chunk(c, d))
        i = r.randrange(parts)
        return f"{a}:chunk({c}, {d + 1})[{i + 1}]", lambda v: v[a].chunk(c, d)[i]
    return None


@call(3)
def joined(r, pick):
    a, x = pick()
    b, y = pick(shape=x.shape)
    kind = r.choice(["cat", "stack", "tile", "pad", "repeat_interleave", "tril", "triu", "roll"])
    if kind == "stack" and x.dim() < 5:
        d = r.randint(0, x.dim())
        return f"lg.stack({{{a}, {b}, {a}}}, {d + 1})", lambda v: torch.stack([v[a], v[b], v[a]], d)
    if x.dim() == 0:
        return None
    d = r.randrange(x.dim())
    if kind == "cat":
        return f"lg.cat({{{a}, {b}}}, {d + 1})", lambda v: torch.cat([v[a], v[b]], d)
    if kind == "tile":
        n = [r.randint(1, 2) for _ in x.shape]
        return f"lg.tile({a}, {numbers(n)})", lambda v: torch.tile(v[a], n)
    if kind == "pad":
        w = [r.randint(0, 2), r.randint(0, 2)]
        return f"lg.pad({a}, {numbers(w)})", lambda v: F.pad(v[a], w)
    if kind == "repeat_interleave":
        n = r.randint(1, 3)
        return f"lg.repeat_interleave({a}, {n}, {d + 1})", lambda v: torch.repeat_interleave(v[a], n, d)
    if kind in ("tril", "triu") and x.dim() >= 2:
        k = r.randint(-1, 2)
        return f"lg.{kind}({a}, {k})", lambda v: getattr(torch, kind)(v[a], k)
    return None


# --- products ---

@call(5)
def product(r, pick):
    a, x = pick(least=1)
    if a is None:
        return None
    n = x.shape[-1]
    b, y = pick(where=lambda t: t.dim() >= 1 and t.shape[-2 if t.dim() > 1 else 0] == n and t.dim() <= 4)
    if b is None:
        return None
    try:
        torch.matmul(x, y)
    except RuntimeError:
        return None
    if x.dim() == y.dim() == 2 and r.random() < .3:
        return f"lg.einsum('ij,jk->ki', {a}, {b})", lambda v: torch.einsum("ij,jk->ki", v[a], v[b])
    return f"lg.matmul({a}, {b})", lambda v: torch.matmul(v[a], v[b])


@call(2)
def product_of_two(r, pick):
    a, x = pick(where=lambda t: t.dim() in (1, 2, 3))
    if a is None:
        return None
    b, y = pick(where=lambda t: t.dim() == x.dim() and t.shape[-1] == x.shape[-1])
    if b is None:
        return None
    if x.dim() == 1:
        kind = r.choice(["dot", "outer"])
        return f"lg.{kind}({a}, {b})", lambda v: getattr(torch, kind)(v[a], v[b])
    if x.dim() == 2:
        return f"lg.nn.functional.linear({a}, {b})", lambda v: F.linear(v[a], v[b])
    return (f"lg.bmm({a}, {b}:transpose(2, 3))", lambda v: torch.bmm(v[a], v[b].transpose(1, 2))) \
        if x.shape[0] == y.shape[0] else None


# --- indices ---

def index_of(r, count, below):
    return [r.randrange(below) for _ in range(count)]


def indices(list_):
    return f"lg.tensor({numbers(list_)}, {{dtype = 'i64'}})" if list_ else "lg.zeros(0, {dtype = 'i64'})"


@call(4)
def indexed(r, pick):
    a, x = pick(least=1)
    if a is None:
        return None
    d = r.randrange(x.dim())
    size = x.shape[d]
    if size == 0:
        return None
    kind = r.choice(["index_select", "gather", "index_add", "scatter_add", "masked_fill", "index_fill", "index_copy"])
    count = r.randint(0, 4)
    if kind in ("index_select", "index_fill"):
        i = index_of(r, count, size)
        if kind == "index_fill":
            c = round(r.uniform(-2, 2), 2)
            return (f"lg.index_fill({a}, {d + 1}, {indices(i)}, {c})",
                    lambda v: v[a].index_fill(d, torch.tensor(i, dtype=torch.long), c))
        return f"lg.index_select({a}, {d + 1}, {indices(i)})", lambda v: v[a].index_select(d, torch.tensor(i, dtype=torch.long))
    if kind in ("gather", "scatter_add"):
        i = index_of(r, x.numel(), size)
        shape = list(x.shape)
        lua = f"{indices(i)}:reshape({numbers(shape)})"
        if x.numel() == 0:
            return None
        place = torch.tensor(i).reshape(shape)
        if kind == "gather":
            return f"lg.gather({a}, {d + 1}, {lua})", lambda v: v[a].gather(d, place)
        b, y = pick(shape=x.shape)
        return f"lg.scatter_add({a}, {d + 1}, {lua}, {b})", lambda v: v[a].scatter_add(d, place, v[b])
    if kind in ("index_add", "index_copy"):
        i = index_of(r, size, size)
        if kind == "index_copy":
            r.shuffle(i := list(range(size)))
        b, y = pick(shape=x.shape)
        return (f"lg.{kind}({a}, {d + 1}, {indices(i)}, {b})",
                lambda v: getattr(v[a], kind)(d, torch.tensor(i), v[b]))
    c = round(r.uniform(-2, 2), 2)
    if not away(x, 0):
        return None
    return f"lg.masked_fill({a}, lg.gt({a}, 0), {c})", lambda v: v[a].masked_fill(v[a] > 0, c)


# --- writes in place ---

@call(3)
def in_place(r, pick):
    a, x = pick()
    b, y = pick(shape=x.shape)
    name = r.choice(["mul_", "add_", "sub_", "copy_"])
    lua = f"(function() local t = {a}:clone() "
    if x.dim() and x.shape[0] and r.random() < .6:
        i = r.randrange(x.shape[0])
        lua += f"t[{i + 1}]:{name}({b}:select(1, {i + 1})) return t end)()"

        def run(v):
            t = v[a].clone()
            getattr(t[i], name)(v[b][i])
            return t
        return lua, run

    def whole(v):
        t = v[a].clone()
        getattr(t, name)(v[b])
        return t
    return lua + f"t:{name}({b}) return t end)()", whole


# --- networks ---

@call(4)
def network(r, pick):
    kind = r.choice(["layer_norm", "group_norm", "max_pool1d", "avg_pool1d", "max_pool2d", "avg_pool2d", "conv1d", "conv2d",
                     "adaptive_avg_pool1d", "normalize", "interpolate"])
    a, x = pick(where=lambda t: t.dim() >= 1 and t.numel() > 0)
    if a is None:
        return None
    if kind == "layer_norm":
        if x.shape[-1] < 2 or not above(x.var(-1, unbiased=False), 1e-2):
            return None
        n = [x.shape[-1]]
        return f"lg.layer_norm({a}, {numbers(n)})", lambda v: F.layer_norm(v[a], n)
    if kind == "normalize":
        d = r.randrange(x.dim())
        if not above(x.norm(dim=d), 1e-2):
            return None
        return f"lg.nn.functional.normalize({a}, 2, {d + 1})", lambda v: F.normalize(v[a], 2, d)
    if x.dim() < 3:
        return None
    if kind == "group_norm":
        if not above(x.reshape(x.shape[0], -1).var(-1, unbiased=False), 1e-2):
            return None
        return f"lg.group_norm({a}, 1)", lambda v: F.group_norm(v[a], 1)
    two = kind.endswith("2d")
    if x.dim() != (4 if two else 3) or min(x.shape[2:]) < 2:
        return None
    k, s, p = 2, r.randint(1, 2), r.randint(0, 1)
    if kind.startswith("max_pool"):
        if not distinct(x):
            return None
        return f"lg.{kind}({a}, {{{k}}}, {{{s}}}, {{{p}}})", lambda v: getattr(F, kind)(v[a], k, s, p)
    if kind.startswith("avg_pool"):
        return f"lg.{kind}({a}, {{{k}}}, {{{s}}}, {{{p}}})", lambda v: getattr(F, kind)(v[a], k, s, p)
    if kind == "adaptive_avg_pool1d":
        n = r.randint(1, 4)
        return f"lg.adaptive_avg_pool1d({a}, {{{n}}})", lambda v: F.adaptive_avg_pool1d(v[a], n)
    if kind.startswith("conv"):
        b, y = pick(where=lambda t: t.dim() == x.dim() and t.numel() > 0 and t.shape[1] == x.shape[1]
                    and all(i <= j + 2 * p for i, j in zip(t.shape[2:], x.shape[2:])))
        if b is None:
            return None
        return f"lg.{kind}({a}, {b}, nil, {{{s}}}, {{{p}}})", lambda v: getattr(F, kind)(v[a], v[b], None, s, p)
    return None


@call(2)
def loss(r, pick):
    a, x = pick(least=1)
    if a is None or x.numel() == 0:
        return None
    b, y = pick(shape=x.shape)
    kind = r.choice(["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "cross_entropy", "cosine_similarity"])
    if kind == "cross_entropy":
        if x.dim() != 2:
            return None
        i = index_of(r, x.shape[0], x.shape[1])
        return f"lg.cross_entropy({a}, {indices(i)})", lambda v: F.cross_entropy(v[a], torch.tensor(i))
    if a == b or not away(x - y, 0, 1, -1):
        return None
    if kind == "cosine_similarity":
        d = r.randrange(x.dim())
        if not (above(x.norm(dim=d), 1e-2) and above(y.norm(dim=d), 1e-2)):
            return None
        return (f"lg.nn.functional.cosine_similarity({a}, {b}, {d + 1})", lambda v: F.cosine_similarity(v[a], v[b], d))
    return f"lg.nn.functional.{kind}({a}, {b})", lambda v: getattr(F, kind)(v[a], v[b])
