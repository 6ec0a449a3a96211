# SPDX-License-Identifier: BSD-2-Clause
from sqlalchemy.testing.suite import *  # noqa: F401,F403
