"""What pyproject.toml cannot say: the version, which is runtime/core/version.h's, and the tag of a wheel that carries the library."""
import os
import re

from setuptools import Distribution, setup

here = os.path.dirname(os.path.abspath(__file__))


def version():
    """From the source archive, else from the clone."""
    for name, pattern in (("PKG-INFO", r"^Version: (.+)$"), ("../../runtime/core/version.h", r"^#define LUNAGRAD_VERSION_[A-Z]+ (\d+)$")):
        path = os.path.join(here, name)
        found = os.path.exists(path) and re.findall(pattern, open(path).read(), re.MULTILINE)
        if found:
            return ".".join(found)
    raise SystemExit("setup.py: the version stands in runtime/core/version.h of Lunagrad, which is not here")


try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    from wheel.bdist_wheel import bdist_wheel


class Package(Distribution):
    """For one platform if the library is inside."""

    def has_ext_modules(self):
        return os.path.exists(os.path.join(here, "lunagrad", "liblunagrad.so.0"))


class Wheel(bdist_wheel):
    """py3-none-any, or py3-none-PLATFORM: no version of Python matters."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(version=version(), distclass=Package, cmdclass={"bdist_wheel": Wheel})
