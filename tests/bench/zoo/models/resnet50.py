"""ResNet-50. He, Zhang, Ren, Sun, "Deep residual learning for image recognition", 2016."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Bottleneck(nn.Module):
    def __init__(self, inplanes, planes, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, 4 * planes, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * planes)
        self.downsample = None
        if stride != 1 or inplanes != 4 * planes:
            self.downsample = nn.Sequential(
                nn.Conv2d(inplanes, 4 * planes, 1, stride=stride, bias=False), nn.BatchNorm2d(4 * planes))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        out = F.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        return F.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self, layers, classes):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1, self.maxpool = nn.BatchNorm2d(64), nn.MaxPool2d(3, stride=2, padding=1)
        blocks, inplanes = [], 64
        for stage, depth in enumerate(layers):
            planes = 64 * 2 ** stage
            for i in range(depth):
                blocks.append(Bottleneck(inplanes, planes, 2 if i == 0 and stage > 0 else 1))
                inplanes = 4 * planes
        self.layers = nn.Sequential(*blocks)
        self.fc = nn.Linear(inplanes, classes)

    def forward(self, x):
        x = self.layers(self.maxpool(F.relu(self.bn1(self.conv1(x)))))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def setup(zoo):
    s = zoo.sizes
    module = ResNet(s["layers"], s["classes"]).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    x, y = zoo.wave((s["batch"], 3, s["image"], s["image"])), zoo.ids((s["batch"],), s["classes"])
    return zoo.training(module, optimizer, lambda: F.cross_entropy(model(x), y), lambda: model(x))
