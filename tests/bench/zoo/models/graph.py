"""A network of a graph: messages along edges by index_select, sums at nodes by index_add. Gilmer and others, "Neural message
passing for quantum chemistry", 2017."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.message = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, width))
        self.update = nn.Linear(2 * width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x, start, end, degree):
        m = self.message(torch.cat((x.index_select(0, start), x.index_select(0, end)), 1))
        total = torch.zeros(x.size(0), m.size(1), dtype=m.dtype, device=m.device).index_add(0, end, m)
        return x + F.relu(self.norm(self.update(torch.cat((x, total / degree), 1))))


class GraphNet(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.encoder = nn.Linear(s["features"], s["width"])
        self.layers = nn.ModuleList(Layer(s["width"]) for _ in range(s["layers"]))
        self.head = nn.Linear(s["width"], s["classes"])

    def forward(self, x, start, end, degree):
        x = self.encoder(x)
        for layer in self.layers:
            x = layer(x, start, end, degree)
        return self.head(x)


def setup(zoo):
    s = zoo.sizes
    module = GraphNet(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
    x, y = zoo.wave((s["nodes"], s["features"])), zoo.ids((s["nodes"],), s["classes"])
    start, end = zoo.ids((s["edges"],), s["nodes"], 1), zoo.ids((s["edges"],), s["nodes"], 2)
    degree = torch.bincount(end, minlength=s["nodes"]).clamp(min=1).float().unsqueeze(1)
    return zoo.training(module, optimizer, lambda: F.cross_entropy(model(x, start, end, degree), y),
                        lambda: model(x, start, end, degree))
