"""Every operation of the library: a signature and a stub for each, and calls of each with plausible and with wrong arguments."""
import ast
import importlib.util
import inspect
import os
import subprocess
import sys
import tempfile
import unittest

import lunagrad as lg
from lunagrad import _calls, _functions, _library as lib, _records

HERE = os.path.dirname(os.path.abspath(__file__))
STUBS = os.path.join(HERE, "..", "..", "bindings", "python", "stubs.py")


def find(name):
    """The public function of an operation."""
    found = lg
    for part in name.split("."):
        found = getattr(found, part)
    return found


class Signatures(unittest.TestCase):
    def test_every_operation_is_a_function(self):
        self.assertGreater(len(_records.by_name), 300)
        for name, record in _records.by_name.items():
            with self.subTest(name):
                function = find(name)
                self.assertTrue(function.__doc__.startswith(record.sentence))
                parameters = inspect.signature(function).parameters
                for slot in record.slots:
                    parameter = parameters[_calls.python_name(slot.name)]
                    self.assertEqual(parameter.default is inspect.Parameter.empty or not slot.required or
                                     parameter.default is None, True)
                    if not slot.required:
                        self.assertEqual(parameter.default, slot.default)
                order = [_calls.python_name(slot.name) for slot in record.slots]
                self.assertEqual([n for n in parameters if n in order], order)
                self.assertEqual("device" in parameters, record.creates)

    def test_every_operation_on_a_tensor_is_a_method(self):
        count = 0
        for name, record in _records.by_name.items():
            if not record.has_method:
                continue
            with self.subTest(name):
                count += 1
                method = getattr(lg.Tensor, _calls.python_name(name))
                if name in ("real", "imag"):
                    self.assertIsInstance(method, property)
                    continue
                first = next(iter(inspect.signature(method).parameters))
                if _functions.methods.get(_calls.python_name(name)):
                    self.assertEqual(first, min((s for s in record.slots if s.is_input), key=lambda s: s.index).name)
        self.assertGreater(count, 300)

    def test_second_names(self):
        self.assertIs(lg.concat, lg.cat)
        self.assertIn("multiply", dir(lg))
        self.assertIn("solve", dir(lg.linalg))
        for module in (lg, lg.linalg):
            with self.assertRaises(AttributeError):
                module.there_is_no_such_name


class Calls(unittest.TestCase):
    """The wrong calls show that no operation crashes; the right ones that its record becomes a call that works."""

    def value_of(self, slot):
        if slot.is_list:
            return [lg.ones(2, 2), lg.ones(2, 2)]
        if slot.is_input:
            integers = slot.name in ("index", "indices", "target", "mask")
            return lg.zeros(2, 2, dtype="i64") if integers else lg.eye(2)
        if slot.choices and slot.kind in (lib.CHOICE, lib.TEXT):
            return slot.choices[0]
        return {lib.BOOLEAN: True, lib.INTEGER: 1, lib.REAL: 0.5, lib.NUMBERS: 1, lib.INTEGERS: (1,), lib.DTYPE: "f32",
                lib.TEXT: "ij,jk->ik"}[slot.kind]

    def test_each(self):
        worked = 0
        for name, record in _records.by_name.items():
            with self.subTest(name):
                given = {_calls.python_name(slot.name): self.value_of(slot) for slot in record.slots if slot.required}
                try:
                    found = find(name)(**given)
                except lg.Error as error:
                    self.assertNotIsInstance(error, (lg.InvalidHandleError, lg.BadStructError, lg.InternalError, lg.NotFoundError))
                    continue
                worked += 1
                for x in found if isinstance(found, tuple) else (found,):
                    self.assertIsInstance(repr(x), str)
        self.assertGreater(worked, 0.6 * len(_records.by_name))

    def test_each_with_all_parameters(self):
        for name, record in _records.by_name.items():
            with self.subTest(name):
                given = {_calls.python_name(slot.name): self.value_of(slot) for slot in record.slots}
                try:
                    find(name)(**given)
                except lg.Error as error:
                    self.assertNotIsInstance(error, (lg.InvalidHandleError, lg.BadStructError, lg.InternalError, lg.NotFoundError))

    def test_each_with_wrong_arguments(self):
        for name, record in _records.by_name.items():
            for wrong in (object(), "text", -1 << 63, 1 << 64, [], None):
                with self.subTest(name, wrong=wrong):
                    given = {_calls.python_name(slot.name): wrong for slot in record.slots if slot.required}
                    if given and not (record.creates and wrong is None):
                        try:
                            find(name)(**given)
                        except (lg.Error, TypeError, OverflowError, ValueError):
                            pass

    def test_operations_with_several_results_have_stubs_that_say_so(self):
        stubs = load_stubs()
        for name, record in _records.by_name.items():
            given = {_calls.python_name(slot.name): self.value_of(slot) for slot in record.slots if slot.required}
            try:
                found = find(name)(**given)
            except lg.Error:
                continue
            if isinstance(found, tuple):
                self.assertIn(record.name, stubs.SEVERAL)


def load_stubs():
    spec = importlib.util.spec_from_file_location("stubs", STUBS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Stubs(unittest.TestCase):
    def test_every_operation_has_a_stub_with_its_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, STUBS, folder], check=True)
            self.assertEqual(sorted(os.listdir(folder)), ["__init__.pyi"] + sorted(t + ".pyi" for t in _functions.tables()))
            trees = {name: ast.parse(open(os.path.join(folder, name)).read()) for name in os.listdir(folder)}
        functions = {(file, node.name): node for file, tree in trees.items() for node in tree.body if isinstance(node, ast.FunctionDef)}
        tensor = next(node for node in trees["__init__.pyi"].body if isinstance(node, ast.ClassDef) and node.name == "Tensor")
        methods = {node.name: node for node in tensor.body if isinstance(node, ast.FunctionDef)}
        for name, record in _records.by_name.items():
            with self.subTest(name):
                table, _, short = name.rpartition(".")
                node = functions[(table or "__init__") + ".pyi", _calls.python_name(short)]
                self.check(node, inspect.signature(find(name)))
                if record.has_method:
                    self.assertIn(_calls.python_name(name), methods)
        for name, node in methods.items():
            value = inspect.getattr_static(lg.Tensor, name)
            self.assertFalse(value is None)
            if not isinstance(value, property) and _functions.methods.get(name, (0, 1))[1] is None:
                self.check(node, inspect.signature(getattr(lg.Tensor, name)))

    def check(self, node, signature):
        expected = [("self" if node.args.args and node.args.args[0].arg == "self" and place == 0 else name)
                    for place, name in enumerate(signature.parameters)]
        found = [a.arg for a in node.args.posonlyargs + node.args.args]
        found += [node.args.vararg.arg] if node.args.vararg else []
        self.assertEqual(found + [a.arg for a in node.args.kwonlyargs], expected)


if __name__ == "__main__":
    unittest.main()
