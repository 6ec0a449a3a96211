# SPDX-License-Identifier: BSD-2-Clause
import os

import cenote.sqlalchemy
import pytest
import sqlalchemy.dialects.mysql.provision  # noqa: F401
import sqlalchemy.dialects.postgresql.provision  # noqa: F401
import sqlalchemy.dialects.sqlite.provision  # noqa: F401
from sqlalchemy import event
from sqlalchemy.dialects import registry
from sqlalchemy.testing.provision import generate_driver_url, post_configure_engine

registry.register("cenote", "cenote.sqlalchemy", "AnyServer")
for name in ("PostgreSQL", "MySQL", "MariaDB", "SQLite"):
    registry.register(f"{name.lower()}.cenote", "cenote.sqlalchemy", name)
    # an engine of the suite is asynchronous by its URL
    registry.register(f"{name.lower()}.cenote_async", "cenote._sqlalchemy_aio", name)
# The suite asks whether a SQLite database is a file: a pool's is.
cenote.sqlalchemy.SQLite._is_url_file_db = lambda self, url: True


@generate_driver_url.for_db("sqlite")
def same_url(url, driver, query_str):
    """SQLAlchemy's own makes the name of a file of it."""
    return url


@post_configure_engine.for_db("sqlite")
def attach_schema(url, engine, follower_ident):
    """SQLAlchemy's own would look for the file here, and not where the daemon is."""

    @event.listens_for(engine, "connect")
    def attach(connection, record):
        connection.autocommit = True
        connection.execute("attach database %s as test_schema", (os.environ["CENOTE_TEST_SCHEMA_FILE"],))
        connection.autocommit = False


pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402,F401,F403
