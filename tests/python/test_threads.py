"""Engines of threads, garbage of other threads, forks, Ctrl-C, and an exception for every code that Python can reach."""
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import lunagrad as lg
from lunagrad import _library as lib
from lunagrad._engine import engine_info, per_thread


def in_thread(function, *arguments):
    """The result of a function on a thread of its own, which then has ended."""
    found = []

    def run():
        try:
            found.append(function(*arguments))
        except BaseException as error:
            found.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def in_process(code, **named):
    """Runs code in a process of its own; its output."""
    done = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", code], capture_output=True, text=True, timeout=120, **named)
    if done.returncode or done.stderr:
        raise AssertionError(f"exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Threads(unittest.TestCase):
    def test_each_has_an_engine(self):
        lg.manual_seed(7)
        self.assertEqual(in_thread(lambda: (lg.rand(3) * 0 + 1).tolist()), [1, 1, 1])
        x = lg.ones(2)
        with self.assertRaises(lg.WrongThreadError):
            in_thread(lambda: x + 1)
        with self.assertRaises(lg.WrongThreadError):
            in_thread(lambda: x.shape)
        with self.assertRaises(lg.WrongThreadError):
            in_thread(x.tolist)
        self.assertEqual(x.tolist(), [1, 1])

    def test_tensors_of_a_thread_that_ended(self):
        x = in_thread(lambda: lg.ones(3))
        for call in (lambda: x + 1, lambda: x.shape, lambda: repr(x)):
            with self.assertRaises(lg.InvalidHandleError):
                call()
        del x
        gc.collect()

    def test_memory_of_threads_that_end(self):
        lg.ones(1)
        for _ in range(50):
            in_thread(lambda: [lg.ones(1000) for _ in range(10)])
        self.assertLess(len(threading.enumerate()), 5)

    def test_many_at_once(self):
        failures = []

        def work(seed):
            lg.manual_seed(seed)
            for _ in range(300):
                x = lg.rand(10) + seed
                if not 10 * seed <= x.sum().item() <= 10 * seed + 10:
                    failures.append(seed)
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_garbage_of_another_thread(self):
        x = lg.ones(10)
        x + 1
        before = engine_info().tensors
        held = [lg.ones(10) for _ in range(100)]
        cycle = [lg.ones(10)]
        cycle.append(cycle)
        in_thread(held.clear)
        del cycle
        in_thread(gc.collect)
        self.assertEqual(engine_info().tensors, before + 101)  # they wait for their thread
        y = x + 1
        self.assertEqual(engine_info().tensors, before + 1)
        del y

    def test_finalizers_that_compute(self):
        """Garbage is collected while operations run, and its finalizers run operations on the same engine."""
        class Cycle:
            def __init__(self):
                self.self = self
                self.x = lg.ones(3)

            def __del__(self):
                total[0] += (self.x + 1).sum().item()
        total = [0]
        old = gc.get_threshold()
        gc.set_threshold(5)
        try:
            for i in range(500):
                Cycle()
                self.assertEqual((lg.full((3,), i) + 1).tolist(), [i + 1] * 3)
        finally:
            gc.set_threshold(*old)
        gc.collect()
        self.assertEqual(total[0], 500 * 6)

    def test_daemon_threads_at_exit(self):
        in_process("""
import threading, time, lunagrad as lg
kept = lg.ones(3)
def work():
    x = lg.ones(1000)
    while True: x = x * 1
threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
""")

    def test_exit_with_tensors_and_arrays_in_use(self):
        in_process("""
import lunagrad as lg, array
kept = [lg.ones(3), lg.Tensor(array.array('f', [1, 2]))]
kept.append(kept)
capsule = kept[0].__dlpack__()
class Last:
    def __del__(self): self.kept = None
last = Last(); last.kept = kept
""")


class Forks(unittest.TestCase):
    def test_child(self):
        x = lg.arange(100000).float()
        expected = x.sum().item()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                if x.sum().item() == expected and (x + 1)[0].item() == 1 and in_thread(lambda: lg.ones(2).tolist()) == [1, 1]:
                    code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(x.sum().item(), expected)

    def test_child_of_multiprocessing(self):
        self.assertIn("6.0", in_process("""
import multiprocessing, lunagrad as lg
x = lg.ones(3)
def work(n): return (x * n).sum().item()
if __name__ == '__main__':
    with multiprocessing.get_context('fork').Pool(2) as pool: print(pool.map(work, [1, 2]))
"""))


class Interrupts(unittest.TestCase):
    CODE = """
import os, signal, threading, time, lunagrad as lg
x = lg.rand(4000, 4000)
lg.set_num_threads(1)
def seconds(function):
    start = time.monotonic()
    function()
    return time.monotonic() - start
def long():
    lg.cdist(x, x, p=3)
def later(wait):
    threading.Thread(target=lambda: (time.sleep(wait), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
"""

    def test_ctrl_c_stops_an_operation(self):
        in_process(self.CODE + """
start = time.monotonic()
later(0.3)
try:
    long()
    raise SystemExit('it was not stopped')
except KeyboardInterrupt:
    pass
took = time.monotonic() - start
assert took < 8, took
for _ in range(1000):  # the engine works on
    y = lg.ones(3) + 1
assert y.tolist() == [2, 2, 2]
time.sleep(0.1)
y.add_(1)
assert y.tolist() == [3, 3, 3]
later(0.3)  # and again, in a child
child = os.fork()
if child == 0:
    later(0.3)
    try:
        long()
        os._exit(1)
    except KeyboardInterrupt:
        os._exit(0)
try:
    assert os.waitpid(child, 0)[1] == 0
except KeyboardInterrupt:
    assert os.waitpid(child, 0)[1] == 0
""")

    def test_ctrl_c_between_operations(self):
        in_process(self.CODE + """
later(0.2)
y = lg.zeros(10)
try:
    while True: y.add_(1)
except KeyboardInterrupt:
    pass
for _ in range(20000): y.add_(1)
assert len(set(y.tolist())) == 1
""")

    def test_another_handler_is_left_alone(self):
        in_process(self.CODE + """
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
later(0.05)
z = x @ x
time.sleep(0.1)
assert seen == [1] and z.shape == (4000, 4000)
""")

    def test_another_wakeup_descriptor_is_left_alone(self):
        in_process("""
import os, signal
reader, writer = os.pipe()
os.set_blocking(writer, False)
signal.set_wakeup_fd(writer)
import lunagrad as lg
lg.ones(1)
assert signal.set_wakeup_fd(-1) == writer
""")

    def test_stop(self):
        ident = threading.get_ident()
        timer = threading.Timer(0.2, lg.stop, (ident,))
        timer.start()
        with self.assertRaises(lg.StoppedError):
            while True:
                lg.rand(1000, 1000).sum()
        timer.join()
        with self.assertRaises(lg.StoppedError):
            while True:
                lg.rand(1000, 1000).sum()
        lg.stop(ident, False)
        self.assertEqual((lg.ones(2) + 1).tolist(), [2, 2])
        with self.assertRaises(ValueError):
            lg.stop(-1)


class Codes(unittest.TestCase):
    def raised(self, kind, call, text=""):
        with self.assertRaises(kind) as caught:
            call()
        self.assertIn(text, str(caught.exception))
        self.assertIsInstance(caught.exception, lg.Error)
        self.assertEqual(caught.exception.code, kind.code)

    def test_each(self):
        import ctypes
        x = lg.ones(2)
        self.raised(lg.InvalidArgumentError, lambda: lg.set_num_threads(0), "count")
        self.raised(lg.InvalidArgumentError, lambda: lg.add(1, 2), "no input is a tensor")
        self.raised(lg.InvalidHandleError, lambda: in_thread(lambda: lg.ones(1)) + 1)
        self.raised(lg.WrongThreadError, lambda: in_thread(lambda: x + 1))
        info = lib.EngineInfo()
        self.raised(lg.BadStructError, lambda: lib.check(lib.library.lg_engine_get_info(per_thread.engine.p, ctypes.byref(info))))
        self.raised(lg.BufferSizeError, lambda: lib.check(lib.library.lg_tensor_read(lib.pointer(x._h), None, lib.size(3))), "8 bytes")
        self.raised(lg.NotFoundError, lambda: lib.check(lib.library.lg_op_find(b"there is none", ctypes.byref(ctypes.c_void_p()))))
        self.raised(lg.OperandError, lambda: x + lg.ones(3))
        self.raised(lg.DeviceError, lambda: x.to("vulkan:99"))
        self.raised(lg.DeviceError, lambda: lg.set_device("tpu"))
        self.raised(lg.OutOfMemoryError, lambda: lg.zeros(1 << 40))
        lg.set_memory_limit(1 << 20)
        try:
            self.raised(lg.OutOfMemoryError, lambda: lg.zeros(1 << 20))
        finally:
            lg.set_memory_limit(0)
        self.assertEqual(sorted(kind.code for kind in lg.Error.__subclasses__()), list(range(1, 17)))

    def test_busy(self):
        """Memory of others is given back during a call; what its owner's finalizer does then is refused, and nothing is lost."""
        seen = []

        class Owner:
            def __init__(self):
                self.memory = bytearray(16)
                self.__array_interface__ = {"version": 3, "typestr": "<f4", "shape": (4,), "data": (address(self.memory), False)}

            def __del__(self):
                try:
                    lg.ones(1)
                except lg.BusyError as error:
                    seen.append(error)
        x = lg.Tensor(Owner())
        del x
        self.assertEqual([error.code for error in seen], [13])
        self.assertEqual(lg.ones(1).item(), 1)

    def test_they_are_python_errors_too(self):
        with self.assertRaises(ValueError):
            lg.ones(2) + lg.ones(3)
        with self.assertRaises(MemoryError):
            lg.zeros(1 << 40)


def address(memory):
    import ctypes
    return ctypes.addressof((ctypes.c_char * len(memory)).from_buffer(memory))


class Devices(unittest.TestCase):
    def test_devices(self):
        found = lg.devices()
        self.assertTrue(found[0].is_cpu and found[0].name == "cpu" and "cpu" in repr(found[0]))
        self.assertEqual(lg.get_device(), "cpu")
        lg.set_device("cpu")
        lg.synchronize()
        count = lg.get_num_threads()
        lg.set_num_threads(1)
        self.assertEqual(lg.get_num_threads(), 1)
        lg.set_num_threads(count)


if __name__ == "__main__":
    unittest.main()
