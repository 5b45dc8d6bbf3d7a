#!/usr/bin/python3
"""Writes the files of arrays in this folder with NumPy (Debian's python3-numpy), for tests/runtime/test_npy.cpp.

Every array but the empty ones counts: element i of the values in C's order is i - 3, or i for types without a sign.
"""
import os
import numpy as np

here = os.path.dirname(os.path.abspath(__file__))


def counting(dtype, shape=(2, 3)):
    count = int(np.prod(shape))
    start = 0 if np.dtype(dtype).kind in "ub" else -3
    return np.arange(start, start + count).astype(dtype).reshape(shape)


arrays = {f"{order}_{name}": counting(sign + name)
          for order, sign in (("little", "<"), ("big", ">"))
          for name in ("f2", "f4", "f8", "i2", "i4", "i8", "u2", "u4")}
arrays.update({name: counting(name) for name in ("i1", "u1")})
arrays["b1"] = np.array([[False, True, True], [True, False, False]])
arrays["fortran"] = np.asfortranarray(counting("<f4", (2, 3, 4)))
arrays["scalar"] = np.array(7.0)
arrays["vector"] = counting("<i8", (5,))
arrays["empty"] = np.zeros((0, 3), "<f4")
for name, array in arrays.items():
    np.save(os.path.join(here, name + ".npy"), array)
for version in (2, 3):
    with open(os.path.join(here, f"version{version}.npy"), "wb") as file:
        np.lib.format.write_array(file, counting("<f4"), version=(version, 0))
for name, save in (("stored", np.savez), ("deflated", np.savez_compressed)):
    save(os.path.join(here, name + ".npz"), w=counting("<f4"), **{"a.b": counting("<i8", (5,)), "dir/c": arrays["fortran"]})
