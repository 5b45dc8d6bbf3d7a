"""More calls of random programs, each rarer than the calls of calls.py, which they extend."""
import torch
import torch.nn.functional as F

from calls import above, away, call, index_of, indices, numbers

def of_shape(*fits):
    return lambda t: t.numel() > 0 and all(f(t) for f in fits)


@call(4)
def rarer(r, pick):
    kind = r.choice(["glu", "threshold", "roll", "pad", "tensordot", "addmm", "baddbmm", "mv", "trace", "embedding", "scatter",
                     "take_along_dim", "bce", "kl_div", "interpolate", "batch_norm", "instance_norm", "im2col",
                     "conv_transpose1d", "conv_transpose2d", "diag", "hstack", "vstack", "nll", "var", "masked_select"])
    F_ = "lg.nn.functional."
    a, x = pick(where=of_shape(lambda t: t.dim() >= 1))
    if a is None:
        return None
    d = r.randrange(x.dim())
    size = x.shape[d]
    if kind == "glu" and size % 2 == 0:
        return f"lg.glu({a}, {d + 1})", lambda v: F.glu(v[a], d)
    if kind == "threshold" and away(x, .3):
        return f"lg.threshold({a}, 0.3, -2)", lambda v: F.threshold(v[a], .3, -2)
    if kind == "roll":
        n = r.randint(-3, 3)
        return f"lg.roll({a}, {n}, {d + 1})", lambda v: torch.roll(v[a], n, d)
    if kind == "var" and size > 1:
        return f"lg.var({a}, {d + 1}, {{unbiased = false}})", lambda v: torch.var(v[a], d, False)
    if kind == "trace" and x.dim() == 2 and x.shape[0] <= x.shape[1]:  # PyTorch 1.13 differentiates tall ones wrongly
        return f"lg.trace({a})", lambda v: torch.trace(v[a])
    if kind == "diag" and x.dim() <= 2:
        k = r.randint(-1, 1) if x.dim() == 1 else 0
        return f"lg.diag({a}, {k})", lambda v: torch.diag(v[a], k)
    if kind == "masked_select" and away(x, .1) and x.is_contiguous():  # PyTorch 1.13 differentiates others wrongly
        return f"lg.masked_select({a}, lg.gt({a}, 0.1))", lambda v: torch.masked_select(v[a], v[a] > .1)
    if kind in ("hstack", "vstack"):
        return f"lg.{kind}({{{a}, {a}}})", lambda v: getattr(torch, kind)([v[a], v[a]])
    if kind == "pad" and x.dim() == 3 and x.shape[2] > 2:
        mode = r.choice(["reflect", "replicate"])
        w = [r.randint(0, 2), r.randint(0, 2)]
        return f"lg.pad({a}, {numbers(w)}, '{mode}')", lambda v: F.pad(v[a], w, mode)
    if kind in ("scatter", "take_along_dim"):
        i = index_of(r, x.numel(), size)
        place = torch.tensor(i).reshape(x.shape)
        lua = f"{indices(i)}:reshape({numbers(x.shape)})"
        if kind == "scatter":
            c = round(r.uniform(-2, 2), 2)
            return f"lg.scatter({a}, {d + 1}, {lua}, {c})", lambda v: v[a].scatter(d, place, c)
        return f"lg.take_along_dim({a}, {lua}, {d + 1})", lambda v: torch.take_along_dim(v[a], place, d)
    if kind == "embedding" and x.dim() == 2:
        i = index_of(r, r.randint(1, 5), x.shape[0])
        return f"{F_}embedding({indices(i)}, {a})", lambda v: F.embedding(torch.tensor(i), v[a])
    if kind == "nll" and x.dim() == 2:
        i = index_of(r, x.shape[0], x.shape[1])
        return f"{F_}nll_loss({a}, {indices(i)})", lambda v: F.nll_loss(v[a], torch.tensor(i))
    if kind == "im2col" and x.dim() == 4 and min(x.shape[2:]) >= 2:
        return f"lg.im2col({a}, {{2}})", lambda v: F.unfold(v[a], 2)
    if kind == "interpolate" and x.dim() == 4:
        mode = r.choice(["nearest", "bilinear"])
        return (f"{F_}interpolate({a}, {{scale_factor = 2, mode = '{mode}'}})",
                lambda v: F.interpolate(v[a], scale_factor=2, mode=mode))
    if kind in ("batch_norm", "instance_norm") and x.dim() >= 3:
        rest = list(range(2, x.dim())) + ([0] if kind == "batch_norm" else [])
        if not above(x.var(rest, unbiased=False), 1e-2):
            return None
        if kind == "instance_norm":
            return f"{F_}instance_norm({a})", lambda v: F.instance_norm(v[a])
        return f"{F_}batch_norm({a}, nil, nil, nil, nil, true)", lambda v: F.batch_norm(v[a], None, None, training=True)
    if kind in ("bce", "kl_div"):
        b, y = pick(shape=x.shape)
        if kind == "bce":
            return (f"{F_}binary_cross_entropy_with_logits({a}, lg.sigmoid({b}))",
                    lambda v: F.binary_cross_entropy_with_logits(v[a], torch.sigmoid(v[b])))
        return (f"{F_}kl_div(lg.log_softmax({a}, -1), lg.softmax({b}, -1), 'batchmean')",
                lambda v: F.kl_div(torch.log_softmax(v[a], -1), torch.softmax(v[b], -1), reduction="batchmean"))
    if kind == "tensordot" and x.dim() >= 2:
        b, y = pick(where=lambda t: t.dim() >= 1 and t.shape[0] == x.shape[-1])
        if b:
            return f"lg.tensordot({a}, {b}, 1)", lambda v: torch.tensordot(v[a], v[b], 1)
    if kind == "mv" and x.dim() == 2:
        b, y = pick(where=lambda t: t.dim() == 1 and t.shape[0] == x.shape[1])
        if b:
            return f"lg.mv({a}, {b})", lambda v: torch.mv(v[a], v[b])
    if kind == "addmm" and x.dim() == 2:
        b, y = pick(where=lambda t: t.dim() == 2 and t.shape[0] == x.shape[1])
        c, z = pick(where=lambda t: t.dim() == 1 and b and t.shape[0] == y.shape[1])
        if b and c:
            return (f"lg.addmm({c}, {a}, {b}, {{beta = 0.5, alpha = 1.5}})",
                    lambda v: torch.addmm(v[c], v[a], v[b], beta=.5, alpha=1.5))
    if kind == "baddbmm" and x.dim() == 3:
        b, y = pick(where=lambda t: t.dim() == 3 and t.shape[0] == x.shape[0] and t.shape[1] == x.shape[2])
        if b:
            return (f"lg.baddbmm(lg.bmm({a}, {b}), {a}, {b})",
                    lambda v: torch.baddbmm(torch.bmm(v[a], v[b]), v[a], v[b]))
    if kind.startswith("conv_transpose") and x.dim() == (4 if kind.endswith("2d") else 3):
        b, y = pick(where=lambda t: t.dim() == x.dim() and t.numel() > 0 and t.shape[0] == x.shape[1])
        s = r.randint(1, 2)
        if b:
            return f"lg.{kind}({a}, {b}, nil, {{{s}}})", lambda v: getattr(F, kind)(v[a], v[b], None, s)
    return None
