# SPDX-License-Identifier: BSD-2-Clause
"""Run the suite in this directory on a pool; see tests/suites/python_sqlalchemy."""

import os
import subprocess
import sys

import cenote
import pytest

os.chdir(os.path.dirname(os.path.abspath(__file__)))
backend = os.environ["CENOTE_TEST_BACKEND"]
if backend == "mysql":
    # what the pool's user may not do
    server = dict(word.split("=", 1) for word in os.environ["CENOTE_TEST_SERVER"].split())
    sql = "create database test_schema; create database test_schema_2; grant all on *.* to app@localhost"
    command = ["mariadb", "--no-defaults", f"--socket={server['socket']}", "--user=root", "-e", sql]
    subprocess.run(command, check=True)
elif backend == "postgresql":
    with cenote.connect(os.environ["CENOTE_TEST_URI"], autocommit=True) as connection:
        connection.execute("create schema test_schema; create schema test_schema_2")
pool = os.environ["CENOTE_TEST_URI"].partition("///")[2]
driver = os.environ.get("CENOTE_TEST_DRIVER", "cenote")
sys.exit(pytest.main(["-v", "--dburi", f"{backend}+{driver}:///{pool}", "test_suite.py", *sys.argv[1:]]))
