/* SPDX-License-Identifier: BSD-2-Clause */
/* Fresh equivalence on MariaDB: the probe's questions and the random statements. */
#include "mysql_family.h"

static const char setup[] = MY_SETUP
	"create sequence fr_s;\n"
	"insert into fr_t (a, b) select concat('row ', seq), seq from seq_1_to_20;\n"
	"create table fr_hidden (a int default nextval(fr_s), b int);\n"
	"delimiter //\n"
	"create procedure fr_settings() begin set session sql_mode = 'ansi';\n"
	"set session time_zone = '+03:00'; set profiling = 1; set role fr_role;\n"
	"select nextval(fr_s); end//\n"
	"create function fr_within() returns int begin set session sql_mode = 'ansi';\n"
	"create or replace temporary table fr_inside (a text); set role fr_role;\n"
	"return last_insert_id(66); end//\n"
	"create procedure fr_take() begin set @inside = 'secret';\n"
	"set role fr_role; do get_lock('fr_inside', 0); end//\n" MY_NAMESAKE("json_table")
		MY_NAMESAKE("lag") "delimiter ;\n" MY_SETUP_END;

static const struct fr_probe probes[] = {
	MY_PROBES_BEGIN,
	/* Leave out global variables, and variables whose values differ in each session. */
	{ "variable", "", NULL,
		"select concat('select concat_ws(''" FR_BETWEEN "'', ',"
		" group_concat(if(variable_type = 'VARCHAR', concat('ifnull(@@',"
		" lower(variable_name), ', ''NULL'')'), concat('@@',"
		" lower(variable_name))) order by variable_name separator ', '), ')')"
		" from information_schema.system_variables"
		" where variable_scope <> 'GLOBAL' and variable_name not in"
		" ('PSEUDO_THREAD_ID', 'RAND_SEED1', 'RAND_SEED2', 'TIMESTAMP',"
		" 'LAST_GTID')" },
	MY_PROBE_SESSION,
	{ "user variable", "select * from information_schema.user_variables order by 1" },
	MY_PROBES_OBJECTS,
	{ "sequence", "select previous value for fr_s" },
	{ "process", "select command, db, user from information_schema.processlist"
		     " where id = connection_id()" },
	MY_PROBES_END,
};

#define SETTING                                                                          \
	"{" MY_SETTINGS "|"                                                              \
	"tx_isolation = 'serializable'|tx_read_only = 1|"                                \
	"max_statement_time = {9|0.001}|old_mode = ''|join_cache_level = 1|"             \
	"max_sort_length = 8|query_cache_type = 0|"                                      \
	"system_versioning_asof = '2000-01-01'|"                                         \
	"explicit_defaults_for_timestamp = 0|check_constraint_checks = 0"                \
	"}"

static const char *const statements[] = {
	MY_STATEMENTS,
	"set {|session |@@session.}" SETTING,
	"set {|session |@@session.}" SETTING,
	"set {|session |@@session.}" SETTING,
	"!set {sql_log_bin = 0|skip_replication = 1|gtid_domain_id = 5|server_id = 9"
	"|pseudo_thread_id = 99|gtid_seq_no = 7|binlog_format = 'row'|sql_log_off = 1}",
	"set role {fr_role|none}",
	"create temporary sequence fr_s",
	"select {next value for fr_s|nextval(fr_s)|lastval(fr_s)|setval(fr_s, 9)}",
	"{execute fr_p1|deallocate prepare fr_p1|execute immediate 'set @a = 5'}",
	"!backup stage {start|end}",
	"!backup {lock fr_t|unlock}",
	"select * from fr_t{| order by b desc| for update| limit 3| lock in share mode}",
	"select {nothing|cast('x' as int)|1 / 0|repeat('x', 100000)|sleep(0.001)|uuid()"
	"|uuid_short()|benchmark(10, md5('a'))}",
	"!flush {local |}status",
	"{|set sql_mode = 'oracle'; }select {fr_s.nextval|fr_s.currval|previous value "
	"for "
	"fr_s}",
	"select {count|trim|point|json_table|lag}{| |/**/|\n}(1)",
	"select {count|trim|point|json_table|lag}{| |/**/|\n}(1)",
	"begin not atomic {set @a = 'secret'|create temporary table fr_tmp (a int)|do "
	"get_lock('fr_l1', 0)|set profiling = 1|prepare fr_p1 from 'select 3'}; end",
	"set statement max_statement_time = {1|0.0001} for select count(*) from fr_t",
	"{explain|analyze|explain extended} select * from fr_t",
	"!create or replace database app2{| character set latin2}",
	"{analyze table fr_t|check table fr_myisam|flush status|reset query cache}",
	"select * from seq_1_to_500",
	"select * from fr_t procedure analyse()",
	"{set global max_sort_length = @@global.max_sort_length|set password = "
	"password('')}",
};

static const struct fr_planted planted[] = {
	MY_PLANTED,
	{ "set max_statement_time = 9", 0 },
	{ "set default_regex_flags = 'dotall'", 0 },
	{ "select nextval(fr_s)", 0 },
	{ "select point(1)", 0 },
	{ "set sql_log_bin = 0", 1 },
	{ "set gtid_domain_id = 5", 1 },
	{ NULL, 0 },
};

const struct fr_backend fr_mariadb = { .name = "MariaDB", MY_BACKEND };
