/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SQL for facts that the pool's catalog does not have. describe.c and cmd_describe.c call it. It
 * has no state.
 */
#include "server_sql.h"

#include <stddef.h>
#include <string.h>

static const struct server_sql backends[] = {
	{ "postgresql",
		"SELECT k.conname, pg_catalog.pg_get_constraintdef(k.oid)"
		" FROM pg_catalog.pg_constraint k"
		" JOIN pg_catalog.pg_class c ON c.oid = k.conrelid"
		" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
		" WHERE k.contype = 'c' AND n.nspname = $1 AND c.relname = $2"
		" ORDER BY k.conname",
		"SELECT r.rolname AS \"Role\", pg_catalog.concat_ws(', ',"
		" CASE WHEN r.rolsuper THEN 'superuser' END,"
		" CASE WHEN r.rolcreaterole THEN 'create role' END,"
		" CASE WHEN r.rolcreatedb THEN 'create database' END,"
		" CASE WHEN r.rolreplication THEN 'replication' END,"
		" CASE WHEN NOT r.rolcanlogin THEN 'no login' END) AS \"Attributes\","
		" (SELECT pg_catalog.string_agg(g.rolname, ', ' ORDER BY g.rolname)"
		" FROM pg_catalog.pg_auth_members m"
		" JOIN pg_catalog.pg_roles g ON g.oid = m.roleid"
		" WHERE m.member = r.oid) AS \"Member of\" FROM pg_catalog.pg_roles r"
		" WHERE pg_catalog.left(r.rolname, 3) <> 'pg_' AND r.rolname LIKE $1"
		" ORDER BY r.rolname" },
	/* Only MariaDB has the name of the table in check_constraints, hence the natural join. */
	{ "mysql",
		"SELECT constraint_name, CONCAT('CHECK (', check_clause, ')')"
		" FROM information_schema.table_constraints"
		" NATURAL JOIN information_schema.check_constraints"
		" WHERE constraint_type = 'CHECK' AND table_schema = ?"
		" AND table_name = ? ORDER BY constraint_name",
		"SELECT user AS `User`, host AS `Host` FROM mysql.user WHERE user LIKE ?"
		" ORDER BY user, host" },
	{ 0 },
};

const struct server_sql *
server_sql_of(const char *backend)
{
	const struct server_sql *s = backends;

	while (s->backend && (!backend || strcmp(s->backend, backend) != 0))
		s++;
	return s;
}
