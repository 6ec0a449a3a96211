# SPDX-License-Identifier: BSD-2-Clause
"""Statements that do not end by themselves, and one with many rows, for each backend."""

ENDLESS = {
    "sqlite": "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n",
    "postgresql": "select pg_sleep(600)",
    "mysql": "select sleep(600)",
}

# Placeholder: the number of rows, at most 1,000.
SERIES = "with recursive n(i) as (select 1 union all select i + 1 from n where i < {}) select i from n"
