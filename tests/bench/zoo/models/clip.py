"""CLIP: a tower for images and one for texts learn which belong together. Radford and others, "Learning transferable visual
models from natural language supervision", 2021."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def transformer(width, heads, layers):
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, activation="gelu", batch_first=True, norm_first=True)
    return nn.TransformerEncoder(layer, layers)


class Images(nn.Module):
    def __init__(self, s):
        super().__init__()
        width = s["image_width"]
        self.patches = nn.Conv2d(3, width, s["patch"], stride=s["patch"], bias=False)
        self.class_token = nn.Parameter(torch.randn(width) * width ** -0.5)
        self.positions = nn.Parameter(torch.randn((s["image"] // s["patch"]) ** 2 + 1, width) * width ** -0.5)
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.transformer = transformer(width, s["image_heads"], s["layers"])
        self.projection = nn.Linear(width, s["features"], bias=False)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.class_token.expand(x.size(0), 1, -1), x), 1) + self.positions
        return self.projection(self.after(self.transformer(self.before(x))[:, 0]))


class Texts(nn.Module):
    def __init__(self, s):
        super().__init__()
        width = s["text_width"]
        self.tokens = nn.Embedding(s["vocabulary"], width)
        self.positions = nn.Parameter(torch.randn(s["length"], width) * 0.01)
        self.transformer = transformer(width, s["text_heads"], s["layers"])
        self.after, self.projection = nn.LayerNorm(width), nn.Linear(width, s["features"], bias=False)
        self.register_buffer("mask", torch.full((s["length"], s["length"]), float("-inf")).triu(1), persistent=False)

    def forward(self, ids):
        x = self.transformer(self.tokens(ids) + self.positions, self.mask)
        last = ids.argmax(-1)  # the end of a text has the highest number
        return self.projection(self.after(x)[torch.arange(ids.size(0), device=ids.device), last])


class CLIP(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.images, self.texts = Images(s), Texts(s)
        self.logit_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, images, texts):
        a, b = F.normalize(self.images(images), dim=-1), F.normalize(self.texts(texts), dim=-1)
        return self.logit_scale.exp() * a @ b.t()


def setup(zoo):
    s = zoo.sizes
    module = CLIP(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.AdamW(module.parameters(), lr=5e-4, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.2)
    images = zoo.wave((s["batch"], 3, s["image"], s["image"]))
    texts, labels = zoo.ids((s["batch"], s["length"]), s["vocabulary"]), torch.arange(s["batch"], device=zoo.device)

    def loss():
        logits = model(images, texts)
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
    return zoo.training(module, optimizer, loss, lambda: model(images, texts))
