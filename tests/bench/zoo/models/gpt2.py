"""GPT-2 small. Radford and others, "Language models are unsupervised multitask learners", 2019."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from attention import scaled_dot_product_attention


class Attention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads, self.p, self.resid_dropout = heads, dropout, nn.Dropout(dropout)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (y.view(B, T, self.heads, C // self.heads).transpose(1, 2) for y in self.c_attn(x).split(C, 2))
        y = scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.p if self.training else 0.0)
        return self.resid_dropout(self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C)))


class Block(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(width), Attention(width, heads, dropout), nn.LayerNorm(width)
        self.c_fc, self.c_proj, self.dropout = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.dropout(self.c_proj(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh")))


class GPT(nn.Module):
    def __init__(self, s):
        super().__init__()
        width = s["width"]
        self.wte, self.wpe = nn.Embedding(s["vocabulary"], width), nn.Embedding(s["length"], width)
        self.drop = nn.Dropout(s["dropout"])
        self.h = nn.ModuleList(Block(width, s["heads"], s["dropout"]) for _ in range(s["layers"]))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, s["vocabulary"], bias=False)
        self.wte.weight = self.lm_head.weight
        for m in self.modules():
            if isinstance(m, (nn.Linear, nn.Embedding)):
                nn.init.normal_(m.weight, 0, 0.02)
            if isinstance(m, nn.Linear) and m.bias is not None:
                nn.init.zeros_(m.bias)

    def forward(self, idx):
        pos = torch.arange(idx.size(1), device=idx.device)
        x = self.drop(self.wte(idx) + self.wpe(pos))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


def setup(zoo):
    s = zoo.sizes
    module = GPT(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.AdamW(module.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1)
    data = zoo.ids((s["batch"], s["length"] + 1), s["vocabulary"])
    x, y = data[:, :-1].contiguous(), data[:, 1:].contiguous()

    def step():
        with zoo.autocast():
            loss = F.cross_entropy(model(x).view(-1, s["vocabulary"]), y.view(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
        return loss

    def infer():
        with zoo.autocast():
            return model(x)
    return {"module": module, "step": step, "infer": infer}
