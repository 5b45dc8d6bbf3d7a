"""EfficientNet-B0 without stochastic depth. Tan, Le, "EfficientNet: rethinking model scaling for convolutional neural
networks", 2019."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def conv(inplanes, planes, kernel, stride, groups):
    return nn.Sequential(
        nn.Conv2d(inplanes, planes, kernel, stride=stride, padding=kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(planes), nn.SiLU())


class SqueezeExcite(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.reduce, self.expand = nn.Conv2d(channels, squeezed, 1), nn.Conv2d(squeezed, channels, 1)

    def forward(self, x):
        y = F.adaptive_avg_pool2d(x, 1)
        return x * self.expand(F.silu(self.reduce(y))).sigmoid()


class MBConv(nn.Module):
    def __init__(self, inplanes, planes, expand, kernel, stride):
        super().__init__()
        hidden = inplanes * expand
        self.residual = inplanes == planes and stride == 1
        self.expand = conv(inplanes, hidden, 1, 1, 1) if expand > 1 else nn.Identity()
        self.depthwise = conv(hidden, hidden, kernel, stride, hidden)
        self.se = SqueezeExcite(hidden, max(1, inplanes // 4))
        self.project = nn.Sequential(nn.Conv2d(hidden, planes, 1, bias=False), nn.BatchNorm2d(planes))

    def forward(self, x):
        y = self.project(self.se(self.depthwise(self.expand(x))))
        return x + y if self.residual else y


# Expansion, kernel, stride, channels of each stage.
STAGES = [(1, 3, 1, 16), (6, 3, 2, 24), (6, 5, 2, 40), (6, 3, 2, 80), (6, 5, 1, 112), (6, 5, 2, 192), (6, 3, 1, 320)]


class EfficientNet(nn.Module):
    def __init__(self, depths, classes, dropout):
        super().__init__()
        blocks, planes = [conv(3, 32, 3, 2, 1)], 32
        for (expand, kernel, stride, channels), depth in zip(STAGES, depths):
            for k in range(depth):
                blocks.append(MBConv(planes, channels, expand, kernel, 1 if k else stride))
                planes = channels
        blocks.append(conv(planes, 1280, 1, 1, 1))
        self.features = nn.Sequential(*blocks)
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Linear(1280, classes))

    def forward(self, x):
        return self.classifier(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))


def setup(zoo):
    s = zoo.sizes
    module = EfficientNet(s["depths"], s["classes"], s["dropout"]).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.RMSprop(module.parameters(), lr=1e-3, momentum=0.9, eps=1e-3)
    x, y = zoo.wave((s["batch"], 3, s["image"], s["image"])), zoo.ids((s["batch"],), s["classes"])
    return zoo.training(module, optimizer, lambda: F.cross_entropy(model(x), y), lambda: model(x))
