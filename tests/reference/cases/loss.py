"""Losses."""
import torch
import torch.nn.functional as F
from generate import bools, constant, ids, real, values

REDUCTIONS = ("none", "mean", "sum")


def cases(case):
    for reduction in REDUCTIONS:
        r = {"reduction": reduction}
        pair = [real(3, 4), real(3, 4)]
        case("mse_loss", pair, **r)
        case("l1_loss", pair, **r)
        case("huber_loss", pair, delta=0.75, **r)
        case("smooth_l1_loss", pair, beta=0.5, **r)
        share = real(3, 4, low=0.0625, high=0.9375)
        case("binary_cross_entropy", [share, constant(real(3, 4, low=0, high=1)), None], **r)
        case("binary_cross_entropy", [share, constant(real(3, 4, low=0, high=1)),
                                      constant(real(3, 4, low=0.5, high=2))], **r)
        case("binary_cross_entropy_with_logits", [real(3, 4), constant(real(3, 4, low=0, high=1)), None, None],
             by=logits, **r)
        case("binary_cross_entropy_with_logits",
             [real(3, 4), constant(real(3, 4, low=0, high=1)), constant(real(4, low=0.5, high=2)),
              constant(real(4, low=0.5, high=3))], by=logits, **r)
        classes, labels, weight = real(5, 4), ids(5, high=4), constant(real(4, low=0.5, high=2))
        case("cross_entropy", [classes, labels, None], **r)
        case("cross_entropy", [classes, labels, weight], **r)
        case("cross_entropy", [classes, labels, weight], ignore_index=1, label_smoothing=0.25, **r)
        case("cross_entropy", [real(2, 4, 3), ids(2, 3, high=4), None], label_smoothing=0.125, **r)
        case("cross_entropy", [classes, constant(real(5, 4, low=0, high=1)), None], **r)
        case("cross_entropy", [classes, constant(real(5, 4, low=0, high=1)), weight], label_smoothing=0.25, **r)
        case("cross_entropy", [real(4), values(2, "i64"), None], **r)
        logs = real(5, 4, low=-3, high=-0.25)
        case("nll_loss", [logs, labels, None], **r)
        case("nll_loss", [logs, labels, weight], ignore_index=2, **r)
        case("nll_loss", [real(2, 4, 3), ids(2, 3, high=4), None], **r)
    for reduction in REDUCTIONS + ("batchmean",):
        case("kl_div", [real(3, 4, low=-3, high=-0.25), real(3, 4, low=0.125, high=1)], reduction=reduction)
        case("kl_div", [real(3, 4, low=-3, high=-0.25), real(3, 4, low=-3, high=-0.25)], reduction=reduction,
             log_target=True)
    case("binary_cross_entropy", [values([0.0, 1.0, 0.0, 1.0]), constant(values([0.0, 1.0, 1.0, 0.0])), None],
         grad=False)
    case("binary_cross_entropy_with_logits", [values([90.0, -90.0, 90.0]), constant(values([1.0, 1.0, 0.0])), None, None],
         by=logits)
    case("smooth_l1_loss", [real(3, 4), real(3, 4)], beta=0.0)


def logits(x, target, weight, pos_weight, reduction="mean"):
    return F.binary_cross_entropy_with_logits(x, target, weight, reduction=reduction, pos_weight=pos_weight)
