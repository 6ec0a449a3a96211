#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What Meson installs is a package that Python, pip and SQLAlchemy find: test_install.py BUILD"""

import glob
import importlib.util
import json
import os
import shutil
import site
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop())
HERE = os.path.dirname(os.path.abspath(__file__))

FOUND = """
import importlib.metadata, importlib.util
import cenote
about = importlib.metadata.metadata("cenote")
assert about["Version"] == cenote.__version__, about["Version"]
assert about["License"] == "BSD-2-Clause" and about["Author"], about
points = [p for p in importlib.metadata.distribution("cenote").entry_points if p.group == "sqlalchemy.dialects"]
assert {"cenote", "cenote.sqlite", "postgresql.cenote"} <= {p.name for p in points}, points
for point in points:
    module = importlib.util.find_spec(point.value.partition(":")[0])
    assert module.origin.startswith(cenote.__path__[0]), module
"""


def prefix():
    with open(BUILD + "/meson-info/intro-buildoptions.json", encoding="utf-8") as f:
        return next(option["value"] for option in json.load(f) if option["name"] == "prefix")


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not shutil.which("meson"):
            raise unittest.SkipTest("meson is not on PATH")
        cls.root = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.root)
        command = ["meson", "install", "-C", BUILD, "--no-rebuild", "--tags", "python-runtime", "--destdir", cls.root]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (cls.dist_info,) = glob.glob(cls.root + "/**/cenote-*.dist-info", recursive=True)
        cls.path = os.path.dirname(cls.dist_info)

    def python(self, code, **env):
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": self.path, "PYTHONDONTWRITEBYTECODE": "1", **env}
        return subprocess.run(
            [sys.executable, "-c", code], env=env, check=False, stderr=subprocess.PIPE, text=True, cwd=self.root
        )

    def test_it_is_where_python_looks(self):
        if prefix() not in ("/usr", "/usr/local"):
            self.skipTest("another prefix")
        self.assertIn(self.path[len(self.root) :], site.getsitepackages())

    def test_pip_and_sqlalchemy_find_it(self):
        done = self.python(FOUND, LD_LIBRARY_PATH=BUILD + "/lib")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_missing_library_is_named(self):
        if self.python("import ctypes; ctypes.CDLL('libcenote.so.0')").returncode == 0:
            self.skipTest("a libcenote is installed")
        done = self.python("import cenote")
        self.assertIn("ImportError: The C library libcenote is missing", done.stderr)

    def test_the_licence_is_cenote_s(self):
        with open(HERE + "/../LICENSE", encoding="utf-8") as ours, open(
            HERE + "/../../../LICENSE", encoding="utf-8"
        ) as cenote_s, open(self.dist_info + "/LICENSE", encoding="utf-8") as installed:
            text = ours.read()
            self.assertEqual(text, cenote_s.read())
            self.assertEqual(text, installed.read())

    @unittest.skipUnless(importlib.util.find_spec("setuptools"), "setuptools is not installed")
    def test_setup_names_the_library_that_it_misses(self):
        for env, why in (
            ({"PKG_CONFIG": "/nowhere/pkg-config"}, "/nowhere/pkg-config is not installed"),
            ({"PKG_CONFIG": "false"}, "libcenote is not found"),
        ):
            with self.subTest(why=why):
                code = f"import runpy, os; os.chdir({HERE + '/..'!r}); runpy.run_path('setup.py')"
                self.assertIn(why, self.python(code, **env).stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
