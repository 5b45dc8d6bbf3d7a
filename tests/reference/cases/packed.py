"""Recurrent layers over packed sequences, as a Lua table: outputs, final states and gradients."""
import torch

LENGTHS = [2, 4, 1, 4]


def lua(value):
    if isinstance(value, torch.Tensor):
        value = value.tolist()
    if isinstance(value, list):
        return "{" + ", ".join(lua(v) for v in value) + "}"
    return repr(round(value, 12))


def ramp(*shape, k):
    count = torch.Size(shape).numel()
    return (torch.arange(count, dtype=torch.float64) * k).sin().reshape(shape)


def case(name, layers, bidirectional):
    module = getattr(torch.nn, name)(3, 2, num_layers=layers, bidirectional=bidirectional).double()
    for i, parameter in enumerate(module.parameters()):
        parameter.data = ramp(*parameter.shape, k=0.7 + 0.1 * i)
    depth = layers * (2 if bidirectional else 1)
    x, h0 = ramp(4, 4, 3, k=0.37).requires_grad_(), ramp(depth, 4, 2, k=0.9).requires_grad_()
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, LENGTHS, enforce_sorted=False)
    out, h = module(packed, (h0, ramp(depth, 4, 2, k=1.1)) if name == "LSTM" else h0)
    h, c = h if name == "LSTM" else (h, None)
    padded, _ = torch.nn.utils.rnn.pad_packed_sequence(out)
    loss = (padded * ramp(*padded.shape, k=0.5)).sum() + (h * ramp(*h.shape, k=0.3)).sum()
    if c is not None:
        loss = loss + (c * c).sum()
    loss.backward()
    fields = dict(out=padded, h=h, dx=x.grad, dh=h0.grad, dw=module.weight_hh_l0.grad)
    if c is not None:
        fields["c"] = c
    values = ", ".join(f"{key} = {lua(value.detach())}" for key, value in fields.items())
    return (f'  {{name = "{name}", layers = {layers}, bidirectional = {str(bidirectional).lower()},\n   {values}}},')


def write(path):
    lines = ["-- Written by generate.py: PyTorch's recurrent layers over packed sequences of lengths 2, 4, 1, 4.", "return {"]
    for name in ("RNN", "GRU", "LSTM"):
        lines += [case(name, 1, False), case(name, 2, True)]
    with open(path, "w") as out:
        out.write("\n".join(lines + ["}"]) + "\n")
