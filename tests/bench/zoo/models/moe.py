"""A language model whose layers have experts: a router sends each token through two of eight. Jiang and others, "Mixtral of
experts", 2024."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from attention import scaled_dot_product_attention


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.qkv, self.proj, self.heads = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False), heads

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (y.view(B, T, self.heads, C // self.heads).transpose(1, 2) for y in self.qkv(x).split(C, 2))
        y = scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class Expert(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.w1, self.w2 = nn.Linear(width, hidden, bias=False), nn.Linear(hidden, width, bias=False)
        self.w3 = nn.Linear(width, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Experts(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.gate, self.chosen = nn.Linear(s["width"], s["experts"], bias=False), s["chosen"]
        self.experts = nn.ModuleList(Expert(s["width"], s["hidden"]) for _ in range(s["experts"]))

    def forward(self, x):
        """The output, and the loss that balances the experts' shares of tokens."""
        B, T, C = x.shape
        x = x.reshape(-1, C)
        routes = F.softmax(self.gate(x).float(), -1)
        weights, selected = torch.topk(routes, self.chosen, -1)
        weights = weights / weights.sum(-1, keepdim=True)
        result = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            token, place = torch.where(selected == i)
            y = expert(x[token]) * weights[token, place].unsqueeze(-1)
            result.index_add_(0, token, y.to(result.dtype))
        shares = F.one_hot(selected, len(self.experts)).float().sum(1).mean(0)
        return result.view(B, T, C), len(self.experts) * (shares * routes.mean(0)).sum()


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(s["width"]), Attention(s["width"], s["heads"])
        self.norm2, self.experts = nn.LayerNorm(s["width"]), Experts(s)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        y, balance = self.experts(self.norm2(x))
        return x + y, balance


class Mixture(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(s["vocabulary"], s["width"]), nn.Embedding(s["length"], s["width"])
        self.blocks = nn.ModuleList(Block(s) for _ in range(s["layers"]))
        self.norm, self.head = nn.LayerNorm(s["width"]), nn.Linear(s["width"], s["vocabulary"], bias=False)
        for m in self.modules():
            if isinstance(m, (nn.Linear, nn.Embedding)):
                nn.init.normal_(m.weight, 0, 0.02)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.size(1), device=ids.device))
        balance = 0
        for block in self.blocks:
            x, b = block(x)
            balance = balance + b
        return self.head(self.norm(x)), balance


def setup(zoo):
    s = zoo.sizes
    module = Mixture(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.AdamW(module.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)
    data = zoo.ids((s["batch"], s["length"] + 1), s["vocabulary"])
    x, y = data[:, :-1].contiguous(), data[:, 1:].contiguous()

    def loss():
        logits, balance = model(x)
        return F.cross_entropy(logits.view(-1, s["vocabulary"]), y.view(-1)) + 0.01 * balance
    return zoo.training(module, optimizer, loss, lambda: model(x)[0])
