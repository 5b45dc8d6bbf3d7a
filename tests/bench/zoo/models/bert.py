"""BERT-base, masked language modelling. Devlin and others, "BERT: pre-training of deep bidirectional transformers for
language understanding", 2019."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Bert(nn.Module):
    def __init__(self, s):
        super().__init__()
        width = s["width"]
        self.word, self.position = nn.Embedding(s["vocabulary"], width), nn.Embedding(s["length"], width)
        self.segment = nn.Embedding(2, width)
        self.norm, self.dropout = nn.LayerNorm(width, eps=1e-12), nn.Dropout(s["dropout"])
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, s["heads"], 4 * width, s["dropout"], activation="gelu", batch_first=True)
            for _ in range(s["layers"]))
        self.transform, self.transform_norm = nn.Linear(width, width), nn.LayerNorm(width, eps=1e-12)
        self.decoder = nn.Linear(width, s["vocabulary"])
        self.decoder.weight = self.word.weight
        for m in self.modules():
            if isinstance(m, (nn.Linear, nn.Embedding)):
                nn.init.normal_(m.weight, 0, 0.02)

    def forward(self, ids, segments, padding):
        positions = torch.arange(ids.size(1), device=ids.device)
        x = self.dropout(self.norm(self.word(ids) + self.position(positions) + self.segment(segments)))
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=padding)
        return self.decoder(self.transform_norm(F.gelu(self.transform(x))))


def setup(zoo):
    s = zoo.sizes
    module = Bert(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.AdamW(module.parameters(), lr=1e-4, weight_decay=0.01)
    shape = (s["batch"], s["length"])
    ids, segments = zoo.ids(shape, s["vocabulary"]), zoo.ids(shape, 2, 1)
    # The last eighth is padding; every seventh word is to be guessed.
    position = torch.arange(s["length"], device=zoo.device).expand(shape)
    padding = position >= s["length"] - s["length"] // 8
    masked = (position % 7 == 3) & ~padding
    labels = ids.masked_fill(~masked, -100)
    given = ids.masked_fill(masked, 103)

    def loss():
        return F.cross_entropy(model(given, segments, padding).view(-1, s["vocabulary"]), labels.view(-1))
    return zoo.training(module, optimizer, loss, lambda: model(given, segments, padding))
