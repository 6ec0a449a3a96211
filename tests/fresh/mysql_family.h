/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef FRESH_MYSQL_FAMILY_H
#define FRESH_MYSQL_FAMILY_H

#include "fresh.h"

/*
 * What fresh equivalence asks and does on both MariaDB and MySQL. mariadb.c and mysql.c put it into their lists, and add what only
 * their server knows.
 */

/* ---- setup ---- */

/* Between these two parts, each server makes its own table fr_hidden (a int, b int) and the procedures fr_settings, fr_within and
 * fr_take. */
#define MY_SETUP                                                                         \
	"create role fr_role;\n"                                                         \
	"grant fr_role to app@localhost;\n"                                              \
	"create table fr_t (id int auto_increment primary key, a varchar(200), b "       \
	"int);\n"                                                                        \
	"create table fr_myisam (a int) engine = myisam;\n"                              \
	"create view fr_v as select get_lock('fr_inside', 0) as l;\n"

/* Objects with effects that the text of a client's statement does not show. */
#define MY_SETUP_END                                                                     \
	"create view fr_w as select fr_within() as w;\n"                                 \
	"create trigger fr_hides before insert on fr_hidden for each row set @inside = " \
	"'secret', @b = get_lock('fr_l1', 0);\n"                                         \
	"delimiter //\n"                                                                 \
	"create procedure fr_objects() begin set @inside = 'secret';\n"                  \
	"create temporary table if not exists fr_inside (a text);\n"                     \
	"insert into fr_inside values ('secret'); prepare fr_in from 'select 5';\n"      \
	"do get_lock('fr_inside', 0); end//\n"                                           \
	"create function fr_function() returns int begin set @inside = 'secret';\n"      \
	"insert into fr_t (a) values ('function'); return last_insert_id(); "            \
	"end//\n" MY_NAMESAKE("count") MY_NAMESAKE("trim") MY_NAMESAKE(                  \
		"point") "create procedure fr_out(out o int, inout io int) begin set o " \
			 "= 7, io = io + 1;\n"                                           \
			 "select 1; select 2; end//\n"                                   \
			 "create procedure enable_key(name text, password text) begin\n" \
			 "create temporary table enabled_keys as select name as k, "     \
			 "password as p;\n"                                              \
			 "set @enabled_key = password; prepare fr_decrypt from 'select " \
			 "t from fr_secret';\n"                                          \
			 "do get_lock('fr_key', 0); end//\n"                             \
			 "create function decrypt_secret() returns text begin\n"         \
			 "if @enabled_key is null then signal sqlstate '45000' set "     \
			 "message_text = 'no key';\n"                                    \
			 "end if; return (select t from fr_secret); end//\n"             \
			 "delimiter ;\n"                                                 \
			 "create table fr_secret (t text); insert into fr_secret "       \
			 "values ('clear text');\n"                                      \
			 "grant all on app.* to fr_role;\n"

/* A function with the name of a built-in function. A statement may call either. */
#define MY_NAMESAKE(name)                                                                \
	"create function `" name                                                         \
	"`(a int) returns int begin call fr_take(); return 1; end//\n"

static const struct fr_pool my_pools[] = {
	{ "app", "app", 0 },
	{ "super", "root", 1 },
};

/* ---- the probe ---- */

/* The order matters: each statement changes what some of the others tell. Do not ask found_rows(): before the first SELECT of a login,
 * it has the value of another login that the server's thread served before. */
#define MY_PROBES_BEGIN                                                                  \
	{ "last", "select row_count(), @@warning_count, @@error_count" },                \
		{ "warnings", "show warnings" },                                         \
	{                                                                                \
		"insert id", "select last_insert_id(), @@last_insert_id, @@identity, "   \
			     "@@insert_id"                                               \
	}

/* Ask only for locks of this session: a session that ended in the middle of a statement holds its locks for a moment. */
#define MY_PROBE_SESSION                                                                 \
	{                                                                                \
		"session", "select database(), current_user(), substring_index(user(), " \
			   "'@', 1),"                                                    \
			   " current_role(), session_user() = user(),"                   \
			   " abs(timestampdiff(second, now(), sysdate())) < 3,"          \
			   " @@timestamp > 1700000000, @@rand_seed1 in (5, 6),"          \
			   " @@pseudo_thread_id = connection_id(),"                      \
			   " is_used_lock('fr_l1') <=> connection_id(),"                 \
			   " is_used_lock('fr_l2') <=> connection_id(),"                 \
			   " is_used_lock('fr_inside') <=> connection_id(),"             \
			   " charset('x'), collation('x'), '\\\\', \"a\" = 'a',"         \
			   " convert(x'e282ac' using utf8mb4)"                           \
	}

#define MY_PROBES_OBJECTS                                                                \
	{ "profile", "show profiles" },                                                  \
		{ "profiling", "select count(*) from information_schema.profiling" },    \
		{ "trace", "select query from information_schema.optimizer_trace" },     \
		{ "temporary", "select * from fr_inside" },                              \
		{ "temporary 2", "select * from fr_tmp" },                               \
		{ "temporary 3", "select * from app2.fr_tmp" },                          \
		{ "hidden table", "select count(*) > 0 from fr_t where b = 1" },         \
		{ "statement", "execute fr_p1" }, { "statement 2", "execute fr_in" },    \
		{ "handler", "handler fr_t read first" },                                \
	{                                                                                \
		"handler 2", "handler fr_h read first"                                   \
	}

#define MY_PROBES_END                                                                    \
	{ "limit", "select 1 union select 2" }, { "begin", "start transaction" },        \
		{ "writes", "insert into fr_t (a) values ('probe')" },                   \
		{ "rollback", "rollback" },                                              \
		{ "write myisam", "insert into fr_myisam values (1)" },                  \
		{ "discarded", "delete from fr_myisam" },                                \
		{ "discarded 2", "delete from fr_t where b is null" },                   \
		{ "statements", "show global status like 'prepared_stmt_count'", "0" },  \
	{                                                                                \
		NULL, NULL                                                               \
	}

/* ---- statements ---- */

#define MY_SETTINGS                                                                      \
	"sql_mode = '{ansi|ansi_quotes|no_backslash_escapes|}'|"                         \
	"time_zone = '+03:00'|autocommit = 0|lc_messages = 'de_DE'|"                     \
	"lc_time_names = 'de_DE'|sql_select_limit = 1|profiling = {0|1}|"                \
	"profiling_history_size = {0|3}|optimizer_trace = 'enabled=on'|"                 \
	"timestamp = 1000000|insert_id = 77|last_insert_id = 78|"                        \
	"foreign_key_checks = 0|unique_checks = 0|lock_wait_timeout = 7|"                \
	"group_concat_max_len = 10|default_storage_engine = myisam|"                     \
	"character_set_results = null|character_set_client = latin1|"                    \
	"collation_connection = latin1_swedish_ci|"                                      \
	"character_set_database = latin1|collation_database = utf8mb4_bin|"              \
	"wait_timeout = 9|net_{read|write}_timeout = 9|net_retry_count = 1|"             \
	"sort_buffer_size = 65536|big_tables = 1|sql_safe_updates = 1|"                  \
	"sql_quote_show_create = 0|div_precision_increment = 1|"                         \
	"optimizer_switch = 'index_merge=off'|rand_seed1 = 5|"                           \
	"session_track_schema = 0|session_track_system_variables = ''|"                  \
	"low_priority_updates = 1|auto_increment_increment = 3|"                         \
	"completion_type = {1|2}|sql_warnings = 1"

#define MY_STATEMENTS                                                                    \
	"set {names|character set} {latin1|utf8mb4|default|utf8mb4 collate "             \
	"utf8mb4_bin}",                                                                  \
		"set @{a|b|inside} = {'secret'|1|null|(select max(a) from fr_t)}",       \
		"select @a := 'secret', @b := 2",                                        \
		"set {|session }transaction {isolation level {serializable|read "        \
		"uncommitted|read committed}|read only|read write}",                     \
		"use {app2|app|information_schema}",                                     \
		"{begin|start transaction|start transaction read only|start "            \
		"transaction with consistent snapshot}",                                 \
		"{commit|rollback|commit and chain|rollback and chain}",                 \
		"{savepoint s1|release savepoint s1|rollback to s1}",                    \
		"create temporary table {fr_inside|fr_tmp|fr_t|app2.fr_tmp} (a text){| " \
		"engine = myisam}",                                                      \
		"create temporary table fr_tmp as select * from fr_t",                   \
		"insert into {fr_tmp|fr_inside|fr_t (a)|fr_myisam} values ('7')",        \
		"insert into fr_t (a) values ('secret'), ('b')",                         \
		"prepare fr_p{1|2} from 'select \"secret\"'",                            \
		"{select|do} get_lock('fr_l{1|2}', 0)",                                  \
		"select release_{lock('fr_l1')|all_locks()}",                            \
		"lock tables fr_t {read|write}, fr_myisam {read|write}",                 \
		"unlock tables", "handler fr_t open{| as fr_h}",                         \
		"{handler fr_t read first|handler fr_h read next|handler fr_t close}",   \
		"!flush tables{| fr_t with read lock| with read lock| fr_t for export}", \
		"select "                                                                \
		"{last_insert_id()|last_insert_id(55)|found_rows()|row_count()|rand(5)|" \
		"rand()}",                                                               \
		"select sql_calc_found_rows * from fr_t limit 2",                        \
		"update fr_t set b = b + 0 where id = {1|2|3}", "syntax error here",     \
		"{show warnings|show errors|show profiles|show profile|show status "     \
		"like 'com_select'}",                                                    \
		"signal sqlstate '{01000|45000}' set message_text = 'secret'",           \
		"call fr_{objects|settings}()", "call fr_out(@o, @io)",                  \
		"select fr_function()",                                                  \
		"select {l from fr_v|w from fr_w|count(*) from "                         \
		"information_schema.views}",                                             \
		"insert into fr_hidden (b) values (1)",                                  \
		"{xa start 'x1'|xa end 'x1'|xa rollback 'x1'|xa recover}",               \
		"{create table fr_made (a int)|drop table if exists fr_made|truncate "   \
		"fr_myisam}",                                                            \
		"select 'secret' into @a", "~kill connection_id()",                      \
		"kill query connection_id()",                                            \
		"get diagnostics condition 1 @a = message_text", "", "-- nothing"

static const char *const my_copies[] = {
	"load data local infile '/nonexistent' into table fr_t (a)", NULL
};

/* Forgives nothing: COM_RESET_CONNECTION leaves some things, but the backend clears them. */
static int
my_forgive(char *line)
{
	(void)line;
	return 1;
}

/* Empty, since the backend clears what the reset leaves. */
static const struct fr_leftover my_leftovers[] = {
	{ NULL, 0, NULL, NULL, NULL, NULL },
};

#define MY_PLANTED                                                                       \
	{ "set sql_mode = 'ansi'", 0 }, { "set time_zone = '+03:00'", 0 },               \
		{ "set autocommit = 0", 0 }, { "set names latin1", 0 },                  \
		{ "set character_set_results = null", 0 },                               \
		{ "set collation_database = utf8mb4_bin", 0 },                           \
		{ "set lc_messages = 'de_DE'", 0 }, { "set sql_select_limit = 1", 0 },   \
		{ "set optimizer_switch = 'index_merge=off'", 0 },                       \
		{ "set foreign_key_checks = 0", 0 },                                     \
		{ "set optimizer_trace = 'enabled=on'", 0 },                             \
		{ "set default_storage_engine = myisam", 0 },                            \
		{ "set session transaction isolation level serializable", 0 },           \
		{ "set transaction read only", 0 }, { "set insert_id = 77", 0 },         \
		{ "set timestamp = 1000000", 0 }, { "set rand_seed1 = 5", 0 },           \
		{ "set profiling = 1", 0 }, { "set @a = 'secret'", 0 },                  \
		{ "set role fr_role", 0 }, { "use app2", 0 }, { "begin", 0 },            \
		{ "xa start 'x1'", 0 },                                                  \
		{ "create temporary table fr_inside (a text)", 0 },                      \
		{ "create temporary table app2.fr_tmp (a text)", 0 },                    \
		{ "create temporary table fr_t (a text)", 0 },                           \
		{ "prepare fr_p1 from 'select 1'", 0 },                                  \
		{ "do get_lock('fr_l1', 0)", 0 }, { "lock tables fr_t read", 0 },        \
		{ "handler fr_t open", 0 }, { "select last_insert_id(55)", 0 },          \
		{ "insert into fr_t (a) values ('planted')", 0 },                        \
		{ "select nothing", 0 }, { "call fr_objects()", 0 },                     \
		{ "select count (1)", 0 }, { "select l from fr_v", 0 },                  \
		{ "select w from fr_w", 0 },                                             \
		{ "insert into fr_hidden (b) values (1)", 0 },                           \
		{ "call fr_settings()", 0 },                                             \
	{                                                                                \
		"flush tables with read lock", 1                                         \
	}

static const char *const my_enable_key[] = { "call enable_key('k', 'pw')",
	"select decrypt_secret()", NULL };

static const char *const my_look_for_key[] = { "select decrypt_secret()",
	"select k from enabled_keys", "select @enabled_key", "execute fr_decrypt",
	"handler fr_secret read first", "select is_used_lock('fr_key')", NULL };

/* All members of struct fr_backend except its name. */
#define MY_BACKEND                                                                       \
	.kind = CNT_MARIADB, .setup = setup, .pools = my_pools,                          \
	.n_pools = sizeof(my_pools) / sizeof(my_pools[0]), .probes = probes,             \
	.statements = statements,                                                        \
	.n_statements = sizeof(statements) / sizeof(statements[0]), .copies = my_copies, \
	.slow = "select sleep(0.0{2|5|9})", .forgive = my_forgive,                       \
	.leftovers = my_leftovers, .planted = planted, .enable_key = my_enable_key,      \
	.look_for_key = my_look_for_key

#endif
