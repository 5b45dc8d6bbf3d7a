"""Tensors without other libraries: making, reading, indexing, operators, gradients, printing."""
import array
import copy
import gc
import math
import pickle
import sys
import unittest

import lunagrad as lg


class Making(unittest.TestCase):
    def test_numbers_and_lists(self):
        for data, dtype, shape in ((True, "bool", ()), (3, "i64", ()), (2.5, "f32", ()), (1 + 2j, "c64", ()), ([], "f32", (0,)),
                                   ([[1, 2, 3], [4, 5, 6]], "i64", (2, 3)), ([1, 2.5], "f32", (2,)), ([True, False], "bool", (2,)),
                                   ([[[]]], "f32", (1, 1, 0)), ([True, 2], "i64", (2,)), (range(3), "i64", (3,))):
            x = lg.Tensor(data)
            self.assertEqual((x.dtype, x.shape), (dtype, shape))
            self.assertEqual(x.tolist(), list(data) if isinstance(data, range) else data)

    def test_dtypes(self):
        for dtype in ("bool", "u8", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"):
            x = lg.tensor([[0, 1], [1, 1]], dtype=dtype)
            self.assertEqual((x.dtype.name, x.tolist()), (dtype, [[0, 1], [1, 1]]))
            self.assertEqual(x.element_size() * 4, x.nbytes)
            self.assertEqual(pickle.loads(pickle.dumps(x)).tolist(), x.tolist())
            self.assertEqual(copy.deepcopy(x).dtype, x.dtype)
        self.assertIs(lg.tensor(1.5, dtype=lg.float64).dtype, lg.f64)
        self.assertEqual(lg.tensor(1 << 60).item(), 1 << 60)
        self.assertEqual(lg.tensor([1.9, -1.9], dtype=int).tolist(), [1, -1])
        with self.assertRaises(TypeError):
            lg.tensor(1, dtype="float17")

    def test_what_is_refused(self):
        for data in ([[1], [2, 3]], [1, [2]], [[1], 2]):
            with self.assertRaises(ValueError):
                lg.Tensor(data)
        for data in (["a"], [None], {}, "text", None):
            with self.assertRaises(TypeError):
                lg.Tensor(data)
        with self.assertRaises(ValueError):
            lg.Tensor([1], copy=False)
        with self.assertRaises(OverflowError):
            lg.Tensor(1 << 70)

    def test_buffers(self):
        data = array.array("f", [1, 2, 3, 4])
        x = lg.Tensor(data)
        data[0] = 9
        self.assertEqual(x.tolist(), [9, 2, 3, 4])
        x[1] = 7
        self.assertEqual(data[1], 7)
        every_second = lg.Tensor(memoryview(data)[::2])
        self.assertEqual((every_second.stride(), every_second.tolist()), ((2,), [9, 3]))
        backwards = lg.Tensor(memoryview(data)[::-1])  # a copy
        data[0] = 0
        self.assertEqual(backwards.tolist(), [4, 3, 7, 9])
        with self.assertRaises(ValueError):
            lg.from_dlpack(memoryview(data)[::-1])
        fixed = lg.Tensor(b"\1\2\3")
        self.assertTrue(fixed.is_read_only)
        with self.assertRaises(lg.OperandError):
            fixed.add_(1)
        with self.assertRaises(TypeError):
            lg.Tensor(array.array("h", [1]))

    def test_a_buffer_lives_as_long_as_the_tensor(self):
        data = bytearray(8)
        x = lg.Tensor(data)
        y = x.view(2, 4)
        del x
        with self.assertRaises(BufferError):
            data.append(1)
        del y
        data.append(1)

    def test_handles_are_released(self):
        from lunagrad._engine import engine_info
        gc.collect()
        before = engine_info().tensors
        x = lg.rand(10)
        for _ in range(100):
            x = x + 1
        self.assertEqual(engine_info().tensors, before + 1)
        self.assertEqual(x[0].shape, ())
        with self.assertRaises(lg.Error):
            x.add(lg.rand(3))
        self.assertEqual(engine_info().tensors, before + 1)


class Values(unittest.TestCase):
    def test_numbers(self):
        x = lg.tensor(2.5)
        self.assertEqual((float(x), int(x), bool(x), complex(x), f"{x:.2f}"), (2.5, 2, True, 2.5, "2.50"))
        self.assertEqual([0, 1, 2][lg.tensor(1)], 1)
        for make in (lambda: [0][lg.tensor(0.)], lambda: len(x)):
            with self.assertRaises(TypeError):
                make()
        for make in (lambda: bool(lg.ones(2)), lambda: lg.ones(2).item()):
            with self.assertRaises(ValueError):
                make()

    def test_operators(self):
        x, y = lg.tensor([7., -3.]), lg.tensor([2., 2.])
        self.assertEqual((x + y).tolist(), [9, -1])
        self.assertEqual((x - 1).tolist(), [6, -4])
        self.assertEqual((1 - x).tolist(), [-6, 4])
        self.assertEqual((x * 2.0).tolist(), [14, -6])
        self.assertEqual((14 / x)[0].item(), 2)
        self.assertEqual((x // y).tolist(), [3, -2])
        self.assertEqual((x % y).tolist(), [1, 1])
        self.assertEqual((x ** 2).tolist(), [49, 9])
        self.assertEqual((2 ** y).tolist(), [4, 4])
        self.assertEqual((x @ y).item(), 8)
        self.assertEqual((-x).tolist(), [-7, 3])
        self.assertEqual(abs(x).tolist(), [7, 3])
        self.assertEqual((x > 0).tolist(), [True, False])
        self.assertEqual((0 < x).tolist(), [True, False])
        self.assertEqual((x == y).tolist(), [False, False])
        self.assertEqual((~(x > 0)).tolist(), [False, True])
        bits = lg.tensor([6, 3])
        self.assertEqual(((bits & 2).tolist(), (bits | 8).tolist(), (bits ^ 1).tolist(), (bits << 1).tolist(), (bits >> 1).tolist()),
                         ([2, 2], [14, 11], [7, 2], [12, 6], [3, 1]))
        self.assertIs(x == None, False)  # noqa: E711
        self.assertIn(7, x)
        before = x
        x += 1
        x *= y
        self.assertIs(x, before)
        self.assertEqual(x.tolist(), [16, -4])
        with self.assertRaises(TypeError):
            x + "text"
        with self.assertRaises(TypeError):
            x + [1, 2]
        with self.assertRaises(OverflowError):
            x + (1 << 70)
        self.assertEqual(len({x, y, x}), 2)

    def test_other_classes_get_their_turn(self):
        class Other:
            def __radd__(self, other):
                return "mine"
        self.assertEqual(lg.ones(2) + Other(), "mine")

    def test_arguments(self):
        x = lg.arange(24).reshape(2, 3, 4)
        self.assertEqual(x.reshape((4, 6)).shape, (4, 6))
        self.assertEqual(x.reshape(shape=(4, -1)).shape, (4, 6))
        self.assertEqual(x.permute(2, 0, 1).shape, (4, 2, 3))
        self.assertEqual(x.sum().item(), 276)
        self.assertEqual(x.sum(1).shape, (2, 4))
        self.assertEqual(x.sum((0, 2), True).shape, (1, 3, 1))
        self.assertEqual(x.sum(dim=-1, keepdim=True).shape, (2, 3, 1))
        self.assertEqual(lg.zeros(2, 3, dtype="i32").dtype, lg.i32)
        self.assertEqual(lg.zeros((2, 3)).shape, (2, 3))
        self.assertEqual(lg.cat([x, x], 1).shape, (2, 6, 4))
        self.assertEqual(lg.stack((x, x), dim=-1).shape, (2, 3, 4, 2))
        self.assertEqual(lg.einsum("ij,jk->ik", lg.ones(2, 3), lg.ones(3, 4)).shape, (2, 4))
        self.assertTrue(lg.ones(2, requires_grad=True).requires_grad)
        values, indices = lg.tensor([3., 1., 2.]).topk(2)
        self.assertEqual((values.tolist(), indices.tolist()), ([3, 2], [0, 2]))
        self.assertEqual(lg.tensor([[4., 1.]]).softmax(-1).sum().item(), 1)
        self.assertEqual(lg.linalg.det(lg.eye(3)).item(), 1)
        self.assertEqual([part.shape for part in x.split(2, 1)], [(2, 2, 4), (2, 1, 4)])
        self.assertEqual([part.shape for part in x.chunk(3, 2)], [(2, 3, 2), (2, 3, 2)])
        self.assertEqual(len(list(x)), 2)
        for call in (lambda: x.softmax("a"), lambda: x.softmax(1.5), lambda: lg.zeros("a"), lambda: x.sum(keepdim="yes"),
                     lambda: lg.cat(3), lambda: lg.cat([1, 2]), lambda: x.matmul(None), lambda: x.matmul([1]), lambda: x.float().softmax()):
            with self.assertRaises(TypeError):
                call()


class Indexing(unittest.TestCase):
    """Against Python's nested lists."""

    def setUp(self):
        self.x = lg.arange(60).reshape(3, 4, 5)
        self.list = self.x.tolist()

    def test_basic(self):
        x, rows = self.x, self.list
        self.assertEqual(x[1].tolist(), rows[1])
        self.assertEqual(x[-1, 2].tolist(), rows[-1][2])
        self.assertEqual(x[1, 2, 3].item(), rows[1][2][3])
        self.assertEqual(x[1:].tolist(), rows[1:])
        self.assertEqual(x[:, 1:4:2].tolist(), [row[1:4:2] for row in rows])
        self.assertEqual(x[..., -2].tolist(), [[line[-2] for line in row] for row in rows])
        self.assertEqual(x[:, None, 0].shape, (3, 1, 5))
        self.assertEqual(x[2:1].shape, (0, 4, 5))
        self.assertEqual(x[...].shape, x.shape)
        x[1][2] = 0  # views
        self.assertEqual(x[1, 2].tolist(), [0] * 5)
        for key in (3, -4, (0, 4), (0, 0, 0, 0), (..., ...)):
            with self.assertRaises(IndexError):
                x[key]
        with self.assertRaises(ValueError):
            x[::-1]
        with self.assertRaises(TypeError):
            x["a"]
        with self.assertRaises(TypeError):
            x[1.5]

    def test_positions(self):
        x, rows = self.x, self.list
        self.assertEqual(x[[2, 0]].tolist(), [rows[2], rows[0]])
        self.assertEqual(x[[0, 1], [1, 2]].tolist(), [rows[0][1], rows[1][2]])
        self.assertEqual(x[lg.tensor([[0, -1]])].tolist(), [[rows[0], rows[-1]]])
        self.assertEqual(x[:, [1, 3]].tolist(), [[row[1], row[3]] for row in rows])
        self.assertEqual(x[[0, 1], :, [2, 3]].shape, (2, 4))
        self.assertEqual(x[x > 57].tolist(), [58, 59])
        self.assertEqual(x[lg.tensor([True, False, True])].tolist(), [rows[0], rows[2]])
        self.assertEqual(x[lg.tensor(1)].tolist(), rows[1])
        self.assertEqual(x[[]].shape, (0, 4, 5))
        with self.assertRaises(IndexError):
            x[lg.tensor([1.5])]

    def test_writing(self):
        x = self.x
        x[0] = 1
        x[1, :2] = lg.tensor([1, 2, 3, 4, 5])
        x[2, ..., 0] = [9, 8, 7, 6]
        x[x > 50] = -1
        self.assertEqual(x[0].tolist(), [[1] * 5] * 4)
        self.assertEqual(x[1, 1].tolist(), [1, 2, 3, 4, 5])
        self.assertEqual(x[2, :, 0].tolist(), [9, 8, 7, 6])
        self.assertEqual(x[2, 3].tolist(), [6, -1, -1, -1, -1])
        x[[0, 1], [0, 0]] = lg.zeros(2, 5, dtype="i64")
        self.assertEqual((x[0, 0].tolist(), x[1, 0].tolist()), ([0] * 5, [0] * 5))
        y = lg.zeros(3)
        y[1:].copy_(lg.tensor([1., 2.]))
        self.assertEqual(y.tolist(), [0, 1, 2])


class Gradients(unittest.TestCase):
    def test_backward(self):
        x = lg.tensor([1., 2., 3.], requires_grad=True)
        (x * x).sum().backward()
        self.assertEqual(x.grad.tolist(), [2, 4, 6])
        (x * 2).backward(lg.ones(3))
        self.assertEqual(x.grad.tolist(), [4, 6, 8])
        x.grad = None
        self.assertIsNone(x.grad)
        self.assertTrue(x.is_leaf)
        self.assertFalse((x + 1).is_leaf)
        self.assertFalse(x.detach().requires_grad)

    def test_writes_through_views(self):
        x = lg.tensor([1., 2.], requires_grad=True)
        y = lg.zeros(2, 2)
        y[0] = x * 3
        y[1, 0] = 5
        (y * y).sum().backward()
        self.assertEqual(x.grad.tolist(), [18, 36])

    def test_grad(self):
        x = lg.tensor(3., requires_grad=True)
        first, = lg.grad(x ** 3, x, create_graph=True)
        second, = lg.grad(first, [x])
        self.assertEqual((first.item(), second.item()), (27, 18))
        other = lg.tensor(1., requires_grad=True)
        self.assertEqual(lg.grad(x * 2, [x, other], allow_unused=True)[1], None)
        with self.assertRaises(lg.OperandError):
            lg.grad(x * 2, [x, other])

    def test_modes(self):
        x = lg.ones(2, requires_grad=True)
        with lg.no_grad():
            self.assertFalse((x + 1).requires_grad)
            with lg.enable_grad():
                self.assertTrue((x + 1).requires_grad)
            self.assertFalse(lg.is_grad_enabled())
        self.assertTrue(lg.is_grad_enabled())

        @lg.no_grad()
        def twice():
            return x * 2
        self.assertFalse(twice().requires_grad)
        lg.set_grad_enabled(False)
        self.assertFalse(lg.is_grad_enabled())
        lg.set_grad_enabled(True)
        with lg.set_grad_enabled(False):
            self.assertFalse(lg.is_grad_enabled())
        self.assertTrue(lg.is_grad_enabled())

    def test_seeds(self):
        lg.manual_seed(3)
        first = lg.rand(4).tolist()
        lg.manual_seed(3)
        self.assertEqual(lg.rand(4).tolist(), first)


class Printing(unittest.TestCase):
    def test_text(self):
        for x, text in ((lg.tensor([[1., 2.], [3., 4.]]), "tensor([[1., 2.],\n        [3., 4.]], shape=[2, 2], dtype=f32, device=cpu)"),
                        (lg.tensor(0.5), "tensor(0.5000, shape=[], dtype=f32, device=cpu)"),
                        (lg.tensor([1., 1e-5]), "tensor([1.0000e+00, 1.0000e-05], shape=[2], dtype=f32, device=cpu)"),
                        (lg.tensor([math.nan, -math.inf, 2.]), "tensor([ nan, -inf,   2.], shape=[3], dtype=f32, device=cpu)"),
                        (lg.tensor([True, False]), "tensor([ true, false], shape=[2], dtype=bool, device=cpu)"),
                        (lg.tensor([1 + 2j, -3 - 10j]), "tensor([ 1. +  2.i, -3. - 10.i], shape=[2], dtype=c64, device=cpu)"),
                        (lg.tensor([-1, 10]), "tensor([-1, 10], shape=[2], dtype=i64, device=cpu)"),
                        (lg.zeros(0, 3), "tensor([], shape=[0, 3], dtype=f32, device=cpu)"),
                        (lg.ones(1, requires_grad=True), "tensor([1.], shape=[1], dtype=f32, device=cpu, requires_grad=true)"),
                        (lg.arange(2000), "tensor([   0,    1,    2, ..., 1997, 1998, 1999], shape=[2000], dtype=i64, device=cpu)")):
            self.assertEqual(repr(x), text)

    def test_html(self):
        text = lg.arange(2000).reshape(2, 1000)._repr_html_()
        self.assertTrue(text.startswith("<table>") and "<td>1999</td>" in text and text.count("<tr>") == 2)
        self.assertEqual(text.count("<td>"), 14)
        self.assertTrue(lg.zeros(2, 2, 2)._repr_html_().startswith("<pre>tensor("))
        self.assertTrue(lg.zeros(0, 3)._repr_html_().startswith("<pre>tensor([]"))
        self.assertIn("<td>0.5000</td>", lg.tensor([0.5], requires_grad=True)._repr_html_())

    def test_html_of_large_tensors(self):
        images = lg.arange(2 * 32 * 32).reshape(2, 32, 32)
        facts = "tensor shape=[2, 32, 32], dtype=i64, device=cpu"
        rows = "<tr><th>smallest</th><td>0</td></tr><tr><th>largest</th><td>2047</td></tr><tr><th>mean</th><td>1023.5</td></tr>"
        self.assertEqual(images._repr_html_(), f"<table><caption>{facts}</caption>{rows}</table>")
        for kind in (lg.boolean, lg.u8, lg.i32, lg.f16, lg.bf16, lg.f32, lg.f64, lg.c64, lg.c128):
            text = (images % 2).to(dtype=kind)._repr_html_()
            self.assertTrue("<th>mean</th><td>0.5</td>" in text and f"dtype={kind}" in text, text)
        holes = images.float().requires_grad_()
        with lg.no_grad():
            holes[0, 0, :2] = math.nan
        self.assertIn("<tr><th>not finite</th><td>2</td></tr><tr><th>smallest</th><td>2</td></tr>", holes._repr_html_())
        nothing = lg.full((2, 32, 32), math.inf)._repr_html_()
        self.assertTrue("<td>2048</td>" in nothing and "mean" not in nothing, nothing)


if __name__ == "__main__":
    unittest.main()
