"""scaled_dot_product_attention, which PyTorch before 2.0 lacks."""
import torch
import torch.nn.functional as F


def by_hand(q, k, v, dropout_p=0.0, is_causal=False):
    scores = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
    if is_causal:
        hidden = torch.ones(q.size(-2), k.size(-2), dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(hidden, float("-inf"))
    return F.dropout(scores.softmax(-1), dropout_p) @ v


scaled_dot_product_attention = getattr(F, "scaled_dot_product_attention", by_hand)
