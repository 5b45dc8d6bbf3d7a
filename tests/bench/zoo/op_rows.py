"""The rows that tests/bench/zoo/ops times. An elementwise op follows from its record; the ops below have rows of their own for a
number n of elements; of any other op the first example of its record is timed, which is small.

A row: inputs (kind, shape, low, high; no gradient is computed for the kind "given"), positional arguments behind them, and
parameters by PyTorch's names, whose dims count from 0."""
import math


def real(*shape, low=0.0, high=1.0):
    return ("real", [max(1, int(x)) for x in shape], low, high)


def ids(*shape, high):
    return ("index", [max(1, int(x)) for x in shape], 0, high)


def boolean(*shape):
    return ("boolean", list(shape), 0, 1)


def definite(n):
    """A symmetric, positive definite matrix."""
    return ("definite", [n, n], 0, 1)


def row(inputs, args=(), **params):
    return {"inputs": inputs, "args": list(args), "params": params}


def rows_of(n):
    """name -> rows, as a list of (variant, row)."""
    r = 1 << (n.bit_length() - 1) // 2
    c = n // r
    side = max(8, int(math.sqrt(n / 16)))
    small = max(4, side // 4)
    ch = 32
    px = max(4, int(math.sqrt(n / 1024)))
    x, near_one = real(r, c), real(r, c, low=0.9995, high=1.0005)
    image, line = real(2, ch, px, px), real(2, ch, px * px)
    square, third = real(side, side), max(4, int(math.sqrt(n) / 4))
    table = {}

    def add(name, inputs, *args, variant="", **params):
        table.setdefault(name, []).append((variant, row(inputs, args, **params)))

    for name in ("zeros", "ones", "rand", "randn"):
        add(name, [], [n])
    add("full", [], [n], 0.5)
    add("randint", [], 0, 100, [n])
    add("randperm", [], n)
    add("arange", [], n)
    add("linspace", [], 0.0, 1.0, n)
    add("eye", [], r, c)
    for name in ("zeros_like", "ones_like", "rand_like", "randn_like", "clone", "ravel", "fliplr", "flipud", "tril", "triu",
                 "bernoulli", "poisson", "count_nonzero", "nansum", "nanmean", "nanmedian", "unique", "std_mean", "var_mean",
                 "aminmax", "msort", "positive", "sgn", "isreal", "trace", "corrcoef"):
        add(name, [x])
    add("full_like", [x], 0.5)
    for name in ("cat", "stack"):
        add(name, [x, x], dim=0, variant="dim 1")
        add(name, [x, x], dim=1, variant="dim 2")
    add("hstack", [x, x])
    add("vstack", [x, x])
    add("flip", [x], dims=[0])
    add("roll", [x], shifts=[5, 7], dims=[0, 1])
    add("rot90", [x])
    add("tile", [x], [1, 2])
    add("repeat_interleave", [x], 2, dim=1)
    add("pad", [x], [1, 1, 1, 1])
    for name in ("sum", "mean", "prod", "var", "std", "amax", "amin", "any", "all", "norm", "max", "min", "argmax", "argmin"):
        operand = boolean(r, c) if name in ("any", "all") else near_one
        add(name, [operand])
        for dim in (0, 1):
            add(name, [operand], dim=dim, variant=f"dim {dim + 1}", **({"p": 2} if name == "norm" else {}))
    for name in ("cumsum", "cumprod", "sort", "argsort", "median", "softmax", "log_softmax", "logsumexp", "softmin", "normalize",
                 "mode", "diff"):
        for dim in (0, 1):
            add(name, [near_one], dim=dim, variant=f"dim {dim + 1}")
    add("topk", [x], 8, dim=1)
    add("quantile", [x], 0.5, dim=1)
    add("histc", [x], bins=100)
    add("bucketize", [x, ("sorted", [100], 0, 1)])
    add("isin", [x, real(64)])
    add("isclose", [x, x])
    add("vector_norm", [x])
    add("linalg.vector_norm", [x])
    add("linalg.matrix_norm", [x])
    add("dist", [x, x])
    add("complex", [x, x])
    add("polar", [x, x])
    add("layer_norm", [x, None], normalized_shape=[c])
    add("layer_norm", [x, None, real(c), real(c)], normalized_shape=[c], variant="affine")
    add("rms_norm", [x, None, real(c)], normalized_shape=[c])
    add("batch_norm", [image, None, None, real(ch), real(ch)], training=True)
    add("group_norm", [image], 8)
    add("instance_norm", [image])
    heads = real(1, max(1, n // 32768), 128, 64)
    add("scaled_dot_product_attention", [heads, heads, heads])
    for name in ("matmul", "mm", "linalg.matmul", "inner", "linear"):
        add(name, [square, square])
    add("addmm", [square, square, square])
    batch = real(16, small, small)
    add("bmm", [batch, batch])
    add("baddbmm", [batch, batch, batch])
    add("addbmm", [real(small, small), batch, batch])
    add("outer", [real(r), real(c)])
    add("addr", [x, real(r), real(c)])
    add("mv", [x, real(c)])
    add("addmv", [real(r), x, real(c)])
    add("dot", [real(n), real(n)])
    add("vdot", [real(n), real(n)])
    add("linalg.vecdot", [x, x])
    add("tensordot", [square, square], 1)
    add("kron", [real(small, small), real(8, 8)])
    add("cdist", [real(side, 32), real(side, 32)])
    add("bilinear", [real(side, 16), real(side, 16), real(16, 16, 16)])
    add("glu", [x])
    add("prelu", [real(r, c, low=-1), real(c)])
    add("conv2d", [image, real(ch, ch, 3, 3)], padding=1, variant="3 x 3")
    add("conv2d", [image, real(ch, ch, 1, 1)], variant="1 x 1")
    add("conv2d", [image, real(ch, 1, 3, 3)], padding=1, groups=ch, variant="depthwise")
    add("conv_transpose2d", [image, real(ch, ch, 4, 4)], stride=2, padding=1)
    add("conv1d", [line, real(ch, ch, 5)], padding=2)
    add("conv_transpose1d", [line, real(ch, ch, 4)], stride=2, padding=1)
    volume = real(1, ch, 4, px, px)
    add("conv3d", [volume, real(ch, ch, 3, 3, 3)], padding=1)
    add("conv_transpose3d", [volume, real(ch, ch, 2, 2, 2)], stride=2)
    for name in ("max_pool2d", "avg_pool2d"):
        add(name, [image], 2, variant="2 x 2")
        add(name, [image], 3, stride=2, padding=1, variant="3 x 3 by 2")
    add("max_pool1d", [line], 2)
    add("avg_pool1d", [line], 2)
    for name in ("adaptive_avg_pool2d", "adaptive_max_pool2d"):
        add(name, [image], 1, variant="to 1")
        add(name, [image], 3, variant="to 3")
    add("adaptive_avg_pool1d", [line], 1)
    for mode in ("nearest", "bilinear"):
        add("interpolate", [image], scale_factor=2, mode=mode, variant=mode)
    add("grid_sample", [image, real(2, px, px, 2, low=-1)], align_corners=False)
    index = ids(r, high=r)
    add("index_select", [x, None, index], dim=0)
    add("index_add", [x, None, index, x], dim=0)
    add("index_copy", [x, None, ("permutation", [r], 0, 1), x], dim=0)
    add("index_fill", [x, None, index, None], dim=0, value=0.5)
    add("gather", [x, None, ids(r, c, high=r)], dim=0)
    add("scatter", [x, None, ids(r, c, high=r), x], dim=0)
    add("scatter_add", [x, None, ids(r, c, high=r), x], dim=0)
    add("take", [x, ids(n, high=n)])
    add("take_along_dim", [x, ids(r, c, high=r)], dim=0)
    add("embedding", [ids(r, high=r), x])
    add("masked_fill", [x, boolean(r, c)], 0.5)
    add("masked_select", [x, boolean(r, c)])
    add("nonzero", [boolean(r, c)])
    add("one_hot", [ids(r, high=c)], c)
    add("multinomial", [x], 4, replacement=True)
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div", "binary_cross_entropy",
                 "binary_cross_entropy_with_logits", "cosine_similarity", "pairwise_distance", "soft_margin_loss",
                 "poisson_nll_loss"):
        add(name, [real(r, c, low=0.1, high=0.9), ("given", [r, c], 0.1, 0.9)],
            **({"reduction": "batchmean"} if name == "kl_div" else {}))
    add("gaussian_nll_loss", [x, x, real(r, c, low=0.5)])
    add("triplet_margin_loss", [x, x, x])
    for name in ("cross_entropy", "nll_loss"):
        add(name, [x, ids(r, high=c)])
    for name in ("dropout", "alpha_dropout"):
        add(name, [x], 0.5, True)
    add("dropout1d", [line], 0.5)
    add("dropout2d", [image], 0.5)
    add("dropout3d", [volume], 0.5)
    for name in ("feature_dropout", "feature_alpha_dropout"):
        add(name, [image], 0.5, True)
    add("slice_scatter", [x, x], dim=0, step=1)
    add("im2col", [image], kernel_size=3, padding=1)
    add("col2im", [real(2, 4 * ch, (px // 2) ** 2)], output_size=[px // 2 * 2] * 2, kernel_size=2, stride=2)
    for name in ("fft.rfft", "fft.rfft2", "fft.rfftn", "fft.fftshift", "fft.ifftshift", "fft.ihfft"):
        add(name, [x])
    for name in ("fft.fft", "fft.ifft", "fft.irfft", "fft.hfft", "fft.fft2", "fft.ifft2", "fft.irfft2", "fft.fftn", "fft.ifftn",
                 "fft.irfftn", "angle"):
        add(name, [("complex", [r, c], 0, 1)])
    for name in ("linalg.inv", "inverse", "linalg.det", "det", "linalg.slogdet", "slogdet", "logdet", "linalg.cholesky",
                 "cholesky", "linalg.lu_factor", "linalg.qr", "qr", "linalg.svdvals", "linalg.pinv", "linalg.eigvalsh",
                 "linalg.eigh", "linalg.matrix_exp", "matrix_exp", "linalg.svd", "linalg.cond", "linalg.eigvals",
                 "linalg.matrix_rank", "linalg.lu"):
        add(name, [definite(third // 2 if "eigvals" == name[-7:] or "exp" in name else third)])
    add("linalg.solve", [definite(third), real(third, third)])
    add("linalg.lstsq", [real(2 * third, third), real(2 * third, 4)])
    add("cholesky_solve", [real(third, 4), definite(third)])
    add("trapezoid", [x])
    add("cross", [real(r, 3), real(r, 3)], dim=1)
    add("linalg.cross", [real(r, 3), real(r, 3)], dim=1)
    add("einsum", ["ij,kj->ik", square, square])
    sign = ("sign", [r], 0, 1)
    add("cosine_embedding_loss", [x, x, sign])
    add("margin_ranking_loss", [real(n), real(n), ("sign", [n], 0, 1)])
    add("hinge_embedding_loss", [real(n), ("sign", [n], 0, 1)])
    add("diag", [real(r)])
    sequence, width = real(16, max(1, n // 1024), 64), [64, 64]
    for name, module in (("rnn_tanh", "RNN"), ("rnn_relu", "RNN"), ("lstm", "LSTM"), ("gru", "GRU")):
        options = {"nonlinearity": name[4:]} if module == "RNN" else {}
        table[name] = [("module", row([sequence], width, **options) | {"module": module})]
        table[name + "_cell"] = [("module", row([real(n // 64, 64)], width, **options) | {"module": module + "Cell"})]
    return table


def ordered(record, example):
    """The operands of an example at their places among the arguments, and its parameters."""
    inputs = {x["name"]: None if x["kind"] == "absent" else (x["kind"], x["shape"], x["low"], x["high"]) for x in example["inputs"]}
    if "tensors" in inputs or any(name not in record["arguments"] for name in inputs):
        return [(x["kind"], x["shape"], x["low"], x["high"]) for x in example["inputs"]]
    last = max((record["arguments"].index(name) for name in inputs), default=-1)
    return [inputs.get(name) for name in record["arguments"][:last + 1]]


def from_example(record):
    """A row from the first example that is a valid call, or None."""
    for example in record["examples"]:
        if "error" not in example:
            return row(ordered(record, example), **example["params"])
    return None


def elementwise(record, n):
    """The row of an elementwise op, whose operands all have n elements."""
    example = record["examples"][0]
    r = 1 << (n.bit_length() - 1) // 2
    inputs = [{**x, "shape": [r, n // r]} for x in example["inputs"]]
    return row(ordered(record, {"inputs": inputs}), **example["params"])
