"""Scripts in sessions: runs, steps, values in both directions, functions of Python, events, and what notebooks show of runs."""
import contextlib
import importlib.util
import io
import math
import os
import tempfile
import traceback
import unittest
import xml.etree.ElementTree

import lunagrad as lg

HEAD = "local lg = require 'lunagrad'\n"
LONG = 60  # seconds


def run(text, **named):
    return lg.run(text=HEAD + text, **named)


def printed(call):
    """What a call writes to sys.stdout and sys.stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        call()
    return out.getvalue(), err.getvalue()


class Runs(unittest.TestCase):
    def test_metrics_and_outcome(self):
        seen = []
        result = run("for step in lg.run.steps(3) do lg.run.log {loss = 1 / step, acc = step} end",
                     on_metrics=lambda step, values: seen.append((step, values)))
        self.assertEqual(seen, [(step, {"acc": step, "loss": 1 / step}) for step in (1, 2, 3)])
        self.assertEqual((result.outcome, result.exit_code, result.steps), ("ok", 0, 3))
        self.assertEqual(result.metrics, {"acc": 3, "loss": 1 / 3})
        self.assertEqual(result.curves["acc"], [(1, 1), (2, 2), (3, 3)])
        self.assertEqual(repr(result), "<run: ok, 3 steps, acc=3, loss=0.3333>")
        self.assertTrue(result.seconds > 0 and result.folder is None and result.checkpoint is None and result.dropped == 0)

    def test_many_metrics_are_thinned_out(self):
        seen = []
        result = run("for step in lg.run.steps(5000) do lg.run.log {n = step} end", on_metrics=lambda step, values: seen.append(step))
        self.assertEqual(seen, list(range(1, 5001)))
        points = result.curves["n"]
        self.assertTrue(512 <= len(points) <= 1024, len(points))
        self.assertEqual(points[0], (1, 1))
        gaps = {b[0] - a[0] for a, b in zip(points, points[1:])}
        self.assertEqual(len(gaps), 1)
        self.assertLess(5000 - points[-1][0], gaps.pop())

    def test_output(self):
        text = "print('a\\0b') io.write('w\\xff') io.stderr:write('err\\n') lg.run.log {x = 1}"
        self.assertEqual(printed(lambda: run(text)), ("a\0b\nw\ufffd", "err\n"))
        seen = []
        self.assertEqual(printed(lambda: run(text, on_output=lambda *given: seen.append(given))), ("", ""))
        self.assertEqual(seen, [("a\0b\n", "out"), ("w\ufffd", "out"), ("err\n", "err")])
        with io.TextIOWrapper(io.BytesIO(), "ascii") as narrow, contextlib.redirect_stdout(narrow):
            run("print 'é'")
            self.assertEqual(narrow.buffer.getvalue(), b"\\xe9\n")

    def test_warnings_are_output(self):
        seen = []
        run("local x = lg.zeros(2, {requires_grad = true}) for step in lg.run.steps(2) do (x / 0 * 0):sum():backward() end",
            on_output=lambda text, stream: seen.append(stream))
        self.assertIn("warning", seen)

    def test_parameters_and_arguments(self):
        result = run("""lg.host.found = {lg.run.param('rate', 1.0), lg.run.param('n', 1), lg.run.param('on', false),
            lg.run.param('word', 'a'), select('#', ...), ..., arg[1]}""",
                     set={"rate": 0.25, "n": 7, "on": True, "word": "é = x"}, args=("é",), values=["found"])
        self.assertEqual(result.values, {"found": [0.25, 7, True, "é = x", 1, "é", "é"]})
        for given, kind in (({"a=b": 1}, ValueError), ({"a": "x\0"}, ValueError), ({"a": None}, TypeError), ({3: 1}, TypeError)):
            with self.assertRaises(kind):
                run("", set=given)
        with self.assertRaises(lg.ScriptError) as caught:
            run("", set={"unknown": 1})
        self.assertEqual((caught.exception.outcome, caught.exception.exit_code), ("usage", 2))
        self.assertIn("unknown", str(caught.exception))

    def test_options(self):
        text = "lg.host.found = {lg.rand(1):item(), lg.ones(1).device} for step in lg.run.steps(9) do end"
        first, second, third = (run(text, seed=seed, steps=4, values=["found"]) for seed in (3, 3, 4))
        self.assertEqual(first.values, second.values)
        self.assertNotEqual(first.values, third.values)
        self.assertEqual(first.steps, 4)
        self.assertEqual(lg.run(text="lg.host.a = io == nil", preload=True, sandbox=True, values=["a"]).values, {"a": True})
        self.assertEqual(run("lg.host.a = require('the.answer') + 1", modules={"the.answer": "return 41"}, values=["a"]).values, {"a": 42})
        with self.assertRaises(lg.ScriptError) as caught:
            run("local x = lg.zeros(1000, 1000, 1000)", memory_limit=100 << 20)
        self.assertEqual(caught.exception.outcome, "memory")
        with self.assertRaises(lg.DeviceError):
            run("", device="none")
        with self.assertRaises(lg.FileError):
            run("", library="/none")
        for wrong in ({}, {"script": "a.lua", "text": ""}):
            with self.assertRaises(TypeError):
                lg.run(**wrong)

    def test_files_and_folders(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "é.lua")
            with open(path, "w") as file:
                file.write(HEAD + """
local x = 0
for step in lg.run.steps(4) do
  x = x + 1
  lg.host.x = x
  if step == 2 and lg.host.fails then error 'here' end
end""")
            where = os.path.join(folder, "run")
            result = lg.run(path, folder=where, host={"fails": False}, values=["x", "none"])
            self.assertEqual(result.values, {"x": 4, "none": None})
            self.assertTrue(os.path.samefile(result.folder, where) and os.path.exists(os.path.join(where, "config.json")))
            with self.assertRaises(lg.ScriptError) as caught:
                lg.run(path, host={"fails": True})
            error = caught.exception
            self.assertEqual((os.path.basename(error.file), error.line, error.outcome), ("é.lua", 7, "error"))
            self.assertTrue("here" in str(error) and "main chunk" in str(error), error)
        with self.assertRaises(lg.ScriptError) as caught:
            lg.run("/there/is/none.lua")
        self.assertEqual(caught.exception.outcome, "file")
        with self.assertRaises(ValueError):
            lg.run("a\0b.lua")

    def test_errors(self):
        with self.assertRaises(lg.ScriptError) as caught:
            lg.run(text="local function f()\n  error('bad\\0\\xff' .. string.rep('x', 5000))\nend\nf()", name="given")
        error = caught.exception
        self.assertEqual((error.file, error.line, error.outcome, error.code), ("given", 2, "error", 16))
        self.assertIn("bad\0\ufffd" + "x" * 5000, str(error))
        self.assertIn("given:4: in main chunk", str(error))
        for text, outcome in (("this is no Lua", "error"), ("os.exit(3)", "error"), ("local x = lg.zeros(2) + lg.zeros(3)", "error")):
            with self.assertRaises(lg.ScriptError) as caught:
                run(text)
            self.assertEqual(caught.exception.outcome, outcome)
        with self.assertRaises(lg.ScriptError) as caught:
            run("os.exit(3)")
        self.assertEqual(caught.exception.exit_code, 3)
        self.assertIn("exit code 3", str(caught.exception))
        self.assertEqual(run("os.exit(0)").outcome, "ok")


class Steps(unittest.TestCase):
    TEXT = HEAD + """for step in lg.run.steps(4) do
  lg.host.step = step
  lg.host.seen = lg.host.input * 10
end
lg.host.over = true"""

    def test_steps(self):
        with lg.session() as session:
            self.assertEqual((session.state, session.step()), ("idle", "ended"))
            session.set("input", 0)
            session.start(text=self.TEXT, paused=True)
            for i in (1, 2, 3, 4):
                session.set("input", i)
                self.assertEqual(session.get_at("input"), (i, -1))
                self.assertEqual(session.step(LONG), "done")
                self.assertEqual(session.get_at("step"), (i, i))
                self.assertEqual((session.get("seen"), session.state), (10 * i, "paused"))
            self.assertEqual((session.step(), session.get("over")), ("ended", True))
            self.assertEqual(session.wait().steps, 4)
            session.start(text=self.TEXT)  # a second run
            self.assertEqual(session.wait(LONG).outcome, "ok")

    def test_ends_of_steps(self):
        with lg.session() as session:
            session.start(text="""for step in lg.run.steps(3) do
  if step == 2 then lg.run.breakpoint() end
  while step == 3 and not free do end
end error 'the end'""", paused=True, preload=True, interactive=True)
            self.assertEqual([session.step(LONG) for _ in range(3)], ["done", "paused", "done"])
            with self.assertRaises(lg.TimedOutError):
                session.step(0.05)
            with self.assertRaises(TimeoutError):
                session.wait(0.05)
            self.assertEqual(session.evaluate("free = true"), "")
            while session.state != "paused":
                session.poll(0.05)
            with self.assertRaises(lg.ScriptError) as caught:
                session.step(LONG)
            self.assertEqual((caught.exception.line, caught.exception.file), (4, "script"))
            with self.assertRaises(lg.ScriptError):
                session.wait()

    def test_pause_resume_and_stop(self):
        with lg.session() as session:
            session.set("quit", False)
            session.start(text=HEAD + "for step in lg.run.steps() do if lg.host.quit then break end end")
            session.pause()
            while session.state != "paused":
                session.poll(0.05)
            session.set("quit", True)
            session.resume()
            self.assertEqual(session.wait(LONG).outcome, "ok")
            for now in (False, True):
                session.set("quit", False)
                session.start(text=HEAD + "for step in lg.run.steps() do if lg.host.quit then break end end")
                session.stop(now)
                result = session.wait(LONG)
                self.assertEqual((result.outcome, result.exit_code), ("stopped", 130))
        for call in (session.wait, session.step, session.stop, lambda: session.start(text=""), lambda: session.get("a"), session.poll,
                     lambda: session.state, lambda: session.function("f", print), lambda: session.evaluate("1")):
            with self.assertRaises(ValueError):
                call()
        session.close()
        self.assertEqual(repr(session), "<session: closed>")

    def test_a_run_that_takes_the_place_of_another(self):
        seen = []
        with lg.session(on_metrics=lambda step, values: seen.append(values["n"]), on_output=lambda *_: None) as session:
            session.start(text=HEAD + "lg.run.log {n = 1} while true do end")
            while not seen:
                session.poll(0.05)
            session.start(text=HEAD + "lg.run.log {n = 2} lg.host.n = 2")
            result = session.wait(LONG)
            self.assertEqual((seen, result.outcome, result.metrics, session.get("n")), ([1, 2], "ok", {"n": 2}, 2))
            session.start(text="error 'unseen'")
            while session.state != "idle":
                pass
            session.start(text="")
            self.assertEqual((session.wait(LONG).outcome, session.wait(LONG).outcome), ("ok", "ok"))

    def test_lines_and_parameters(self):
        out = []
        with lg.session(tape=True, on_output=lambda text, stream: out.append(text)) as session:
            self.assertEqual(session.evaluate("1 + 1, 'a'"), '2\n"a"')
            with self.assertRaises(lg.NotFoundError):
                session.tape()
            session.start(text=HEAD + """local rate = lg.run.live('rate', 0.5, {min = 0, max = 1})
local w = lg.ones(2, {requires_grad = true})
for step in lg.run.steps(3) do
  w:sum():backward()
  lg.host.rate = rate()
end""", paused=True)
            session.step()
            self.assertEqual(session.evaluate("w.grad:sum():item()"), "2.0")
            self.assertEqual(session.evaluate("print 'p'"), "")
            self.assertEqual(out, ["p\n"])
            for name, value, kind in (("rate", 2, lg.OperandError), ("none", 2, lg.OperandError), ("rate", None, TypeError)):
                with self.assertRaises(kind):
                    session.set_param(name, value)
            session.set_param("rate", 0.75)
            session.step()
            session.step()
            self.assertEqual(session.get("rate"), 0.75)
            self.assertIn("nodes", session.tape())
            for code in ("error 'no'", "this is no Lua"):
                with self.assertRaises(lg.ScriptError):
                    session.evaluate(code)
            with self.assertRaises(ValueError):
                session.evaluate("a\0b")
        with lg.session() as session, self.assertRaises(lg.NotFoundError):
            session.tape()

    def test_events(self):
        text = HEAD + "lg.run.param('rate', 2) for step in lg.run.steps(2) do lg.run.log {loss = step} print(step) end"
        called = []
        with lg.session(on_event=called.append, on_output=lambda *_: None) as session:
            session.start(text=text)
            events = list(session.events())
            self.assertIsNone(session.poll())
            self.assertEqual(events, called)
            told = {event.kind: event for event in events}
            self.assertLessEqual({"state", "step", "metrics", "output", "param", "ended"}, set(told))
            self.assertEqual((told["step"].step, told["step"].total), (2, 2))
            self.assertEqual((told["metrics"].step, told["metrics"].values), (2, {"loss": 2}))
            self.assertEqual((told["output"].text, told["output"].stream), ("2\n", "out"))
            self.assertEqual((told["param"].text, told["param"].values), ("2", {"rate": 2}))
            self.assertEqual((told["ended"].outcome, told["ended"].exit_code, told["state"].state), ("ok", 0, "idle"))
            self.assertEqual(repr(told["metrics"]), "<event metrics: \"step 2: {'loss': 2.0}\">")

    def test_events_without_room(self):
        with lg.session(event_limit=3, on_output=lambda *_: None) as session:
            session.start(text="for i = 1, 20 do print(i) end")
            with self.assertWarnsRegex(RuntimeWarning, "found no room"):
                while session.state != "idle":
                    pass
                result = session.wait()
            self.assertGreater(result.dropped, 10)


class Values(unittest.TestCase):
    def setUp(self):
        self.session = lg.session()
        self.addCleanup(self.session.close)

    def through(self, value):
        """A value that a script has got and given back."""
        self.session.set("value", value)
        self.session.start(text=HEAD + "lg.host.back = lg.host.value")
        self.session.wait(LONG)
        return self.session.get("back")

    def test_plain(self):
        for value in (True, False, 0, -1, 2**63 - 1, -2**63, 0.5, -math.inf, "", "text", "é\0\U0001f600", b"\xff\0", [1, [2, ["a"]]],
                      {}, {"a": 1, "b": {"c": [True]}}, {1: "x", 2: "y", "n": 2}, {"é": 1}):
            back = self.through(value)
            self.assertEqual(back, value)
            self.assertIs(type(back), type(value))
        self.assertTrue(math.isnan(self.through(math.nan)))
        self.assertEqual(self.through((1, 2)), [1, 2])
        self.assertEqual(self.through([]), {})
        self.assertEqual(self.through({"gone": None}), {})
        self.session.set("value", None)
        with self.assertRaises(lg.ScriptError):
            self.session.start(text=HEAD + "return lg.host.value")
            self.session.wait()

    def test_tensors(self):
        for kind in (lg.boolean, lg.u8, lg.i32, lg.i64, lg.f16, lg.bf16, lg.f32, lg.f64, lg.c64, lg.c128):
            x = lg.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype=kind)
            back = self.through(x)
            self.assertEqual((back.dtype, back.tolist(), back.device), (kind, x.tolist(), "cpu"))
        self.assertEqual(self.through(lg.zeros(0, 3)).shape, (0, 3))
        x = lg.ones(2)
        back = self.through({"list": [x, x * 2]})["list"]
        x.add_(1)
        self.assertEqual([y.tolist() for y in back], [[1, 1], [2, 2]])
        self.assertEqual(self.through(memoryview(b"ab").cast("B") and lg.Tensor(bytearray(b"ab"))).tolist(), [97, 98])

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "there is no numpy")
    def test_numpy(self):
        import numpy
        for value, back in ((numpy.float64(0.5), 0.5), (numpy.float32(0.5), 0.5), (numpy.int16(3), 3), (numpy.bool_(True), True),
                            (numpy.array(2), 2)):
            found = self.through(value)
            self.assertEqual((found, type(found)), (back, type(back)))
            text = "lg.host.found = lg.run.param('a', lg.host.fallback)"
            found = run(text, set={"a": value}, host={"fallback": back}, values=["found"]).values["found"]
            self.assertEqual(found, back)
        self.assertEqual(self.through({"x": numpy.arange(4).reshape(2, 2).T})["x"].tolist(), [[0, 2], [1, 3]])

    def test_wrong(self):
        ring = []
        ring.append(ring)
        deep = 1
        for _ in range(65):
            deep = [deep]
        for value, kind in ((2**63, OverflowError), (object(), TypeError), (3j, TypeError), ({1, 2}, TypeError), (ring, ValueError),
                            (deep, ValueError), ([1, None], ValueError), ({2: "x"}, ValueError), ({0.5: 1}, TypeError),
                            ({"a\0": 1}, ValueError), ("\ud800", UnicodeEncodeError), ({True: 1}, TypeError)):
            with self.assertRaises(kind):
                self.session.set("value", value)
        for name, kind in (("", lg.InvalidArgumentError), ("a\0b", ValueError), (3, TypeError)):
            with self.assertRaises(kind):
                self.session.set(name, 1)
            with self.assertRaises(kind):
                self.session.get(name)
        from lunagrad._engine import engine_info
        self.assertEqual(engine_info().values, 0)

    def test_names_of_a_script(self):
        self.session.start(text=HEAD + "lg.host.found = {['a\\0b'] = 1, ['\\xff'] = 2, [''] = 3}")
        self.session.wait()
        self.assertEqual(self.session.get("found"), {"a\0b": 1, b"\xff": 2, "": 3})


class Functions(unittest.TestCase):
    def test_arguments_and_results(self):
        seen = []

        def f(*given):
            seen.append(given)
            return [1, "b"], {"x": 0.5}, None, b"\xff\0", True
        run("""local a, b, c, d, e = lg.host.f(1, 0.5, 'a\\0', true, nil, {1, {k = 2}}, lg.ones(2))
assert(a[1] == 1 and a[2] == 'b' and b.x == 0.5 and c == nil and d == '\\xff\\0' and e == true)
assert(select('#', lg.host.none()) == 0)""", host={"f": f, "none": lambda: None})
        self.assertEqual(seen[0][:-1], (1, 0.5, "a\0", True, None, [1, {"k": 2}]))
        with self.assertRaises(lg.InvalidHandleError):
            seen[0][-1].tolist()  # it ended with the call

    def test_gradients_and_modes(self):
        scale = lg.tensor([2., 3.]).tolist()

        def f(x):
            with lg.no_grad():
                unrecorded = x * 2
            assert not unrecorded.requires_grad and lg.is_grad_enabled() and lg.get_device() == "cpu"
            with self.assertRaises(lg.InvalidArgumentError):
                lg.set_memory_limit(1)
            return (x * lg.tensor(scale)).exp()
        result = run("""local x = lg.zeros(2, {requires_grad = true})
lg.host.f(x):sum():backward()
lg.host.grad = x.grad""", host={"f": f}, values=["grad"])
        self.assertEqual(result.values["grad"].tolist(), [2, 3])
        self.assertTrue(lg.is_grad_enabled())

    def test_exceptions(self):
        class Odd(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        def f(error):
            raise {"value": ValueError("too\0 small é"), "odd": Odd(), "exit": SystemExit(3), "long": KeyError("é" * 3000),
                   "numeric": lg.NumericError("not finite")}[error]
        for name, kind, text in (("value", ValueError, "ValueError: too\\0 small é"), ("odd", Odd, "Odd: the exception has no text"),
                                 ("exit", SystemExit, "SystemExit: 3"), ("long", KeyError, "KeyError: 'éé"),
                                 ("numeric", lg.NumericError, "NumericError: not finite")):
            try:
                run(f"lg.host.f '{name}'", host={"f": f})
                self.fail("no exception")
            except kind as error:
                note, = error.__notes__
                self.assertTrue(text in note and "script:2: in main chunk" in note, note)
                self.assertEqual(traceback.extract_tb(error.__traceback__)[-1].name, "f")
        result = run("local ok, why = pcall(lg.host.f, 'value') lg.host.why = why", host={"f": f}, values=["why"])
        self.assertIn("ValueError: too\\0 small é", result.values["why"])
        with self.assertRaises(lg.ScriptError) as caught:
            run("pcall(lg.host.f, 'value') error 'another'", host={"f": f})
        self.assertFalse(hasattr(caught.exception, "__notes__"))

    def test_in_steps(self):
        def f():
            raise ValueError("here")
        with lg.session() as session:
            session.function("f", f)
            session.start(text=HEAD + "for step in lg.run.steps(3) do if step == 2 then lg.host.f() end end", paused=True)
            self.assertEqual(session.step(), "done")
            with self.assertRaises(ValueError):
                session.step()
            session.function("f", lambda: 1)  # replaced
            session.start(text=HEAD + "lg.host.found = lg.host.f()")
            session.wait()
            self.assertEqual(session.get("found"), 1)

    def test_wrong(self):
        x = lg.ones(2)
        for function, kind in ((lambda: x + 1, lg.WrongThreadError), (lambda: x, lg.WrongThreadError), (lambda: object(), TypeError),
                               (lambda: tuple(range(33)), ValueError), (lambda: lg.run(text=""), lg.InvalidArgumentError),
                               (lambda: lg.ones(2) + lg.ones(3), lg.OperandError), (lambda n: n, TypeError)):
            with self.assertRaises(kind):
                run("lg.host.f()", host={"f": function})
        with lg.session() as session:
            with self.assertRaises(TypeError):
                session.function("f", 3)
            for name, kind in (("", lg.InvalidArgumentError), ("a\0", ValueError)):
                with self.assertRaises(kind):
                    session.function(name, print)
            session.function("f", lambda: session.get("a"))
            session.start(text=HEAD + "lg.host.f()")
            with self.assertRaises(lg.WrongThreadError):
                session.wait()

    def test_state_of_the_thread_comes_back(self):
        x = lg.ones(2)
        run("for i = 1, 100 do lg.host.f(lg.ones(3)) end", host={"f": lambda y: y * 2})
        self.assertEqual((x + 1).tolist(), [2, 2])
        from lunagrad._engine import _of_calls
        self.assertEqual(_of_calls, {})


class Html(unittest.TestCase):
    def test_run(self):
        result = run("""for step in lg.run.steps(4) do
  lg.run.log {['<b>&"'] = step == 2 and 0/0 or step, big = (step - 2.5) * 1e308, flat = 1}
end
lg.run.log {once = math.huge}
lg.host['<i>'] = '<script>'""", values=["<i>"])
        text = result._repr_html_()
        tree = xml.etree.ElementTree.fromstring(text)  # it is well-formed, so texts are escaped
        rows = {row.find("th").text: row for row in tree.findall("tr")}
        self.assertEqual(set(rows), {'<b>&"', "big", "flat", "once", "<i>"})
        svg = "{http://www.w3.org/2000/svg}"
        lines = [line.get("points") for line in rows['<b>&"'].findall(f".//{svg}polyline")]
        self.assertEqual([len(points.split()) for points in lines], [1, 2])  # NaN is a gap
        self.assertEqual(rows["big"].find(f".//{svg}polyline").get("points").split()[0], "3.0,45.0")
        self.assertIsNone(rows["once"].find(f".//{svg}svg"))
        self.assertEqual(rows["once"].find("td").text, "inf")
        self.assertIn("'<script>'", rows["<i>"].find(".//pre").text)
        self.assertIn("ok, 4 steps", tree.find("caption").text)


if __name__ == "__main__":
    unittest.main()
