/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fresh equivalence on MySQL: the probe's questions and the random statements. Only tests/versions has such a server. MySQL has
 * no sequences, and reports other things than MariaDB.
 */
#include "mysql_family.h"

static const char setup[] = MY_SETUP
	"grant select on performance_schema.* to app@localhost;\n"
	"insert into fr_t (a, b) with recursive n (i) as (select 1 union all select i + "
	"1 from n where i < 20) select concat('row ', i), i from n;\n"
	"create table fr_hidden (a int, b int);\n"
	"delimiter //\n"
	"create procedure fr_settings() begin set session sql_mode = 'ansi';\n"
	"set session time_zone = '+03:00'; set profiling = 1; set role fr_role; end//\n"
	"create function fr_within() returns int begin set session sql_mode = 'ansi';\n"
	"set @inside = 'secret'; return last_insert_id(66); end//\n"
	"create procedure fr_take() begin set @inside = 'secret';\n"
	"do get_lock('fr_inside', 0); end//\n"
	"delimiter ;\n" MY_SETUP_END;

static const struct fr_probe probes[] = {
	MY_PROBES_BEGIN,
	{ "variable", "select lower(variable_name), variable_value from "
		      "performance_schema.session_variables where variable_name not in "
		      "('pseudo_thread_id', 'rand_seed1', 'rand_seed2', 'timestamp', "
		      "'error_count', 'warning_count', 'max_sort_length', "
		      "'statement_id') order by 1" },
	MY_PROBE_SESSION,
	{ "user variable",
		"select variable_name, variable_value from "
		"performance_schema.user_variables_by_thread where thread_id = "
		"ps_current_thread_id() order by 1" },
	{ "attribute",
		"select attr_name from performance_schema.session_account_connect_attrs "
		"where processlist_id = connection_id() and attr_name <> "
		"'program_name' order by 1" },
	MY_PROBES_OBJECTS,
	{ "group",
		"select resource_group from performance_schema.threads where thread_id = "
		"ps_current_thread_id()" },
	MY_PROBES_END,
};

#define SETTING                                                                          \
	"{" MY_SETTINGS "|"                                                              \
	"transaction_isolation = 'serializable'|transaction_read_only = 1|"              \
	"max_execution_time = {9|1}|session_track_gtids = own_gtid|"                     \
	"session_track_state_change = 1|use_secondary_engine = off|"                     \
	"windowing_use_high_precision = off|cte_max_recursion_depth = 5|"                \
	"information_schema_stats_expiry = 0|"                                           \
	"default_collation_for_utf8mb4 = 'utf8mb4_general_ci'|"                          \
	"explain_format = json|generated_random_password_length = 7|"                    \
	"print_identified_with_as_hex = 1"                                               \
	"}"

/* Without SET GLOBAL and SET PERSIST: preparing them hangs after a change to a user without the privilege (docs/backends.md). */
static const char *const statements[] = {
	MY_STATEMENTS,
	"set {|session |@@session.}" SETTING,
	"set {|session |@@session.}" SETTING,
	"set {|session |@@session.}" SETTING,
	"!set {sql_log_bin = 0|pseudo_thread_id = 99|sql_log_off = 1|gtid_next = "
	"'automatic'|binlog_rows_query_log_events = 1|immediate_server_version = 1}",
	"set role {fr_role|none|default|all}",
	"{execute fr_p1|deallocate prepare fr_p1}",
	"!lock instance for backup",
	"!unlock instance",
	"!set resource group {SYS_default|USR_default}",
	"select * from fr_t{| order by b desc| for update| limit 3| lock in share mode| "
	"for update skip locked}",
	"select /*+ set_var(sql_mode = 'ansi') set_var(sort_buffer_size = 65536) "
	"max_execution_time(1) */ count(*) from fr_t",
	"table fr_t limit 2",
	"values row(1, 'a'), row(2, 'b')",
	"select {nothing|cast('x' as signed)|1 / 0|repeat('x', "
	"100000)|sleep(0.001)|uuid()"
	"|uuid_short()|benchmark(10, sha2('a', 256))|json_object('a', "
	"1)|statement_digest('select "
	"1')}",
	"!flush status",
	"select {count|trim|point}{| |/**/|\n}(1)",
	"{explain|explain analyze|explain format = json into @a} select * from fr_t",
	"!create database if not exists app2",
	"{analyze table fr_t|check table fr_myisam|flush status}",
};

static const struct fr_planted planted[] = {
	MY_PLANTED,
	{ "set max_execution_time = 9000", 0 },
	{ NULL, 0 },
};

const struct fr_backend fr_mysql = { .name = "MySQL", MY_BACKEND };
