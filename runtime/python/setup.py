"""What pyproject.toml cannot say of the wheel: it holds machine code, for every CPython from 3.11 on, and a command."""
from setuptools import setup
from setuptools.dist import Distribution


class Compiled(Distribution):
    """A distribution whose extension modules CMake has built."""

    def has_ext_modules(self):
        return True


setup(distclass=Compiled, scripts=["etcc"], options={"bdist_wheel": {"py_limited_api": "cp311"}})
