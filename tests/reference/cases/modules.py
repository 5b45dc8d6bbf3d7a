"""The results and gradients of modules in training and in evaluation, and their state, as a Lua table. Inputs and parameters
are numbers of a formula that tests/lua/test_modules.lua repeats, in double precision."""
import torch
from torch import nn


def numbers(shape, seed):
    count = 1
    for size in shape:
        count *= size
    i = torch.arange(count)
    return (((i * 37 + 11 * seed + 5) % 61 * 2 - 60).double() / 40).reshape(shape)


class Ids:
    def __init__(self, values):
        self.values = values


IMAGE, VOLUME, LINE = (2, 4, 4, 5), (1, 2, 4, 3, 4), (2, 4, 6)
TINY = dict(nhead=2, dim_feedforward=5, dropout=0.0)


def layer(kind, **options):
    return ("layer", kind, dict(d_model=4, **TINY, **options))


# name, arguments, options, inputs (shapes, or Ids), and what differs from the defaults: modes, Lua's arguments, arguments of
# the call by name.
CASES = [
    *[(f"MaxPool{d}d", [2], dict(stride=1, padding=1), [s]) for d, s in ((1, LINE), (2, IMAGE), (3, VOLUME))],
    *[(f"MaxPool{d}d", [3], dict(dilation=1, return_indices=True, ceil_mode=True), [s])
      for d, s in ((1, LINE), (2, IMAGE), (3, VOLUME))],
    *[(f"AvgPool{d}d", [3], dict(stride=2, padding=1, ceil_mode=True, count_include_pad=False), [s])
      for d, s in ((1, LINE), (2, IMAGE), (3, VOLUME))],
    ("AvgPool3d", [2], dict(divisor_override=3), [(2, 4, 3, 4)]),
    *[(f"AdaptiveAvgPool{d}d", [3], {}, [s]) for d, s in ((1, LINE), (2, IMAGE), (3, VOLUME))],
    *[(f"AdaptiveMaxPool{d}d", [3], dict(return_indices=True), [s]) for d, s in ((1, LINE), (2, IMAGE), (3, VOLUME))],
    *[(f"LPPool{d}d", [2, 2], dict(stride=2), [s]) for d, s in ((1, LINE), (2, IMAGE))],
    ("MaxUnpool1d", [2], dict(stride=2), [(1, 2, 2), Ids([[[0, 3], [1, 2]]])]),
    ("MaxUnpool2d", [2], {}, [(1, 1, 1, 2), Ids([[[[5, 2]]]])]),
    ("MaxUnpool3d", [2], {}, [(1, 1, 1, 1, 2), Ids([[[[[5, 11]]]]])]),
    ("ConvTranspose3d", [2, 4, 2], dict(stride=2, output_padding=1, groups=2), [(1, 2, 2, 2, 2)]),
    *[(f"Conv{d}d", [2, 2, 3], dict(padding=1, padding_mode=m), [(1, 2, 4, 3, 4)[:d + 2]])
      for d, m in ((1, "circular"), (2, "reflect"), (3, "replicate"))],
    ("Conv2d", [2, 3, [2, 3]], dict(padding="same", padding_mode="reflect"), [(1, 2, 4, 4)]),
    ("BatchNorm3d", [2], {}, [VOLUME]),
    ("BatchNorm3d", [2], dict(affine=False, track_running_stats=False), [VOLUME]),
    ("InstanceNorm1d", [4], dict(affine=True), [LINE]),
    ("InstanceNorm1d", [4], {}, [(4, 6)]),
    ("InstanceNorm3d", [2], dict(affine=True, track_running_stats=True), [VOLUME]),
    ("LocalResponseNorm", [3], dict(alpha=0.5, beta=0.5, k=2.0), [IMAGE]),
    *[(n, [0.4], {}, [IMAGE[:3] if n == "Dropout1d" else VOLUME if n == "Dropout3d" else IMAGE], dict(modes="eval"))
      for n in ("Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout")],
    ("Embedding", [5, 3], dict(padding_idx=1), [Ids([[0, 1], [4, 4]])]),
    ("Embedding", [5, 3], dict(padding_idx=-2, scale_grad_by_freq=True), [Ids([0, 3, 4, 4])]),
    ("Embedding", [5, 3], dict(max_norm=0.75), [Ids([0, 3, 4, 4])]),
    ("Embedding", [5, 3], dict(max_norm=1.5, norm_type=1.0), [Ids([0, 3, 4, 4])]),
    ("EmbeddingBag", [5, 3], {}, [Ids([[0, 1], [4, 4]])]),
    ("EmbeddingBag", [5, 3], dict(mode="sum"), [Ids([0, 1, 4, 4]), Ids([0, 3])]),
    ("EmbeddingBag", [5, 3], dict(mode="mean", padding_idx=1), [Ids([0, 1, 1, 4, 4]), Ids([0, 2, 2])]),
    ("EmbeddingBag", [5, 3], dict(mode="max"), [Ids([0, 1, 4, 2]), Ids([0, 1, 1])]),
    ("EmbeddingBag", [5, 3], dict(mode="sum", include_last_offset=True), [Ids([0, 1, 4, 2]), Ids([0, 1, 4]), (4,)]),
    ("EmbeddingBag", [5, 3], dict(mode="mean", scale_grad_by_freq=True), [Ids([0, 4, 4, 2]), Ids([0, 1])]),
    ("EmbeddingBag", [5, 3], dict(max_norm=1.0, mode="sum"), [Ids([[0, 4], [4, 2]])]),
    ("PixelShuffle", [2], {}, [(1, 8, 2, 3)]),
    ("PixelUnshuffle", [2], {}, [(1, 2, 4, 6)]),
    ("ChannelShuffle", [2], {}, [IMAGE], dict(grad=False)),  # 1.13 has no derivative of it
    ("Unflatten", [1, [2, 2]], {}, [IMAGE], dict(lua=[2, [2, 2]])),
    ("Unflatten", [-1, [-1, 3]], {}, [LINE], dict(lua=[-1, [-1, 3]], python=[2, [-1, 3]])),
    *[(f"ConstantPad{d}d", [p, 1.5], {}, [s]) for d, p, s in
      ((1, 2, LINE), (2, [1, 0, 2, 1], IMAGE), (3, [1, 2, 0, 1, 1, 0], VOLUME))],
    ("ZeroPad2d", [1], {}, [IMAGE]),
    *[(f"ReflectionPad{d}d", [p], {}, [s]) for d, p, s in
      ((1, [2, 1], LINE), (2, [1, 0, 2, 1], IMAGE), (3, [1, 2, 0, 1, 1, 0], VOLUME))],
    *[(f"ReplicationPad{d}d", [p], {}, [s]) for d, p, s in
      ((1, [2, 1], LINE), (2, [1, 0, 2, 1], IMAGE), (3, [1, 2, 0, 1, 1, 0], VOLUME))],
    ("Softshrink", [], {}, [LINE]),
    ("Hardshrink", [0.75], {}, [LINE]),
    ("RReLU", [0.25, 0.5], {}, [LINE], dict(modes="eval")),
    ("Softmax2d", [], {}, [IMAGE]),
    ("UpsamplingNearest2d", [], dict(scale_factor=2), [IMAGE]),
    ("UpsamplingBilinear2d", [], dict(size=[3, 7]), [IMAGE]),
    ("Upsample", [], dict(scale_factor=[1.5, 2.3], mode="nearest"), [IMAGE]),
    ("Upsample", [], dict(scale_factor=[1.5, 0.7], mode="bilinear"), [IMAGE]),
    ("Upsample", [], dict(scale_factor=[1.5, 0.6], mode="bicubic"), [IMAGE]),
    ("Upsample", [], dict(scale_factor=1.7, mode="bicubic", align_corners=True), [IMAGE]),
    ("Upsample", [], dict(size=[3, 7], mode="bicubic"), [IMAGE]),
    ("Upsample", [], dict(scale_factor=[1.5, 2.5, 0.8], mode="trilinear"), [VOLUME]),
    ("Upsample", [], dict(size=[3, 2, 7], mode="trilinear", align_corners=True), [VOLUME]),
    ("Upsample", [], dict(scale_factor=1.7, mode="bilinear", recompute_scale_factor=True), [IMAGE]),
    ("Upsample", [], dict(scale_factor=[1.7, 0.6], mode="nearest-exact"), [IMAGE]),
    ("CosineSimilarity", [], dict(dim=1), [(3, 4), (3, 4)], dict(lua=[], lua_options=dict(dim=2))),
    ("PairwiseDistance", [3.0], dict(keepdim=True), [(3, 4), (3, 4)]),
    ("TripletMarginWithDistanceLoss", [], dict(margin=2.0, swap=True), [(3, 4), (3, 4), (3, 4)]),
    ("MultiMarginLoss", [2, 0.5], {}, [(3, 4), Ids([1, 3, 0])]),
    ("MultiMarginLoss", [], dict(reduction="none"), [(3, 4), Ids([1, 3, 0])]),
    ("MultiLabelMarginLoss", [], {}, [(2, 4), Ids([[1, 3, -1, 0], [-1, 1, 2, 3]])]),
    ("MultiLabelMarginLoss", [], dict(reduction="none"), [(4,), Ids([2, 0, -1, 1])]),
    ("AdaptiveLogSoftmaxWithLoss", [8, 12, [4, 7]], dict(div_value=2.0, head_bias=True), [(4, 8), Ids([3, 5, 11, 8])]),
    ("TransformerEncoder", [layer("TransformerEncoderLayer"), 2], {}, [(3, 2, 4)]),
    ("TransformerEncoder", [layer("TransformerEncoderLayer", norm_first=True, batch_first=True), 2], {}, [(2, 3, 4)],
     dict(call=dict(src_key_padding_mask=[[False, False, True], [False, False, False]]))),
    ("TransformerDecoder", [layer("TransformerDecoderLayer", activation="gelu"), 2], {}, [(3, 2, 4), (2, 2, 4)],
     dict(call=dict(tgt_mask=[[0, -9e9, -9e9], [0, 0, -9e9], [0, 0, 0]]))),
    ("Transformer", [], dict(d_model=4, num_encoder_layers=1, num_decoder_layers=2, batch_first=True, **TINY),
     [(2, 3, 4), (2, 2, 4)],
     dict(call=dict(memory_key_padding_mask=[[False, False, True], [False, True, False]]))),
    ("Transformer", [], dict(d_model=4, num_encoder_layers=1, num_decoder_layers=1, norm_first=True, **TINY),
     [(3, 4), (2, 4)]),
]


def lua(value):
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple) and value and value[0] == "layer":
        return f"{{layer = {lua(value[1])}, options = {lua(value[2])}}}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {lua(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(lua(v) for v in value) + "}"
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def flat(tensor):
    return [float(x) for x in tensor.detach().double().reshape(-1)]


def make(name, args, options):
    built = [getattr(nn, a[1])(**a[2]) if isinstance(a, tuple) and a and a[0] == "layer" else a for a in args]
    given = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
    module = getattr(nn, name)(*[tuple(a) if isinstance(a, list) and name != "AdaptiveLogSoftmaxWithLoss" else a
                                 for a in built], **given).double()
    state = module.state_dict()
    for seed, key in enumerate(sorted(state)):
        value = state[key]
        if value.is_floating_point():
            drawn = numbers(value.shape, seed)
            value.copy_(drawn.abs() + 0.5 if key.endswith("running_var") else drawn)
    return module


def run(name, args, options, inputs, more):
    module = make(name, more.get("python", args), options)
    call = {k: torch.tensor(v) if isinstance(v[0][0], bool) else torch.tensor(v).double()
            for k, v in more.get("call", {}).items()}
    results = {}
    for mode in ("train", "eval"):
        if more.get("modes", mode) != mode:
            continue
        module.train(mode == "train")
        module.zero_grad()
        given = [torch.tensor(s.values) if isinstance(s, Ids) else numbers(s, 20 + i).requires_grad_(more.get("grad", True))
                 for i, s in enumerate(inputs)]
        out = module(*given, **call)
        out = list(out) if isinstance(out, tuple) else [out]
        line = {"shape": list(out[0].shape), "out": [flat(y) for y in out]}
        if out[0].requires_grad and more.get("grad", True):
            (out[0] * numbers(out[0].shape, 40)).sum().backward()
            line["inputs"] = [flat(x.grad) if x.is_floating_point() and x.grad is not None else False for x in given]
            line["parameters"] = {k: flat(p.grad) for k, p in module.named_parameters() if p.grad is not None}
        results[mode] = line
    keys = {k: list(v.shape) for k, v in module.state_dict().items()}
    inputs = [{"ids": s.values} if isinstance(s, Ids) else {"shape": list(s)} for s in inputs]
    results.update(name=name, args=more.get("lua", args), options=more.get("lua_options", options), given=inputs,
                   call=more.get("call", {}))
    fields = {k: lua(v) for k, v in results.items() if k not in ("train", "eval")}
    for mode in ("train", "eval"):
        if mode in results:
            line = results[mode]
            parameters = line.pop("parameters", None)
            text = lua(line)
            if parameters:
                text = text[:-1] + ", parameters = {" + ", ".join(
                    f'["{k}"] = {lua(v)}' for k, v in parameters.items()) + "}}"
            fields[mode] = text
    fields["state"] = "{" + ", ".join(f'["{k}"] = {lua(v)}' for k, v in keys.items()) + "}"
    return "{" + ", ".join(f"{k} = {v}" for k, v in fields.items()) + "},"


def write(path):
    lines = [run(*(case if len(case) == 5 else (*case, {}))) for case in CASES]
    with open(path, "w") as out:
        out.write("-- Written by generate.py. PyTorch's modules: results, gradients and states.\nreturn {\n"
                  + "\n".join("  " + line for line in lines) + "\n}\n")
    print(f"modules: {len(lines)} cases of {len({c[0] for c in CASES})} modules")
