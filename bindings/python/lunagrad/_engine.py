"""The engines: one for each thread, opened when the thread first needs it and closed when the thread ends.

Handles of tensors belong to the engine's thread. A tensor that Python's garbage collector frees on another thread, or while a
call of the engine runs, is put into the engine's `dead` list, which the next call of the engine releases.
"""
import array
import atexit
import threading
from ctypes import byref, c_int32, c_size_t, c_void_p

from . import _library as lib
from ._library import check, double, error_of, int32, library, pointer, size, sized, uint64

ROOM = 64  # results that a call may have before it has to be repeated
get_ident = threading.get_ident
release = library.lg_tensor_release


def new_frame(room=ROOM):
    """Memory for the results of one call: the array [room, handles ...], and the addresses of its two parts. A call takes a frame
    from its engine and gives it back, so that calls of finalizers and signal handlers, which Python runs in between, have others."""
    memory = array.array("q", [room] * (room + 1))
    address = memory.buffer_info()[0]
    return memory, pointer(address + 8), pointer(address)


_open = {}  # engines by their threads
_of_calls = {}  # engines of sessions by their threads, each during one call (SessionEngine)


class Engine:
    """An engine of the C library."""

    __slots__ = ("p", "ident", "dead", "dead_sessions", "frames", "interrupted", "session", "device", "forked")

    def __init__(self):
        handle = c_void_p()
        check(library.lg_engine_open(None, byref(handle)))
        self._begin(handle.value, "cpu")
        _open[self.ident] = self
        if threading.current_thread() is threading.main_thread():
            from ._interrupt import watch
            watch(self)

    def _begin(self, handle, device):
        self.p = pointer(handle)
        self.ident = get_ident()  # of its thread; None when it is closed
        self.dead = []
        self.dead_sessions = []
        self.frames = [new_frame(), new_frame()]
        self.interrupted = False  # the watcher stopped it
        self.session = None  # that a call waits for, and how the watcher stops it
        self.device = device
        self.forked = False  # it has sessions, whose threads are the parent's

    def close(self):
        if self.ident == get_ident():
            _open.pop(self.ident, None)
            self.ident = None
            if not self.forked:
                library.lg_engine_close(self.p)

    def drain(self):
        """Releases the tensors that were freed on other threads or during a call, and closes such sessions."""
        for _ in range(len(self.dead)):
            handle = self.dead.pop()
            if release(pointer(handle)):
                self.dead.append(handle)
        while self.dead_sessions:
            library.lg_session_close(self.dead_sessions.pop(), double(-1))

    def resume(self):
        """Ends the watcher's stop."""
        if self.interrupted:
            self.interrupted = False
            library.lg_engine_stop(self.p, int32(0))

    def abandon(self, frame):
        """An exception of Python (KeyboardInterrupt) came between the call and its results."""
        self.resume()
        memory = frame[0]
        if memory[0] < ROOM:
            self.dead.extend(memory[1:1 + memory[0]])

    def error(self, code):
        """The exception of a code that a call for this engine gave."""
        if code == lib.STOPPED and self.interrupted:
            self.resume()
            return KeyboardInterrupt()
        return error_of(code)

    def run(self, function, *arguments):
        """Calls a function of the library that may take long."""
        try:
            code = function(*arguments)
        except BaseException:
            self.resume()
            raise
        if code:
            raise self.error(code)


class SessionEngine(Engine):
    """The engine of a script while it calls a function of Python, on the session's thread. The library releases its handles at the end
    of the call."""

    __slots__ = ("before",)

    def __init__(self, handle):
        info = sized(lib.EngineInfo)
        check(library.lg_engine_get_info(pointer(handle), byref(info)))
        self._begin(handle, info.device.decode())

    def __enter__(self):
        _of_calls[self.ident] = self  # for the thread's first look at per_thread, which most often is in this call
        self.before, per_thread.engine = per_thread.engine, self
        return self

    def __exit__(self, *_):
        per_thread.engine, self.before = self.before, None
        del _of_calls[self.ident]
        self.ident = None


class _Closer:
    """Closes an engine when its thread ends: nothing else refers to it."""

    __slots__ = ("engine",)

    def __init__(self, engine):
        self.engine = engine

    def __del__(self):
        self.engine.close()


class _PerThread(threading.local):
    def __init__(self):
        self.engine = _of_calls.get(get_ident())
        if self.engine is None:
            self.engine = Engine()
            self.closer = _Closer(self.engine)


per_thread = _PerThread()  # per_thread.engine is the calling thread's
atexit.register(lambda: per_thread.engine.close())


class set_grad_enabled:
    """Whether operations of this thread are recorded for gradients: a statement, a `with` block or a decorator."""

    def __init__(self, mode: "bool") -> "None":
        self._mode, self._before = mode, []
        self._before.append(self._set(mode))

    @staticmethod
    def _set(mode):
        before = c_int32()
        check(library.lg_engine_set_grad_enabled(per_thread.engine.p, int32(bool(mode)), byref(before)))
        return bool(before.value)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._set(self._before.pop())


class no_grad(set_grad_enabled):
    """Operations are not recorded for gradients: `with no_grad():`, or `@no_grad()` before a function."""

    _on = False

    def __init__(self):
        self._before = []

    def __enter__(self):
        self._before.append(self._set(self._on))
        return self

    def __call__(self, function: "Callable[..., Any]") -> "Callable[..., Any]":
        import functools

        @functools.wraps(function)
        def inside(*arguments, **named):
            with type(self)():
                return function(*arguments, **named)
        return inside


class enable_grad(no_grad):
    """Operations are recorded for gradients, inside of no_grad too."""

    _on = True


def engine_info():
    info = sized(lib.EngineInfo)
    check(library.lg_engine_get_info(per_thread.engine.p, byref(info)))
    return info


def is_grad_enabled() -> "bool":
    """Whether operations of this thread are recorded for gradients."""
    return bool(engine_info().grad_enabled)


def manual_seed(seed: "int") -> "None":
    """Seeds the random operations of this thread. A thread begins with seed 0."""
    check(library.lg_engine_set_seed(per_thread.engine.p, uint64(int(seed))))


def set_device(device: "str") -> "None":
    """Where this thread makes tensors from now on: "cpu", "vulkan", "vulkan:1"."""
    engine = per_thread.engine
    check(library.lg_engine_set_device(engine.p, device.encode()))
    engine.device = engine_info().device.decode()


def get_device() -> "str":
    """Where this thread makes tensors."""
    return per_thread.engine.device


def set_memory_limit(size_in_bytes: "int") -> "None":
    """Operations of this thread fail with OutOfMemoryError when they would need more than 7/8 of the bytes. 0: no limit."""
    check(library.lg_engine_set_memory_limit(per_thread.engine.p, size(size_in_bytes)))


def set_num_threads(count: "int") -> "None":
    """The threads that loops on the CPU use, in the whole process. Call it while no operation runs."""
    check(library.lg_set_thread_count(int32(count)))


def get_num_threads() -> "int":
    """The threads that loops on the CPU use."""
    return engine_info().threads


class Device:
    """A device: `name` for functions, its description, and its memory in bytes."""

    name: "str"
    description: "str"
    is_cpu: "bool"
    in_use: "int"
    reserved: "int"
    peak: "int"
    total: "int"

    def __init__(self, info):
        self.name, self.description, self.is_cpu = info.name.decode(), info.description.decode(), bool(info.is_cpu)
        self.in_use, self.reserved, self.peak, self.total = info.in_use, info.reserved, info.peak, info.total

    def __repr__(self):
        return f"<{self.name}: {self.description}>"


def devices() -> "list[Device]":
    """The devices, the CPU first. The first call looks for GPUs."""
    engine, count, found = per_thread.engine, c_size_t(), []
    check(library.lg_device_count(engine.p, byref(count)))
    for index in range(count.value):
        info = sized(lib.DeviceInfo)
        check(library.lg_device_get(engine.p, size(index), byref(info)))
        found.append(Device(info))
    return found


def synchronize(device: "str | None" = None) -> "None":
    """Returns when the device has done its work."""
    engine = per_thread.engine
    engine.run(library.lg_device_sync, engine.p, device and device.encode())


def stop(thread: "int", on: "bool" = True) -> "None":
    """Any thread: operations of the thread `thread` (threading.get_ident()) fail with StoppedError, until stop(thread, False)."""
    engine = _open.get(thread)
    if engine is None:
        raise ValueError(f"thread {thread} has no engine")
    check(library.lg_engine_stop(engine.p, int32(bool(on))))
