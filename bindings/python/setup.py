"""What pyproject.toml cannot say: the version, which is CMakeLists.txt's, and the tag of a wheel that carries the library."""
import os
import re

from setuptools import setup

here = os.path.dirname(os.path.abspath(__file__))


def version():
    for name, pattern in (("PKG-INFO", r"^Version: (.+)$"), ("../../CMakeLists.txt", r"^project\(lunagrad VERSION ([0-9.]+)")):
        path = os.path.join(here, name)
        found = os.path.exists(path) and re.search(pattern, open(path).read(), re.MULTILINE)
        if found:
            return found[1]
    raise SystemExit("setup.py: the version stands in CMakeLists.txt of Lunagrad, which is not here")


try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel


class Wheel(bdist_wheel):
    """py3-none-any, or py3-none-PLATFORM with the library inside."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = not os.path.exists(os.path.join(here, "lunagrad", "liblunagrad.so.0"))

    def get_tag(self):
        return "py3", "none", "any" if self.root_is_pure else super().get_tag()[2]


setup(version=version(), cmdclass={"bdist_wheel": Wheel})
