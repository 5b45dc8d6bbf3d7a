"""The class Tensor: what operations do not give. _functions.py adds the operations as methods and operators."""
import ctypes
from array import array
from ctypes import byref, c_void_p

from . import _exchange, _html, _index, _text
from . import _dtypes as dtypes
from . import _library as lib
from ._dtypes import dtype_of, elements_of, numbers_of, table
from ._engine import get_ident, new_frame, no_grad, per_thread, release
from ._library import int32, library, pointer, size

_device_names = {}  # by the address of the name, which stays


def _device_name(address):
    if address not in _device_names:
        _device_names[address] = ctypes.string_at(address).decode()
    return _device_names[address]


class Tensor:
    """A tensor of Lunagrad.

    Tensor(data) takes a number, nested lists of numbers, or an object with `__dlpack__`, `__array_interface__` or Python's buffer
    protocol, whose memory it shares if that is possible. copy=True makes a copy, copy=False refuses one.
    """

    __slots__ = ("_h", "_e", "__weakref__")
    __array_priority__ = 1000
    __array_ufunc__ = None  # numpy's operators leave mixed operands to the tensor

    def __init__(self, data: "_Data" = (), dtype: "_DType | None" = None, device: "str | None" = None, requires_grad: "bool" = False,
                 copy: "bool | None" = None) -> "None":
        engine = self._e = per_thread.engine
        self._h = 0
        kind = None if dtype is None else dtype_of(dtype)
        made = _owned(engine, _handle_of(engine, data, kind, copy))
        if device is None and not isinstance(data, Tensor):
            device = engine.device
        if kind is not None and made.dtype is not kind or device is not None and made.device != device:
            if copy is False:
                raise ValueError("another dtype or device needs a copy")
            made = made.to(device, kind)
        if requires_grad:
            made.requires_grad_()
        self._h, made._h = made._h, 0

    def __del__(self, get_ident=get_ident, release=release, pointer=pointer):
        engine = self._e
        if get_ident() != engine.ident or release(pointer(self._h)):
            engine.dead.append(self._h)

    # ---- what it is ----

    def _info(self):
        """lg_tensor_info as an array of integers."""
        engine = self._e
        try:
            frame = engine.frames.pop()
        except IndexError:
            frame = new_frame()
        memory = frame[0]
        memory[0] = lib.TENSOR_INFO_BYTES
        code = library.lg_tensor_get_info(pointer(self._h), frame[2])
        found = memory[:24]
        engine.frames.append(frame)
        if code:
            raise engine.error(code)
        return found

    def _flags(self):
        return self._info()[1] >> 32

    @property
    def shape(self) -> "tuple[int, ...]":
        """The sizes of the dims, a tuple."""
        info = self._info()
        return tuple(info[2:2 + (info[1] & 0xFFFFFFFF)])

    @property
    def dtype(self) -> "dtype":
        """The type of the elements, such as lunagrad.f32."""
        return table[self._info()[0] >> 32]

    @property
    def device(self) -> "str":
        """The name of the device, such as "cpu"."""
        return _device_name(self._info()[lib.DEVICE])

    @property
    def ndim(self) -> "int":
        """The number of dims."""
        return self._info()[1] & 0xFFFFFFFF

    @property
    def nbytes(self) -> "int":
        """The bytes of the elements."""
        return self._info()[lib.NBYTES]

    @property
    def is_leaf(self) -> "bool":
        """Whether no operation that is recorded for gradients made it."""
        return bool(self._flags() & lib.LEAF)

    @property
    def is_read_only(self) -> "bool":
        """Whether writes in place are refused, because its memory belongs to a read-only array."""
        return bool(self._flags() & lib.READ_ONLY)

    def dim(self) -> "int":
        """The number of dims."""
        return self.ndim

    def size(self, dim: "int | None" = None) -> "Any":
        """The sizes of the dims, or of one."""
        return self.shape if dim is None else self.shape[dim]

    def stride(self, dim: "int | None" = None) -> "Any":
        """The elements between neighbours of each dim, or of one."""
        info = self._info()
        found = tuple(info[lib.STRIDES:lib.STRIDES + (info[1] & 0xFFFFFFFF)])
        return found if dim is None else found[dim]

    def numel(self) -> "int":
        """The number of elements."""
        return self._info()[lib.NUMEL]

    def element_size(self) -> "int":
        """The bytes of an element."""
        return self.dtype.itemsize

    def is_contiguous(self) -> "bool":
        """Whether the elements lie in row-major order without gaps."""
        return bool(self._flags() & lib.CONTIGUOUS)

    def data_ptr(self) -> "int":
        """The address of the first element, of a tensor on the CPU."""
        found = c_void_p()
        self._e.run(library.lg_tensor_data, pointer(self._h), int32(0), byref(found))
        return found.value or 0

    def __len__(self) -> "int":
        shape = self.shape
        if not shape:
            raise TypeError("a tensor without dims has no length")
        return shape[0]

    def __repr__(self) -> "str":
        return _text.text_of(self)

    def _repr_html_(self) -> "str":
        return _html.html_of(self)

    def __format__(self, form) -> "str":
        return format(self.item(), form) if form and self.ndim == 0 else format(repr(self), form)

    # ---- its values ----

    def _bytes(self):
        n = self.nbytes
        data = bytearray(n)
        if n:
            self._e.run(library.lg_tensor_read, pointer(self._h), (ctypes.c_char * n).from_buffer(data), size(n))
        return data

    def _numbers(self):
        """The elements as a flat list."""
        kind = self.dtype
        if kind is dtypes.bf16:
            return self.detach().to(dtype=dtypes.f32)._numbers()
        return numbers_of(self._bytes(), kind)

    def item(self) -> "bool | int | float | complex":
        """The number of a tensor with one element."""
        if self.numel() != 1:
            raise ValueError(f"item: one element is expected, and the shape is {list(self.shape)}")
        return self._numbers()[0]

    def tolist(self) -> "Any":
        """The elements as nested lists; a number of a tensor without dims."""
        found, shape = self._numbers(), self.shape
        if not shape:
            return found[0]
        for dim in range(len(shape) - 1, 0, -1):
            n, count = shape[dim], 1
            for other in shape[:dim]:
                count *= other
            found = [found[i * n:(i + 1) * n] for i in range(count)]
        return found

    def __bool__(self) -> "bool":
        if self.numel() != 1:
            raise ValueError(f"a tensor of shape {list(self.shape)} is neither true nor false; write x.any() or x.all()")
        return bool(self.item())

    def __int__(self) -> "int":
        return int(self.item())

    def __float__(self) -> "float":
        return float(self.item())

    def __complex__(self) -> "complex":
        return complex(self.item())

    def __index__(self) -> "int":
        kind = self.dtype
        if kind.is_floating_point or kind.is_complex or self.numel() != 1:
            raise TypeError(f"an integer is expected, and a tensor of shape {list(self.shape)} and dtype {kind} is given")
        return int(self.item())

    __hash__ = object.__hash__

    def __reduce__(self):
        return _from_parts, (bytes(self.detach()._bytes()), self.shape, self.dtype.name, self.requires_grad)

    def __copy__(self) -> "Tensor":
        return self.clone()

    def __deepcopy__(self, _) -> "Tensor":
        made = self.detach().clone()
        return made.requires_grad_() if self.requires_grad else made

    # ---- other libraries ----

    def numpy(self) -> "Any":
        """A numpy array on the same memory, of a tensor on the CPU that requires no gradient."""
        import numpy
        return numpy.asarray(_exchange.Shared(pointer(self._h)))

    def __array__(self, dtype=None, copy=None) -> "Any":
        import numpy
        found = self.numpy()
        if dtype is not None and found.dtype != dtype:
            if copy is False:
                raise ValueError("another dtype needs a copy")
            return found.astype(dtype)
        return numpy.array(found) if copy else found

    def torch(self) -> "Any":
        """A tensor of PyTorch on the same memory."""
        import torch
        if self.dtype is not dtypes.boolean:
            return torch.utils.dlpack.from_dlpack(self.__dlpack__())
        # PyTorch before 2.1 knows no booleans of DLPack.
        return torch.from_numpy(self.numpy())

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None) -> "Any":
        if stream is not None:
            raise BufferError("a tensor on the CPU has no stream")
        if dl_device is not None and tuple(dl_device) != (1, 0) or self.device != "cpu":
            raise BufferError(f"the tensor is on {self.device}, and DLPack shares memory of the CPU; x.to('cpu') copies it")
        if self.requires_grad:
            raise BufferError("the tensor requires a gradient; export x.detach()")
        with no_grad():
            shared = self.clone() if copy else self
        versioned = max_version is not None and max_version[0] >= 1
        if not versioned and shared.is_read_only:
            raise BufferError("the tensor is read-only, which only DLPack 1.0 can say")
        return _exchange.capsule_of(pointer(shared._h), versioned, bool(copy))

    def __dlpack_device__(self) -> "tuple[int, int]":
        return (1, 0) if self.device == "cpu" else (7, 0)  # kDLVulkan

    # ---- gradients ----

    @property
    def requires_grad(self) -> "bool":
        """Whether operations on it are recorded for gradients."""
        return bool(self._flags() & lib.REQUIRES_GRAD)

    @requires_grad.setter
    def requires_grad(self, on):
        self.requires_grad_(on)

    def requires_grad_(self, requires_grad: "bool" = True) -> "Tensor":
        """Sets requires_grad and returns the tensor."""
        self._e.run(library.lg_tensor_set_requires_grad, pointer(self._h), int32(bool(requires_grad)))
        return self

    @property
    def grad(self) -> "Tensor | None":
        """The gradient that backward() added up, or None."""
        found = c_void_p()
        self._e.run(library.lg_tensor_grad, pointer(self._h), byref(found))
        return _owned(self._e, found.value) if found.value else None

    @grad.setter
    def grad(self, value):
        self._e.run(library.lg_tensor_set_grad, pointer(self._h), value if value is None else pointer(value._h))

    def backward(self, gradient: "Tensor | None" = None, retain_graph: "bool" = False) -> "None":
        """Adds to the gradients of all leaves that the tensor depends on."""
        seed = None if gradient is None else pointer(gradient._h)
        self._e.run(library.lg_backward, pointer(self._h), seed, int32(lib.RETAIN_GRAPH if retain_graph else 0))

    def detach(self) -> "Tensor":
        """Another tensor on the same memory, without history."""
        found = c_void_p()
        self._e.run(library.lg_tensor_detach, pointer(self._h), byref(found))
        return _owned(self._e, found.value)

    def to(self, *target, device=None, dtype=None) -> "Tensor":
        """A copy on a device, of a dtype, or of both; of another tensor's. The tensor itself where nothing changes."""
        for given in target:
            if isinstance(given, Tensor):
                device, dtype = given.device, given.dtype
            elif isinstance(given, str) and (given == "cpu" or given.startswith("vulkan")):
                device = given
            elif given is not None:
                dtype = given
        found, kind = c_void_p(), -1 if dtype is None else dtype_of(dtype).code
        name = None if device is None else str(device).encode()
        info = self._info()
        if kind in (-1, info[0] >> 32) and device in (None, _device_name(info[lib.DEVICE])):
            return self
        self._e.run(library.lg_tensor_to, pointer(self._h), name, int32(kind), byref(found))
        return _owned(self._e, found.value)

    def cpu(self) -> "Tensor":
        """The tensor on the CPU."""
        return self.to("cpu")

    def type_as(self, other) -> "Tensor":
        """The tensor with the dtype of another."""
        return self.to(dtype=other.dtype)

    # ---- parts ----

    def __getitem__(self, key) -> "Tensor":
        return _index.get(self, key, Tensor, Tensor)

    def __setitem__(self, key, value) -> "None":
        _index.put(self, key, value, Tensor, Tensor)

    def copy_(self, src) -> "Tensor":
        """Writes the elements of another tensor, which broadcasts to its shape."""
        _index.put(self, ..., src, Tensor, Tensor)
        return self

    def __iter__(self) -> "Iterator[Tensor]":
        return iter(self.unbind())

    def __contains__(self, value) -> "bool":
        return bool((self == value).any())

    def unbind(self, dim: "int" = 0) -> "tuple[Tensor, ...]":
        """The parts at each position of a dim, views."""
        return tuple(self.select(dim, i) for i in range(_size_of(self, dim)))

    def split(self, split_size: "_Ints", dim: "int" = 0) -> "tuple[Tensor, ...]":
        """Views of split_size positions of a dim each, the last maybe of fewer; or of the sizes in a list."""
        n = _size_of(self, dim)
        sizes = list(split_size) if hasattr(split_size, "__iter__") else [split_size] * (n // split_size)
        if not hasattr(split_size, "__iter__") and (n % split_size or not sizes):
            sizes.append(n % split_size)
        if sum(sizes) != n:
            raise ValueError(f"split: sizes {sizes} do not add up to {n}")
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        return tuple(self.narrow(dim, start, length) for start, length in zip(starts, sizes))

    def chunk(self, chunks: "int", dim: "int" = 0) -> "tuple[Tensor, ...]":
        """At most `chunks` views of equal size, the last maybe smaller."""
        if chunks < 1:
            raise ValueError(f"chunk: chunks is {chunks}, not 1 or more")
        return self.split(max(1, -(-_size_of(self, dim) // chunks)), dim)

    @property
    def T(self) -> "Tensor":
        """The tensor with its dims in reverse order."""
        return self.permute(tuple(range(self.ndim))[::-1])

    @property
    def mT(self) -> "Tensor":
        """The tensor with its last two dims exchanged."""
        return self.transpose(-2, -1)


def _cast(name, kind):
    def cast(self) -> "Tensor":
        return self.to(dtype=kind)
    cast.__name__, cast.__qualname__, cast.__doc__ = name, "Tensor." + name, f"The tensor as {kind}."
    return cast


for _name, _kind in (("bool", dtypes.boolean), ("byte", dtypes.u8), ("int", dtypes.i32), ("long", dtypes.i64), ("half", dtypes.f16),
                     ("bfloat16", dtypes.bf16), ("float", dtypes.f32), ("double", dtypes.f64), ("cfloat", dtypes.c64),
                     ("cdouble", dtypes.c128)):
    setattr(Tensor, _name, _cast(_name, _kind))


def _size_of(x, dim):
    shape = x.shape
    if not -len(shape) <= dim < len(shape):
        raise IndexError(f"dim {dim} is out of range for shape {list(shape)}")
    return shape[dim]


def _owned(engine, handle):
    """The tensor of a new handle."""
    tensor = object.__new__(Tensor)
    tensor._h, tensor._e = handle, engine
    return tensor


def _from_parts(data, shape, name, requires_grad):
    kind = dtype_of(name)
    made = _owned(per_thread.engine, _from_bytes(per_thread.engine, data, kind, shape))
    return made.requires_grad_() if requires_grad else made


def _from_bytes(engine, data, kind, shape):
    sizes, found = array("q", shape), c_void_p()
    engine.run(library.lg_tensor_from, engine.p, bytes(data), size(len(data)), int32(kind.code),
               pointer(sizes.buffer_info()[0]) if shape else None, size(len(shape)), None, byref(found))
    return found.value


def _handle_of(engine, data, kind, copy):
    """A new handle for anything that Tensor() takes."""
    if isinstance(data, Tensor):
        found = c_void_p()
        engine.run(library.lg_tensor_to, pointer(data._h), None, int32(-1), byref(found))
        return _copied(engine, found.value) if copy else found.value
    if isinstance(data, (bool, int, float, complex, list, tuple, range)):
        if copy is False:
            raise ValueError("numbers of Python need a copy")
        return _from_numbers(engine, data, kind)
    if hasattr(data, "__array_interface__"):
        take = _from_array
    elif hasattr(data, "__dlpack__"):
        take = _from_dlpack
    else:
        take = _from_buffer
    found = take(engine, data, copy)
    return _copied(engine, found) if copy else found


def _from_array(engine, data, copy):
    try:
        return _exchange.from_interface(data, data.__array_interface__)
    except _exchange.Uncopyable as reason:
        if copy is False or not hasattr(data, "astype"):
            raise ValueError(f"the memory cannot be shared: {reason}") from None
    ordered = data.astype(data.dtype.newbyteorder("="), order="C")
    return _exchange.from_interface(ordered, ordered.__array_interface__)


def _from_dlpack(engine, data, copy):
    try:
        return _exchange.from_dlpack(data)
    except _exchange.Uncopyable as reason:
        raise ValueError(f"the memory cannot be shared: {reason}") from None


def _from_buffer(engine, data, copy):
    try:
        return _exchange.from_buffer(data)
    except _exchange.Uncopyable as reason:
        if copy is False:
            raise ValueError(f"the memory cannot be shared: {reason}") from None
    view = memoryview(data)
    return _exchange.from_buffer(memoryview(view.tobytes()).cast("B").cast(view.format, view.shape))


def _copied(engine, handle):
    with no_grad():
        tensor = _owned(engine, handle).clone()
    handle, tensor._h = tensor._h, 0
    return handle


def _plain(data):
    """Nested lists in which arrays and tensors are lists."""
    if isinstance(data, (list, tuple, range)):
        return [_plain(entry) for entry in data]
    return data.tolist() if hasattr(data, "tolist") else data


def _flatten(data, depth, shape, flat):
    if depth == len(shape):
        if isinstance(data, list):
            raise ValueError(f"lists of different depths: a list at depth {depth}")
        flat.append(data)
        return
    if not isinstance(data, list) or len(data) != shape[depth]:
        raise ValueError(f"the lists at depth {depth} differ in length")
    for entry in data:
        _flatten(entry, depth + 1, shape, flat)


def _from_numbers(engine, data, kind):
    data, shape, flat = _plain(data), [], []
    level = data
    while isinstance(level, list):
        shape.append(len(level))
        level = level[0] if level else None
    _flatten(data, 0, shape, flat)
    kinds = set(map(type, flat))
    if kinds - {bool, int, float, complex}:
        raise TypeError(f"numbers are expected, and {(kinds - {bool, int, float, complex}).pop().__name__} is in the list")
    if kind is None:
        kind = (dtypes.c64 if complex in kinds else dtypes.f32 if float in kinds or not kinds else
                dtypes.i64 if int in kinds else dtypes.boolean)
    if float in kinds and not (kind.is_floating_point or kind.is_complex or kind is dtypes.boolean):
        flat = list(map(int, flat))
    handle = _from_bytes(engine, elements_of(flat, kind), dtypes.f32 if kind is dtypes.bf16 else kind, tuple(shape))
    if kind is not dtypes.bf16:
        return handle
    tensor = _owned(engine, handle).to(dtype=kind)
    handle, tensor._h = tensor._h, 0
    return handle
