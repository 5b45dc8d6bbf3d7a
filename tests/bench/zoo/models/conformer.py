"""A recognizer of speech: attention and convolution between two halves of a feed-forward net. Gulati and others, "Conformer:
convolution-augmented transformer for speech recognition", 2020. Its loss is CTC."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def feed_forward(width, dropout):
    return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Dropout(dropout),
                         nn.Linear(4 * width, width), nn.Dropout(dropout))


class Convolution(nn.Module):
    def __init__(self, width, kernel, dropout):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.layers = nn.Sequential(nn.Conv1d(width, 2 * width, 1), nn.GLU(1),
                                    nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width, bias=False),
                                    nn.BatchNorm1d(width), nn.SiLU(), nn.Conv1d(width, width, 1), nn.Dropout(dropout))

    def forward(self, x):
        return self.layers(self.norm(x).transpose(1, 2)).transpose(1, 2)


class Block(nn.Module):
    def __init__(self, s):
        super().__init__()
        width, dropout = s["width"], s["dropout"]
        self.first, self.second = feed_forward(width, dropout), feed_forward(width, dropout)
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, s["heads"], dropout, batch_first=True)
        self.dropout, self.convolution = nn.Dropout(dropout), Convolution(width, s["kernel"], dropout)
        self.last = nn.LayerNorm(width)

    def forward(self, x):
        x = x + 0.5 * self.first(x)
        y = self.norm(x)
        x = x + self.dropout(self.attention(y, y, y, need_weights=False)[0])
        x = x + self.convolution(x)
        return self.last(x + 0.5 * self.second(x))


class Conformer(nn.Module):
    def __init__(self, s):
        super().__init__()
        width = s["width"]
        self.shrink = nn.Sequential(nn.Conv2d(1, width, 3, 2), nn.ReLU(), nn.Conv2d(width, width, 3, 2), nn.ReLU())
        self.enter = nn.Sequential(nn.Linear(width * (((s["bands"] - 1) // 2 - 1) // 2), width), nn.Dropout(s["dropout"]))
        self.blocks = nn.Sequential(*(Block(s) for _ in range(s["layers"])))
        self.head = nn.Linear(width, s["labels"])

    def forward(self, x):
        x = self.shrink(x.unsqueeze(1))
        x = self.enter(x.transpose(1, 2).flatten(2))
        return F.log_softmax(self.head(self.blocks(x)), -1)


def setup(zoo):
    s = zoo.sizes
    module = Conformer(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.AdamW(module.parameters(), lr=5e-4, betas=(0.9, 0.98))
    x = zoo.wave((s["batch"], s["frames"], s["bands"]))
    labels = zoo.ids((s["batch"], s["words"]), s["labels"] - 1) + 1
    lengths = torch.full((s["batch"],), ((s["frames"] - 1) // 2 - 1) // 2)
    words = torch.full((s["batch"],), s["words"])
    return zoo.training(module, optimizer, lambda: F.ctc_loss(model(x).transpose(0, 1), labels, lengths, words),
                        lambda: model(x))
