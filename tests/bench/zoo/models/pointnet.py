"""PointNet with its transform of the input: classes of clouds of points. Qi and others, "PointNet: deep learning on point sets
for 3D classification and segmentation", 2017."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def pointwise(inplanes, planes):
    return nn.Sequential(nn.Conv1d(inplanes, planes, 1), nn.BatchNorm1d(planes), nn.ReLU())


def dense(inplanes, planes):
    return nn.Sequential(nn.Linear(inplanes, planes), nn.BatchNorm1d(planes), nn.ReLU())


class Transform(nn.Module):
    def __init__(self, k, width):
        super().__init__()
        self.k = k
        self.points = nn.Sequential(pointwise(k, width), pointwise(width, 2 * width), pointwise(2 * width, 16 * width))
        self.whole = nn.Sequential(dense(16 * width, 8 * width), dense(8 * width, 4 * width), nn.Linear(4 * width, k * k))

    def forward(self, x):
        y = self.whole(self.points(x).amax(2))
        return y.view(-1, self.k, self.k) + torch.eye(self.k, device=x.device)


class PointNet(nn.Module):
    def __init__(self, s):
        super().__init__()
        w = s["width"]
        self.input, self.first = Transform(3, w), pointwise(3, w)
        self.feature, self.rest = Transform(w, w), nn.Sequential(pointwise(w, 2 * w), pointwise(2 * w, 16 * w))
        self.head = nn.Sequential(dense(16 * w, 8 * w), dense(8 * w, 4 * w), nn.Dropout(s["dropout"]),
                                  nn.Linear(4 * w, s["classes"]))

    def forward(self, x):
        x = self.first(torch.bmm(self.input(x), x))
        transform = self.feature(x)
        x = torch.bmm(transform, x)
        return self.head(self.rest(x).amax(2)), transform


def setup(zoo):
    s = zoo.sizes
    module = PointNet(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
    x, y = zoo.wave((s["batch"], 3, s["points"])), zoo.ids((s["batch"],), s["classes"])
    eye = torch.eye(s["width"], device=zoo.device)

    def loss():
        logits, transform = model(x)
        off = torch.bmm(transform, transform.transpose(1, 2)) - eye
        return F.cross_entropy(logits, y) + 0.001 * off.norm(dim=(1, 2)).mean()
    return zoo.training(module, optimizer, loss, lambda: model(x)[0])
