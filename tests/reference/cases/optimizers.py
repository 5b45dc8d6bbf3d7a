"""Five steps of each optimizer with given gradients, and the learning rates of each scheduler, as a Lua table."""
import numpy as np
import torch

STEPS = 5
SHAPES = [(2, 3), (4,)]


class Lion(torch.optim.Optimizer):
    """Chen et al., "Symbolic discovery of optimization algorithms", 2023; PyTorch has none."""

    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            lr, (b1, b2), decay = group["lr"], group["betas"], group["weight_decay"]
            for p in group["params"]:
                m = self.state[p].setdefault("exp_avg", torch.zeros_like(p))
                update = (b1 * m + (1 - b1) * p.grad).sign()
                p.mul_(1 - lr * decay).sub_(lr * update)
                m.mul_(b2).add_((1 - b2) * p.grad)


class NAdam(torch.optim.Optimizer):
    """Dozat 2016 as PyTorch 2 has it; 1.13 multiplies by mu twice in the product for the next step."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, momentum_decay=4e-3):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay,
                                      momentum_decay=momentum_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            lr, (b1, b2), eps = group["lr"], group["betas"], group["eps"]
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state.update(t=0, product=1.0, m=torch.zeros_like(p), v=torch.zeros_like(p))
                state["t"] += 1
                g = p.grad + group["weight_decay"] * p
                mu, following = (b1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"]))
                                 for t in (state["t"], state["t"] + 1))
                state["product"] *= mu
                state["m"].mul_(b1).add_((1 - b1) * g)
                state["v"].mul_(b2).add_((1 - b2) * g * g)
                root = (state["v"] / (1 - b2 ** state["t"])).sqrt() + eps
                p.sub_(lr * (1 - mu) / (1 - state["product"]) * g / root)
                p.sub_(lr * following / (1 - state["product"] * following) * state["m"] / root)


OURS = {"Lion": Lion, "NAdam": NAdam}
OPTIMIZERS = [
    ("SGD", [dict(lr=0.1), dict(lr=0.1, momentum=0.9), dict(lr=0.1, momentum=0.9, dampening=0.5, weight_decay=0.1),
             dict(lr=0.1, momentum=0.8, nesterov=True), dict(lr=0.1, maximize=True)]),
    ("Adam", [dict(lr=0.1), dict(lr=0.1, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.1), dict(lr=0.1, amsgrad=True),
              dict(lr=0.1, maximize=True)]),
    ("AdamW", [dict(lr=0.1), dict(lr=0.1, weight_decay=0.2, amsgrad=True), dict(lr=0.1, maximize=True)]),
    ("NAdam", [dict(lr=0.1), dict(lr=0.1, weight_decay=0.1, momentum_decay=0.02)]),
    ("RAdam", [dict(lr=0.1), dict(lr=0.1, betas=(0.5, 0.6), weight_decay=0.1)]),
    ("RMSprop", [dict(lr=0.1), dict(lr=0.1, alpha=0.9, momentum=0.5, weight_decay=0.1),
                 dict(lr=0.1, centered=True, eps=1e-3)]),
    ("Adagrad", [dict(lr=0.1), dict(lr=0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.5)]),
    ("Adadelta", [dict(lr=1.0), dict(lr=0.5, rho=0.8, eps=1e-3, weight_decay=0.1)]),
    ("Adamax", [dict(lr=0.1), dict(lr=0.1, betas=(0.8, 0.9), weight_decay=0.1)]),
    ("Rprop", [dict(lr=0.1), dict(lr=0.05, etas=(0.4, 1.5), step_sizes=(0.03, 0.2))]),
    ("Lion", [dict(lr=0.1), dict(lr=0.1, betas=(0.5, 0.75), weight_decay=0.1)]),
]

SCHEDULERS = [
    ("StepLR", dict(step_size=3, gamma=0.5)),
    ("MultiStepLR", dict(milestones=[2, 5], gamma=0.1)),
    ("ConstantLR", dict(factor=0.25, total_iters=4)),
    ("LinearLR", dict(start_factor=0.25, end_factor=1.0, total_iters=4)),
    ("ExponentialLR", dict(gamma=0.9)),
    ("PolynomialLR", dict(total_iters=6, power=2.0)),
    ("CosineAnnealingLR", dict(T_max=5, eta_min=0.01)),
    ("CosineAnnealingWarmRestarts", dict(T_0=3, T_mult=2, eta_min=0.01)),
    ("OneCycleLR", dict(max_lr=1.0, total_steps=12)),
    ("OneCycleLR", dict(max_lr=1.0, total_steps=12, pct_start=0.4, anneal_strategy="linear", three_phase=True)),
    ("CyclicLR", dict(base_lr=0.05, max_lr=0.5, step_size_up=3)),
    ("CyclicLR", dict(base_lr=0.05, max_lr=0.5, step_size_up=2, step_size_down=3, mode="triangular2")),
    ("CyclicLR", dict(base_lr=0.05, max_lr=0.5, step_size_up=2, mode="exp_range", gamma=0.9)),
]
PLATEAU = [
    (dict(factor=0.5, patience=1), [5, 4, 4, 4, 4, 3, 3, 3, 3, 3, 3]),
    (dict(mode="max", factor=0.5, patience=0, threshold=0.1, threshold_mode="abs", cooldown=2, min_lr=0.02),
     [1, 2, 2.05, 2.1, 2.1, 2.1, 3, 3, 3, 3, 3]),
]


def lua(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {lua(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "{" + ", ".join(lua(v) for v in value) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (int, np.integer)):
        return str(value)
    return repr(float(value))


def eighths(rng, shape):
    return rng.integers(-16, 17, shape) / 8


def write(path):
    rng = np.random.default_rng(7)
    start = [eighths(rng, s) for s in SHAPES]
    gradients = [[eighths(rng, s) for s in SHAPES] for _ in range(STEPS)]
    lines = ["-- Written by generate.py. PyTorch's parameters after steps with these gradients, and its learning rates.",
             "return {", f"start = {lua(start)},", "gradients = {"]
    lines += [f"  {lua(g)}," for g in gradients] + ["},", "optimizers = {"]
    for name, settings in OPTIMIZERS:
        for options in settings:
            params = [torch.tensor(p, requires_grad=True) for p in start]
            optimizer = (OURS.get(name) or getattr(torch.optim, name))(params, **options)
            for step in gradients:
                for p, g in zip(params, step):
                    p.grad = torch.tensor(g)
                optimizer.step()
            result = [p.detach().numpy().reshape(-1) for p in params]
            lines.append(f'  {{name = "{name}", options = {lua(options)}, result = {lua(result)}}},')
    lines += ["},", "schedulers = {"]
    for name, options in SCHEDULERS:
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.2, momentum=0.9)
        scheduler = getattr(torch.optim.lr_scheduler, name)(optimizer, **options)
        rates = []
        for _ in range(11):
            rates.append(optimizer.param_groups[0]["lr"])
            optimizer.step()
            scheduler.step()
        lines.append(f'  {{name = "{name}", options = {lua(options)}, rates = {lua(rates)}}},')
    for options, metrics in PLATEAU:
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.2)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        rates = []
        for metric in metrics:
            rates.append(optimizer.param_groups[0]["lr"])
            scheduler.step(metric)
        lines.append(f'  {{name = "ReduceLROnPlateau", options = {lua(options)}, metrics = {lua(metrics)}, '
                     f'rates = {lua(rates)}}},')
    lines += ["},", "}"]
    with open(path, "w") as out:
        out.write("\n".join(lines) + "\n")
