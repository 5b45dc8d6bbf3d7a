"""Memory that is shared with other libraries: DLPack, numpy's array interface and Python's buffers, in both directions."""
import array
import collections
import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p, py_object

from . import _library as lib
from ._dtypes import boolean, by_typestr, table
from ._engine import per_thread
from ._errors import Error
from ._library import check, library, pointer, size, sized

# ---- memory of others ----

# numpy's arrays and Python's buffers that tensors use, by number; the library calls dict.pop(number, address) when none does.
_kept = {}
_numbers = iter(range(1, 1 << 62))
_release = ctypes.CFUNCTYPE(None, c_void_p, c_void_p)(_kept.pop)
ctypes.pythonapi.Py_IncRef(py_object(_release))  # exports may be freed after this module
_release_address = ctypes.cast(_release, c_void_p).value


class Uncopyable(Exception):
    """The memory cannot be shared; the text says why."""


def wrap(owner, address, kind, shape, strides, read_only):
    """A handle of a tensor on memory that `owner` holds. `strides` count elements; None: row-major."""
    if len(shape) > 8:
        raise ValueError(f"a tensor has at most 8 dims, and {len(shape)} are given")
    engine, handle = per_thread.engine, c_void_p()
    sizes = array.array("q", shape)
    steps = array.array("q", strides) if strides is not None else None
    last = sum((n - 1) * step for n, step in zip(shape, strides)) if steps else None
    numel = 1
    for n in shape:
        numel *= n
    extent = 0 if numel == 0 else (numel if last is None else last + 1) * kind.itemsize
    given = sized(lib.Wrap)
    given.dtype, given.data, given.bytes, given.ndim, given.flags = kind.code, address, extent, len(shape), int(read_only)
    given.shape, given.strides = sizes.buffer_info()[0], steps.buffer_info()[0] if steps and numel else None
    given.release, given.user = _release_address, next(_numbers)
    _kept[given.user] = owner
    code = library.lg_tensor_wrap(engine.p, byref(given), byref(handle))
    if code:
        del _kept[given.user]
        check(code)
    return handle.value


def _in_elements(strides, shape, itemsize):
    """Strides of elements, from strides of bytes. The stride of a dim of size 1 may be anything."""
    found = []
    for stride, n in zip(strides, shape):
        if n == 1:
            stride = itemsize
        if stride < 0:
            raise Uncopyable("a stride is negative")
        if stride % itemsize:
            raise Uncopyable("a stride is no multiple of the element's size")
        found.append(stride // itemsize)
    return found


def _check_alignment(address, kind):
    if address % (kind.itemsize // 2 if kind.is_complex else kind.itemsize):
        raise Uncopyable("the memory is not aligned to its elements")


def from_interface(owner, given):
    """From `__array_interface__`. Uncopyable: its elements have an order or places that a tensor cannot have."""
    typestr, shape = given["typestr"], tuple(given["shape"])
    kind = by_typestr.get(typestr)
    if kind is None and typestr[0] == ">" and "<" + typestr[1:] in by_typestr:
        raise Uncopyable("the bytes of its elements are in the other order")
    if kind is None:
        raise TypeError(f"there is no dtype for elements of {typestr!r}; convert them first")
    address, read_only = given["data"] or (0, False)
    address += given.get("offset", 0)
    strides = given.get("strides")
    strides = _in_elements(strides, shape, kind.itemsize) if strides is not None and 0 not in shape else None
    _check_alignment(address, kind)
    return wrap(owner, address, kind, shape, strides, read_only)


_formats = {"?": "|b1", "B": "|u1", "c": "|u1", "e": "<f2", "f": "<f4", "d": "<f8", "Zf": "<c8", "Zd": "<c16"}
_formats |= {letter: f"<i{ctypes.sizeof(kind)}" for letter, kind in
             (("i", ctypes.c_int), ("l", ctypes.c_long), ("q", ctypes.c_longlong), ("n", ctypes.c_ssize_t))}


class _Buffer(ctypes.Structure):
    _fields_ = [("buf", c_void_p), ("obj", c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", c_char_p), ("shape", c_void_p),
                ("strides", c_void_p), ("suboffsets", c_void_p), ("internal", c_void_p)]


def from_buffer(owner):
    """From an object with Python's buffer protocol: memoryview, bytearray, array.array."""
    view = memoryview(owner)
    kind = _formats.get(view.format.lstrip("@=<"))
    if kind is None:
        raise TypeError(f"there is no dtype for elements of format {view.format!r}; convert them first")
    buffer = _Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(py_object(view), byref(buffer), ctypes.c_int(0x11C))  # PyBUF_FULL_RO
    address = buffer.buf or 0
    ctypes.pythonapi.PyBuffer_Release(byref(buffer))  # the view holds the memory
    return from_interface(view, {"typestr": kind, "shape": view.shape, "strides": view.strides if view.ndim else None,
                                 "data": (address, view.readonly)})


# ---- DLPack ----


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32), ("code", c_uint8),
                ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)),
                ("byte_offset", c_uint64)]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _DLTensor), ("context", c_void_p), ("deleter", c_void_p)]


class _Versioned(ctypes.Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("context", c_void_p), ("deleter", c_void_p), ("flags", c_uint64),
                ("tensor", _DLTensor)]


_IS_COPIED = 2
_deleter = ctypes.CFUNCTYPE(None, c_void_p)
_forms = {  # name, name of a capsule that was taken, struct, functions of the library
    False: (b"dltensor", b"used_dltensor", _Managed, library.lg_tensor_to_dlpack, library.lg_tensor_from_dlpack),
    True: (b"dltensor_versioned", b"used_dltensor_versioned", _Versioned, library.lg_tensor_to_dlpack_versioned,
           library.lg_tensor_from_dlpack_versioned)}
_api = ctypes.PyDLL(None)
_api.PyCapsule_New.restype, _api.PyCapsule_New.argtypes = py_object, [c_void_p, c_char_p, c_void_p]
_api.PyCapsule_GetPointer.restype, _api.PyCapsule_GetPointer.argtypes = c_void_p, [py_object, c_char_p]
_api.PyCapsule_IsValid.restype, _api.PyCapsule_IsValid.argtypes = ctypes.c_int, [py_object, c_char_p]
_api.PyCapsule_SetName.argtypes = [py_object, c_char_p]

# Capsules that were given to others. A capsule that nobody took has to give its memory back, which only a function in C may do
# when a capsule ends: Python code must not run there, because an exception may be on its way. So each export looks for capsules
# that nobody else has any more.
_given = collections.deque()


def _sweep():
    for _ in range(len(_given)):
        try:
            capsule, versioned = _given.popleft()
        except IndexError:  # another thread
            return
        name, used, struct, _, _ = _forms[versioned]
        if not _api.PyCapsule_IsValid(capsule, name):
            continue
        if sys.getrefcount(capsule) > 2:  # this function's variable and the argument
            _given.append((capsule, versioned))
            continue
        managed = _api.PyCapsule_GetPointer(capsule, name)
        _api.PyCapsule_SetName(capsule, used)
        _delete(struct.from_address(managed), managed)


def _delete(struct, managed):
    if struct.deleter:
        _deleter(struct.deleter)(managed)


def export(handle, versioned):
    """The address of a managed tensor of DLPack that shares the memory of the tensor."""
    managed = c_void_p()
    check(_forms[versioned][3](handle, byref(managed)))
    return managed.value


def capsule_of(handle, versioned, is_copy):
    """A capsule with the tensor's memory, as `__dlpack__` gives it."""
    _sweep()
    managed = export(handle, versioned)
    if versioned and is_copy:
        _Versioned.from_address(managed).flags |= _IS_COPIED
    capsule = _api.PyCapsule_New(managed, _forms[versioned][0], None)
    _given.append((capsule, versioned))
    return capsule


def from_dlpack(owner):
    """A handle of a tensor on the memory of an object with `__dlpack__`."""
    if owner.__dlpack_device__()[0] not in (1, 3, 11):
        raise TypeError("the elements are on a device, not in the host's memory; copy them to the CPU first")
    is_boolean = str(getattr(owner, "dtype", "")) == "torch.bool"
    if is_boolean:  # PyTorch before 2.1 exports no booleans
        owner = owner.view(sys.modules["torch"].uint8)
    try:
        capsule = owner.__dlpack__(max_version=(1, 0))
    except TypeError:  # from before DLPack 1.0
        capsule = owner.__dlpack__()
    versioned = bool(_api.PyCapsule_IsValid(capsule, b"dltensor_versioned"))
    name, used, struct, _, take = _forms[versioned]
    managed = _api.PyCapsule_GetPointer(capsule, name)
    tensor = struct.from_address(managed).tensor
    if is_boolean:
        tensor.code = boolean.dlpack[0]
    if any(tensor.strides[i] < 0 for i in range(tensor.ndim)) if tensor.strides else False:
        raise Uncopyable("a stride is negative")
    handle = c_void_p()
    check(take(per_thread.engine.p, pointer(managed), byref(handle)))
    _api.PyCapsule_SetName(capsule, used)
    return handle.value


# ---- arrays of numpy ----


class Shared:
    """The memory of a tensor for numpy, which keeps this object as the array's base. It outlives the tensor and its engine."""

    def __init__(self, handle):
        self._managed = None
        managed = export(handle, True)
        self._managed = _Versioned.from_address(managed)
        tensor = self._managed.tensor
        kind = next(kind for kind in table if kind.dlpack == (tensor.code, tensor.bits))
        if kind.typestr is None:
            raise TypeError("numpy has no bf16; write x.float().numpy()")
        shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
        strides = tuple(tensor.strides[i] * kind.itemsize for i in range(tensor.ndim))
        empty = 0 in shape
        self.__array_interface__ = {"version": 3, "typestr": kind.typestr, "shape": shape,
                                    "strides": None if empty else strides,
                                    "data": (tensor.data or ctypes.addressof(self._managed), bool(self._managed.flags & 1))}

    def __del__(self):
        if self._managed is not None:
            _delete(self._managed, ctypes.addressof(self._managed))
