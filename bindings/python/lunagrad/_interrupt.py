"""Ctrl-C during a long operation.

Python runs its signal handlers on the main thread, between two steps of the interpreter, so none runs while the main thread is in
the library. A watcher thread learns of SIGINT from signal.set_wakeup_fd and stops the engine; the call returns, and Python raises
KeyboardInterrupt. No handler is replaced. There is no watcher where another library already uses the wakeup descriptor, and no
stop where SIGINT has another handler than Python's own.

A call that waits for a session (engine.session) returns when the session's run stops, so the watcher stops that: as the call says, and
at once at the second Ctrl-C.
"""
import os
import select
import signal
import sys
import threading
import time

from ._library import NOW, int32, library

FILE = "<lunagrad operation>"  # of generated functions
_folder = os.path.dirname(os.path.abspath(__file__))
_pipe = None  # the ends of the pipe that SIGINT writes to


def watch(engine):
    """For the main thread's engine, on the main thread."""
    global _pipe
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    if before != -1 and not (_pipe and before == _pipe[1]):
        signal.set_wakeup_fd(before)
        os.close(reader)
        os.close(writer)
        return
    first = _pipe is None
    _pipe = reader, writer
    threading.Thread(target=_watch, args=(engine, reader), name="lunagrad-interrupt", daemon=True).start()
    if first:
        os.register_at_fork(after_in_child=lambda: _restart(engine))


def _restart(engine):
    """In the child of a fork there is no watcher, and the pipe is the parent's, too."""
    global _pipe
    if engine.ident != threading.get_ident():
        return
    for end in _pipe:
        os.close(end)
    if signal.set_wakeup_fd(-1) == _pipe[1]:
        _pipe = -1, -1
        watch(engine)


def _call_of(engine):
    """The frame of the main thread if it is in a function of this package, else None."""
    frame = sys._current_frames().get(engine.ident)
    inside = frame and (frame.f_code.co_filename == FILE or frame.f_code.co_filename.startswith(_folder))
    return frame if inside else None


def _watch(engine, reader):
    while True:
        signals = os.read(reader, 64)
        if not signals:
            return
        if signal.SIGINT not in signals or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            continue
        # A call that ends by itself meanwhile needs no stop.
        frame = _call_of(engine)
        position = frame and frame.f_lasti
        time.sleep(0.005)
        if not frame or _call_of(engine) is not frame or frame.f_lasti != position:
            continue
        engine.interrupted = True
        library.lg_engine_stop(engine.p, int32(1))
        session = engine.session
        if session:
            library.lg_session_stop(*session)
        while engine.interrupted and _call_of(engine) is frame:
            if select.select([reader], [], [], 0.002)[0] and signal.SIGINT in os.read(reader, 64) and session:
                library.lg_session_stop(session[0], NOW)
        engine.resume()
