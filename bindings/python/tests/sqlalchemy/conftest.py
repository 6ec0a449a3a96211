# SPDX-License-Identifier: BSD-2-Clause
import pytest
import sqlalchemy.dialects.mysql.provision  # noqa: F401
import sqlalchemy.dialects.postgresql.provision  # noqa: F401
from sqlalchemy.dialects import registry

registry.register("postgresql.cenote", "cenote.sqlalchemy", "PostgreSQL")
registry.register("mysql.cenote", "cenote.sqlalchemy", "MySQL")
registry.register("mariadb.cenote", "cenote.sqlalchemy", "MariaDB")
pytest.register_assert_rewrite("sqlalchemy.testing.assertions")

from sqlalchemy.testing.plugin.pytestplugin import *  # noqa: E402,F401,F403
