"""Arrays of numpy: memory is shared in both directions, and operations give numpy's values."""
import gc
import sys
import threading
import unittest
import weakref

import numpy as np

import lunagrad as lg

DTYPES = ["bool", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


class Held(np.ndarray):
    """An array that says when it is gone."""


def arrays(dtype):
    base = np.arange(24).reshape(2, 3, 4).astype(dtype)
    return (base, base[:, ::2], base.transpose(2, 0, 1), base[1], base[1, 2, 3:], base[:0], base[0, 0, :1].reshape(()),
            np.broadcast_to(base[0], (5, 3, 4)))


class Sharing(unittest.TestCase):
    def test_arrays_become_tensors_without_a_copy(self):
        for dtype in DTYPES:
            for array in arrays(dtype):
                x = lg.Tensor(array)
                self.assertEqual((x.dtype, x.shape), (dtype, array.shape))
                self.assertEqual(x.tolist(), array.tolist())
                if array.size:
                    self.assertEqual(x.data_ptr(), array.__array_interface__["data"][0])

    def test_tensors_become_arrays_without_a_copy(self):
        for dtype in DTYPES:
            for array in arrays(dtype):
                x = lg.Tensor(array)
                for back in (x.numpy(), np.asarray(x)) + ((np.from_dlpack(x),) if dtype != "bool" and array.flags.writeable else ()):
                    self.assertEqual((back.dtype, back.shape), (array.dtype, array.shape))
                    self.assertTrue((back == array).all())
                    if array.size:
                        self.assertTrue(np.shares_memory(back, array))

    def test_writes_are_seen(self):
        array = np.zeros(4, np.float32)
        x = lg.asarray(array)
        array[0] = 3
        x[1] = 4
        x.numpy()[2] = 5
        self.assertEqual((x.tolist(), array.tolist()), ([3, 4, 5, 0], [3, 4, 5, 0]))
        copied = lg.tensor(array)
        array[0] = 0
        self.assertEqual(copied[0].item(), 3)

    def test_read_only(self):
        array = np.arange(3.)
        array.flags.writeable = False
        x = lg.Tensor(array)
        self.assertTrue(x.is_read_only)
        self.assertFalse(x.numpy().flags.writeable)
        with self.assertRaises(lg.OperandError):
            x.add_(1)
        with self.assertRaises(BufferError):
            x.__dlpack__()
        x.__dlpack__(max_version=(1, 0))

    def test_what_needs_a_copy(self):
        for array in (np.arange(6.)[::-1], np.arange(6, dtype=">f4"), np.zeros(25, np.uint8)[1:].view("f8"),
                      np.zeros(3, [("a", "u1"), ("b", "<f4")])["b"]):
            x = lg.Tensor(array)
            self.assertEqual(x.tolist(), array.tolist())
            with self.assertRaises(ValueError):
                lg.asarray(array, copy=False)
        for dtype in ("int8", "uint64", "datetime64[s]", "S3", "O"):
            with self.assertRaises(TypeError):
                lg.Tensor(np.zeros(2, dtype))
        with self.assertRaises(ValueError):
            lg.asarray(np.zeros(2, "f8"), dtype="f32", copy=False)
        self.assertEqual(lg.asarray(np.zeros(2, "f8"), dtype="f32").dtype, lg.f32)

    def test_what_numpy_does_not_get(self):
        with self.assertRaises(lg.OperandError):
            lg.ones(2, requires_grad=True).numpy()
        with self.assertRaises(TypeError):
            lg.ones(2, dtype="bf16").numpy()
        self.assertEqual(np.asarray(lg.ones(2), dtype="f8").dtype, np.float64)

    def test_scalars_and_lists_of_arrays(self):
        self.assertEqual(lg.Tensor(np.float64(2.5)).item(), 2.5)
        self.assertEqual(lg.Tensor([np.float32(1), np.arange(3)[2]]).tolist(), [1, 2])
        self.assertEqual(lg.Tensor([np.arange(2), np.arange(2)]).shape, (2, 2))
        self.assertEqual(lg.ones(3)[np.int64(1)].item(), 1)
        self.assertEqual(lg.ones(3)[np.array([True, False, True])].shape, (2,))

    def test_mixed_operators(self):
        x, array = lg.tensor([1., 2.]), np.array([3, 4], np.float32)
        for found in (x + array, array + x, array * x, lg.add(x, array)):
            self.assertIsInstance(found, lg.Tensor)
        self.assertEqual((array - x).tolist(), [2, 2])
        self.assertEqual((x == array).tolist(), [False, False])


class Lifetimes(unittest.TestCase):
    def held(self):
        array = np.ones(1000, np.float32).view(Held)
        return array, weakref.ref(array)

    def test_the_array_lives_as_long_as_the_tensor(self):
        array, reference = self.held()
        x = lg.Tensor(array)
        view = x[10:]
        del array, x
        gc.collect()
        self.assertIsNotNone(reference())
        self.assertEqual(view.sum().item(), 990)
        del view
        self.assertIsNone(reference())

    def test_gradients_keep_the_array(self):
        array, reference = self.held()
        weight = lg.ones(1000, requires_grad=True)
        loss = (weight * lg.Tensor(array)).sum()
        del array
        self.assertIsNotNone(reference())
        loss.backward()
        del loss
        self.assertEqual(weight.grad[0].item(), 1)

    def test_the_tensors_memory_lives_as_long_as_the_array(self):
        for take in (lambda x: x.numpy(), np.from_dlpack):
            x = lg.ones(100000)
            kept, again = take(x), take(x)
            del x
            junk = [lg.zeros(100000) for _ in range(10)]
            self.assertTrue((kept == 1).all() and np.shares_memory(kept, again))
            del junk

    def test_an_array_outlives_the_thread_that_made_its_tensor(self):
        found = []
        thread = threading.Thread(target=lambda: found.append(lg.ones(100000).numpy()))
        thread.start()
        thread.join()
        self.assertTrue((found[0] == 1).all())
        other = threading.Thread(target=found.clear)
        other.start()
        other.join()

    def test_an_array_of_a_thread_that_ends_is_given_back(self):
        array, reference = self.held()
        thread = threading.Thread(target=lambda a: lg.Tensor(a).sum(), args=(array,))
        thread.start()
        thread.join()
        del array, thread
        gc.collect()
        self.assertIsNone(reference())

    def test_a_capsule_that_nobody_takes(self):
        array, reference = self.held()
        capsule = lg.Tensor(array).__dlpack__()
        del array
        self.assertIsNotNone(reference())
        del capsule
        lg.ones(1).__dlpack__()  # an export looks for such capsules
        self.assertIsNone(reference())
        with self.assertRaises((RuntimeError, BufferError, TypeError)) as refused:
            np.from_dlpack(lg.ones(2, dtype="bf16"))
        self.assertNotIsInstance(refused.exception, SystemError)

    def test_references_are_counted_right(self):
        array = np.ones(8)
        before = sys.getrefcount(array)
        for _ in range(100):
            np.from_dlpack(lg.Tensor(array))
            lg.Tensor(array).numpy()
        lg.ones(1).__dlpack__()
        self.assertEqual(sys.getrefcount(array), before)

    def test_forms_of_dlpack(self):
        x = lg.ones(3)
        self.assertEqual(x.__dlpack_device__(), (1, 0))
        self.assertIn('"dltensor"', repr(x.__dlpack__()))
        self.assertIn('"dltensor"', repr(x.__dlpack__(max_version=(0, 8))))
        self.assertIn('"dltensor_versioned"', repr(x.__dlpack__(max_version=(1, 1), dl_device=(1, 0))))
        for named in ({"dl_device": (2, 0)}, {"stream": 1}):
            with self.assertRaises(BufferError):
                x.__dlpack__(**named)

        class Producer:
            def __init__(self, **named):
                self.named = named

            def __dlpack_device__(self):
                return 1, 0

            def __dlpack__(self, *, max_version=None):
                return x.__dlpack__(max_version=max_version, **self.named)
        shared, copied = lg.from_dlpack(Producer()), lg.from_dlpack(Producer(copy=True))
        x[0] = 5
        self.assertEqual((shared.tolist(), copied.tolist()), ([5, 1, 1], [1, 1, 1]))
        self.assertEqual(lg.from_dlpack(np.ones(2)).tolist(), [1, 1])


class Values(unittest.TestCase):
    def test_operations(self):
        r = np.random.default_rng(0)
        a, b = r.normal(size=(3, 4)).astype("f4"), r.normal(size=(3, 4)).astype("f4")
        square = r.normal(size=(4, 4)).astype("f4")
        x, y, s = lg.Tensor(a), lg.Tensor(b), lg.Tensor(square)
        for name in ("add", "mul", "sub", "atan2", "maximum", "minimum", "hypot", "logaddexp", "copysign", "fmod"):
            np.testing.assert_allclose(getattr(lg, name)(x, y), getattr(np, {"mul": "multiply", "sub": "subtract", "atan2": "arctan2"}.get(name, name))(a, b), rtol=1e-5)
        for name in ("exp", "sin", "cos", "tanh", "floor", "ceil", "sign", "square", "abs", "sinh", "expm1", "isnan", "isfinite"):
            np.testing.assert_allclose(getattr(x, name)(), getattr(np, name)(a), rtol=1e-5)
        for dim in (0, 1, -1):
            for ours, theirs in (("sum", "sum"), ("mean", "mean"), ("prod", "prod"), ("cumsum", "cumsum"), ("argmax", "argmax"), ("amax", "max")):
                np.testing.assert_allclose(getattr(x, ours)(dim), getattr(np, theirs)(a, dim), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(x @ s, a @ square, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(lg.linalg.inv(s), np.linalg.inv(square), rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(lg.linalg.det(s), np.linalg.det(square), rtol=1e-4)
        np.testing.assert_allclose(lg.where(x > 0, x, y), np.where(a > 0, a, b))
        np.testing.assert_allclose(x.clamp(-0.5, 0.5), a.clip(-0.5, 0.5))
        np.testing.assert_allclose(lg.cat([x, y], 1), np.concatenate([a, b], 1))
        np.testing.assert_allclose(x.sort(1)[0], np.sort(a, 1))
        np.testing.assert_allclose(x.T, a.T)
        np.testing.assert_allclose(lg.einsum("ij,kj->ik", x, y), a @ b.T, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(lg.fft.fft(x), np.fft.fft(a), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(x.var(1), a.var(1, ddof=1), rtol=1e-4)

    def test_indexing(self):
        a = np.arange(120).reshape(2, 3, 4, 5)
        i, j, mask = np.array([0, 1, -1]), np.array([[2], [0]]), a[:, :, 0, 0] % 2 == 0
        keys = [np.s_[0], np.s_[:, 1], np.s_[..., 2], np.s_[None, :, 1:3], np.s_[:, i], np.s_[:, :, i, j], np.s_[:, i, :, j], np.s_[mask],
                np.s_[mask, 1:], np.s_[a > 60], np.s_[[0, 1], ..., 3], np.s_[:, :, ::2, None, -1], np.s_[1, i, 2], np.s_[i[:2], :, i[:2]],
                np.s_[True], np.s_[:, mask[0]], np.s_[()], np.s_[i, None, i]]
        for key in keys:
            with self.subTest(str(key)):
                given = tuple(lg.Tensor(k) if isinstance(k, np.ndarray) else k for k in key) if isinstance(key, tuple) else key
                np.testing.assert_array_equal(lg.Tensor(a)[given].numpy(), a[key])
                changed, x = a.copy(), lg.tensor(a)
                value = -np.arange(a[key].size).reshape(a[key].shape)
                if len(np.unique(a[key])) == a[key].size:  # else the last write would win
                    changed[key] = value
                    x[given] = value
                    np.testing.assert_array_equal(x.numpy(), changed)
                changed[key], x[given] = 7, 7
                np.testing.assert_array_equal(x.numpy(), changed)


if __name__ == "__main__":
    unittest.main()
