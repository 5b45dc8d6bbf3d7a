"""ConvNeXt-T. Liu and others, "A ConvNet for the 2020s", 2022."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class LayerNorm2d(nn.Module):
    """Norm over the channels of [N, C, H, W]."""

    def __init__(self, channels):
        super().__init__()
        self.norm = nn.LayerNorm(channels, eps=1e-6)

    def forward(self, x):
        return self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dwconv = nn.Conv2d(dim, dim, 7, padding=3, groups=dim)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.pwconv1 = nn.Linear(dim, 4 * dim)
        self.pwconv2 = nn.Linear(4 * dim, dim)
        self.gamma = nn.Parameter(torch.full((dim,), 0.1))

    def forward(self, x):
        y = self.dwconv(x).permute(0, 2, 3, 1)
        y = self.pwconv2(F.gelu(self.pwconv1(self.norm(y))))
        return x + (self.gamma * y).permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    def __init__(self, depths, dims, classes):
        super().__init__()
        stages = [nn.Conv2d(3, dims[0], 4, stride=4), LayerNorm2d(dims[0])]
        for i, depth in enumerate(depths):
            if i:
                stages += [LayerNorm2d(dims[i - 1]), nn.Conv2d(dims[i - 1], dims[i], 2, stride=2)]
            stages += [Block(dims[i]) for _ in range(depth)]
        self.stages = nn.Sequential(*stages)
        self.norm = nn.LayerNorm(dims[-1], eps=1e-6)
        self.head = nn.Linear(dims[-1], classes)

    def forward(self, x):
        return self.head(self.norm(self.stages(x).mean((-2, -1))))


def setup(zoo):
    s = zoo.sizes
    module = ConvNeXt(s["depths"], s["dims"], s["classes"]).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-3, weight_decay=0.05)
    x, y = zoo.wave((s["batch"], 3, s["image"], s["image"])), zoo.ids((s["batch"],), s["classes"])
    return zoo.training(module, optimizer, lambda: F.cross_entropy(model(x), y, label_smoothing=0.1), lambda: model(x))
