"""A Llama of 110 million parameters: RMSNorm, SwiGLU, rotary positions, grouped queries. Touvron and others, "LLaMA: open and
efficient foundation language models", 2023."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from attention import scaled_dot_product_attention


class RMSNormByHand(nn.Module):
    def __init__(self, width, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps)).type_as(x) * self.weight


# PyTorch has it since 2.4.
RMSNorm = getattr(nn, "RMSNorm", RMSNormByHand)


def rotate(x, cos, sin):
    """Turns pairs of features (i, i + half) by the angles of their positions."""
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


class Attention(nn.Module):
    def __init__(self, width, heads, groups):
        super().__init__()
        self.heads, self.groups, self.features = heads, groups, width // heads
        self.wq = nn.Linear(width, width, bias=False)
        self.wk = nn.Linear(width, groups * self.features, bias=False)
        self.wv = nn.Linear(width, groups * self.features, bias=False)
        self.wo = nn.Linear(width, width, bias=False)

    def forward(self, x, cos, sin):
        B, T, C = x.size()
        q = self.wq(x).view(B, T, self.heads, self.features).transpose(1, 2)
        k = self.wk(x).view(B, T, self.groups, self.features).transpose(1, 2)
        v = self.wv(x).view(B, T, self.groups, self.features).transpose(1, 2)
        q, k = rotate(q, cos, sin).type_as(v), rotate(k, cos, sin).type_as(v)
        # Repeated by hand: enable_gqa is newer than 2.4 and shuts out fused kernels in some versions.
        k, v = (y.repeat_interleave(self.heads // self.groups, 1) for y in (k, v))
        y = scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.attention_norm, self.attention = RMSNorm(s["width"], eps=1e-5), Attention(s["width"], s["heads"], s["groups"])
        self.ffn_norm = RMSNorm(s["width"], eps=1e-5)
        self.w1 = nn.Linear(s["width"], s["hidden"], bias=False)
        self.w2 = nn.Linear(s["hidden"], s["width"], bias=False)
        self.w3 = nn.Linear(s["width"], s["hidden"], bias=False)

    def forward(self, x, cos, sin):
        x = x + self.attention(self.attention_norm(x), cos, sin)
        y = self.ffn_norm(x)
        return x + self.w2(F.silu(self.w1(y)) * self.w3(y))


class Llama(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.embedding = nn.Embedding(s["vocabulary"], s["width"])
        self.layers = nn.ModuleList(Block(s) for _ in range(s["layers"]))
        self.norm = RMSNorm(s["width"], eps=1e-5)
        self.output = nn.Linear(s["width"], s["vocabulary"], bias=False)
        self.output.weight = self.embedding.weight
        nn.init.normal_(self.embedding.weight, 0, 0.02)
        features = s["width"] // s["heads"]
        rates = 10000.0 ** (torch.arange(0, features, 2).float() / -features)
        angles = torch.outer(torch.arange(s["length"]).float(), rates)
        angles = torch.cat((angles, angles), -1)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return self.output(self.norm(x))


def setup(zoo):
    s = zoo.sizes
    module = Llama(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.AdamW(module.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)
    data = zoo.ids((s["batch"], s["length"] + 1), s["vocabulary"])
    x, y = data[:, :-1].contiguous(), data[:, 1:].contiguous()
    return zoo.training(module, optimizer, lambda: F.cross_entropy(model(x).view(-1, s["vocabulary"]), y.view(-1)),
                        lambda: model(x))
