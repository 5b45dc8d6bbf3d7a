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


class ASGD(torch.optim.Optimizer):
    """PyTorch's, which keeps eta and mu in f32, in f64."""

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, lambd=lambd, alpha=alpha, t0=t0, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                t = state["t"] = state.get("t", 0) + 1
                eta = state.get("eta", group["lr"])
                p.sub_(eta * (p.grad + group["weight_decay"] * p) + group["lambd"] * eta * p)
                state["eta"] = group["lr"] / (1 + group["lambd"] * group["lr"] * t) ** group["alpha"]


class LAMB(torch.optim.Optimizer):
    """You et al., "Large batch optimization for deep learning", ICLR 2020, algorithm 2."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-6, weight_decay=0.01, bias_correction=True,
                 maximize=False):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay,
                                      bias_correction=bias_correction, maximize=maximize))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state.update(t=0, m=torch.zeros_like(p), v=torch.zeros_like(p))
                state["t"] += 1
                g = -p.grad if group["maximize"] else p.grad
                state["m"].mul_(b1).add_((1 - b1) * g)
                state["v"].mul_(b2).add_((1 - b2) * g * g)
                c1, c2 = (1 - b ** state["t"] if group["bias_correction"] else 1 for b in (b1, b2))
                r = state["m"] / c1 / ((state["v"] / c2).sqrt() + group["eps"]) + group["weight_decay"] * p
                ratio = p.norm() / r.norm() if p.norm() > 0 and r.norm() > 0 else 1.0
                p.sub_(group["lr"] * ratio * r)


class Adafactor(torch.optim.Optimizer):
    """Shazeer, Stern, ICML 2018: algorithms 4 and 5, with relative steps as PyTorch 2.5 defines them."""

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, maximize=False):
        super().__init__(params, dict(lr=lr, beta2_decay=beta2_decay, eps=eps, d=d, weight_decay=weight_decay,
                                      maximize=maximize))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            lr, d, (eps1, eps2) = group["lr"], group["d"], group["eps"]
            for p in group["params"]:
                state = self.state[p]
                state["t"] = t = state.get("t", 0) + 1
                g = -p.grad if group["maximize"] else p.grad
                least = eps1 or torch.finfo(p.dtype).eps
                beta = 1 - t ** group["beta2_decay"]
                rms = max(eps2, float((p ** 2).mean().sqrt()))
                p.mul_(1 - lr * group["weight_decay"])
                if p.dim() > 1:
                    rows, columns = (g ** 2).mean(1), (g ** 2).mean(0)
                    state["r"] = beta * state.get("r", torch.zeros_like(rows)) + (1 - beta) * rows
                    state["c"] = beta * state.get("c", torch.zeros_like(columns)) + (1 - beta) * columns
                    v = torch.outer(state["r"], state["c"]) / max(float(state["r"].mean()), least)
                else:
                    state["v"] = v = beta * state.get("v", torch.zeros_like(g)) + (1 - beta) * g ** 2
                u = g / v.clamp(min=least ** 2).sqrt()
                p.sub_(rms * min(lr, t ** -0.5) * u / max(1.0, float((u ** 2).mean().sqrt()) / d))


class Muon(torch.optim.Optimizer):
    """Jordan et al. 2024, with PyTorch 2.9's options; the iteration in the parameter's type. Of matrices alone."""

    def __init__(self, params, lr=1e-3, weight_decay=0.1, momentum=0.95, nesterov=True,
                 ns_coefficients=(3.4445, -4.775, 2.0315), eps=1e-7, ns_steps=5, adjust_lr_fn="original"):
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov,
                                      c=ns_coefficients, eps=eps, ns_steps=ns_steps, adjust=adjust_lr_fn))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            a, b, c = group["c"]
            for p in group["params"]:
                if p.dim() != 2:
                    continue
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                m.lerp_(p.grad, 1 - group["momentum"])
                u = p.grad.lerp(m, group["momentum"]) if group["nesterov"] else m
                # The iteration on the singular values alone.
                left, values, right = torch.linalg.svd(u / u.norm().clamp(min=group["eps"]), full_matrices=False)
                for _ in range(group["ns_steps"]):
                    values = a * values + b * values ** 3 + c * values ** 5
                rows, columns = p.shape
                rate = group["lr"] * (max(1, rows / columns) ** 0.5 if group["adjust"] == "original"
                                      else 0.2 * max(rows, columns) ** 0.5)
                p.mul_(1 - group["lr"] * group["weight_decay"]).sub_(rate * left @ torch.diag(values) @ right)


OURS = {"ASGD": ASGD, "Lion": Lion, "NAdam": NAdam, "LAMB": LAMB, "Adafactor": Adafactor, "Muon": Muon}
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
    ("ASGD", [dict(lr=0.1), dict(lr=0.1, lambd=0.01, alpha=0.5, t0=1, weight_decay=0.1)]),
    ("LAMB", [dict(lr=0.1), dict(lr=0.05, betas=(0.8, 0.9), weight_decay=0.0, bias_correction=False),
              dict(lr=0.1, maximize=True)]),
    ("Adafactor", [dict(), dict(lr=0.5, beta2_decay=-0.5, eps=(1e-6, 1e-2), d=0.5, weight_decay=0.1), dict(maximize=True)]),
    ("Muon", [dict(), dict(lr=0.1, nesterov=False, weight_decay=0.0, adjust_lr_fn="match_rms_adamw", ns_steps=3)]),
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
            result = [p.detach().numpy().reshape(-1) for p in params[:1 if name == "Muon" else None]]
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
