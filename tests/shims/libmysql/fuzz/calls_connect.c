/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* Connecting and closing, what a connection is set to, and what it reports. */

/* ---- LOAD DATA LOCAL: a file that is made up ---- */

struct file {
	const char *text;
	size_t at;
};

static int
file_init(void **handle, const char *name, void *user)
{
	struct file *file = calloc(1, sizeof(*file));

	(void)user;
	if (file == NULL)
		abort();
	*handle = file;
	if (strcmp(name, "rows") != 0)
		return 1;
	file->text = "500\tfive\n501\tsix\n1\tagain\n\\N\tnone\n";
	return 0;
}

static int
file_read(void *handle, char *buffer, unsigned int size)
{
	struct file *file = handle;
	size_t n = strlen(file->text + file->at);

	n = n < size ? n : size;
	n = n < 10 ? n : 10;
	memcpy(buffer, file->text + file->at, n);
	file->at += n;
	return (int)n;
}

static void
file_end(void *handle)
{
	free(handle);
}

static int
file_error(void *handle, char *message, unsigned int size)
{
	(void)handle;
	snprintf(message, size, "there is no such file");
	return 2;
}

/* ---- from connecting to closing ---- */

static void
set_before_connecting(struct fz *z, struct fz_conn *c, uint32_t number)
{
	static const char *const charsets[] = { "utf8mb4", "latin1", "gbk", "cp1251" };
	my_bool on = 1;
	unsigned infile = 1;

	z->f.mysql_options(c->my, MYSQL_OPT_LOCAL_INFILE, &infile);
	z->f.mysql_set_local_infile_handler(
		c->my, file_init, file_read, file_end, file_error, NULL);
	/* pools of other servers refuse most character sets */
	if (number % (z->is_elsewhere ? 40 : 3) == 0)
		z->f.mysql_options(
			c->my, MYSQL_SET_CHARSET_NAME, charsets[number / 3 % 4]);
	if (number % (z->is_elsewhere ? 50 : 7) == 0)
		z->f.mysql_options(
			c->my, MYSQL_INIT_COMMAND, fz_query_word(z, number / 7));
	if (number % 5 == 0)
		z->f.mysql_options(c->my, MYSQL_OPT_RECONNECT, &on);
	c->is_async = 0;
#if !CMY_ORACLE
	c->is_async = number % 2;
	if (c->is_async)
		z->f.mysql_options(c->my, MYSQL_OPT_NONBLOCK, NULL);
#endif
}

void
fz_connect(struct fz *z, const uint32_t n[4])
{
	static const unsigned long flags[] = { CLIENT_MULTI_STATEMENTS, 0,
		CLIENT_MULTI_STATEMENTS | CLIENT_MULTI_RESULTS, CLIENT_REMEMBER_OPTIONS };
	struct fz_conn *c = z->at;
	const char *db = n[2] % 8 ? "app" : FZ_PICK(databases, n[2] / 8);
	MYSQL *made = NULL;

	if (c->my == NULL) {
		c->my = z->f.mysql_init(NULL);
		set_before_connecting(z, c, n[1]);
		z->is_async = c->is_async && n[3] % 2;
	}
	c->was_connected = 1;
	fz_say(z, " database %s flags %lx", db, flags[n[3] / 4 % 4]);
	FZ_DO(z, c->my, made, mysql_real_connect, c->my, NULL, "app", NULL, db, 0,
		z->socket, flags[n[3] / 4 % 4]);
	fz_say(z, " -> %s\n", made == c->my ? "connected" : "not");
}

void
fz_init_only(struct fz *z, const uint32_t n[4])
{
	struct fz_conn *c = z->at;

	fz_say(z, "\n");
	if (c->my != NULL)
		return;
	c->my = z->f.mysql_init(NULL);
	set_before_connecting(z, c, n[1]);
}

void
fz_close_conn(struct fz *z, struct fz_conn *c)
{
	if (c->my == NULL)
		return;
	/* the original would read from freed memory */
	for (unsigned i = 0; i < FZ_RESULTS; i++) {
		if (c->results[i].is_used)
			fz_drop_result(z, &c->results[i]);
	}
#if !CMY_ORACLE
	if (z->is_async) {
		int wants = z->f.mysql_close_start(c->my);

		while (wants != 0)
			wants = z->f.mysql_close_cont(c->my, fz_wait(z, wants));
		c->my = NULL;
	}
#endif
	z->f.mysql_close(c->my);
	c->my = NULL;
	c->is_async = 0;
	c->is_sent = 0;
	c->has_listed = 0;
	c->has_selected = 0;
	c->was_connected = 0;
	c->state[0] = '\0';
}

void
fz_close(struct fz *z, const uint32_t n[4])
{
	(void)n;
	fz_say(z, "\n");
	fz_close_conn(z, z->at);
}

/* ---- the session ---- */

#define PLAIN(name, type)                                                                \
	void fz_##name(struct fz *z, const uint32_t n[4])                                \
	{                                                                                \
		type r = 0;                                                              \
		(void)n;                                                                 \
		FZ_DO(z, z->at->my, r, mysql_##name, z->at->my);                         \
		fz_gave_status(z, r);                                                    \
	}
PLAIN(ping, int)
PLAIN(commit, my_bool)
PLAIN(rollback, my_bool)

void
fz_select_db(struct fz *z, const uint32_t n[4])
{
	const char *db = FZ_PICK(databases, n[1]);
	int r = 0;

	fz_say(z, " %s", db);
	FZ_DO(z, z->at->my, r, mysql_select_db, z->at->my, db);
	z->at->has_selected |= r == 0;
	fz_gave_status(z, r);
}

void
fz_change_user(struct fz *z, const uint32_t n[4])
{
	const char *db = n[1] % 4 ? FZ_PICK(databases, n[1] / 4) : NULL;
	my_bool r = 0;

	fz_say(z, " ");
	fz_say_text(z, db);
	FZ_DO(z, z->at->my, r, mysql_change_user, z->at->my, "app", "", db);
	fz_gave_status(z, r);
}

void
fz_reset_connection(struct fz *z, const uint32_t n[4])
{
	int r = 0;

	(void)n;
	FZ_DO(z, z->at->my, r, mysql_reset_connection, z->at->my);
	fz_gave_status(z, r);
	/*
	 * The original ignores the server's status in that answer, and does not know that the
	 * character set is again that of the login.
	 */
	if (r == 0)
		(void)z->f.mysql_set_character_set(
			z->at->my, z->f.mysql_character_set_name(z->at->my));
}

void
fz_set_charset(struct fz *z, const uint32_t n[4])
{
	const char *name = FZ_PICK(charsets, n[1]);
	int r = 0;

	fz_say(z, " %s", name);
	FZ_DO(z, z->at->my, r, mysql_set_character_set, z->at->my, name);
	fz_gave_status(z, r);
}

void
fz_set_server_option(struct fz *z, const uint32_t n[4])
{
	static const enum enum_mysql_set_option options[] = {
		MYSQL_OPTION_MULTI_STATEMENTS_ON, MYSQL_OPTION_MULTI_STATEMENTS_OFF,
		(enum enum_mysql_set_option)7
	};
	int r = 0;

	fz_say(z, " %d", (int)options[n[1] % 3]);
	FZ_DO(z, z->at->my, r, mysql_set_server_option, z->at->my, options[n[1] % 3]);
	fz_gave_status(z, r);
}

void
fz_set_option(struct fz *z, const uint32_t n[4])
{
	my_bool on = n[2] % 2 != 0;
	unsigned seconds = n[2] % 2 ? 20 : 0;

	fz_say(z, " %u %u", n[1] % 3, n[2] % 2);
	if (n[1] % 3 == 0)
		fz_gave_status(
			z, z->f.mysql_options(z->at->my, MYSQL_OPT_RECONNECT, &on));
	else if (n[1] % 3 == 1)
		fz_gave_status(z,
			z->f.mysql_options(z->at->my, MYSQL_REPORT_DATA_TRUNCATION, &on));
	else
		fz_gave_status(z,
			z->f.mysql_options(z->at->my, MYSQL_OPT_READ_TIMEOUT, &seconds));
}

void
fz_autocommit(struct fz *z, const uint32_t n[4])
{
	my_bool r = 0;

	fz_say(z, " %u", n[1] % 2);
	FZ_DO(z, z->at->my, r, mysql_autocommit, z->at->my, n[1] % 2 != 0);
	fz_gave_status(z, r);
}

/* ---- what the connection reports ---- */

void
fz_infos(struct fz *z, const uint32_t n[4])
{
	MYSQL *my = z->at->my;
	const char *server = z->f.mysql_get_server_info(my);

	(void)n;
	fz_say(z, " host ");
	fz_say_text(z, z->f.mysql_get_host_info(my));
	fz_say(z, " server ");
	/* MariaDB's server adds "5.5.5-" for old replicas; MariaDB's library and the pool leave it
	 * out */
	if (CMY_ORACLE && strncmp(server, "5.5.5-", 6) == 0)
		server += 6;
	fz_say_text(z, server);
	fz_say(z, " %lu protocol %u", CMY_ORACLE ? 0 : z->f.mysql_get_server_version(my),
		z->f.mysql_get_proto_info(my));
	fz_gave_text(z, getenv("CHECK_TLS") ? NULL : z->f.mysql_get_ssl_cipher(my));
}

#define MAX_TRACKED 24

static int
compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Copy a text that has no zero byte. */
static char *
copy(const char *data, size_t len)
{
	char *text = malloc(len + 1);

	if (text == NULL)
		abort();
	memcpy(text, data, len);
	text[len] = '\0';
	return text;
}

/* Collect the changes of one kind; a variable's name and value belong together. */
static unsigned
collect(struct fz *z, enum enum_session_state_type type, char *list[MAX_TRACKED])
{
	const char *data = NULL;
	size_t len = 0;
	unsigned n = 0;
	int r = z->f.mysql_session_track_get_first(z->at->my, type, &data, &len);

	for (unsigned i = 0; r == 0 && n < MAX_TRACKED; i++) {
		if (type == SESSION_TRACK_SYSTEM_VARIABLES && i % 2 == 1) {
			char *both = malloc(strlen(list[n - 1]) + len + 2);

			if (both == NULL)
				abort();
			sprintf(both, "%s=%.*s", list[n - 1], (int)len, data);
			free(list[n - 1]);
			list[n - 1] = both;
		} else {
			list[n++] = copy(data, len);
		}
		r = z->f.mysql_session_track_get_next(z->at->my, type, &data, &len);
	}
	return n;
}

/* MariaDB's server counts the pool's change of multi statements as a result that was sent. Hide
 * that. */
static void
hide_result_sent(char *state)
{
	char *sent = strchr(state, 'S');

	if (sent != NULL)
		*sent = '_';
}

/* Whether a prepared statement reported the database: Oracle's protocol reports it with the rows. */
static int
is_told_behind_rows(const struct fz *z)
{
	return CMY_ORACLE && z->at->sql != NULL &&
	       strncmp(z->at->sql, "execute ", 8) == 0;
}

/* Servers report variables in any order, so sort them. */
void
fz_track(struct fz *z, const uint32_t n[4])
{
	char *list[MAX_TRACKED];

	(void)n;
	fz_say(z, "\n");
	for (int type = 0; type < CMY_SESSION_TRACK_KINDS; type++) {
		unsigned count;

		/* Oracle's protocol also reports this after rows, the pool only after a
		 * statement without rows */
		if (type == SESSION_TRACK_TRANSACTION_STATE &&
			(CMY_ORACLE || z->at->has_listed))
			continue;
		if (type == SESSION_TRACK_SCHEMA &&
			(!fz_has_database(z, z->at) || is_told_behind_rows(z)))
			continue;
		if (type == SESSION_TRACK_STATE_CHANGE && CMY_ORACLE &&
			z->at->has_selected)
			continue;
		count = collect(z, (enum enum_session_state_type)type, list);

		qsort(list, count, sizeof(list[0]), compare_texts);
		for (unsigned i = 0; i < count; i++) {
			if (type == SESSION_TRACK_TRANSACTION_STATE)
				hide_result_sent(list[i]);
			fz_say(z, "    track %d %s\n", type, list[i]);
			free(list[i]);
		}
	}
}

void
fz_charset_info(struct fz *z, const uint32_t n[4])
{
	MY_CHARSET_INFO info;

	(void)n;
	memset(&info, 0, sizeof(info));
	z->f.mysql_get_character_set_info(z->at->my, &info);
	fz_say(z, " %u %s %s %u %u\n", info.number, info.csname, info.name, info.mbminlen,
		info.mbmaxlen);
}

void
fz_escape(struct fz *z, const uint32_t n[4])
{
	const char *text = FZ_PICK(texts, n[1]);
	unsigned long len = (unsigned long)strlen(text);
	char to[256] = "";

	fz_say(z, " ");
	fz_say_text(z, text);
	if (n[2] % 4 == 0)
		len = z->f.mysql_escape_string(to, text, len);
	else if (n[2] % 4 == 1)
		len = z->f.mysql_hex_string(to, text, len);
#if CMY_ORACLE
	else if (n[2] % 4 == 2)
		len = z->f.mysql_real_escape_string_quote(
			z->at->my, to, text, len, "'\"`"[n[3] % 3]);
#endif
	else
		len = z->f.mysql_real_escape_string(z->at->my, to, text, len);
	fz_say(z, " -> %ld ", (long)len);
	fz_say_text(z, to);
	fz_say(z, "\n");
}
