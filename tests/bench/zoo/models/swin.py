"""Swin-T: attention inside of windows, which every second block shifts. Liu and others, "Swin transformer: hierarchical vision
transformer using shifted windows", 2021."""
import torch
import torch.nn as nn
import torch.nn.functional as F

WINDOW, FEATURES = 7, 32


def windows_of(x):
    """[B, H, W, C] as [B times windows, positions, C]."""
    B, H, W, C = x.shape
    x = x.view(B, H // WINDOW, WINDOW, W // WINDOW, WINDOW, C)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, WINDOW * WINDOW, C)


def joined(windows, side):
    x = windows.view(-1, side // WINDOW, side // WINDOW, WINDOW, WINDOW, windows.size(-1))
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, side, side, windows.size(-1))


def relative_positions():
    coords = torch.stack(torch.meshgrid(torch.arange(WINDOW), torch.arange(WINDOW), indexing="ij")).flatten(1)
    relative = coords.unsqueeze(2) - coords.unsqueeze(1) + WINDOW - 1
    return (relative[0] * (2 * WINDOW - 1) + relative[1]).view(-1)


def mask_of(side, shift):
    """Hides positions that the shift brought into one window from different borders."""
    regions, count = torch.zeros(1, side, side, 1), 0
    ranges = (slice(0, side - WINDOW), slice(side - WINDOW, side - shift), slice(side - shift, side))
    for rows in ranges:
        for columns in ranges:
            regions[0, rows, columns] = count
            count += 1
    regions = windows_of(regions).squeeze(-1)
    different = regions.unsqueeze(1) - regions.unsqueeze(2)
    return torch.zeros_like(different).masked_fill(different != 0, -100.0)


class WindowAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.heads = dim // FEATURES
        self.biases = nn.Parameter(nn.init.trunc_normal_(torch.empty((2 * WINDOW - 1) ** 2, self.heads), std=0.02))
        self.register_buffer("index", relative_positions(), persistent=False)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, mask):
        B, N, C = x.shape
        q, k, v = self.qkv(x).view(B, N, 3, self.heads, FEATURES).permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q * FEATURES ** -0.5) @ k.transpose(-2, -1)
        scores = scores + self.biases[self.index].view(N, N, self.heads).permute(2, 0, 1)
        if mask is not None:
            scores = scores.view(-1, mask.size(0), self.heads, N, N) + mask.unsqueeze(1)
            scores = scores.view(-1, self.heads, N, N)
        return self.proj((F.softmax(scores, -1) @ v).transpose(1, 2).reshape(B, N, C))


class Block(nn.Module):
    def __init__(self, dim, side, shift):
        super().__init__()
        self.side, self.shift = side, shift
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(dim), WindowAttention(dim), nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.register_buffer("mask", mask_of(side, shift) if shift else None, persistent=False)

    def forward(self, x):
        y = self.norm1(x)
        if self.shift:
            y = torch.roll(y, (-self.shift, -self.shift), (1, 2))
        y = joined(self.attention(windows_of(y), self.mask), self.side)
        if self.shift:
            y = torch.roll(y, (self.shift, self.shift), (1, 2))
        x = x + y
        return x + self.mlp(self.norm2(x))


class PatchMerging(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm, self.reduction = nn.LayerNorm(4 * dim), nn.Linear(4 * dim, 2 * dim, bias=False)

    def forward(self, x):
        x = torch.cat((x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]), -1)
        return self.reduction(self.norm(x))


class Swin(nn.Module):
    def __init__(self, s):
        super().__init__()
        dim, side, stages = s["width"], s["image"] // 4, []
        self.patches, self.first = nn.Conv2d(3, dim, 4, stride=4), nn.LayerNorm(dim)
        for i, depth in enumerate(s["depths"]):
            if i:
                stages.append(PatchMerging(dim))
                dim, side = 2 * dim, side // 2
            for j in range(depth):
                stages.append(Block(dim, side, WINDOW // 2 if j % 2 and side > WINDOW else 0))
        self.stages = nn.Sequential(*stages)
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, s["classes"])

    def forward(self, x):
        x = self.first(self.patches(x).permute(0, 2, 3, 1))
        return self.head(self.norm(self.stages(x)).mean((1, 2)))


def setup(zoo):
    s = zoo.sizes
    module = Swin(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, weight_decay=0.05)
    x, y = zoo.wave((s["batch"], 3, s["image"], s["image"])), zoo.ids((s["batch"],), s["classes"])
    return zoo.training(module, optimizer, lambda: F.cross_entropy(model(x), y, label_smoothing=0.1), lambda: model(x))
