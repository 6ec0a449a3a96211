/* SPDX-License-Identifier: BSD-2-Clause */
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/cnt_server_kinds.h"

/* Format an argument. It must fit. */
static void __attribute__((format(printf, 2, 3)))
add(struct cnt_argv *a, const char *format, ...)
{
	char *text = a->text + a->used;
	size_t room = sizeof(a->text) - a->used;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(text, room, format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= room || a->n == CNT_SERVER_ARGS)
		abort();
	a->args[a->n++] = text;
	a->used += (size_t)n + 1;
}

/* ------------------------------------------------------------------ PostgreSQL ----- */

/* Directories, in the order of preference. */
static const char *const pg_where[] = { "/usr/lib/postgresql/15/bin",
	"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin",
	"/usr/local/bin", "/usr/bin", NULL };

static const char pg_setup[] =
	"create role app login password '" CNT_SERVER_PASSWORD "';\n"
	"create role locked login password '" CNT_SERVER_PASSWORD "' in role app;\n"
	"create role tls login password '" CNT_SERVER_PASSWORD "' in role app;\n"
	"create role cert login in role app;\n"
	"create database app owner app;\n"
	"create database app2 owner app;\n";

static void
pg_name_paths(struct cnt_server *s)
{
	snprintf(s->socket, sizeof(s->socket), "%.64s/.s.PGSQL.%d", s->run_dir, s->port);
	snprintf(s->server_line, sizeof(s->server_line),
		"host=%s port=%d dbname=app user=app", s->run_dir, s->port);
	snprintf(s->tls_line, sizeof(s->tls_line),
		"host=localhost hostaddr=127.0.0.1 port=%d dbname=app user=app "
		"passfile=%s "
		"sslmode=verify-full sslrootcert=%s",
		s->port, s->passfile, s->ca);
}

static int
pg_write_hba(const struct cnt_server *s)
{
	char path[CNT_SERVER_PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%.64s/pg_hba.conf", s->dir);
	f = fopen(path, "we");
	if (!f)
		return -1;
	fputs("local all locked scram-sha-256\n"
	      "local all all trust\n",
		f);
	if (s->flags & CNT_SERVER_TCP)
		fputs("hostssl all cert 127.0.0.1/32 cert\n"
		      "hostnossl all cert,tls 127.0.0.1/32 reject\n"
		      "host all all 127.0.0.1/32 scram-sha-256\n",
			f);
	fchmod(fileno(f), 0644);
	return fclose(f);
}

static int
pg_write_conf(const struct cnt_server *s, FILE *f)
{
	fprintf(f,
		"hba_file = '%s/pg_hba.conf'\n"
		"unix_socket_directories = '%s'\n"
		"port = %d\n"
		"max_connections = 200\n"
		"max_prepared_transactions = 10\n"
		"shared_buffers = 32MB\n"
		/* the memory is in the data directory, and goes with it */
		"dynamic_shared_memory_type = mmap\n"
		"fsync = off\n"
		"full_page_writes = off\n"
		"synchronous_commit = off\n"
		"wal_level = minimal\n"
		"max_wal_senders = 0\n"
		"max_wal_size = 256MB\n"
		"password_encryption = 'scram-sha-256'\n"
		"lc_messages = 'C'\n"
		"timezone = 'UTC'\n"
		"log_timezone = 'UTC'\n",
		s->dir, s->run_dir, s->port);
	if (s->flags & CNT_SERVER_TCP)
		fprintf(f,
			"listen_addresses = '127.0.0.1'\n"
			"ssl = on\n"
			"ssl_cert_file = '%s/server.crt'\n"
			"ssl_key_file = '%s/server.key'\n"
			"ssl_ca_file = '%s'\n",
			s->certs, s->certs, s->ca);
	else
		fputs("listen_addresses = ''\n", f);
	return pg_write_hba(s);
}

static void
pg_init_args(const struct cnt_server *s, struct cnt_argv *a)
{
	add(a, "--pgdata=%s/data", s->dir);
	add(a, "--username=postgres");
	add(a, "--auth=trust");
	add(a, "--encoding=UTF8");
	add(a, "--locale=C.UTF-8");
	add(a, "--wal-segsize=1");
	add(a, "--no-sync");
}

static void
pg_run_args(const struct cnt_server *s, struct cnt_argv *a)
{
	add(a, "-D");
	add(a, "%s/data", s->dir);
	add(a, "-c");
	add(a, "config_file=%s", s->conf);
}

static void
pg_client_args(const struct cnt_server *s, const char *database, struct cnt_argv *a)
{
	add(a, "-XqAt");
	add(a, "--set=ON_ERROR_STOP=1");
	add(a, "--host=%s", s->run_dir);
	add(a, "--port=%d", s->port);
	add(a, "--username=postgres");
	add(a, "--dbname=%s", database);
	add(a, "--file=-");
}

/* A line of postmaster.pid, counted from 1. */
static int
pg_read_line(const struct cnt_server *s, int number, char *ret_line, int size)
{
	char path[CNT_SERVER_PATH_MAX];
	int i;
	FILE *f;

	snprintf(path, sizeof(path), "%.64s/data/postmaster.pid", s->dir);
	f = fopen(path, "re");
	if (!f)
		return -1;
	for (i = 0; i < number && fgets(ret_line, size, f); i++)
		;
	fclose(f);
	return i == number ? 0 : -1;
}

static int
pg_is_ready(const struct cnt_server *s)
{
	char line[128];

	/* Is this the file of an earlier server that was killed? */
	return pg_read_line(s, 1, line, sizeof(line)) == 0 && atol(line) == s->pid &&
	       pg_read_line(s, 8, line, sizeof(line)) == 0 &&
	       strncmp(line, "ready", 5) == 0;
}

static void
pg_sweep(const struct cnt_server *s)
{
	char line[128];
	long key;
	int id;

	/* A few bytes of System V shared memory, in which a server finds another one with the same
	 * data. The kernel limits how many there are. */
	if (pg_read_line(s, 7, line, sizeof(line)) == 0 &&
		sscanf(line, "%ld %d", &key, &id) == 2)
		shmctl(id, IPC_RMID, NULL);
}

static int
append_to(const struct cnt_server *s, const char *name, const char *text)
{
	char path[CNT_SERVER_PATH_MAX + 32];
	FILE *f;

	snprintf(path, sizeof(path), "%.64s/%s", s->dir, name);
	f = fopen(path, "ae");
	if (!f)
		return -1;
	fputs(text, f);
	fchmod(fileno(f), 0644);
	return fclose(f);
}

static int
pg_replicates(const struct cnt_server *s, int waits)
{
	return append_to(s, "pg_hba.conf", "local replication all trust\n") < 0 ||
			       cnt_server_configure(s,
				       "wal_level = replica\n"
				       "max_wal_senders = 10\n"
				       "wal_keep_size = 128MB\n"
				       "wal_retrieve_retry_interval = 100ms\n") < 0 ||
			       (waits && cnt_server_configure(s,
						 "synchronous_commit = on\n"
						 "synchronous_standby_names = '*'\n") < 0)
		       ? -1
		       : 0;
}

static int
pg_follow(const struct cnt_server *s, const struct cnt_server *primary)
{
	char line[256];

	snprintf(line, sizeof(line),
		"primary_conninfo = 'host=%s port=%d user=postgres'\n"
		"recovery_target_timeline = latest\n"
		"synchronous_standby_names = ''\n",
		primary->run_dir, primary->port);
	return cnt_server_configure(s, line) < 0 ||
			       append_to(s, "data/standby.signal", "") < 0
		       ? -1
		       : 0;
}

static void
pg_copy_args(
	const struct cnt_server *s, const struct cnt_server *primary, struct cnt_argv *a)
{
	add(a, "--pgdata=%s/data", s->dir);
	add(a, "--host=%s", primary->run_dir);
	add(a, "--port=%d", primary->port);
	add(a, "--username=postgres");
	add(a, "--checkpoint=fast");
	add(a, "--wal-method=stream");
	add(a, "--no-sync");
}

/* --------------------------------------------------------------------- MariaDB ----- */

static const char *const my_where[] = { "/usr/bin", "/usr/sbin", "/usr/libexec",
	"/usr/local/bin", "/usr/local/sbin", "/usr/local/mysql/bin",
	"/usr/local/mysql/scripts", NULL };

#define MY_PASSFILE                                                                      \
	"app:" CNT_SERVER_PASSWORD "\nlocked:" CNT_SERVER_PASSWORD                       \
	"\ntls:" CNT_SERVER_PASSWORD "\n"
#define MY_PASSWORD " identified by '" CNT_SERVER_PASSWORD "'"

#define MY_SETUP                                                                         \
	"create database app;\n"                                                         \
	"create database app2;\n"                                                        \
	"create user app@localhost;\n"                                                   \
	"create user app@'%'" MY_PASSWORD ";\n"                                          \
	"create user locked@localhost" MY_PASSWORD ";\n"                                 \
	"create user locked@'%'" MY_PASSWORD ";\n"                                       \
	"create user tls@'%'" MY_PASSWORD " require ssl;\n"                              \
	"create user cert@'%' require x509;\n"                                           \
	"grant all on `app%`.* to app@localhost, app@'%', locked@localhost, "            \
	"locked@'%',\n"                                                                  \
	"tls@'%', cert@'%';\n"

static const char my_setup[] = MY_SETUP;

static void
my_name_paths(struct cnt_server *s)
{
	snprintf(s->socket, sizeof(s->socket), "%.64s/mysql.sock", s->run_dir);
	snprintf(s->server_line, sizeof(s->server_line), "socket=%s dbname=app user=app",
		s->socket);
	snprintf(s->tls_line, sizeof(s->tls_line),
		"host=127.0.0.1 port=%d dbname=app user=app passfile=%s "
		"ssl_mode=required ssl_verify_server_cert=yes ssl_ca=%s",
		s->port, s->passfile, s->ca);
}

/* The lines that MariaDB and MySQL share. Both read this section. */
static void
my_write_common(const struct cnt_server *s, FILE *f)
{
	fprintf(f,
		"[mysqld]\n"
		"%s"
		"datadir = %s/data\n"
		"socket = %s\n"
		"pid_file = %s/data/pid\n"
		"tmpdir = %s/data\n"
		"max_connections = 200\n"
		"max_allowed_packet = 1G\n"
		"character_set_server = utf8mb4\n"
		"default_time_zone = '+00:00'\n"
		"local_infile = 1\n"
		"skip_name_resolve\n"
		/* a TLS handshake may take long on a busy machine */
		"connect_timeout = 60\n"
		"innodb_buffer_pool_size = 64M\n"
		"innodb_flush_log_at_trx_commit = 0\n"
		"innodb_flush_method = nosync\n",
		geteuid() == 0 ? "user = root\n" : "", s->dir, s->socket, s->dir, s->dir);
	if (s->flags & CNT_SERVER_TCP)
		fprintf(f,
			"bind_address = 127.0.0.1\n"
			"port = %d\n"
			"ssl_cert = %s/server.crt\n"
			"ssl_key = %s/server.key\n"
			"ssl_ca = %s\n",
			s->port, s->certs, s->certs, s->ca);
	else
		fputs("skip_networking\n", f);
}

static int
my_write_conf(const struct cnt_server *s, FILE *f)
{
	my_write_common(s, f);
	fputs("innodb_log_file_size = 16M\n"
	      "debug_no_sync\n",
		f);
	/* from 11.4 on, MariaDB would make a certificate for itself at each start, which takes seconds */
	if (!(s->flags & CNT_SERVER_TCP))
		fputs("skip_ssl\n", f);
	return 0;
}

static void
my_init_args(const struct cnt_server *s, struct cnt_argv *a)
{
	add(a, "--no-defaults");
	add(a, "--datadir=%s/data", s->dir);
	add(a, "--auth-root-authentication-method=normal");
	add(a, "--skip-test-db");
	add(a, "--skip-name-resolve");
	add(a, "--innodb-log-file-size=16M");
	add(a, "--innodb-flush-method=nosync");
	if (geteuid() == 0)
		add(a, "--user=root");
}

static void
my_run_args(const struct cnt_server *s, struct cnt_argv *a)
{
	add(a, "--defaults-file=%s", s->conf);
}

static void
my_client_args(const struct cnt_server *s, const char *database, struct cnt_argv *a)
{
	add(a, "--no-defaults");
	add(a, "--batch");
	add(a, "--raw");
	add(a, "--skip-column-names");
	add(a, "--default-character-set=utf8mb4");
	add(a, "--socket=%s", s->socket);
	add(a, "--user=root");
	add(a, "--database=%s", database);
}

/* From 11.4 on, the client wants TLS, which servers without TCP do not have. MySQL's client has no such option. */
static void
mariadb_client_args(const struct cnt_server *s, const char *database, struct cnt_argv *a)
{
	my_client_args(s, database, a);
	add(a, "--skip-ssl");
}

static int
my_is_ready(const struct cnt_server *s)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char byte;
	int r;

	if (fd < 0)
		return 0;
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.96s", s->socket);
	/* The server sends a greeting when it is ready. */
	r = connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	    recv(fd, &byte, 1, 0) == 1;
	close(fd);
	return r;
}

static void
my_sweep(const struct cnt_server *s)
{
	(void)s;
}

static int
my_replicates(const struct cnt_server *s, int waits)
{
	char lines[512];

	(void)waits;
	snprintf(lines, sizeof(lines),
		"server_id = %d\n"
		"log_bin = %.64s/data/binlog\n"
		"binlog_format = ROW\n"
		"gtid_strict_mode = 1\n"
		"log_slave_updates = 1\n",
		s->port, s->dir);
	return cnt_server_configure(s, lines);
}

/* Both servers began with the same data and with an empty binary log. */
static int
my_follow(const struct cnt_server *s, const struct cnt_server *primary)
{
	char sql[512];

	snprintf(sql, sizeof(sql),
		"stop slave; change master to master_host = '127.0.0.1', master_port = "
		"%d, master_user = 'locked', master_password = '" CNT_SERVER_PASSWORD
		"', master_use_gtid = slave_pos, master_connect_retry = 1; "
		"set global read_only = 1; start slave",
		primary->port);
	return cnt_server_sql(s, sql);
}

/* ----------------------------------------------------------------------- MySQL ----- */

/* MariaDB has a table with the numbers 1 to 8 by the name seq_1_to_8, and so on. MySQL gets views with the names that the tests use.
 * They read app2.n1, which has the numbers 0 to 9, or one of the views n2 to n8: n2 has 0 to 99, and n8 0 to 99999999. */
#define NUMBERS(to, left, right, factor)                                                 \
	"create view app2." to " as select straight_join " factor                        \
	" * a.i + b.i as i from app2." left " a, app2." right " b;\n"
#define SEQUENCE(last, numbers)                                                          \
	"create view app.seq_1_to_" last                                                 \
	" as select cast(i + 1 as unsigned) as seq from app2." numbers                   \
	" where i < " last ";\n"

/* clang-format off */
static const char oracle_setup[] = MY_SETUP
	"create table app2.n1 (i int primary key);\n"
	"insert into app2.n1 values (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);\n"
	NUMBERS("n2", "n1", "n1", "10")
	NUMBERS("n3", "n1", "n2", "100")
	NUMBERS("n4", "n2", "n2", "100")
	NUMBERS("n5", "n1", "n4", "10000")
	NUMBERS("n6", "n2", "n4", "10000")
	NUMBERS("n8", "n4", "n4", "10000")
	SEQUENCE("2", "n1")
	SEQUENCE("3", "n1")
	SEQUENCE("4", "n1")
	SEQUENCE("5", "n1")
	SEQUENCE("8", "n1")
	SEQUENCE("9", "n1")
	SEQUENCE("10", "n1")
	SEQUENCE("20", "n2")
	SEQUENCE("30", "n2")
	SEQUENCE("40", "n2")
	SEQUENCE("100", "n2")
	SEQUENCE("300", "n3")
	SEQUENCE("500", "n3")
	SEQUENCE("1000", "n3")
	SEQUENCE("5000", "n4")
	SEQUENCE("20000", "n5")
	SEQUENCE("50000", "n5")
	SEQUENCE("100000", "n5")
	SEQUENCE("1000000", "n6")
	SEQUENCE("100000000", "n8")
	/* MariaDB's KILL USER app */
	"delimiter //\n"
	"create procedure mysql.kill_app() begin\n"
	"declare is_over int default 0; declare id bigint;\n"
	"declare ids cursor for select processlist_id from performance_schema.threads where processlist_user = 'app';\n"
	"declare continue handler for not found set is_over = 1;\n"
	"declare continue handler for 1094 begin end;\n"
	"open ids; each_one: loop fetch ids into id; if is_over then leave each_one; end if; kill id; end loop; end//\n"
	"delimiter ;\n";
/* clang-format on */

/* None: tests use MySQL only if CNT_MYSQL_BIN names it. */
static const char *const oracle_where[] = { NULL };

static int
oracle_write_conf(const struct cnt_server *s, FILE *f)
{
	my_write_common(s, f);
	fputs("mysqlx = 0\n"
	      /* so that the tables of numbers come in order */
	      "optimizer_switch = 'block_nested_loop=off'\n"
	      "secure_file_priv = \"\"\n"
	      "skip_log_bin\n"
	      "innodb_redo_log_capacity = 32M\n",
		f);
	return 0;
}

static void
oracle_init_args(const struct cnt_server *s, struct cnt_argv *a)
{
	add(a, "--no-defaults");
	add(a, "--initialize-insecure");
	add(a, "--datadir=%s/data", s->dir);
	add(a, "--innodb-flush-method=nosync");
	if (geteuid() == 0)
		add(a, "--user=root");
}

/* ------------------------------------------------------------------------- all ----- */

/* What MariaDB and MySQL share. */
#define MY_TYPE                                                                          \
	.backend = "mysql", .setup_database = "mysql", .passfile = MY_PASSFILE,          \
	.may_be_root = 1, .end_signal = SIGTERM, .quick_signal = SIGKILL,                \
	.name_paths = my_name_paths, .run_args = my_run_args, .is_ready = my_is_ready,   \
	.replicates = my_replicates, .follow = my_follow, .sweep = my_sweep

static const struct cnt_server_type types[] = {
	[CNT_POSTGRESQL] = {
		.name = "PostgreSQL",
		.backend = "postgresql",
		.bin_env = "CNT_POSTGRESQL_BIN",
		.names = { "postgres", "initdb", "psql" },
		.where = pg_where,
		.setup = pg_setup,
		.setup_database = "postgres",
		.passfile = "*:*:*:*:" CNT_SERVER_PASSWORD "\n",
		.end_signal = SIGINT,
		.quick_signal = SIGQUIT,
		.name_paths = pg_name_paths,
		.write_conf = pg_write_conf,
		.init_args = pg_init_args,
		.run_args = pg_run_args,
		.client_args = pg_client_args,
		.is_ready = pg_is_ready,
		.replicates = pg_replicates,
		.follow = pg_follow,
		.copy_args = pg_copy_args,
		.sweep = pg_sweep,
	},
	[CNT_MARIADB] = {
		MY_TYPE,
		.name = "MariaDB",
		.bin_env = "CNT_MARIADB_BIN",
		.names = { "mariadbd", "mariadb-install-db", "mariadb" },
		.where = my_where,
		.setup = my_setup,
		.write_conf = my_write_conf,
		.init_args = my_init_args,
		.client_args = mariadb_client_args,
	},
	[CNT_MYSQL] = {
		MY_TYPE,
		.name = "MySQL",
		.bin_env = "CNT_MYSQL_BIN",
		.names = { "mysqld", "mysqld", "mysql" },
		.where = oracle_where,
		.setup = oracle_setup,
		.write_conf = oracle_write_conf,
		.init_args = oracle_init_args,
		.client_args = my_client_args,
	},
};

const struct cnt_server_type *
cnt_server_type(enum cnt_server_kind kind)
{
	if (kind == CNT_MARIADB && cnt_server_is_mysql())
		kind = CNT_MYSQL;
	return &types[kind];
}

bool
cnt_server_is_mysql(void)
{
	return *cnt_env_or(types[CNT_MYSQL].bin_env, "") != '\0';
}

static int
find_in(const char *pattern, const char *name, char path[PATH_MAX])
{
	glob_t found = { 0 };
	int r = -1;
	size_t i;

	/* The last match is the newest version. */
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (i = found.gl_pathc; i > 0 && r < 0; i--) {
			snprintf(path, PATH_MAX, "%.4000s/%s", found.gl_pathv[i - 1],
				name);
			r = access(path, X_OK);
		}
	}
	globfree(&found);
	return r;
}

static int
find_program(const struct cnt_server_type *type, const char *name, char path[PATH_MAX])
{
	const char *bin = cnt_env_or(type->bin_env, "");
	size_t i;

	if (*bin)
		return find_in(bin, name, path);
	for (i = 0; type->where[i]; i++) {
		if (find_in(type->where[i], name, path) == 0)
			return 0;
	}
	return -1;
}

int
cnt_server_find(const struct cnt_server_type *type, struct cnt_programs *ret_programs)
{
	return find_program(type, type->names[0], ret_programs->server) < 0 ||
			       find_program(type, type->names[1], ret_programs->init) <
				       0 ||
			       find_program(type, type->names[2], ret_programs->client) <
				       0
		       ? -1
		       : 0;
}
