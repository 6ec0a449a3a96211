/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fresh equivalence on a server of MySQL, which tests/versions has: the probe's questions, the random
 * statements. MySQL has no sequences and reports other things than MariaDB (mariadb.c).
 */
#include "fresh.h"

#include <string.h>

static const char setup[] =
	"create role fr_role;\n"
	"grant fr_role to app@localhost;\n"
	"grant select on performance_schema.* to app@localhost;\n"
	"create table fr_t (id int auto_increment primary key, a varchar(200), b int);\n"
	"insert into fr_t (a, b) with recursive n (i) as (select 1 union all select i + "
	"1 "
	"from n where i < 20) select concat('row ', i), i from n;\n"
	"create table fr_myisam (a int) engine = myisam;\n"
	/* effects that the text of a client's statement does not show */
	"create view fr_v as select get_lock('fr_inside', 0) as l;\n"
	"create table fr_hidden (a int, b int);\n"
	"create trigger fr_hides before insert on fr_hidden for each row set @inside = "
	"'secret', @b = get_lock('fr_l1', 0);\n"
	"delimiter //\n"
	"create procedure fr_objects() begin set @inside = 'secret';\n"
	"create temporary table if not exists fr_inside (a text);\n"
	"insert into fr_inside values ('secret'); prepare fr_in from 'select 5';\n"
	"do get_lock('fr_inside', 0); end//\n"
	"create procedure fr_settings() begin set session sql_mode = 'ansi';\n"
	"set session time_zone = '+03:00'; set profiling = 1; set role fr_role; end//\n"
	"create function fr_function() returns int begin set @inside = 'secret';\n"
	"insert into fr_t (a) values ('function'); return last_insert_id(); end//\n"
	"create function fr_within() returns int begin set session sql_mode = 'ansi';\n"
	"set @inside = 'secret'; return last_insert_id(66); end//\n"
	"create view fr_w as select fr_within() as w//\n"
	/* functions with the names of built-in functions; the server calls one or the other */
	"create procedure fr_take() begin set @inside = 'secret';\n"
	"do get_lock('fr_inside', 0); end//\n"
	"create function `count`(a int) returns int begin call fr_take(); return 1; "
	"end//\n"
	"create function `trim`(a int) returns int begin call fr_take(); return 1; "
	"end//\n"
	"create function `point`(a int) returns int begin call fr_take(); return 1; "
	"end//\n"
	"create procedure fr_out(out o int, inout io int) begin set o = 7, io = io + 1;\n"
	"select 1; select 2; end//\n"
	"create procedure enable_key(name text, password text) begin\n"
	"create temporary table enabled_keys as select name as k, password as p;\n"
	"set @enabled_key = password; prepare fr_decrypt from 'select t from "
	"fr_secret';\n"
	"do get_lock('fr_key', 0); end//\n"
	"create function decrypt_secret() returns text begin\n"
	"if @enabled_key is null then signal sqlstate '45000' set message_text = 'no "
	"key';\n"
	"end if; return (select t from fr_secret); end//\n"
	"delimiter ;\n"
	"create table fr_secret (t text); insert into fr_secret values ('clear text');\n"
	"grant all on app.* to fr_role;\n";

static const struct fr_pool pools[] = {
	{ "app", "app", 0 },
	{ "super", "root", 1 },
};

static const struct fr_probe probes[] = {
	/* The order matters: each statement changes what some of the others tell. */
	{ "last", "select row_count(), @@warning_count, @@error_count" },
	{ "warnings", "show warnings" },
	{ "insert id",
		"select last_insert_id(), @@last_insert_id, @@identity, @@insert_id" },
	{ "variable", "select lower(variable_name), variable_value from "
		      "performance_schema.session_variables where variable_name not in "
		      "('pseudo_thread_id', 'rand_seed1', 'rand_seed2', 'timestamp', "
		      "'error_count', 'warning_count', 'max_sort_length', "
		      "'statement_id') order by 1" },
	{ "session", "select database(), current_user(), substring_index(user(), '@', 1),"
		     " current_role(), session_user() = user(),"
		     " abs(timestampdiff(second, now(), sysdate())) < 3,"
		     " @@timestamp > 1700000000, @@rand_seed1 in (5, 6),"
		     " @@pseudo_thread_id = connection_id(),"
		     " is_used_lock('fr_l1') <=> connection_id(),"
		     " is_used_lock('fr_l2') <=> connection_id(),"
		     " is_used_lock('fr_inside') <=> connection_id(),"
		     " charset('x'), collation('x'), '\\\\', \"a\" = 'a',"
		     " convert(x'e282ac' using utf8mb4)" },
	{ "user variable",
		"select variable_name, variable_value from "
		"performance_schema.user_variables_by_thread where thread_id = "
		"ps_current_thread_id() order by 1" },
	{ "attribute",
		"select attr_name from performance_schema.session_account_connect_attrs "
		"where processlist_id = connection_id() and attr_name <> "
		"'program_name' order by 1" },
	{ "profile", "show profiles" },
	{ "profiling", "select count(*) from information_schema.profiling" },
	{ "trace", "select query from information_schema.optimizer_trace" },
	{ "temporary", "select * from fr_inside" },
	{ "temporary 2", "select * from fr_tmp" },
	{ "temporary 3", "select * from app2.fr_tmp" },
	{ "hidden table", "select count(*) > 0 from fr_t where b = 1" },
	{ "statement", "execute fr_p1" },
	{ "statement 2", "execute fr_in" },
	{ "handler", "handler fr_t read first" },
	{ "handler 2", "handler fr_h read first" },
	{ "group",
		"select resource_group from performance_schema.threads where thread_id = "
		"ps_current_thread_id()" },
	{ "limit", "select 1 union select 2" },
	{ "begin", "start transaction" },
	{ "writes", "insert into fr_t (a) values ('probe')" },
	{ "rollback", "rollback" },
	{ "write myisam", "insert into fr_myisam values (1)" },
	{ "discarded", "delete from fr_myisam" },
	{ "discarded 2", "delete from fr_t where b is null" },
	{ "statements", "show global status like 'prepared_stmt_count'", "0" },
	{ NULL, NULL },
};

#define SETTING                                                                          \
	"{sql_mode = '{ansi|ansi_quotes|no_backslash_escapes|}'|time_zone = '+03:00'"    \
	"|autocommit = 0|transaction_isolation = 'serializable'|transaction_read_only "  \
	"= 1|lc_messages = "                                                             \
	"'de_DE'|lc_time_names = 'de_DE'|sql_select_limit = 1|profiling = {0|1}"         \
	"|profiling_history_size = {0|3}|optimizer_trace = 'enabled=on'|timestamp = "    \
	"1000000"                                                                        \
	"|insert_id = 77|last_insert_id = 78|foreign_key_checks = 0|unique_checks = 0"   \
	"|max_execution_time = {9|1}|lock_wait_timeout = 7|group_concat_max_len = "      \
	"10"                                                                             \
	"|default_storage_engine = myisam|character_set_results = null"                  \
	"|character_set_client = latin1|collation_connection = latin1_swedish_ci"        \
	"|character_set_database = latin1|collation_database = utf8mb4_bin"              \
	"|wait_timeout = 9|net_{read|write}_timeout = 9|net_retry_count = "              \
	"1|sort_buffer_size = 65536|big_tables = "                                       \
	"1"                                                                              \
	"|sql_safe_updates = 1|sql_quote_show_create = 0|div_precision_increment"        \
	" = 1|optimizer_switch = 'index_merge=off'|rand_seed1 = 5"                       \
	"|session_track_schema = 0|session_track_system_variables = ''"                  \
	"|session_track_gtids = own_gtid|session_track_state_change = 1"                 \
	"|low_priority_updates = 1|auto_increment_increment = 3|use_secondary_engine "   \
	"= off|windowing_use_high_precision = off|cte_max_recursion_depth = 5"           \
	"|information_schema_stats_expiry = 0|default_collation_for_utf8mb4 = "          \
	"'utf8mb4_general_ci'|explain_format = json|generated_random_password_length "   \
	"= 7|completion_type = {1|2}|sql_warnings = 1|print_identified_with_as_hex = 1}"

static const char *const statements[] = {
	"set {|session |@@session.}" SETTING,
	"set {|session |@@session.}" SETTING,
	"set {|session |@@session.}" SETTING,
	"!set {sql_log_bin = 0|pseudo_thread_id = 99|sql_log_off = 1|gtid_next = "
	"'automatic'|binlog_rows_query_log_events = 1|immediate_server_version = 1}",
	"set {names|character set} {latin1|utf8mb4|default|utf8mb4 collate utf8mb4_bin}",
	"set @{a|b|inside} = {'secret'|1|null|(select max(a) from fr_t)}",
	"select @a := 'secret', @b := 2",
	"set {|session }transaction {isolation level {serializable|read "
	"uncommitted|read committed}|read only|read write}",
	"set role {fr_role|none|default|all}",
	"use {app2|app|information_schema}",
	"{begin|start transaction|start transaction read only|start transaction with "
	"consistent snapshot}",
	"{commit|rollback|commit and chain|rollback and chain}",
	"{savepoint s1|release savepoint s1|rollback to s1}",
	"create temporary table {fr_inside|fr_tmp|fr_t|app2.fr_tmp} (a text){| engine = "
	"myisam}",
	"create temporary table fr_tmp as select * from fr_t",
	"insert into {fr_tmp|fr_inside|fr_t (a)|fr_myisam} values ('7')",
	"insert into fr_t (a) values ('secret'), ('b')",
	"prepare fr_p{1|2} from 'select \"secret\"'",
	"{execute fr_p1|deallocate prepare fr_p1}",
	"{select|do} get_lock('fr_l{1|2}', 0)",
	"select release_{lock('fr_l1')|all_locks()}",
	"lock tables fr_t {read|write}, fr_myisam {read|write}",
	"unlock tables",
	"!lock instance for backup",
	"!unlock instance",
	"handler fr_t open{| as fr_h}",
	"{handler fr_t read first|handler fr_h read next|handler fr_t close}",
	"!flush tables{| fr_t with read lock| with read lock| fr_t for export}",
	"!set resource group {SYS_default|USR_default}",
	"select "
	"{last_insert_id()|last_insert_id(55)|found_rows()|row_count()|rand(5)|rand()}",
	"select sql_calc_found_rows * from fr_t limit 2",
	"select * from fr_t{| order by b desc| for update| limit 3| lock in share mode| "
	"for update skip locked}",
	"select /*+ set_var(sql_mode = 'ansi') set_var(sort_buffer_size = 65536) "
	"max_execution_time(1) */ count(*) from fr_t",
	"table fr_t limit 2",
	"values row(1, 'a'), row(2, 'b')",
	"update fr_t set b = b + 0 where id = {1|2|3}",
	"select {nothing|cast('x' as signed)|1 / 0|repeat('x', "
	"100000)|sleep(0.001)|uuid()"
	"|uuid_short()|benchmark(10, sha2('a', 256))|json_object('a', "
	"1)|statement_digest('select "
	"1')}",
	"syntax error here",
	"{show warnings|show errors|show profiles|show profile|show status like "
	"'com_select'}",
	"signal sqlstate '{01000|45000}' set message_text = 'secret'",
	"call fr_{objects|settings}()",
	"call fr_out(@o, @io)",
	"select fr_function()",
	"select {l from fr_v|w from fr_w|count(*) from information_schema.views}",
	"insert into fr_hidden (b) values (1)",
	"!flush status",
	"select {count|trim|point}{| |/**/|\n}(1)",
	"{xa start 'x1'|xa end 'x1'|xa rollback 'x1'|xa recover}",
	"{explain|explain analyze|explain format = json into @a} select * from fr_t",
	"!create database if not exists app2",
	"{create table fr_made (a int)|drop table if exists fr_made|truncate fr_myisam}",
	"{analyze table fr_t|check table fr_myisam|flush status}",
	"select 'secret' into @a",
	"~kill connection_id()",
	"kill query connection_id()",
	"get diagnostics condition 1 @a = message_text",
	"!set global max_sort_length = @@global.max_sort_length",
	"!set persist_only max_sort_length = 1024",
	"",
	"-- nothing",
};

static const char *const copies[] = {
	"load data local infile '/nonexistent' into table fr_t (a)", NULL
};

static int
forgive(char *line)
{
	(void)line;
	return 1;
}

static const struct fr_leftover leftovers[] = {
	{ NULL, 0, NULL, NULL, NULL, NULL },
};

static const struct fr_planted planted[] = {
	{ "set sql_mode = 'ansi'", 0 },
	{ "set time_zone = '+03:00'", 0 },
	{ "set autocommit = 0", 0 },
	{ "set names latin1", 0 },
	{ "set character_set_results = null", 0 },
	{ "set collation_database = utf8mb4_bin", 0 },
	{ "set lc_messages = 'de_DE'", 0 },
	{ "set sql_select_limit = 1", 0 },
	{ "set max_execution_time = 9000", 0 },
	{ "set optimizer_switch = 'index_merge=off'", 0 },
	{ "set foreign_key_checks = 0", 0 },
	{ "set optimizer_trace = 'enabled=on'", 0 },
	{ "set default_storage_engine = myisam", 0 },
	{ "set session transaction isolation level serializable", 0 },
	{ "set transaction read only", 0 },
	{ "set insert_id = 77", 0 },
	{ "set timestamp = 1000000", 0 },
	{ "set rand_seed1 = 5", 0 },
	{ "set profiling = 1", 0 },
	{ "set @a = 'secret'", 0 },
	{ "set role fr_role", 0 },
	{ "use app2", 0 },
	{ "begin", 0 },
	{ "xa start 'x1'", 0 },
	{ "create temporary table fr_inside (a text)", 0 },
	{ "create temporary table app2.fr_tmp (a text)", 0 },
	{ "create temporary table fr_t (a text)", 0 },
	{ "prepare fr_p1 from 'select 1'", 0 },
	{ "do get_lock('fr_l1', 0)", 0 },
	{ "lock tables fr_t read", 0 },
	{ "handler fr_t open", 0 },
	{ "select last_insert_id(55)", 0 },
	{ "insert into fr_t (a) values ('planted')", 0 },
	{ "select nothing", 0 },
	{ "call fr_objects()", 0 },
	{ "select count (1)", 0 },
	{ "select l from fr_v", 0 },
	{ "select w from fr_w", 0 },
	{ "insert into fr_hidden (b) values (1)", 0 },
	{ "call fr_settings()", 0 },
	{ "flush tables with read lock", 1 },
	{ NULL, 0 },
};

static const char *const enable_key[] = { "call enable_key('k', 'pw')",
	"select decrypt_secret()", NULL };

static const char *const look_for_key[] = { "select decrypt_secret()",
	"select k from enabled_keys", "select @enabled_key", "execute fr_decrypt",
	"handler fr_secret read first", "select is_used_lock('fr_key')", NULL };

const struct fr_backend fr_mysql = {
	.name = "MySQL",
	.kind = CNT_MARIADB,
	.setup = setup,
	.pools = pools,
	.n_pools = sizeof(pools) / sizeof(pools[0]),
	.probes = probes,
	.statements = statements,
	.n_statements = sizeof(statements) / sizeof(statements[0]),
	.copies = copies,
	.slow = "select sleep(0.0{2|5|9})",
	.forgive = forgive,
	.leftovers = leftovers,
	.planted = planted,
	.enable_key = enable_key,
	.look_for_key = look_for_key,
};
