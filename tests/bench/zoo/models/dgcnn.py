"""A network of points and their nearest neighbours, found again by each layer. Wang and others, "Dynamic graph CNN for learning
on point clouds", 2019."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def nearest(x, k):
    """The indices [B, N, k] of the nearest of points [B, N, C]."""
    squares = (x ** 2).sum(-1, keepdim=True)
    return (2 * x @ x.transpose(1, 2) - squares - squares.transpose(1, 2)).topk(k, -1)[1]


class EdgeConv(nn.Module):
    def __init__(self, inplanes, planes, k):
        super().__init__()
        self.conv, self.k = nn.Conv2d(2 * inplanes, planes, 1, bias=False), k
        self.norm = nn.BatchNorm2d(planes)

    def forward(self, x):
        B, C, N = x.shape
        points = x.transpose(1, 2).contiguous()
        index = nearest(points, self.k) + torch.arange(B, device=x.device).view(-1, 1, 1) * N
        neighbours = points.view(B * N, C)[index.view(-1)].view(B, N, self.k, C)
        center = points.unsqueeze(2).expand(-1, -1, self.k, -1)
        edges = torch.cat((neighbours - center, center), 3).permute(0, 3, 1, 2)
        return F.leaky_relu(self.norm(self.conv(edges)), 0.2).max(-1)[0]


def dense(inplanes, planes, dropout):
    return nn.Sequential(nn.Linear(inplanes, planes, bias=False), nn.BatchNorm1d(planes), nn.LeakyReLU(0.2),
                         nn.Dropout(dropout))


class DGCNN(nn.Module):
    def __init__(self, s):
        super().__init__()
        w = s["width"]
        planes = (w, w, 2 * w, 4 * w)
        self.layers = nn.ModuleList(EdgeConv(i, o, s["neighbours"]) for i, o in zip((3, *planes), planes))
        self.last = nn.Sequential(nn.Conv1d(sum(planes), 16 * w, 1, bias=False), nn.BatchNorm1d(16 * w), nn.LeakyReLU(0.2))
        self.head = nn.Sequential(dense(32 * w, 8 * w, s["dropout"]), dense(8 * w, 4 * w, s["dropout"]),
                                  nn.Linear(4 * w, s["classes"]))

    def forward(self, x):
        outputs = []
        for layer in self.layers:
            x = layer(x)
            outputs.append(x)
        x = self.last(torch.cat(outputs, 1))
        return self.head(torch.cat((F.adaptive_max_pool1d(x, 1).squeeze(-1), F.adaptive_avg_pool1d(x, 1).squeeze(-1)), 1))


def setup(zoo):
    s = zoo.sizes
    module = DGCNN(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-3, weight_decay=1e-4)
    x, y = zoo.wave((s["batch"], 3, s["points"])), zoo.ids((s["batch"],), s["classes"])
    return zoo.training(module, optimizer, lambda: F.cross_entropy(model(x), y, label_smoothing=0.2), lambda: model(x))
