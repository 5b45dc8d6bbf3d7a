#!/usr/bin/env python3
"""Runs tests of the Python package with a library. The exit code is 77 where a module that a test needs is missing.

tests/python/run.py LIBRARY TEST ...     TEST: tensor for test_tensor.py
"""
import importlib
import os
import sys
import unittest

here = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
os.environ["LUNAGRAD_LIBRARY"] = os.path.abspath(sys.argv[1])
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
os.environ["PYTHONPATH"] = os.path.join(here, "..", "..", "bindings", "python")
sys.path[:0] = [here, os.environ["PYTHONPATH"]]
suite = unittest.TestSuite()
for name in sys.argv[2:]:
    try:
        module = importlib.import_module("test_" + name)
    except ModuleNotFoundError as error:
        if error.name not in ("numpy", "torch", "setuptools"):
            raise
        print(f"skipped: there is no {error.name}")
        sys.exit(77)
    suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(module))
done = unittest.TextTestRunner(verbosity=1).run(suite)
sys.exit(0 if done.wasSuccessful() and done.testsRun else 1)
