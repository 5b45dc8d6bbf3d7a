"""A field of radiance: a coarse net finds where a ray meets something, a fine one is sampled there. Mildenhall and others,
"NeRF: representing scenes as neural radiance fields for view synthesis", 2020."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def encoded(x, octaves):
    parts = [x]
    for i in range(octaves):
        parts += [torch.sin(2.0 ** i * x), torch.cos(2.0 ** i * x)]
    return torch.cat(parts, -1)


class Field(nn.Module):
    def __init__(self, s):
        super().__init__()
        w, place, view = s["width"], 3 + 6 * s["octaves"], 3 + 6 * s["view_octaves"]
        self.first = nn.ModuleList(nn.Linear(w if i else place, w) for i in range(5))
        self.second = nn.ModuleList(nn.Linear(w if i else w + place, w) for i in range(3))
        self.density, self.feature = nn.Linear(w, 1), nn.Linear(w, w)
        self.view, self.color = nn.Linear(w + view, w // 2), nn.Linear(w // 2, 3)

    def forward(self, place, view):
        h = place
        for layer in self.first:
            h = F.relu(layer(h))
        h = torch.cat((place, h), -1)
        for layer in self.second:
            h = F.relu(layer(h))
        color = F.relu(self.view(torch.cat((self.feature(h), view), -1)))
        return torch.sigmoid(self.color(color)), F.softplus(self.density(h)).squeeze(-1)


def rendered(color, density, depths):
    """Colors of rays, and the weights of their samples."""
    far = torch.full_like(depths[:, :1], 1e10)
    alpha = 1 - torch.exp(-density * torch.cat((depths[:, 1:] - depths[:, :-1], far), 1))
    clear = torch.cumprod(torch.cat((torch.ones_like(far), 1 - alpha + 1e-10), 1), 1)[:, :-1]
    weights = alpha * clear
    return (weights.unsqueeze(-1) * color).sum(1), weights


def sampled(edges, weights, u):
    """Depths between edges, distributed as the weights, by the inverse of their running sums."""
    weights = weights + 1e-5
    cdf = torch.cumsum(weights / weights.sum(1, keepdim=True), 1)
    cdf = torch.cat((torch.zeros_like(cdf[:, :1]), cdf), 1)
    above = torch.searchsorted(cdf, u, right=True).clamp(max=cdf.size(1) - 1)
    below = (above - 1).clamp(min=0)
    low, high = cdf.gather(1, below), cdf.gather(1, above)
    start, end = edges.gather(1, below), edges.gather(1, above)
    span = high - low
    span = torch.where(span < 1e-5, torch.ones_like(span), span)
    return start + (u - low) / span * (end - start)


class NeRF(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.coarse, self.fine, self.s = Field(s), Field(s), s

    def colors(self, field, origins, directions, depths):
        places = origins.unsqueeze(1) + directions.unsqueeze(1) * depths.unsqueeze(-1)
        views = F.normalize(directions, dim=-1).unsqueeze(1).expand_as(places)
        color, density = field(encoded(places, self.s["octaves"]), encoded(views, self.s["view_octaves"]))
        return rendered(color, density, depths)

    def forward(self, origins, directions, jitter, u):
        n = self.s["samples"]
        depths = 2 + 4 * (torch.arange(n, device=origins.device) + jitter) / n
        coarse, weights = self.colors(self.coarse, origins, directions, depths)
        middles = 0.5 * (depths[:, 1:] + depths[:, :-1])
        more = sampled(middles, weights[:, 1:-1].detach(), u)
        depths = torch.sort(torch.cat((depths, more), 1), 1)[0]
        fine, _ = self.colors(self.fine, origins, directions, depths)
        return coarse, fine


def setup(zoo):
    s = zoo.sizes
    module = NeRF(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.Adam(module.parameters(), lr=5e-4)
    origins, directions = 0.2 * zoo.wave((s["rays"], 3)), zoo.wave((s["rays"], 3), 1)
    seen = zoo.wave((s["rays"], 3), 2).sigmoid()

    def rays():
        return model(origins, directions, zoo.uniform((s["rays"], s["samples"])), zoo.uniform((s["rays"], s["more"])))

    def loss():
        coarse, fine = rays()
        return F.mse_loss(coarse, seen) + F.mse_loss(fine, seen)
    return zoo.training(module, optimizer, loss, lambda: rays()[1])
