# SPDX-License-Identifier: BSD-2-Clause
"""What programs with SQLAlchemy and pandas do, on the installed package: python -m unittest -v test_programs"""

import asyncio
import datetime
import decimal
import os
import unittest

import cenote.aio
import numpy
import pandas
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import create_async_engine

URI = os.environ["CENOTE_TEST_URI"]
BACKEND = os.environ["CENOTE_TEST_BACKEND"]


class Programs(unittest.TestCase):
    def setUp(self):
        self.engine = sa.create_engine(URI)
        self.addCleanup(self.engine.dispose)
        self.metadata = sa.MetaData()
        self.fish = sa.Table(
            "fish",
            self.metadata,
            sa.Column("id", sa.Integer, primary_key=True),
            sa.Column("name", sa.String(20), nullable=False, unique=True),
            sa.Column("length", sa.Numeric(5, 2)),
            sa.Column("seen", sa.DateTime),
            sa.Column("is_blind", sa.Boolean),
            sa.Column("facts", sa.JSON),
        )
        self.metadata.drop_all(self.engine)
        self.metadata.create_all(self.engine)
        self.addCleanup(self.metadata.drop_all, self.engine)
        self.carp = ("carp", decimal.Decimal("61.50"), datetime.datetime(2026, 11, 24, 1, 2, 3), False, {"a": [1]})
        self.row = dict(zip(("name", "length", "seen", "is_blind", "facts"), self.carp))

    def test_tables_are_reflected(self):
        inspector = sa.inspect(self.engine)
        self.assertIn("fish", inspector.get_table_names())
        self.assertEqual(inspector.get_pk_constraint("fish")["constrained_columns"], ["id"])
        table = sa.Table("fish", sa.MetaData(), autoload_with=self.engine)
        self.assertEqual(table.columns.keys(), self.fish.columns.keys())
        with self.engine.begin() as connection:
            connection.execute(table.insert(), [{**self.row, "is_blind": 0}])
            self.assertEqual(connection.execute(sa.select(self.fish).offset(0)).one()[1:], self.carp)

    def test_values_of_expressions(self):
        with self.engine.begin() as connection:
            connection.execute(self.fish.insert(), [self.row])
            latest = sa.func.max(self.fish.c.seen, type_=sa.DateTime)
            double = sa.type_coerce(sa.func.sum(self.fish.c.length) * 2, sa.Numeric(6, 2))
            seen = connection.execute(sa.select(latest, double)).one()
            self.assertEqual(seen, (self.carp[2], decimal.Decimal(123)))

    def test_a_percent_sign_is_just_that(self):
        with self.engine.begin() as connection:
            connection.execute(self.fish.insert(), [{"name": "100%"}, {"name": "a?b"}])
            for name in ("100%", "a?b"):
                found = sa.select(self.fish.c.name).where(self.fish.c.name.like(sa.literal_column(f"'{name}'")))
                self.assertEqual(connection.execute(found).scalar(), name)

    def test_rows_stay_at_the_server(self):
        with self.engine.begin() as connection:
            connection.execute(self.fish.insert(), [{"name": f"carp {i}"} for i in range(2500)])
            rows = connection.execution_options(stream_results=True).execute(sa.select(self.fish))
            self.assertEqual(rows.cursor._batch_rows, 1000)
            self.assertEqual(len(rows.fetchall()), 2500)

    def test_pandas_writes_and_reads_tables(self):
        frame = pandas.DataFrame(
            {
                "n": [1, 2],
                "x": [0.5, None],
                "when": [pandas.Timestamp("2026-11-24 01:02:03"), pandas.NaT],
                "name": ["carp", "100%"],
            }
        )
        self.addCleanup(self.drop, "frame")
        for _ in range(2):
            frame.to_sql("frame", self.engine, index=False, if_exists="replace")
        frame.to_sql("frame", self.engine, index=False, if_exists="append", method="multi")
        seen = pandas.read_sql_table("frame", self.engine)
        pandas.testing.assert_frame_equal(seen[:2], frame, check_dtype=False)
        self.assertEqual(len(seen), 4)
        names = pandas.read_sql("select name from frame where x > 0", self.engine)
        self.assertEqual(names["name"].tolist(), ["carp", "carp"])

    def drop(self, name):
        with self.engine.begin() as connection:
            connection.exec_driver_sql(f"drop table {name}")

    def test_numpy_s_scalars_are_parameters(self):
        with self.engine.begin() as connection:
            connection.execute(self.fish.insert(), [{"id": numpy.int64(7), "name": numpy.str_("carp")}])
            found = sa.select(self.fish.c.id).where(self.fish.c.id == numpy.int32(7))
            self.assertEqual(connection.execute(found).scalar(), 7)

    @unittest.skipUnless(BACKEND == "postgresql", "ranges of PostgreSQL")
    def test_ranges(self):
        moment = datetime.datetime(2026, 11, 24, tzinfo=datetime.timezone.utc)
        values = {
            "n": postgresql.Range(decimal.Decimal("1.5"), None, bounds="(]"),
            "t": postgresql.Range(moment, moment + datetime.timedelta(hours=1)),
            "i": postgresql.Range(empty=True),
            "m": [postgresql.Range(1, 5), postgresql.Range(7, 9)],
        }
        table = sa.Table(
            "ranges",
            sa.MetaData(),
            sa.Column("n", postgresql.NUMRANGE),
            sa.Column("t", postgresql.TSTZRANGE),
            sa.Column("i", postgresql.INT4RANGE),
            sa.Column("m", postgresql.INT4MULTIRANGE),
            prefixes=["temporary"],
        )
        with self.engine.begin() as connection:
            table.create(connection)
            connection.execute(table.insert(), [values])
            found = sa.select(table).where(table.c.t.contains(moment))
            self.assertEqual(connection.execute(found).one()._asdict(), values)

    def test_an_asynchronous_engine(self):
        asyncio.run(self.use_asynchronous_engine())

    async def use_asynchronous_engine(self):
        engine = create_async_engine(URI)
        async with engine.begin() as connection:
            await connection.execute(self.fish.insert(), [{"name": f"carp {i}"} for i in range(2500)])
        async with engine.connect() as connection:
            raw = await connection.get_raw_connection()
            self.assertIsInstance(raw.driver_connection, cenote.aio.Connection)
            names = [name async for (name,) in await connection.stream(sa.select(self.fish.c.name))]
            self.assertEqual(len(names), 2500)
            self.assertIn("fish", await connection.run_sync(lambda sync: sa.inspect(sync).get_table_names()))
        await asyncio.gather(*(self.count(engine) for _ in range(4)))
        await engine.dispose()

    async def count(self, engine):
        async with engine.connect() as connection:
            n = (await connection.execute(sa.select(sa.func.count()).select_from(self.fish))).scalar()
            self.assertEqual(n, 2500)


if __name__ == "__main__":
    unittest.main()
