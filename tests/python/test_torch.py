"""Tensors of PyTorch: memory is shared in both directions."""
import gc
import unittest

import torch

import lunagrad as lg

DTYPES = ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]


class Sharing(unittest.TestCase):
    def test_both_directions(self):
        for name in DTYPES:
            base = torch.arange(24).reshape(2, 3, 4).to(getattr(torch, name))
            for tensor in (base, base[:, ::2], base.permute(2, 0, 1), base[1], base[1, 2, 3:], base[:0], base[0, 0, 0],
                           base.expand(2, 2, 3, 4)):
                with self.subTest(name, shape=tuple(tensor.shape)):
                    x = lg.Tensor(tensor)
                    self.assertEqual((x.dtype, x.shape), (name, tuple(tensor.shape)))
                    self.assertEqual(x.tolist(), tensor.tolist())
                    back = x.torch()
                    self.assertEqual((back.dtype, back.shape), (tensor.dtype, tensor.shape))
                    self.assertTrue(torch.equal(back, tensor))
                    if tensor.numel():
                        self.assertEqual((x.data_ptr(), back.data_ptr()), (tensor.data_ptr(),) * 2)
                    if name != "bool":
                        self.assertTrue(torch.equal(torch.from_dlpack(x), tensor))
                    del x, tensor
                    gc.collect()
                    self.assertEqual(back.dtype, getattr(torch, name))

    def test_gradients_do_not_pass(self):
        with self.assertRaises((BufferError, RuntimeError)):
            lg.Tensor(torch.ones(2, requires_grad=True))
        with self.assertRaises(BufferError):
            torch.from_dlpack(lg.ones(2, requires_grad=True))

    def test_dtypes_by_name(self):
        self.assertIs(lg.ones(2).to(torch.bfloat16).dtype, lg.bf16)

    def test_operators(self):
        x = lg.ones(2) + torch.ones(2)
        self.assertEqual(x.tolist(), [2, 2])

    def test_memory_outlives_the_tensor(self):
        x = lg.ones(100000, dtype="bf16")
        kept = x.torch()
        del x
        junk = [lg.zeros(100000, dtype="bf16") for _ in range(10)]
        self.assertTrue(bool((kept == 1).all()))
        del junk


if __name__ == "__main__":
    unittest.main()
