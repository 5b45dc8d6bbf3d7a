"""lunagrad.grad()."""
import array

from . import _library as lib
from ._library import int32, library, pointer, size
from ._tensor import Tensor, _owned


def grad(outputs: "Tensor | Sequence[Tensor]", inputs: "Tensor | Sequence[Tensor]", grad_outputs: "Any" = None,
         retain_graph: "bool | None" = None, create_graph: "bool" = False, allow_unused: "bool" = False) -> "tuple[Any, ...]":
    """The gradients of the sum of outputs, weighted by grad_outputs, with respect to inputs: a tuple, whose elements are None for
    inputs that no output depends on if allow_unused is True. With create_graph they can be differentiated again."""
    outputs = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    inputs = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    seeds = [grad_outputs] if isinstance(grad_outputs, Tensor) else grad_outputs
    if not outputs or not inputs:
        raise ValueError("grad: there are no outputs or no inputs")
    if seeds is not None and len(seeds) != len(outputs):
        raise ValueError(f"grad: there are {len(outputs)} outputs and {len(seeds)} grad_outputs")
    retain_graph = create_graph if retain_graph is None else retain_graph
    flags = (lib.RETAIN_GRAPH * bool(retain_graph) | lib.CREATE_GRAPH * bool(create_graph) | lib.ALLOW_UNUSED * bool(allow_unused))
    engine = outputs[0]._e
    starts = None if seeds is None else array.array("q", [0 if seed is None else seed._h for seed in seeds]).tobytes()
    found = array.array("q", [0] * len(inputs))
    engine.run(library.lg_grad, _handles(outputs), size(len(outputs)), _handles(inputs), size(len(inputs)), starts, int32(flags),
               pointer(found.buffer_info()[0]))
    return tuple(_owned(engine, handle) if handle else None for handle in found)


def _handles(tensors):
    return array.array("q", [tensor._h for tensor in tensors]).tobytes()
