#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Django's ORM on psycopg2: see mixed.py."""
import os

import django
from django.conf import settings
from django.db import connection, models, transaction
from django.db.models import F

from mixed import Program, same

program = Program()
settings.configure(USE_TZ=False, TIME_ZONE=program.zone, DEFAULT_AUTO_FIELD="django.db.models.AutoField", DATABASES={
    "default": {"ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"],
                "PORT": os.environ["PGPORT"], "USER": os.environ["PGUSER"], "NAME": os.environ["PGDATABASE"],
                "OPTIONS": {"application_name": program.name}}})
django.setup()


class Account(models.Model):
    tenant = models.IntegerField(primary_key=True)
    n = models.IntegerField()

    class Meta:
        app_label, db_table, managed = "mixed", "account", False


class Entry(models.Model):
    tenant = models.IntegerField()
    n = models.IntegerField(primary_key=True)

    class Meta:
        app_label, db_table, managed = "mixed", "entry", False


class Django(Program):
    def ask(self, sql, *values):
        with connection.cursor() as cursor:
            cursor.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []

    def transaction(self):
        return transaction.atomic()

    savepoint = transaction

    def sqlstate(self, e):
        return e.__cause__.pgcode

    def commit(self, n):
        with transaction.atomic():
            Account.objects.filter(tenant=self.tenant).update(n=F("n") + 1)
            Entry(tenant=self.tenant, n=n).save(force_insert=True)
        same("commit", Account.objects.get(tenant=self.tenant).n, n)

    def delete(self):
        Entry.objects.filter(tenant=self.tenant).delete()
        self.count("delete", 0)

    def count(self, what, n):
        same(what, Entry.objects.filter(tenant=self.tenant).count(), n)

    def cursor(self, sql):
        entries = Entry.objects.filter(tenant=self.tenant).order_by("n").values_list("n", flat=True)
        same("iterator", list(entries.iterator(chunk_size=20)), list(range(1, entries.count() + 1)))
        with connection.chunked_cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall()


Django().run()
