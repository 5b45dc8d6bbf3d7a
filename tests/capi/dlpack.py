#!/usr/bin/env python3
"""Arrays of numpy and tensors of PyTorch through the C library's DLPack, in both directions and without a copy: all dtypes, strides,
empty arrays, and lifetimes. Without numpy the exit code is 77; without PyTorch its part is left out.

tests/capi/dlpack.py LIBRARY
"""
import ctypes
import gc
import sys
import threading
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

lg = ctypes.CDLL(sys.argv[1])
try:
    import numpy
except ImportError:
    sys.exit(77)
try:
    import torch  # loads libraries that need room for thread-local variables, as the library before them did
except ModuleNotFoundError:
    torch = None

DTYPES = ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


class Info(ctypes.Structure):
    _fields_ = [("struct_size", c_uint32), ("dtype", c_int32), ("ndim", c_uint32), ("flags", c_uint32),
                ("shape", c_int64 * 8), ("strides", c_int64 * 8), ("offset", c_int64), ("numel", c_int64),
                ("nbytes", c_uint64), ("device", c_char_p), ("id", c_uint64), ("version", c_uint64)]


def ok(code):
    if code:
        text = c_char_p()
        lg.lg_last_error(byref(text), None)
        raise RuntimeError(f"{code}: {text.value.decode()}")


api = ctypes.pythonapi
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [c_void_p, c_char_p, c_void_p]
api.PyCapsule_GetPointer.restype = c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, c_char_p]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, c_char_p]


class Tensor:
    """A handle with the methods that numpy and PyTorch look for."""

    def __init__(self, engine, handle):
        self.engine, self.handle = engine, handle

    @classmethod
    def of(cls, engine, array):
        capsule = array.__dlpack__()
        handle = c_void_p()
        ok(lg.lg_tensor_from_dlpack(engine, c_void_p(api.PyCapsule_GetPointer(capsule, b"dltensor")), byref(handle)))
        api.PyCapsule_SetName(capsule, b"used_dltensor")
        return cls(engine, handle)

    def __dlpack__(self, stream=None):
        managed = c_void_p()
        ok(lg.lg_tensor_to_dlpack(self.handle, byref(managed)))
        return api.PyCapsule_New(managed, b"dltensor", None)

    def __dlpack_device__(self):
        return 1, 0

    def info(self):
        info = Info(struct_size=ctypes.sizeof(Info))
        ok(lg.lg_tensor_get_info(self.handle, byref(info)))
        return info

    def address(self, writes=0):
        data = c_void_p()
        ok(lg.lg_tensor_data(self.handle, c_int32(writes), byref(data)))
        return data.value

    def bytes(self):
        size = self.info().nbytes
        to = ctypes.create_string_buffer(size)
        ok(lg.lg_tensor_read(self.handle, to, c_size_t(size)))
        return to.raw[:size]

    def release(self):
        ok(lg.lg_tensor_release(self.handle))
        self.handle = c_void_p()


def open_engine():
    engine = c_void_p()
    ok(lg.lg_engine_open(None, byref(engine)))
    return engine


def check_numpy():
    engine = open_engine()
    for code, name in enumerate(DTYPES):
        if name in ("bfloat16", "bool"):  # numpy has no bfloat16, and exports no bool before 1.25
            continue
        base = numpy.arange(24).reshape(2, 3, 4).astype(name)
        for array in (base, base[:, ::2], base.transpose(2, 0, 1), base[1], base[1, 2, 3:], base[:0], base[0, 0, :1].reshape(())):
            x = Tensor.of(engine, array)
            info = x.info()
            assert info.dtype == code and tuple(info.shape[:info.ndim]) == array.shape, name
            assert x.bytes() == array.tobytes(), name
            if array.size:
                assert x.address() == array.__array_interface__["data"][0], "a copy was made"
            back = numpy.from_dlpack(x)
            assert back.shape == array.shape and back.dtype == array.dtype and (back == array).all()
            if array.size:
                assert numpy.shares_memory(back, array)
            x.release()
            assert (back == array).all()
            del back
    # Lifetimes: the array lives as long as the tensor, and the tensor's memory as long as the array.
    array = numpy.ones(1000, numpy.float32)
    before = sys.getrefcount(array)
    x = Tensor.of(engine, array)
    gc.collect()
    assert sys.getrefcount(array) > before
    other = numpy.from_dlpack(x)
    x.release()
    assert sys.getrefcount(array) > before
    del other
    assert sys.getrefcount(array) == before
    size = (c_int64 * 1)(1 << 18)
    handle = c_void_p()
    ok(lg.lg_tensor_zeros(engine, 6, size, c_size_t(1), None, byref(handle)))
    x = Tensor(engine, handle)
    kept, again = numpy.from_dlpack(x), numpy.from_dlpack(x)
    ok(lg.lg_engine_close(engine))  # the arrays outlive the engine
    assert (kept == 0).all() and numpy.shares_memory(kept, again)
    holder = [kept]
    del kept, again
    ended = threading.Thread(target=holder.clear)  # and end on another thread
    ended.start()
    ended.join()
    # What cannot be taken is refused, and stays the producer's.
    engine = open_engine()
    array = numpy.arange(10.0)
    count = sys.getrefcount(array)
    for bad in (array[::-1], array.astype(numpy.int16), array.astype(numpy.uint64)):
        try:
            Tensor.of(engine, bad)
            raise AssertionError("it is taken")
        except RuntimeError:
            pass
    del bad
    gc.collect()
    assert sys.getrefcount(array) == count
    ok(lg.lg_engine_close(engine))


def check_torch():
    engine = open_engine()
    for code, name in enumerate(DTYPES):
        if name == "bool":  # PyTorch before 2.1 exports it as bytes
            continue
        base = torch.arange(24).reshape(2, 3, 4).to(getattr(torch, name))
        for tensor in (base, base[:, ::2], base.permute(2, 0, 1), base[1], base[1, 2, 3:], base[:0], base.expand(2, 2, 3, 4), base[0, 0, 0]):
            x = Tensor.of(engine, tensor)
            info = x.info()
            assert info.dtype == code and tuple(info.shape[:info.ndim]) == tuple(tensor.shape), name
            if tensor.numel():
                assert x.address() == tensor.data_ptr(), "a copy was made"
            back = torch.utils.dlpack.from_dlpack(x.__dlpack__())
            assert back.dtype == tensor.dtype and back.shape == tensor.shape
            assert torch.equal(back, tensor), name
            x.release()
            assert torch.equal(back, tensor)
    ok(lg.lg_engine_close(engine))


def check_bool():
    """bool has a code of its own since DLPack 0.9; older producers do not know it, so the structs make the round trip."""
    engine = open_engine()
    size = (c_int64 * 1)(3)
    handle, managed, again = c_void_p(), c_void_p(), c_void_p()
    ok(lg.lg_tensor_from(engine, b"\1\0\1", c_size_t(3), 0, size, c_size_t(1), None, byref(handle)))
    for form in ("", "_versioned"):
        ok(getattr(lg, "lg_tensor_to_dlpack" + form)(handle, byref(managed)))
        ok(getattr(lg, "lg_tensor_from_dlpack" + form)(engine, managed, byref(again)))
        x = Tensor(engine, again)
        assert x.info().dtype == 0 and x.bytes() == b"\1\0\1"
        x.release()
    ok(lg.lg_engine_close(engine))


check_numpy()
check_bool()
if torch:
    check_torch()
print("numpy", numpy.__version__, "and PyTorch " + torch.__version__ if torch else "alone")
