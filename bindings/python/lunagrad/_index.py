"""Indexing as in numpy and PyTorch: integers, slices, None, Ellipsis, masks, lists and tensors of positions."""
from operator import index

from ._errors import OperandError


def _entries(key, tensor_type, share):
    """The key as a list of entries: int, slice, None, Ellipsis or an index tensor."""
    found = []
    for entry in key if isinstance(key, tuple) else (key,):
        if entry is None or entry is Ellipsis or isinstance(entry, (slice, tensor_type)):
            found.append(entry)
        elif isinstance(entry, bool):
            found.append(share(entry))
        elif isinstance(entry, (list, range)):
            found.append(share(list(entry)) if len(entry) else share([], dtype="i64"))
        elif getattr(entry, "ndim", 0) == 0 and hasattr(entry, "__index__"):
            found.append(index(entry))
        elif hasattr(entry, "__dlpack__") or hasattr(entry, "__array_interface__"):
            found.append(share(entry))
        else:
            raise TypeError(f"an index is an integer, a slice, None, ..., a list or a tensor, and {type(entry).__name__} is given")
    return [_plain(entry, tensor_type) for entry in found]


def _plain(entry, tensor_type):
    """An index tensor of one integer as that integer; others as they are."""
    if isinstance(entry, tensor_type):
        kind = entry.dtype
        if kind.is_floating_point or kind.is_complex:
            raise IndexError(f"an index tensor holds integers or booleans, and its dtype is {kind}")
        if entry.ndim == 0 and kind != "bool":
            return int(entry)
    return entry


def _dims_of(entry):
    if entry is None or entry is Ellipsis:
        return 0
    return entry.ndim if hasattr(entry, "_h") and entry.dtype == "bool" else 1


def select(x, key, tensor_type, share):
    """The view of x that the ints, slices and Nones of a key select, and the index tensors by dims of the view."""
    entries = _entries(key, tensor_type, share)
    covered = sum(map(_dims_of, entries))
    shape = x.shape
    if sum(entry is Ellipsis for entry in entries) > 1:
        raise IndexError("an index has at most one '...'")
    if covered > len(shape):
        raise IndexError(f"{covered} indices for a tensor of shape {list(shape)}")
    if not any(entry is Ellipsis for entry in entries):
        entries.append(Ellipsis)
    view, dim, of_whole, picks = x, 0, 0, []
    for entry in entries:
        if entry is Ellipsis:
            dim += len(shape) - covered
            of_whole += len(shape) - covered
        elif entry is None:
            view, dim = view.unsqueeze(dim), dim + 1
        elif isinstance(entry, int):
            n = shape[of_whole]
            if not -n <= entry < n:
                raise IndexError(f"index {entry} is out of range for dim {of_whole} of shape {list(shape)}")
            view, of_whole = view.select(dim, entry % n), of_whole + 1
        elif isinstance(entry, slice):
            start, stop, step = entry.indices(shape[of_whole])
            if step < 0:
                raise ValueError("the step of a slice is above 0; flip() reverses a dim")
            length = len(range(start, stop, step))
            if step == 1 or not length:
                view = view if length == shape[of_whole] else view.narrow(dim, start, length)
            else:
                view = view.slice(dim, start, start + (length - 1) * step, step)
            dim, of_whole = dim + 1, of_whole + 1
        elif entry.dtype != "bool":
            picks.append((dim, entry, 1))
            dim, of_whole = dim + 1, of_whole + 1
        elif entry.ndim == 0:  # masks a new dim of size 1
            view = view.unsqueeze(dim)
            picks.append((dim, entry.reshape(1), 1))
            dim += 1
        else:
            n = entry.ndim
            if entry.shape != shape[of_whole:of_whole + n]:
                raise IndexError(f"a mask of shape {list(entry.shape)} does not fit dim {of_whole} of shape {list(shape)}")
            picks.append((dim, entry, n))
            dim, of_whole = dim + n, of_whole + n
    return view, picks


def _orders(view, picks):
    """The permutation that brings the indexed dims to the front, and the one of the result's dims that ends as numpy does:
    adjacent indexed dims are replaced where they stand, others by dims at the front."""
    acted = [d for dim, _, n in picks for d in range(dim, dim + n)]
    order = acted + [d for d in range(view.ndim) if d not in acted]
    picked = max(1 if tensor.dtype == "bool" else tensor.ndim for _, tensor, _ in picks)
    together = acted[-1] - acted[0] == len(acted) - 1
    before = acted[0] if together else 0
    total = picked + view.ndim - len(acted)
    back = [*range(picked, picked + before), *range(picked), *range(picked + before, total)]
    return order, back


def get(x, key, tensor_type, share):
    if type(key) is int:
        try:
            return x.select(0, key)
        except OperandError:  # select() below says what is wrong
            pass
    elif type(key) is slice and key.step is None and x.ndim:
        start, stop, _ = key.indices(len(x))
        return x.narrow(0, start, max(0, stop - start))
    view, picks = select(x, key, tensor_type, share)
    if not picks:
        return view if view is not x else x.view_as(x)
    order, back = _orders(view, picks)
    found = view.permute(order).index([tensor for _, tensor, _ in picks])
    return found.permute(back) if back != sorted(back) else found


def put(x, key, value, tensor_type, share):
    view, picks = select(x, key, tensor_type, share)
    number = isinstance(value, (bool, int, float))
    if not number and not isinstance(value, tensor_type):
        value = share(value)
    if not picks:
        _write(view, value, number, share(True).to(x.device))
        return
    order, back = _orders(view, picks)
    tensors = [tensor for _, tensor, _ in picks]
    if not number:
        value = _as_result(value.to(x.dtype), back)
    view.permute(order).index_put_(tensors, value)


def _without_leading_ones(value, ndim):
    while value.ndim > ndim and value.shape[0] == 1:
        value = value.select(0, 0)
    return value


def _as_result(value, back):
    """A value that broadcasts to the shape that reading gives, with the dims in the order of the operation index."""
    value = _without_leading_ones(value, len(back))
    if back == sorted(back) or value.ndim == 0:
        return value
    while value.ndim < len(back):
        value = value.unsqueeze(0)
    return value.permute([back.index(d) for d in range(len(back))])


def _write(view, value, number, everything):
    """view = value, for a view without index tensors; `everything` is a mask."""
    if number:
        view.masked_fill_(everything, value)
    else:
        value = _without_leading_ones(value, view.ndim).to(view.device, view.dtype)
        view.masked_scatter_(everything.expand(view.shape), value.expand(view.shape).contiguous())
