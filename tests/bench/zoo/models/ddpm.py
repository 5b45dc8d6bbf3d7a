"""The U-Net of a diffusion model, with attention at its lowest resolution. Ho, Jain, Abbeel, "Denoising diffusion
probabilistic models", 2020."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from attention import scaled_dot_product_attention


class ResBlock(nn.Module):
    def __init__(self, inplanes, planes, time):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(8, inplanes), nn.Conv2d(inplanes, planes, 3, padding=1)
        self.time = nn.Linear(time, planes)
        self.norm2, self.conv2 = nn.GroupNorm(8, planes), nn.Conv2d(planes, planes, 3, padding=1)
        self.skip = nn.Conv2d(inplanes, planes, 1) if inplanes != planes else nn.Identity()

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.time(F.silu(t))[:, :, None, None]
        return self.skip(x) + self.conv2(F.silu(self.norm2(h)))


class Attention(nn.Module):
    def __init__(self, planes):
        super().__init__()
        self.norm, self.qkv, self.out = nn.GroupNorm(8, planes), nn.Conv2d(planes, 3 * planes, 1), nn.Conv2d(planes, planes, 1)

    def forward(self, x):
        B, C, H, W = x.shape
        q, k, v = self.qkv(self.norm(x)).view(B, 3, 1, C, H * W).transpose(-2, -1).unbind(1)
        y = scaled_dot_product_attention(q, k, v)
        return x + self.out(y.transpose(-2, -1).reshape(B, C, H, W))


class UNet(nn.Module):
    def __init__(self, s):
        super().__init__()
        w, time, factors = s["width"], 4 * s["width"], s["factors"]
        self.register_buffer("rates", torch.exp(torch.arange(w // 2) * (-math.log(10000) / (w // 2 - 1))))
        self.time_mlp = nn.Sequential(nn.Linear(w, time), nn.SiLU(), nn.Linear(time, time))
        self.first = nn.Conv2d(3, w, 3, padding=1)
        self.down, self.shrink, self.up, self.grow = nn.ModuleList(), nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
        planes, skips = w, [w]
        for i, factor in enumerate(factors):
            for _ in range(s["blocks"]):
                self.down.append(ResBlock(planes, w * factor, time))
                planes = w * factor
                skips.append(planes)
            if i < len(factors) - 1:
                self.shrink.append(nn.Conv2d(planes, planes, 3, stride=2, padding=1))
        self.middle1, self.attention = ResBlock(planes, planes, time), Attention(planes)
        self.middle2 = ResBlock(planes, planes, time)
        for i, factor in reversed(list(enumerate(factors))):
            for _ in range(s["blocks"]):
                self.up.append(ResBlock(planes + skips.pop(), w * factor, time))
                planes = w * factor
            if i:
                self.grow.append(nn.Conv2d(planes, planes, 3, padding=1))
        self.norm, self.last = nn.GroupNorm(8, planes), nn.Conv2d(planes, 3, 3, padding=1)
        self.blocks = s["blocks"]

    def forward(self, x, t):
        angles = t.float().unsqueeze(1) * self.rates
        t = self.time_mlp(torch.cat((angles.sin(), angles.cos()), -1))
        x = self.first(x)
        skips = []
        for i, block in enumerate(self.down, 1):
            x = block(x, t)
            skips.append(x)
            if i % self.blocks == 0 and i < len(self.down):
                x = self.shrink[i // self.blocks - 1](x)
        x = self.middle2(self.attention(self.middle1(x, t)), t)
        for i, block in enumerate(self.up, 1):
            x = block(torch.cat((x, skips.pop()), 1), t)
            if i % self.blocks == 0 and i < len(self.up):
                x = self.grow[i // self.blocks - 1](F.interpolate(x, scale_factor=2, mode="nearest"))
        return self.last(F.silu(self.norm(x)))


def setup(zoo):
    s = zoo.sizes
    module = UNet(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.AdamW(module.parameters(), lr=2e-4)
    shape = (s["batch"], 3, s["image"], s["image"])
    x, t = zoo.wave(shape), zoo.ids((s["batch"],), 1000)
    alphas = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000), 0).to(zoo.device)

    def loss():
        noise, a = zoo.noise(shape), alphas[t].view(-1, 1, 1, 1)
        return F.mse_loss(model(a.sqrt() * x + (1 - a).sqrt() * noise, t), noise)
    return zoo.training(module, optimizer, loss, lambda: model(x, t))
