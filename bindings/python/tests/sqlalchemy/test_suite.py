# SPDX-License-Identifier: BSD-2-Clause
from sqlalchemy.testing.suite import *  # noqa: F401,F403
from sqlalchemy.testing.suite import ServerSideCursorsTest as _ServerSideCursorsTest


class ServerSideCursorsTest(_ServerSideCursorsTest):
    def _is_server_side(self, cursor):
        """SQLAlchemy's own asks the drivers that it knows by name."""
        return getattr(cursor, "_cursor", cursor)._batch_rows > 0
