"""The wheel and the source archive: built without a network, installed, and imported; and how the library is looked for."""
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

import setuptools  # noqa: F401  without it the tests are skipped

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "..", "..", "bindings", "python")
LIBRARY = os.environ["LUNAGRAD_LIBRARY"]


def python(code, *path, **variables):
    """Runs code with nothing but the folders in its path; (exit code, output)."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1"} | variables
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd="/", capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


class Package(unittest.TestCase):
    def build(self, folder, *flags):
        before = sorted(os.listdir(os.path.join(PACKAGE, "lunagrad")))
        done = subprocess.run([sys.executable, os.path.join(PACKAGE, "package"), LIBRARY, folder, *flags], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(sorted(os.listdir(os.path.join(PACKAGE, "lunagrad"))), before)
        return done.stdout.splitlines()

    def test_wheel_without_the_library(self):
        with tempfile.TemporaryDirectory() as folder:
            source, wheel = self.build(folder)
            self.assertTrue(source.endswith(".tar.gz") and wheel.endswith("-py3-none-any.whl"), wheel)
            place = os.path.join(folder, "installed")
            zipfile.ZipFile(wheel).extractall(place)
            names = os.listdir(os.path.join(place, "lunagrad"))
            self.assertLessEqual({"py.typed", "__init__.pyi", "linalg.pyi", "__init__.py"}, set(names))
            code, text = python("import lunagrad as lg; print((lg.ones(2) + 1).tolist(), lg.__file__)", place, LUNAGRAD_LIBRARY=LIBRARY)
            self.assertEqual((code, text.split(" /")[0]), (0, "[2.0, 2.0]"))
            self.assertIn(place, text)
            code, text = python("import lunagrad", place, LD_LIBRARY_PATH=os.path.dirname(LIBRARY))
            self.assertEqual((code, text), (0, ""))
            # The source archive gives the same wheel.
            subprocess.run(["tar", "-xzf", source, "-C", folder], check=True)
            unpacked = source.removesuffix(".tar.gz")
            build = "import sys; from setuptools import build_meta as b; print(b.build_wheel(sys.argv[1]))"
            again = os.path.join(folder, "again")
            subprocess.run([sys.executable, "-c", build, again], cwd=unpacked, check=True, capture_output=True)
            self.assertEqual(sorted(zipfile.ZipFile(os.path.join(again, os.path.basename(wheel))).namelist()),
                             sorted(zipfile.ZipFile(wheel).namelist()))

    def test_wheel_with_the_library(self):
        with tempfile.TemporaryDirectory() as folder:
            _, wheel = self.build(folder, "--bundle")
            self.assertIn("-py3-none-linux_", wheel)
            place = os.path.join(folder, "installed")
            zipfile.ZipFile(wheel).extractall(place)
            self.assertTrue(os.path.exists(os.path.join(place, "lunagrad", "lua", "lunagrad", "nn", "init.lua")))
            program = """
import lunagrad as lg
print((lg.ones(2) + 1).tolist())
result = lg.run(text="local lg = require 'lunagrad' lg.host.path = debug.getinfo(lg.nn.Module.parameters).source", values=["path"])
print(result.values["path"])
"""
            code, text = python(program, place, LUNAGRAD_LIBRARY="/is/not/asked")
            self.assertEqual((code, text.splitlines()[0]), (0, "[2.0, 2.0]"), text)
            self.assertTrue(text.splitlines()[1].startswith("@" + os.path.join(place, "lunagrad", "lua")), text)

    def test_no_library(self):
        code, text = python("import lunagrad", PACKAGE, LUNAGRAD_LIBRARY="/there/is/none.so", LD_LIBRARY_PATH="")
        self.assertEqual(code, 1)
        for part in ("ImportError: liblunagrad.so.0 is not found", "/there/is/none.so (LUNAGRAD_LIBRARY)", "the system's loader",
                     "lunagrad/liblunagrad.so.0: there is no such file"):
            self.assertIn(part, text)
        code, text = python("import lunagrad", PACKAGE, LD_LIBRARY_PATH="")
        self.assertIn("LUNAGRAD_LIBRARY: not set", text)


if __name__ == "__main__":
    unittest.main()
