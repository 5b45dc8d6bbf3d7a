"""docs/python.md: its programs print what the page says, and its table of exceptions is complete."""
import contextlib
import io
import os
import re
import unittest

import numpy  # noqa: F401  a program needs it

import lunagrad as lg

PAGE = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "python.md")).read()


class Page(unittest.TestCase):
    def test_programs(self):
        programs = re.findall(r"```python\n(.*?)```\n\nprints ([^\n]*)\.\n", PAGE, re.DOTALL)
        self.assertEqual(len(programs), PAGE.count("```python"))
        for program, printed in programs:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(program, {})
            self.assertEqual(out.getvalue().splitlines(), re.findall(r"`(.*?)`", printed))

    def test_exceptions(self):
        rows = re.findall(r"^\| `(\w+Error)` \| (\w+) \| (\d+) \|$", PAGE, re.MULTILINE)
        self.assertEqual(rows, [(kind.__name__, kind.__bases__[1].__name__, str(kind.code)) for kind in lg.Error.__subclasses__()])


if __name__ == "__main__":
    unittest.main()
