"""A translator: a GRU reads, another writes one word at a time with attention over what was read. Bahdanau, Cho, Bengio,
"Neural machine translation by jointly learning to align and translate", 2015."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Decoder(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.query, self.key, self.score = nn.Linear(width, width), nn.Linear(2 * width, width), nn.Linear(width, 1)
        self.cell = nn.GRUCell(3 * width, width)
        self.out = nn.Linear(4 * width, vocabulary)

    def forward(self, words, read, h):
        keys, x, outputs = self.key(read), self.embedding(words), []
        for t in range(words.size(1)):
            weights = F.softmax(self.score(torch.tanh(self.query(h).unsqueeze(1) + keys)).squeeze(-1), -1)
            context = torch.bmm(weights.unsqueeze(1), read).squeeze(1)
            h = self.cell(torch.cat((x[:, t], context), 1), h)
            outputs.append(torch.cat((h, context, x[:, t]), 1))
        return self.out(torch.stack(outputs, 1))


class Translator(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.embedding = nn.Embedding(s["vocabulary"], s["width"])
        self.encoder = nn.GRU(s["width"], s["width"], batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * s["width"], s["width"])
        self.decoder = Decoder(s["vocabulary"], s["width"])

    def forward(self, source, words):
        read, last = self.encoder(self.embedding(source))
        h = torch.tanh(self.bridge(torch.cat((last[0], last[1]), 1)))
        return self.decoder(words, read, h)


def setup(zoo):
    s = zoo.sizes
    module = Translator(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
    source = zoo.ids((s["batch"], s["length"]), s["vocabulary"])
    target = zoo.ids((s["batch"], s["length"] + 1), s["vocabulary"], 1)
    x, y = target[:, :-1], target[:, 1:]
    return zoo.training(module, optimizer, lambda: F.cross_entropy(model(source, x).transpose(1, 2), y),
                        lambda: model(source, x))
