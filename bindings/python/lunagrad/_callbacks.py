"""Functions of Python that scripts call, as lg.host.NAME(…), on the session's thread.

The library has one function of C for all of them, which lives as long as the process, since a session's thread may be in it even after
the session was closed. It finds Python's function by a number, for as long as the session has it.
"""
import collections
import ctypes
import itertools
import time
import weakref
from ctypes import c_int32, c_size_t, c_void_p, py_object

from . import _library as lib
from ._engine import SessionEngine
from ._errors import Error
from ._library import check, int32, library, pointer
from ._values import from_value, to_value

MOST_RESULTS = 32
LONGEST = 900  # bytes of a message; the library keeps 1,023

_functions = weakref.WeakValueDictionary()
_numbers = itertools.count(1)
_running = []  # calls; an element for each


class Failures:
    """The latest exceptions of a session's functions, with the messages that the script got."""

    def __init__(self):
        self._held = collections.deque(maxlen=16)

    def add(self, message, error):
        self._held.append((message, error))

    def clear(self):
        self._held.clear()

    def take(self, text):
        """The exception that caused an error of the script with this text, or None."""
        held = list(self._held)
        self.clear()
        return next((error for message, error in reversed(held) if message in text), None)


class Function:
    """A function of a session, which keeps it. It is found by its number until it is garbage."""

    def __init__(self, name, function, failures):
        self.name, self.function, self.failures = name, function, failures
        self.number = next(_numbers)
        _functions[self.number] = self

    def add_to(self, session):
        check(library.lg_session_add_function(session, lib.plain_text(self.name, "the name of a function"), _call, pointer(self.number)))


def _message_of(error):
    """"ValueError: too small", cut, without zero bytes."""
    try:
        text = str(error)
    except Exception:
        text = "the exception has no text"
    text = (f"{type(error).__name__}: {text}" if text else type(error).__name__).replace("\0", "\\0")
    return text.encode("utf-8", "backslashreplace")[:LONGEST].decode("utf-8", "ignore")


def _run(function, engine, arguments, count, results):
    """Calls Python's function and returns the number of its results."""
    given = [from_value(engine, pointer(handle)) for handle in (c_void_p * count).from_address(arguments)] if count else []
    found = function.function(*given)
    found = found if isinstance(found, tuple) else () if found is None else (found,)
    if len(found) > MOST_RESULTS:
        raise ValueError(f"a function of a script has at most {MOST_RESULTS} results, and {len(found)} are given")
    room = (c_void_p * MOST_RESULTS).from_address(results)
    for index, value in enumerate(found):
        room[index] = None if value is None else to_value(engine, value)
    return len(found)


@ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p, c_void_p)
def _call(number, handle, arguments, count, results, n_results):
    written = c_size_t.from_address(n_results)
    written.value = 0
    function = _functions.get(number)
    if function is None:
        return library.lg_set_error(int32(lib.STOPPED), b"the session has ended")
    _running.append(number)
    try:
        with SessionEngine(handle) as engine:
            written.value = _run(function, engine, arguments, count, results)
        return 0
    except BaseException as error:
        message = _message_of(error)
        function.failures.add(message, error.with_traceback(error.__traceback__.tb_next))
        code = error.code if isinstance(error, Error) and error.code < lib.TIMED_OUT else lib.VALUE
        return library.lg_set_error(int32(code), message.encode())
    finally:
        _running.remove(number)


def forget_functions():
    """Scripts call no function from here on. Waits a second for calls that run."""
    _functions.clear()
    limit = time.monotonic() + 1
    while _running and time.monotonic() < limit:
        time.sleep(0.01)


ctypes.pythonapi.Py_IncRef(py_object(_call))  # sessions may end after this module
