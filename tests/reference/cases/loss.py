"""Losses."""
import torch
import torch.nn.functional as F
from generate import bools, constant, ids, real, typed, values

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

    for reduction in REDUCTIONS:
        r = {"reduction": reduction}
        counts = constant(real(3, 4, low=0, high=6))
        case("poisson_nll_loss", [real(3, 4), counts], **r)
        case("poisson_nll_loss", [real(3, 4, low=0.25, high=3), counts], log_input=False, full=True, eps=1e-3, **r)
        case("gaussian_nll_loss", [real(3, 4), real(3, 4), real(3, 1, low=0.25, high=3)], **r)
        case("gaussian_nll_loss", [real(3, 4), real(3, 4), real(3, 4, low=0.25, high=3)], full=True, **r)
        signs = values([1, -1, 1, -1, -1], "i64")
        case("cosine_embedding_loss", [real(5, 3), real(5, 3), signs], **r)
        case("cosine_embedding_loss", [real(5, 3), real(5, 3), signs], margin=-0.5, **r)
        case("cosine_embedding_loss", [real(3), real(3), values(-1, "i64")], margin=-1.0, **r)
        triplet = [real(5, 3), real(5, 3), real(5, 3)]
        case("triplet_margin_loss", triplet, **r)
        case("triplet_margin_loss", triplet, margin=2.0, p=3.0, eps=1e-3, swap=True, **r)
        case("margin_ranking_loss", [real(5), real(5), signs], margin=0.5, **r)
        case("hinge_embedding_loss", [real(5), signs], **r)
        case("hinge_embedding_loss", [real(5), signs], margin=2.0, **r)
        case("soft_margin_loss", [real(5), signs], **r)
        logs = real(7, 3, 4, low=-3, high=-0.25)
        lengths = [values([7, 5, 6], "i64"), values([3, 2, 0], "i64")]
        case("ctc_loss", [logs, values([[1, 1, 2], [3, 1, 0], [0, 0, 0]], "i64")] + lengths, by=ctc, **r)
        case("ctc_loss", [logs, values([1, 0, 0, 2, 1], "i64")] + lengths, by=ctc, blank=3, **r)
        case("ctc_loss", [logs, typed("i64", 3, 4, low=1, high=4), values([7, 3, 7], "i64"), values([3, 4, 1], "i64")],
             by=ctc, zero_infinity=True, **r)
    case("ctc_loss", [real(6, 4, low=-3, high=-0.25), values([1, 2], "i64"), values(6, "i64"), values(2, "i64")], by=ctc)
    case("cosine_similarity", [real(3, 4), real(3, 4)], dim=1)
    case("cosine_similarity", [real(2, 3, 4), real(3, 4)], dim=-2, eps=0.5)
    case("cosine_similarity", [values([[0.0, 0.0], [1.0, 2.0]]), values([[1.0, 2.0], [0.0, 0.0]])], dim=1, grad=False)


def logits(x, target, weight, pos_weight, reduction="mean"):
    return F.binary_cross_entropy_with_logits(x, target, weight, reduction=reduction, pos_weight=pos_weight)


def ctc(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """By the recursion, differentiably: PyTorch's own gradient belongs to log_softmax's input, not to log_probs."""
    x = log_probs if log_probs.dim() == 3 else log_probs.unsqueeze(1)
    lengths, sizes = input_lengths.reshape(-1).tolist(), target_lengths.reshape(-1).tolist()
    losses, first = [], 0
    for n, (steps, size) in enumerate(zip(lengths, sizes)):
        labels = (targets[n] if targets.dim() == 2 else targets[first:]).tolist()[:size]
        first += size
        states = [blank] + [s for label in labels for s in (label, blank)]
        never = torch.tensor(-float("inf"), dtype=x.dtype)
        alpha = [x[0, n, s] if i < 2 else never for i, s in enumerate(states)]
        for t in range(1, steps):
            now = []
            for i, s in enumerate(states):
                ways = alpha[i:i + 1] + (alpha[i - 1:i] if i > 0 else [])
                ways += alpha[i - 2:i - 1] if i > 1 and s != blank and s != states[i - 2] else []
                ways = [w for w in ways if w > -float("inf")]
                now.append(torch.logsumexp(torch.stack(ways), 0) + x[t, n, s] if ways else never)
            alpha = now
        ends = [a for a in alpha[-2:] if a > -float("inf")]
        losses.append(-torch.logsumexp(torch.stack(ends), 0) if ends else -never)
    loss = torch.stack(losses)
    if zero_infinity:
        loss = torch.where(loss.isinf(), torch.zeros_like(loss), loss)
    if reduction == "mean":
        loss = (loss / torch.tensor(sizes, dtype=x.dtype).clamp(min=1)).mean()
    elif reduction == "sum":
        loss = loss.sum()
    expected = F.ctc_loss(x.detach(), targets, lengths, sizes, blank, reduction, zero_infinity)
    assert torch.allclose(loss.detach(), expected), (loss, expected)
    return loss
