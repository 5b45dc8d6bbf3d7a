"""Cases of one call at all sizes of numbers, from subnormal ones to the largest."""
import numpy as np
from generate_ends import Operand
from ends.number import V, lift

# Magnitudes whose squares overflow or vanish, and magnitudes whose sums do.
SCALES = {"f32": [1e-42, 3e-38, 1e-20, 1.0, 1e20, 2.0 ** 121], "f64": [1e-312, 5e-308, 1e-160, 1.0, 1e160, 2.0 ** 1017]}


def pattern(*shape, salt=0, low=-2.0, high=2.0):
    """Different multiples of 1/64 of the range, in no order, the same at each call."""
    i = np.arange(int(np.prod(shape))) + 7 * salt
    return (low + (high - low) * (((i * 29 + 13) % 64) + 0.5) / 64).reshape(shape)


class Scaled:
    def __init__(self, family, ulps=16):
        self.family, self.ulps = family, ulps

    def __call__(self, op, inputs, function, params=None, scales=None, fixed=(), dtypes=("f32", "f64"), ulps=None,
        whole=True, **more):
        """fixed: places of inputs that keep their size. Operands keep it too."""
        for dtype in dtypes:
            for k, scale in enumerate(SCALES[dtype]):
                if scales != [3] and (k == 3 or scales is not None and k not in scales):
                    continue  # ordinary numbers are PyTorch's cases
                if scales == [3] and k != 3:
                    continue
                pairs = inputs.items() if isinstance(inputs, dict) else enumerate(inputs)
                scaled = [(name, x if x is None or isinstance(x, Operand) or i in fixed else x * scale)
                          for i, (name, x) in enumerate(pairs)]
                given = dict(scaled) if isinstance(inputs, dict) else [x for _, x in scaled]
                self.family.case(op, dtype, given, function, params, ulps=ulps or self.ulps, whole=whole,
                                 **{"overflow": False, **more})

    def plain(self, op, inputs, function, params=None, **more):
        """The numbers as they are, in both types."""
        for dtype in ("f32", "f64"):
            self.family.case(op, dtype, inputs, function, params,
                **{"ulps": self.ulps, "whole": True, "overflow": False, **more})


def along(f, x, dim=-1, keepdim=False):
    """f of each row along dim; f gives a number or a list."""
    x = np.moveaxis(np.asarray(x, dtype=object), dim, -1)
    rows = x.reshape(-1, x.shape[-1])
    results = [f(list(row)) for row in rows]
    if results and isinstance(results[0], (list, np.ndarray)):
        out = np.empty((len(results), len(results[0])), dtype=object)
        for i, row in enumerate(results):
            for j, y in enumerate(row):
                out[i, j] = y
        return np.moveaxis(out.reshape(*x.shape[:-1], -1), -1, dim)
    out = np.empty(len(results), dtype=object)
    out[:] = results
    out = out.reshape(x.shape[:-1])
    return np.expand_dims(out, dim) if keepdim else out


def scalar(y):
    """A 0-d array of one V."""
    out = np.empty((), dtype=object)
    out[()] = lift(y)
    return out


def whole_numbers(array):
    out = np.empty(np.shape(array), dtype=object)
    for place, k in np.ndenumerate(np.asarray(array)):
        out[place] = V(int(k))
    return out
