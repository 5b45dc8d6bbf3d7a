"""MAML: the loss after a few steps of gradient descent is differentiated through these steps. Finn, Abbeel, Levine,
"Model-agnostic meta-learning for fast adaptation of deep networks", 2017. Not compiled: torch.compile has no second order."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.weights, channels = nn.ParameterList(), 1
        for _ in range(s["layers"]):
            self.weights.append(nn.Parameter(nn.init.kaiming_normal_(torch.empty(s["channels"], channels, 3, 3))))
            self.weights.append(nn.Parameter(torch.zeros(s["channels"])))
            channels = s["channels"]
        features = channels * (s["image"] >> s["layers"]) ** 2
        self.weights.append(nn.Parameter(nn.init.kaiming_normal_(torch.empty(s["ways"], features))))
        self.weights.append(nn.Parameter(torch.zeros(s["ways"])))

    def forward(self, x, weights=None):
        weights = list(self.weights) if weights is None else weights
        for i in range(0, len(weights) - 2, 2):
            x = F.conv2d(x, weights[i], weights[i + 1], padding=1)
            x = F.max_pool2d(F.relu(x), 2)
        return F.linear(x.flatten(1), weights[-2], weights[-1])


def setup(zoo):
    s = zoo.sizes
    model = Net(s).to(zoo.device)
    meta = torch.optim.Adam(model.parameters(), lr=1e-3)
    count = s["ways"] * s["shots"]
    shape = (s["tasks"], count, 1, s["image"], s["image"])
    support_x, query_x = zoo.wave(shape), zoo.wave(shape, 1)
    support_y, query_y = zoo.ids((s["tasks"], count), s["ways"]), zoo.ids((s["tasks"], count), s["ways"], 1)

    def task_loss(task):
        weights = list(model.parameters())
        for _ in range(s["inner"]):
            with zoo.autocast():
                loss = F.cross_entropy(model(support_x[task], weights), support_y[task])
            grads = torch.autograd.grad(loss, weights, create_graph=True)
            weights = [w - 0.01 * g for w, g in zip(weights, grads)]
        with zoo.autocast():
            return F.cross_entropy(model(query_x[task], weights), query_y[task])

    def step():
        meta.zero_grad()
        loss = sum(task_loss(task) for task in range(s["tasks"])) / s["tasks"]
        loss.backward()
        meta.step()
        return loss

    def infer():
        with zoo.autocast():
            return model(query_x[0])
    return {"module": model, "step": step, "infer": infer}
