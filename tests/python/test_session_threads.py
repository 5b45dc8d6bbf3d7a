"""Sessions and threads: memory, garbage, ends of threads and of the process, forks, Ctrl-C, exceptions of callbacks, deadlines."""
import gc
import os
import threading
import time
import unittest
import warnings

import lunagrad as lg
from lunagrad._engine import engine_info
from test_threads import in_process, in_thread

HEAD = "local lg = require 'lunagrad'\n"
LOOP = HEAD + "for step in lg.run.steps() do lg.run.log {n = step} end"
# A pattern that backtracks for seconds, and that nothing interrupts.
PATTERN = "print 'go' string.rep('a', 25):find(string.rep('a?', 25) .. string.rep('a', 25))"


class Life(unittest.TestCase):
    def test_memory_of_many_sessions(self):
        growth = """
import lunagrad as lg
def pages(): return int(open('/proc/self/statm').read().split()[1])
def once(i):
    result = lg.run(text='''local lg = require 'lunagrad'
for step in lg.run.steps(3) do lg.run.log {loss = step} lg.host.x = lg.host.f(lg.rand(20000)) end''',
        host={'f': lambda x: x * 2, 'given': [lg.ones(20000), 'text' * 1000]}, values=['x', 'given'], on_metrics=lambda *_: None)
    assert result.values['x'].shape == (20000,)
    try: lg.run(text='error "no"')
    except lg.ScriptError: pass
for i in range(40): once(i)
before = pages()
for i in range(200): once(i)
print((pages() - before) * 4 // 1024)
from lunagrad._engine import engine_info
from lunagrad._callbacks import _functions
import threading
info = engine_info()
assert info.sessions == 0 and info.values == 0 and info.texts == 0 and len(_functions) == 0 and threading.active_count() < 4
"""
        self.assertLess(int(in_process(growth)), 3)  # MiB

    def test_sessions_of_two_threads(self):
        def work(seed):
            seen = []
            text = HEAD + "for step in lg.run.steps(50) do lg.run.log {n = lg.host.f(step)} end lg.host.x = lg.rand(1):item()"
            result = lg.run(text=text, seed=seed, host={"f": lambda n: n * seed}, values=["x"],
                            on_metrics=lambda step, _: seen.append((step, ident())))
            return result.metrics["n"], {thread for _, thread in seen}, [step for step, _ in seen], result.values["x"]
        ident = threading.get_ident
        found = {}
        threads = [threading.Thread(target=lambda seed=seed: found.update({seed: (work(seed), ident())})) for seed in (1, 2, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for seed, ((last, idents, steps, drawn), thread) in found.items():
            self.assertEqual((last, idents, steps), (50 * seed, {thread}, list(range(1, 51))))
            self.assertEqual(drawn, work(seed)[3])

    def test_another_thread(self):
        with lg.session(on_output=lambda *_: None) as session:
            for call in (session.wait, session.step, session.poll, lambda: session.get("a"), lambda: session.set("a", 1), session.close):
                with self.assertRaises(lg.Error):
                    in_thread(call)
            session.start(text=LOOP)
            in_thread(lambda: session.stop(now=True))
            self.assertEqual(session.wait(60).outcome, "stopped")

    def test_garbage(self):
        def unclosed(cycle):
            opened = lg.session()
            opened.function("f", lambda: opened if cycle else None)
            opened.start(text=HEAD + "while true do lg.host.f() end")
        gc.collect()
        before = engine_info().sessions
        for cycle in (False, True):
            with self.assertWarns(ResourceWarning):
                unclosed(cycle)
                gc.collect()
            self.assertEqual(engine_info().sessions, before)
        held = [lg.session()]  # on another thread: its own thread closes it
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            in_thread(held.clear)
        self.assertEqual(engine_info().sessions, before + 1)
        lg.ones(1) + 1
        self.assertEqual(engine_info().sessions, before)

    def test_a_thread_that_ends(self):
        def leave():
            left = lg.session()
            left.function("f", lambda: None)
            left.start(text=HEAD + "while true do lg.host.f() end")
            return left
        left = in_thread(leave)
        with self.assertRaises(lg.InvalidHandleError):
            left.wait()
        with self.assertRaises(lg.InvalidHandleError):
            left.close()
        del left
        gc.collect()

    def test_ends_of_the_process(self):
        loop = """
import threading, time, lunagrad as lg
def leave():
    s = lg.session()
    s.function('f', lambda x: x * 2)
    s.start(text="local lg = require 'lunagrad' while true do lg.host.f(lg.ones(3)) end")
    return s
"""
        in_process(loop + "kept = leave(); time.sleep(0.1)")
        in_process(loop + "kept = leave(); kept.kept = kept; time.sleep(0.1); raise SystemExit(0)")
        in_process(loop + """
def work():
    with leave() as session: session.wait()
threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
""")

    def test_forks(self):
        in_process("""
import os, lunagrad as lg
session = lg.session(on_output=lambda *_: None)
session.start(text="local lg = require 'lunagrad' for step in lg.run.steps() do end")
child = os.fork()
if child == 0:
    try:
        session.wait()
    except ValueError:
        assert (lg.ones(2) + 1).tolist() == [2, 2]
        raise SystemExit(0)  # waits for no thread of the parent
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
session.stop()
assert session.wait(60).outcome == 'stopped'
session.close()
""")


class Deadlines(unittest.TestCase):
    def test_a_pattern_that_nothing_interrupts(self):
        begun = time.monotonic()
        with self.assertRaises(lg.TimedOutError):
            with lg.session(deadline=0.2, on_output=lambda *_: None) as session:
                session.start(text=PATTERN)
                next(event for event in session.events() if event.kind == "output")
        self.assertLess(time.monotonic() - begun, 5)
        with self.assertRaises(KeyError):  # which is the reason, not the deadline
            with lg.session(deadline=0.2, on_output=lambda *_: None) as session:
                session.start(text=PATTERN)
                next(event for event in session.events() if event.kind == "output")
                raise KeyError

    def test_a_function_that_takes_long(self):
        calls, release = [], threading.Event()

        def hold():
            calls.append(1)
            release.wait(60)
            return lg.ones(2)
        session = lg.session()
        session.function("hold", hold)
        session.start(text=HEAD + "while true do lg.host.hold() end")
        while not calls:
            session.poll(0.01)
        with self.assertRaises(lg.TimedOutError):
            session.close(0.1)
        session.close()  # it is closed
        del session
        gc.collect()
        release.set()
        time.sleep(0.3)
        self.assertEqual(len(calls), 1)

    def test_time_of_an_evaluation(self):
        with lg.session(deadline=0.5, on_output=lambda *_: None) as session:
            session.start(text="while true do end")
            self.assertEqual(session.evaluate("7", timeout=60), "7")
            session.start(text=PATTERN)
            while session.poll(60).kind != "output":
                pass
            with self.assertRaises(lg.TimedOutError):
                session.evaluate("7", timeout=0.01)
            with self.assertRaises(lg.TimedOutError):
                session.start(text="")
            with self.assertRaises(lg.TimedOutError):
                session.close(0.1)


class Callbacks(unittest.TestCase):
    def test_exceptions(self):
        """An exception of a callback stops the run, and the callbacks get nothing more."""
        calls = []

        def fails(*given):
            calls.append(given)
            raise LookupError("of a callback")
        for name in ("on_metrics", "on_output", "on_event"):
            calls.clear()
            with self.assertRaises(LookupError):
                lg.run(text=HEAD + "print 'a' for step in lg.run.steps() do lg.run.log {n = step} end",
                       **{"on_output": lambda *_: None} | {name: fails})
            self.assertEqual(len(calls), 1)

        with lg.session(on_metrics=fails) as session:
            session.start(text=LOOP, paused=True)
            with self.assertRaises(LookupError):
                session.step()
            self.assertEqual(session.state, "paused")
            session.resume()
            with self.assertRaises(LookupError):
                session.wait()
            self.assertEqual(session.state, "idle")

    def test_calls_inside_of_callbacks(self):
        """A callback may use the session, and run another."""
        with lg.session(on_metrics=lambda step, values: seen.append((session.get("n"), inner())), on_output=lambda *_: None) as session:
            seen = []

            def inner():
                session.stop()
                return lg.run(text=HEAD + "lg.host.a = 1", values=["a"]).values["a"]
            session.start(text=HEAD + "lg.host.n = 7 for step in lg.run.steps() do if step == 2 then lg.run.log {n = 1} end end")
            self.assertEqual(session.wait(60).outcome, "stopped")
            self.assertEqual(seen, [(7, 1)])


class Interrupts(unittest.TestCase):
    CODE = """
import os, signal, threading, time, lunagrad as lg
def later(*waits):
    def work():
        for wait in waits:
            time.sleep(wait)
            os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=work, daemon=True).start()
def interrupted(call):
    begun = time.monotonic()
    try:
        call()
        raise SystemExit('it was not interrupted')
    except KeyboardInterrupt:
        pass
    took = time.monotonic() - begun
    assert took < 8, took
    assert (lg.ones(3) + 1).tolist() == [2, 2, 2]
def quiet(text, stream):
    pass
HEAD = "local lg = require 'lunagrad' "
STEPS = HEAD + '''local count = lg.run.state('count', function() return lg.zeros(1) end)
for step in lg.run.steps() do
  count:add_(1)
  lg.run.log {n = step}
  lg.host.n = count:item()
  local t = os.clock()
  while os.clock() - t < 0.01 do end
end'''
"""

    def test_a_run(self):
        """Ctrl-C ends a run at the end of its step, with its last checkpoint."""
        in_process(self.CODE + """
import tempfile
seen, paths = [], []
def note(event):
    if event.kind == 'checkpoint': paths.append(event.text)
with tempfile.TemporaryDirectory() as folder:
    later(0.4)
    interrupted(lambda: lg.run(text=STEPS, folder=folder + '/run', on_metrics=lambda step, _: seen.append(step), on_event=note))
    assert seen == list(range(1, len(seen) + 1)) and seen, seen
    assert len(paths) == 1 and os.path.exists(paths[0]), paths
    result = lg.run(text=STEPS, resume=folder + '/run', steps=len(seen) + 2, values=['n'])
    assert result.outcome == 'ok' and result.values == {'n': len(seen) + 2}, result.values
with lg.session(on_output=quiet) as session:
    session.start(text=STEPS)
    later(0.2)
    interrupted(session.wait)
    assert session.state == 'idle' and session.get('n') > 0
    assert session.wait().outcome == 'stopped'
""")

    def test_a_second_one_ends_the_step(self):
        in_process(self.CODE + """
later(0.3, 0.3)
interrupted(lambda: lg.run(text=HEAD + "for step in lg.run.steps() do while true do end end"))
""")

    def test_a_step(self):
        in_process(self.CODE + """
slow = HEAD + "for step in lg.run.steps() do local t = os.clock() while os.clock() - t < 0.5 do end lg.host.n = step end"
with lg.session(on_output=quiet) as session:
    session.start(text=slow, paused=True)
    later(0.3)
    interrupted(lambda: [session.step() for _ in range(100)])
    assert session.wait(60).outcome == 'stopped' and session.get('n') >= 1
    session.start(text=HEAD + "for step in lg.run.steps() do while true do end end", paused=True)
    later(0.3, 0.3)  # the second ends the step
    interrupted(session.step)
""")

    def test_a_line(self):
        in_process(self.CODE + """
with lg.session() as session:
    later(0.3)
    interrupted(lambda: session.evaluate('while true do end'))
    assert session.evaluate('1 + 1') == '2'
""")

    def test_with_a_function_of_python(self):
        in_process(self.CODE + """
later(0.3)
interrupted(lambda: lg.run(text=HEAD + "for step in lg.run.steps() do lg.host.f(lg.ones(3)) end", host={'f': lambda x: x * 2},
                           on_output=quiet))
""")


if __name__ == "__main__":
    unittest.main()
