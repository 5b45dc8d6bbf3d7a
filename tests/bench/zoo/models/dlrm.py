"""A recommender: large embedding tables and two MLPs, with products of all pairs of features. Naumov and others, "Deep learning
recommendation model for personalization and recommendation systems", 2019."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(sizes):
    layers = []
    for i in range(len(sizes) - 1):
        layers.append(nn.Linear(sizes[i], sizes[i + 1]))
        if i < len(sizes) - 2:
            layers.append(nn.ReLU())
    return nn.Sequential(*layers)


class DLRM(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(s["rows"], s["features"], mode="sum") for _ in range(s["tables"]))
        self.bottom = mlp([s["dense"], s["hidden"], s["hidden"] // 2, s["features"]])
        fields = s["tables"] + 1
        self.top = mlp([s["features"] + fields * (fields - 1) // 2, s["hidden"], s["hidden"] // 2, 1])
        self.register_buffer("pairs", torch.tril_indices(fields, fields, -1), persistent=False)

    def forward(self, dense, sparse):
        x = self.bottom(dense)
        all_fields = torch.stack([x] + [bag(sparse[i]) for i, bag in enumerate(self.tables)], 1)
        products = torch.bmm(all_fields, all_fields.transpose(1, 2))
        pairs = products[:, self.pairs[0], self.pairs[1]]
        return self.top(torch.cat((x, pairs), 1)).squeeze(-1)


def setup(zoo):
    s = zoo.sizes
    module = DLRM(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    dense, sparse = zoo.wave((s["batch"], s["dense"])), zoo.ids((s["tables"], s["batch"], s["bag"]), s["rows"])
    clicked = zoo.ids((s["batch"],), 2, 2).float()
    return zoo.training(module, optimizer, lambda: F.binary_cross_entropy_with_logits(model(dense, sparse), clicked),
                        lambda: model(dense, sparse))
