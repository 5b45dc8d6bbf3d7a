"""A language model of words with a large vocabulary. Zaremba, Sutskever, Vinyals, "Recurrent neural network
regularization", 2014."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class LanguageModel(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.drop, self.encoder = nn.Dropout(s["dropout"]), nn.Embedding(s["vocabulary"], s["width"])
        self.rnn = nn.LSTM(s["width"], s["width"], s["layers"], dropout=s["dropout"])
        self.decoder = nn.Linear(s["width"], s["vocabulary"])
        for layer in (self.encoder, self.decoder):
            nn.init.uniform_(layer.weight, -0.1, 0.1)

    def forward(self, ids, h, c):
        out, (h, c) = self.rnn(self.drop(self.encoder(ids)), (h, c))
        return self.decoder(self.drop(out)), h, c


def setup(zoo):
    s = zoo.sizes
    module = LanguageModel(s).to(zoo.device)
    model = zoo.compile(module)
    optimizer = torch.optim.SGD(module.parameters(), lr=1.0)
    data = zoo.ids((s["length"] + 1, s["batch"]), s["vocabulary"])
    x, y = data[:-1], data[1:].reshape(-1)
    h0 = torch.zeros(s["layers"], s["batch"], s["width"], device=zoo.device)
    state = [h0, h0]

    def step():
        h, c = state[0].detach(), state[1].detach()
        module.zero_grad()
        with zoo.autocast():
            out, state[0], state[1] = model(x, h, c)
            loss = F.cross_entropy(out.view(-1, s["vocabulary"]), y)
        loss.backward()
        nn.utils.clip_grad_norm_(module.parameters(), 0.25)
        optimizer.step()
        return loss

    def infer():
        with zoo.autocast():
            return model(x, h0, h0)[0]
    return {"module": module, "step": step, "infer": infer}
