"""ViT-B/16. Dosovitskiy and others, "An image is worth 16x16 words: transformers for image recognition at scale", 2021."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class ViT(nn.Module):
    def __init__(self, s):
        super().__init__()
        width = s["width"]
        self.patches = nn.Conv2d(3, width, s["patch"], stride=s["patch"])
        self.class_token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, (s["image"] // s["patch"]) ** 2 + 1, width) * 0.02)
        layer = nn.TransformerEncoderLayer(width, s["heads"], 4 * width, s["dropout"], activation="gelu", batch_first=True,
                                           norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, s["layers"], norm=nn.LayerNorm(width))
        self.head = nn.Linear(width, s["classes"])

    def forward(self, x):
        tokens = self.patches(x).flatten(2).transpose(1, 2)
        first = self.class_token.expand(x.size(0), -1, -1)
        x = self.encoder(torch.cat((first, tokens), 1) + self.positions)
        return self.head(x[:, 0])


def setup(zoo):
    s = zoo.sizes
    module = ViT(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.AdamW(module.parameters(), lr=3e-4, weight_decay=0.1)
    x, y = zoo.wave((s["batch"], 3, s["image"], s["image"])), zoo.ids((s["batch"],), s["classes"])
    return zoo.training(module, optimizer, lambda: F.cross_entropy(model(x), y), lambda: model(x))
