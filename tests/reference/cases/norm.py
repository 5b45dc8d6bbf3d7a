"""Softmax, normalisation, attention and rotary embedding; formulas where PyTorch 1.13 has no function."""
import torch
import torch.nn.functional as F
from generate import bools, constant, real, values

INF = float("inf")


def rms_norm(input, weight, normalized_shape, eps):
    dims = tuple(range(-len(normalized_shape), 0))
    y = input * (input.pow(2).mean(dims, keepdim=True) + eps).rsqrt()
    return y if weight is None else y * weight


def rope(input, cos, sin, interleaved=False):
    n = cos.shape[-1]
    if interleaved:
        a, b = input[..., 0:2 * n:2], input[..., 1:2 * n:2]
    else:
        a, b = input[..., :n], input[..., n:2 * n]
    a, b = a * cos - b * sin, b * cos + a * sin
    turned = torch.stack((a, b), -1).flatten(-2) if interleaved else torch.cat((a, b), -1)
    return torch.cat((turned, input[..., 2 * n:]), -1)


def attention(q, k, v, mask, is_causal=False, scale=None, softcap=0):
    scores = q @ k.transpose(-2, -1) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if softcap:
        scores = softcap * torch.tanh(scores / softcap)
    if mask is not None:
        scores = scores.masked_fill(~mask, -INF) if mask.dtype == torch.bool else scores + mask
    if is_causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -INF)
    return scores.softmax(-1) @ v


def cases(case):
    for op in ("softmax", "log_softmax"):
        case(op, [real(3, 5)], dim=1)
        case(op, [real(3, 5)], dim=0)
        case(op, [real(2, 5, 3)], dim=-2)
        case(op, [real(4)], dim=0)
        case(op, [values([[-INF, 0.0, 1.0], [90.0, 90.0, -90.0], [INF, 0.0, 0.0], [-INF, -INF, -INF]])], dim=1,
             grad=False)
    layer = {"input": real(3, 6), "weight": real(6), "bias": real(6)}
    case("layer_norm", layer, normalized_shape=[6])
    case("layer_norm", {"input": real(2, 3, 4), "weight": real(3, 4), "bias": None}, normalized_shape=[3, 4])
    case("layer_norm", {"input": real(2, 3, 4)}, normalized_shape=[4], eps=0.5)
    case("rms_norm", [real(3, 6), real(6)], by=rms_norm, normalized_shape=[6], eps=1e-5)
    case("rms_norm", [real(2, 3, 4), None], by=rms_norm, normalized_shape=[3, 4], eps=0.5)
    case("normalize", [real(3, 4, low=0.5, high=2)])
    case("normalize", [real(2, 3, 4)], p=3.0, dim=-1, eps=0.1)
    for shape in ((6, 5), (4, 3, 5), (3, 2, 4, 3)):
        c = shape[1]
        statistics = [constant(real(c)), constant(real(c, low=0.5, high=2))]
        case("batch_norm", [real(*shape), *statistics, real(c), real(c)], training=True, tolerance=4)
        case("batch_norm", [real(*shape), None, None, real(c), None], training=True, eps=0.25, tolerance=4)
        case("batch_norm", [real(*shape), *statistics, real(c), real(c)], training=False)
        case("batch_norm", [real(*shape), *statistics, None, None], training=False, eps=0.25)
    for shape in ((3, 6), (2, 6, 4), (2, 6, 3, 3)):
        for groups in (1, 3):
            # With two elements in a group only the sign of their difference remains, and the gradient is rounding
            # error.
            tolerance = 64 if len(shape) == 2 and groups == 3 else 4
            case("group_norm", {"input": real(*shape), "weight": real(6), "bias": real(6)}, num_groups=groups,
                 tolerance=tolerance)
    case("group_norm", {"input": real(2, 4, 5)}, num_groups=2, eps=0.25, tolerance=4)
    case("instance_norm", [real(2, 3, 6), None, None, real(3), real(3)], tolerance=4)
    case("instance_norm", [real(2, 3, 3, 4), constant(real(3)), constant(real(3, low=0.5, high=2)), None, None],
         eps=0.25, tolerance=4)
    case("instance_norm", [real(2, 3, 5), constant(real(3)), constant(real(3, low=0.5, high=2)), real(3), real(3)],
         use_input_stats=False)
    for interleaved in (False, True):
        case("rope", [real(2, 3, 7), real(3, 2), real(3, 2)], by=rope, interleaved=interleaved)
    q, k, v = real(2, 3, 4), real(2, 5, 4), real(2, 5, 2)
    sdpa = "scaled_dot_product_attention"
    case(sdpa, [q, k, v, None], by=attention)
    case(sdpa, [q, k, v, None], by=attention, is_causal=True, scale=0.5)
    case(sdpa, [q, k, v, real(3, 5)], by=attention, is_causal=True)
    case(sdpa, [q, k, v, values([[True, False, True, True, False]] * 3, "bool")], by=attention, softcap=1.5)
    case(sdpa, [real(2, 2, 3, 4), real(2, 1, 5, 4), real(5, 2), real(2, 1, 1, 5)], by=attention)
