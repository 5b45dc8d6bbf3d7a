"""Sessions: scripts of Lua that run on a thread of their own, and what Python and they tell each other.

No code of Python but the functions that a script calls (_callbacks.py) runs on the session's thread: events wait in the library until
the thread of Python takes them, when it waits for the session.
"""
import atexit
import json
import os
import sys
import time
import warnings
import weakref
from ctypes import POINTER, byref, c_char_p, c_int32, c_int64, c_size_t, c_void_p, cast, string_at

from . import _library as lib
from ._callbacks import Failures, Function, forget_functions
from ._engine import get_ident, per_thread
from ._errors import ScriptError, TimedOutError
from ._events import OUTCOMES, STATES, WARNINGS, Event
from ._library import check, double, error_of, library, pointer, size, sized
from ._result import RunResult
from ._values import taken_value, to_value

SLICE = 0.05  # seconds of one wait, after which Python looks for signals
GRACE = 10  # seconds after which a script that has no steps ends
_ENDS = ("", "done", "paused", "ended")  # of a step
_open = weakref.WeakSet()


def write_output(text, stream):
    """Where a script's output goes: sys.stdout, or sys.stderr."""
    file = sys.stdout if stream == "out" else sys.stderr
    text = text if stream in ("out", "err") else text + "\n"
    try:
        file.write(text)
    except UnicodeEncodeError:
        file.write(text.encode(file.encoding, "backslashreplace").decode(file.encoding))
    file.flush()


def _bytes_or_none(text, what):
    return None if text is None else lib.plain_text(os.fspath(text), what)


def _texts(texts):
    """An array of texts for the library, or None."""
    return (c_char_p * len(texts))(*texts) if texts else None


def _param(name, value):
    """A parameter's value as its text."""
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, (int, float)):
        return repr(int(value) if isinstance(value, int) else float(value)).encode()
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return _param(name, value.item())
    return lib.plain_text(value, f"the parameter {name!r}")


def _params(given):
    found = []
    for name, value in (given or {}).items():
        key = lib.plain_text(name, "the name of a parameter")
        if b"=" in key:
            raise ValueError(f"the name of a parameter has no '=', and {name!r} is given")
        found.append(key + b"=" + _param(name, value))
    return found


class session:
    """Runs scripts on a thread of its own: `with lunagrad.session() as session: session.start("train.lua"); session.wait()`.

    A session belongs to the thread that opens it; stop() may be called on any thread. on_metrics(step, values), on_output(text,
    stream), with "out", "err" or "warning" as the stream, and on_event(event) are called on that thread while it is in step(), wait(),
    evaluate(), poll(), events() or close(). Without on_output, output goes to sys.stdout and sys.stderr. At most `event_limit` events
    wait; then the oldest are dropped. `modules` are texts by the names that `require` finds, `library` is the folder with
    lunagrad/init.lua, `deadline` are the seconds that close() waits.
    """

    def __init__(self, *, device: "str | None" = None, seed: "int" = 0, on_metrics: "Callable[[int, dict[str, float]], Any] | None" = None,
                 on_output: "Callable[[str, str], Any] | None" = None, on_event: "Callable[[Event], Any] | None" = None,
                 modules: "Mapping[str, str] | None" = None, library: "str | os.PathLike[str] | None" = None, tape: "bool" = False,
                 event_limit: "int" = 100000, deadline: "float" = 10) -> "None":
        self._p = None
        engine = self._engine = per_thread.engine
        if engine.dead_sessions:
            engine.drain()
        self._on_metrics, self._on_output, self._on_event = on_metrics, on_output or write_output, on_event
        self._deadline, self._failures, self._functions = float(deadline), Failures(), {}
        self._error, self._result = None, RunResult()
        options = sized(lib.SessionOptions)
        options.flags = lib.KEEPS_TAPE if tape else 0
        options.device, options.library = _bytes_or_none(device, "device"), _bytes_or_none(library, "library")
        options.seed, options.event_limit, options.close_seconds = seed, event_limit, deadline
        given = [(lib.plain_text(name, "the name of a module"), text.encode() if isinstance(text, str) else text)
                 for name, text in (modules or {}).items()]
        options.modules = (lib.Module * len(given))(*(lib.Module(lib.MODULE_BYTES, 0, name, text, len(text)) for name, text in given))
        options.n_modules = len(given)
        handle = c_void_p()
        check(lib.library.lg_session_open(engine.p, byref(options), byref(handle)))
        self._p = pointer(handle.value)
        _open.add(self)

    # ---- its life ----

    def __enter__(self) -> "session":
        return self

    def __exit__(self, kind, error, traceback) -> "None":
        try:
            self._close(self._deadline, quiet=kind is not None and not issubclass(kind, KeyboardInterrupt))
        except TimedOutError:
            if kind is None:
                raise

    def __del__(self, get_ident=get_ident, lib=lib, library=library, double=double):
        handle, self._p = self._p, None
        engine = self._engine
        if handle is None or engine.ident is None:
            return
        warnings.warn("a session was not closed", ResourceWarning, source=self)
        if get_ident() != engine.ident or library.lg_session_close(handle, double(-1)) not in (0, lib.TIMED_OUT):
            library.lg_session_stop(handle, lib.NOW)
            engine.dead_sessions.append(handle)
            engine.dead.append(0)  # so that the engine looks

    def __repr__(self):
        return "<session: closed>" if self._p is None else f"<session: {self.state}>"

    def _handle(self):
        if self._p is None:
            raise ValueError("the session is closed")
        return self._p

    def close(self, deadline: "float | None" = None) -> "None":
        """Ends the script and the session, and waits at most so many seconds; None: the session's deadline. TimedOutError: the script
        is in a function of Python, or of Lua, that does not end. The session is closed all the same."""
        self._close(self._deadline if deadline is None else deadline)

    def _close(self, deadline, quiet=False):
        if self._p is None:
            return
        self.state  # the session's thread, or an exception before anything ends
        limit = time.monotonic() + deadline
        check(library.lg_session_stop(self._p, lib.NOW))
        try:
            self._until_idle(limit, quiet)
        except TimedOutError:
            pass
        finally:
            handle, self._p = self._p, None
            self._failures.clear()
            code = self._call(library.lg_session_close, handle, double(max(0.0, limit - time.monotonic())))
        if code:
            raise error_of(code)

    # ---- runs ----

    def start(self, script: "str | os.PathLike[str] | None" = None, *, text: "str | bytes | None" = None, name: "str" = "script",
              set: "Mapping[str, Any] | None" = None, args: "Sequence[str]" = (), device: "str | None" = None, seed: "int" = 0,
              steps: "int" = 0, memory_limit: "int" = 0, folder: "str | os.PathLike[str] | None" = None,
              resume: "str | os.PathLike[str] | None" = None, paused: "bool" = False, preload: "bool" = False, sandbox: "bool" = False,
              interactive: "bool" = False) -> "None":
        """Starts a script, a file or a text with a name, and returns at once. A script that runs is stopped first, within the deadline.

        set: parameters by name, for lg.run.param. args: the script's `...`. device, seed: the session's if they are not given.
        steps: of lg.run.steps; 0: the script's. memory_limit: bytes, 0: none. folder: the run's folder; None: none is written.
        resume: a run folder or a checkpoint to go on from. paused: before the first line, for step() and resume(). preload: `lg` is a
        global. sandbox: the script is not trusted. interactive: lg.run.breakpoint() pauses."""
        if (script is None) == (text is None):
            raise TypeError("a script or text= is expected, one of the two")
        arguments, params = [lib.plain_text(arg, "an argument") for arg in args], _params(set)
        run, given = sized(lib.Run), ((lib.PAUSED, paused), (lib.PRELOAD, preload), (lib.SANDBOX, sandbox), (lib.INTERACTIVE, interactive))
        run.flags = sum(flag for flag, is_set in given if is_set)
        run.arguments, run.n_arguments = cast(_texts(arguments), POINTER(c_char_p)), len(arguments)
        run.params, run.n_params = cast(_texts(params), POINTER(c_char_p)), len(params)
        run.device, run.seed, run.steps, run.memory_limit = _bytes_or_none(device, "device"), seed, steps, memory_limit
        run.folder, run.resume = _bytes_or_none(folder, "folder"), _bytes_or_none(resume, "resume")
        run.name = lib.plain_text(name, "the name of a script")
        path = None if script is None else lib.plain_text(os.fsencode(script), "the path of a script")
        code = text.encode() if isinstance(text, str) else text
        if self.state != "idle":
            self.stop(now=True)
        self._until_idle(time.monotonic() + self._deadline)  # the events of the former run
        self._failures.clear()
        self._error, self._result = None, RunResult()
        if path is not None:
            check(library.lg_session_run_file(self._p, path, byref(run)))
        else:
            check(library.lg_session_run_text(self._p, code, size(len(code)), byref(run)))

    def step(self, timeout: "float | None" = None) -> "str":
        """Runs to the end of the step of lg.run.steps, where the run is paused. "done"; "paused": it paused inside of the step;
        "ended": the run has ended. TimedOutError: the step goes on, and the run pauses at its end. Raises what wait() raises."""
        end = c_int32()
        code = self._call(library.lg_session_step, self._handle(), double(-1 if timeout is None else timeout), byref(end), stop=lib.AT_STEP)
        if code not in (0, lib.STOPPED, lib.SCRIPT):
            raise error_of(code)
        self._drain()
        if _ENDS[end.value] == "ended":
            self._end()
        return _ENDS[end.value]

    def pause(self) -> "None":
        """Pauses the run at the next point between operations, and returns at once. Before a run: before its first line."""
        check(library.lg_session_pause(self._handle()))

    def resume(self) -> "None":
        """Lets the run go on."""
        check(library.lg_session_resume(self._handle()))

    def stop(self, now: "bool" = False) -> "None":
        """Any thread: ends the run at the end of its step, or in the midst of it, and returns at once."""
        check(library.lg_session_stop(self._handle(), lib.NOW if now else lib.AT_STEP))

    def wait(self, timeout: "float | None" = None) -> "RunResult":
        """Waits until no script runs, and gives what the run has told. ScriptError: the script ended with an error; where an exception
        of a function of Python was the cause, this exception. TimedOutError: a script runs or is paused. Ctrl-C stops the run at the
        end of its step, and a second one at once; so does an exception of a callback."""
        limit = None if timeout is None else time.monotonic() + timeout
        self._handle()
        try:
            self._until_idle(limit)
        except TimedOutError:
            raise
        except BaseException as error:
            self._stop_for(error)
            raise
        return self._end()

    @property
    def state(self) -> "str":
        """What the session does: "idle", "running", "paused" or "stopping"."""
        info = sized(lib.SessionInfo)
        check(library.lg_session_get_info(self._handle(), byref(info)))
        return STATES[info.state]

    # ---- values ----

    def evaluate(self, code: "str", timeout: "float | None" = None) -> "str":
        """Evaluates an expression or statements of Lua in the state of the script, at the next point between operations, or at once
        when no script runs. The values as the prompt shows them, a line for each. ScriptError: it failed. TimedOutError: it is
        evaluated later."""
        found = c_void_p()
        result = self._call(library.lg_session_evaluate, self._handle(), lib.plain_text(code, "code"),
                            double(-1 if timeout is None else timeout), byref(found), stop=lib.NOW)
        message = lib.last_error() if result else ""
        self._drain()
        if result:
            raise ScriptError(message) if result == lib.SCRIPT else error_of(result)
        return self._text(found.value).decode("utf-8", "replace")

    def set_param(self, name: "str", value: "Any") -> "None":
        """Sets a parameter that the script has declared, from its next step on."""
        check(library.lg_session_set_param(self._handle(), lib.plain_text(name, "the name of a parameter"), _param(name, value)))

    def set(self, name: "str", value: "Any") -> "None":
        """Sets lg.host.NAME of the script, before a run, or from its next step on: None, which removes it, a boolean, a number, a text,
        a tensor, whose elements are copied, or a list or dict of those."""
        key = lib.plain_text(name, "the name of a value")
        made = pointer(to_value(self._engine, value))
        try:
            check(library.lg_session_set(self._handle(), key, made))
        finally:
            library.lg_value_release(made)

    def get(self, name: "str") -> "Any":
        """What the script assigned to lg.host.NAME up to the end of its latest step, else what set() gave, else None."""
        return self.get_at(name)[0]

    def get_at(self, name: "str") -> "tuple[Any, int]":
        """The same, and the number of steps that had ended then; -1: the value is of set()."""
        found, step = c_void_p(), c_int64()
        check(library.lg_session_get(self._handle(), lib.plain_text(name, "the name of a value"), byref(found), byref(step)))
        return taken_value(self._engine, pointer(found.value)), step.value

    def function(self, name: "str", function: "Callable[..., Any]") -> "None":
        """Adds lg.host.NAME(…), which calls a function of Python on the session's thread. Arguments and results are as in set(), a
        tuple is several results. Operations on tensors are the script's, with gradients; tensors of other threads are refused. An
        exception is an error of the script; wait() and step() raise it if it ends the run."""
        if not callable(function):
            raise TypeError(f"a function is expected, and {type(function).__name__} is given")
        made = Function(name, function, self._failures)
        made.add_to(self._handle())
        self._functions[name] = made

    def tape(self) -> "dict[str, Any]":
        """The tape of the latest backward pass, of a session with tape=True."""
        found = c_void_p()
        check(library.lg_session_tape(self._handle(), byref(found)))
        return json.loads(self._text(found.value))

    # ---- events ----

    def poll(self, timeout: "float" = 0) -> "Event | None":
        """The oldest event that waits, or the first within so many seconds, after the callbacks have got it; None: there is none."""
        limit = time.monotonic() + timeout
        while True:
            event = self._next(min(SLICE, limit - time.monotonic()))
            if event is not None:
                self._deliver(event)
                return event
            if time.monotonic() >= limit:
                return None

    def events(self) -> "Iterator[Event]":
        """The events up to the end of the run, as they come."""
        while True:
            event = self.poll(SLICE)
            if event is not None:
                yield event
            elif self.state == "idle":
                yield from iter(self.poll, None)
                return

    # ---- inside ----

    def _call(self, function, *arguments, stop=None):
        """The code of a call that may wait. `stop`: how Ctrl-C stops the session then."""
        engine = self._engine
        engine.session = (self._p, stop) if stop else None
        try:
            return function(*arguments)
        finally:
            engine.session = None
            engine.resume()

    def _next(self, seconds):
        data = sized(lib.EventData)
        code = self._call(library.lg_session_poll_event, self._handle(), double(max(0.0, seconds)), byref(data))
        if code:
            raise error_of(code)
        return Event(data) if data.kind else None

    def _deliver(self, event, quiet=False):
        self._result._take(event)
        if event.dropped:
            warnings.warn(f"{event.dropped} events of a session found no room, since nobody took them", RuntimeWarning, stacklevel=3)
        if event.kind == "error":
            self._error = event
        if quiet:
            return
        if event.kind == "output":
            self._on_output(event.text, event.stream)
        elif event.kind in WARNINGS:
            self._on_output(event.text, "warning")
        elif event.kind == "metrics" and self._on_metrics:
            self._on_metrics(event.step, event.values)
        if self._on_event:
            self._on_event(event)

    def _drain(self, quiet=False):
        event = self._next(0)
        while event is not None:
            self._deliver(event, quiet)
            event = self._next(0)

    def _until_idle(self, limit, quiet=False):
        """Delivers events until no script runs. TimedOutError at the time `limit`."""
        seconds = 0
        while True:
            event = self._next(seconds)
            if event is not None:
                self._deliver(event, quiet)
            if event is None or event.kind in ("ended", "state"):
                code = library.lg_session_wait(self._p, double(0), None)
                if code in (0, lib.STOPPED, lib.SCRIPT):
                    return self._drain(quiet)
                if code != lib.TIMED_OUT:
                    raise error_of(code)
            seconds = SLICE if limit is None else min(SLICE, limit - time.monotonic())
            if seconds <= 0:
                raise TimedOutError("a script runs or is paused")

    def _stop_for(self, error):
        """Stops the run because of Ctrl-C or an exception of a callback, which then gets no more events."""
        quiet = not isinstance(error, KeyboardInterrupt)
        try:
            self.stop()
            self._until_idle(time.monotonic() + GRACE + self._deadline, quiet)
        except (KeyboardInterrupt, TimedOutError):
            self.stop(now=True)

    def _end(self):
        """The result of the run that has ended; raises its error."""
        result, failure, outcome = self._result, self._error, c_int32()
        code = library.lg_session_wait(self._p, double(0), byref(outcome))
        text = failure.text if failure else lib.last_error() if code else ""
        result.outcome = OUTCOMES.get(outcome.value, "error")
        cause = self._failures.take(text) if code == lib.SCRIPT else None
        self._failures.clear()
        if cause is not None:
            cause.add_note("In the script: " + text)
            raise cause
        if code == lib.SCRIPT:
            raise ScriptError(text, failure.file if failure else "", failure.line if failure else 0, result.outcome, result.exit_code)
        if code not in (0, lib.STOPPED):
            raise error_of(code)
        return result

    @staticmethod
    def _text(handle):
        """The bytes of a text, which is released."""
        text, data, length = pointer(handle), c_void_p(), c_size_t()
        try:
            check(library.lg_text_get(text, byref(data), byref(length)))
            return string_at(data.value, length.value)
        finally:
            library.lg_text_release(text)


def _after_fork():
    """In a child the threads of sessions are missing: it must not wait for them."""
    for opened in list(_open):
        if opened._p is not None:
            opened._p, opened._engine.forked = None, True


def _at_exit():
    """Python does not wait for daemon threads: their scripts must call no function of Python after its end."""
    for opened in list(_open):
        if opened._p is not None and opened._engine.ident != get_ident():
            library.lg_session_stop(opened._p, lib.NOW)
    forget_functions()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_at_exit)
