/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fresh equivalence on SQL Server or Babelfish, on the server that CENOTE_TEST_TDS names: the
 * probe's questions and the random statements.
 */
#include "fresh.h"

/* Each statement is a batch of its own: CREATE PROCEDURE and some others must come first in their
 * batch. */
static const char setup[] =
	"drop table if exists fr_t\ngo\n"
	"drop table if exists fr_i\ngo\n"
	"drop table if exists fr_secret\ngo\n"
	"drop procedure if exists fr_objects\ngo\n"
	"drop procedure if exists fr_settings\ngo\n"
	"drop procedure if exists fr_out\ngo\n"
	"create table fr_t (a int, b nvarchar(40))\ngo\n"
	"insert into fr_t values (1, N'one'), (2, N'two'), (3, N'three'), (4, null)\ngo\n"
	"create table fr_i (a int identity, b int)\ngo\n"
	"create table fr_secret (t nvarchar(40))\ngo\n"
	"insert into fr_secret values (N'clear text')\ngo\n"
	"create procedure fr_objects as begin create table #t (a int) insert into #t "
	"values (1) insert into fr_i (b) values (7) begin transaction end\ngo\n"
	"create procedure fr_settings as begin set datefirst 5 set context_info 0x77 set "
	"implicit_transactions on set lock_timeout 9 end\ngo\n"
	"create procedure fr_out @a int output as begin set @a = 7 select 1 as x select "
	"2 as y end";

static const struct fr_pool pools[] = {
	{ "app", "app", 0 },
};

static const struct fr_probe probes[] = {
	/* The order matters: each statement changes what some of the others tell. */
	{ "last", "select @@rowcount, @@error, @@trancount, xact_state()" },
	{ "identity", "select @@identity, scope_identity()" },
	{ "settings", "select @@datefirst, @@language, @@textsize, @@lock_timeout, "
		      "@@options, @@nestlevel, @@dbts" },
	{ "who", "select db_name(), user_name(), suser_name(), original_login()" },
	{ "context", "select context_info(), session_context(N'k'), "
		     "session_context(N'key'), app_name()" },
	{ "session", "select transaction_isolation_level, date_format, date_first, "
		     "quoted_identifier, arithabort, ansi_null_dflt_on, ansi_defaults, "
		     "ansi_warnings, ansi_padding, ansi_nulls, concat_null_yields_null, "
		     "lock_timeout, deadlock_priority, row_count, prev_error from "
		     "sys.dm_exec_sessions where session_id = @@spid" },
	/* Babelfish only. */
	{ "setting", "select name, setting from pg_settings order by name" },
	{ "prepared", "select name from pg_prepared_statements" },
	{ "cursors", "select name from pg_cursors where name not like '<unnamed%' and "
		     "statement not like '%pg_cursors%'" },
	{ "locks", "select count(*) from pg_locks where pid = @@spid and locktype = "
		   "'advisory'" },
	{ "temporary", "select object_id('tempdb..#t'), object_id('tempdb..#u'), "
		       "object_id('tempdb..#enabled_keys')" },
	{ "temporary 2", "select * from #t" },
	{ "temporary 3", "select * from #u" },
	{ "cursor", "select cursor_status('global', 'c1'), @@cursor_rows, "
		    "@@fetch_status" },
	{ "cursor 2", "fetch next from c1" },
	{ "applock", "select applock_mode('public', 'l', 'Session')" },
	{ "limit", "select count(*) from (select a from fr_t) as t" },
	{ "rows", "select a from fr_t where a between 1 and 4 order by a" },
	{ "quotes", "select \"a\" from fr_t where a = 1" },
	{ "null", "select count(*) from fr_t where b = null" },
	{ "left behind", "select count(*) from fr_t where a = -1" },
	{ "division", "select 1 / 0" },
	{ "begin", "begin transaction" },
	{ "inside", "select @@trancount" },
	{ "rollback", "rollback" },
	{ NULL, NULL, NULL },
};

static const char *const statements[] = {
	"set {datefirst 3|language german|textsize 5|rowcount 1|nocount on|lock_timeout "
	"7|dateformat dmy|deadlock_priority low|context_info 0x1234}",
	"set {implicit_transactions|xact_abort|ansi_nulls|quoted_identifier|ansi_padding"
	"|ansi_warnings|arithabort|concat_null_yields_null|ansi_null_dflt_on|fmtonly"
	"|showplan_all|parseonly|noexec} {on|off}",
	"set transaction isolation level {read uncommitted|read committed|repeatable read"
	"|snapshot|serializable}",
	"set identity_insert fr_i on",
	"exec sp_set_session_context N'k', N'secret'{|, 1}",
	"exec sp_getapplock 'l', 'Exclusive', 'Session'",
	"use {master|tempdb}",
	"{begin transaction|begin transaction begin transaction|begin tran t1}",
	"{commit|rollback|save transaction s1|rollback transaction s1}",
	"create table {#t|#u} (a int{| identity}, b varchar(9))",
	"select a into {#t|#u} from fr_t",
	"insert into {#t (b)|fr_i (b)|fr_i (b)} values ({1|2})",
	"insert into fr_i default values",
	"update fr_t set b = b where a = {1|2|3}",
	"delete from fr_t where a = -1",
	"declare c1 cursor for select a from fr_t open c1{| fetch next from c1}",
	"exec {sp_who|fr_objects|fr_settings|fr_out 1|sp_executesql N'set datefirst 4'}",
	"fr_{objects|settings}",
	"exec('set datefirst 4 create table #t (a int)')",
	"{prepare x as select 1|select set_config('datestyle', 'german', false)|select "
	"pg_advisory_lock(7)}",
	"declare @x int = 5 select @x",
	"declare @t table (a int identity, b int) insert into @t (b) values (1)",
	"if 1 = 1 select 5 else print 'x'",
	"with q as (select a from fr_t) select max(a) from q",
	"select a, b from fr_t{| where a < 3| order by a| with (nolock)}",
	"select 'insert', [a] from fr_t",
	"select {@@identity|@@spid|newid()|rand(5)|replicate('x', 9000)|cast('x' as int)"
	"|nothing|1 / 0}",
	"select * from no_such_table",
	"raiserror('secret', {10|16}, 1)",
	"{throw 50001, 'secret', 1|print 'secret'}",
	"syntax error here",
	"begin try select 1 / 0 end try begin catch select error_number() end catch",
	"waitfor delay '00:00:00.02'",
	"{create view fr_v as select {1|rand(5)} as a|select a from fr_v|drop view fr_v"
	"|truncate table fr_i}",
	"while 1 = 1 break",
	"",
	"-- nothing",
};

static const char *const copies[] = {
	"copy fr_t {|(b) |(a, b) }from stdin",
	"copy fr_i from stdin",
	NULL,
};

/* The backend replaces a session that read a table or called a function by a new login. */
static int
forgive(char *line)
{
	(void)line;
	return 1;
}

static const struct fr_leftover leftovers[] = {
	{ NULL, 0, NULL, NULL, NULL, NULL },
};

static const char *const enable_key[] = { "select N'pw' as p into #enabled_keys",
	"exec sp_set_session_context N'key', N'pw'",
	"select t from fr_secret where exists (select * from #enabled_keys where p = "
	"session_context(N'key'))",
	NULL };

static const char *const look_for_key[] = { "select p from #enabled_keys",
	"select session_context(N'key')",
	"select t from fr_secret where session_context(N'key') is not null", NULL };

const struct fr_backend fr_tds = {
	.name = "SQL Server",
	.is_elsewhere = 1,
	.setup = setup,
	.pools = pools,
	.n_pools = sizeof(pools) / sizeof(pools[0]),
	.probes = probes,
	.statements = statements,
	.n_statements = sizeof(statements) / sizeof(statements[0]),
	.copies = copies,
	.slow = "waitfor delay '00:00:00.0{2|5|9}'",
	.forgive = forgive,
	.leftovers = leftovers,
	.enable_key = enable_key,
	.look_for_key = look_for_key,
};
