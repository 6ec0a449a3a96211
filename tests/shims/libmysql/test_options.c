/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/cnt_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library.h"
#include "older.h"
#include "shims/libmysql/libmysql.h"

/* Options and errors without a server: the original and ours get the same calls, and
 * must report the same. */

static struct cmy_original libraries[2]; /* the original, ours */
#define THEIRS 0
#define OURS   1

/* ---- one by one ---- */

enum kind {
	UINT,
	BOOL,
	SIZE,
	TEXT
};

static const struct {
	int option;
	enum kind kind;
} options[] = { { MYSQL_OPT_CONNECT_TIMEOUT, UINT }, { MYSQL_OPT_READ_TIMEOUT, UINT },
	{ MYSQL_OPT_WRITE_TIMEOUT, UINT }, { MYSQL_OPT_PROTOCOL, UINT },
	{ MYSQL_OPT_LOCAL_INFILE, UINT }, { MYSQL_OPT_RECONNECT, BOOL },
	{ MYSQL_REPORT_DATA_TRUNCATION, BOOL }, { MYSQL_SECURE_AUTH, BOOL },
	{ MYSQL_OPT_SSL_ENFORCE, BOOL }, { MYSQL_OPT_CAN_HANDLE_EXPIRED_PASSWORDS, BOOL },
	{ MARIADB_OPT_CONNECTION_READ_ONLY, BOOL },
	{ MYSQL_OPT_MAX_ALLOWED_PACKET, SIZE }, { MYSQL_OPT_NET_BUFFER_LENGTH, SIZE },
	{ MYSQL_READ_DEFAULT_FILE, TEXT }, { MYSQL_READ_DEFAULT_GROUP, TEXT },
	{ MYSQL_PLUGIN_DIR, TEXT }, { MYSQL_DEFAULT_AUTH, TEXT },
	{ MYSQL_OPT_BIND, TEXT }, { MYSQL_OPT_SSL_KEY, TEXT },
	{ MYSQL_OPT_SSL_CERT, TEXT }, { MYSQL_OPT_SSL_CA, TEXT },
	{ MYSQL_OPT_SSL_CAPATH, TEXT }, { MYSQL_OPT_SSL_CIPHER, TEXT },
	{ MYSQL_OPT_SSL_CRL, TEXT }, { MYSQL_OPT_SSL_CRLPATH, TEXT },
	{ MYSQL_SERVER_PUBLIC_KEY, TEXT }, { MARIADB_OPT_SSL_FP, TEXT },
	{ MARIADB_OPT_SSL_FP_LIST, TEXT }, { MARIADB_OPT_TLS_PASSPHRASE, TEXT },
	{ MARIADB_OPT_TLS_VERSION, TEXT }, { MARIADB_OPT_CONNECTION_HANDLER, TEXT } };

/* Write what the library reports for an option to `out`, as text. */
static void
show(struct cmy_original *f, MYSQL *my, size_t i, char *out, size_t size)
{
	union {
		unsigned number;
		my_bool flag;
		unsigned long length;
		const char *text;
	} value;
	int r;

	memset(&value, 0, sizeof(value));
	r = f->mysql_get_option(my, options[i].option, &value);
	if (r != 0)
		snprintf(out, size, "%d failed", options[i].option);
	else if (options[i].kind == TEXT)
		snprintf(out, size, "%d %s", options[i].option,
			cnt_older_text(value.text) ? cnt_older_text(value.text) : "NULL");
	else
		snprintf(out, size, "%d %lu", options[i].option,
			options[i].kind == UINT   ? value.number
			: options[i].kind == BOOL ? (unsigned long)value.flag
						  : value.length);
}

static void
compare_told(MYSQL **my)
{
	char told[2][256];

	for (size_t i = 0; i < CNT_COUNT(options); i++) {
		for (int k = 0; k < 2; k++)
			show(&libraries[k], my[k], i, told[k], sizeof(told[k]));
		assert_string_equal(told[OURS], told[THEIRS]);
	}
}

static int
set(struct cmy_original *f, MYSQL *my, size_t i, unsigned long number, const char *text)
{
	unsigned as_unsigned = (unsigned)number;
	my_bool as_bool = (my_bool)(number & 1);

	switch (options[i].kind) {
	case UINT:
		return f->mysql_options(my, options[i].option, &as_unsigned);
	case BOOL:
		return f->mysql_options(my, options[i].option, &as_bool);
	case SIZE:
		return f->mysql_options(my, options[i].option, &number);
	default:
		return f->mysql_options(my, options[i].option, text);
	}
}

/* Compare the members that must be equal: all except pointers that each library uses for itself. */
static void
compare_public(MYSQL **my)
{
	const struct st_mysql_options *a = &my[THEIRS]->options, *b = &my[OURS]->options;
	const struct {
		const char *theirs, *ours;
	} texts[] = { { a->host, b->host }, { a->user, b->user },
		{ a->password, b->password }, { a->unix_socket, b->unix_socket },
		{ a->db, b->db }, { a->my_cnf_file, b->my_cnf_file },
		{ a->my_cnf_group, b->my_cnf_group }, { a->charset_dir, b->charset_dir },
		{ a->charset_name, b->charset_name }, { a->ssl_key, b->ssl_key },
		{ a->ssl_cert, b->ssl_cert }, { a->ssl_ca, b->ssl_ca },
		{ a->ssl_capath, b->ssl_capath }, { a->ssl_cipher, b->ssl_cipher },
		{ a->bind_address, b->bind_address } };

	for (size_t i = 0; i < CNT_COUNT(texts); i++) {
		const char *theirs = cnt_older_text(texts[i].theirs);
		const char *ours = cnt_older_text(texts[i].ours);

		assert_int_equal(!theirs, !ours);
		if (theirs)
			assert_string_equal(ours, theirs);
	}
	assert_int_equal(b->connect_timeout, a->connect_timeout);
	assert_int_equal(b->read_timeout, a->read_timeout);
	assert_int_equal(b->write_timeout, a->write_timeout);
	assert_int_equal(b->port, a->port);
	assert_int_equal(b->protocol, a->protocol);
	assert_int_equal(b->client_flag, a->client_flag);
	assert_int_equal(b->max_allowed_packet, a->max_allowed_packet);
	assert_int_equal(b->use_ssl, a->use_ssl);
	assert_int_equal(b->compress, a->compress);
	assert_int_equal(b->reconnect, a->reconnect);
	assert_int_equal(b->secure_auth, a->secure_auth);
	assert_int_equal(b->report_data_truncation, a->report_data_truncation);
}

static void
make_both(MYSQL **my)
{
	for (int k = 0; k < 2; k++) {
		my[k] = libraries[k].mysql_init(NULL);
		assert_non_null(my[k]);
	}
}

static void
close_both(MYSQL **my)
{
	for (int k = 0; k < 2; k++)
		libraries[k].mysql_close(my[k]);
}

static void
each_option_is_kept_where_the_original_keeps_it(void **state)
{
	static const char *const texts[] = { "first", "another", NULL };
	MYSQL *my[2];

	make_both(my);
	compare_told(my);
	compare_public(my);
	for (size_t n = 0; n < CNT_COUNT(texts); n++) {
		for (size_t i = 0; i < CNT_COUNT(options); i++) {
			if (options[i].kind != TEXT && !texts[n])
				continue;
			assert_int_equal(
				set(&libraries[OURS], my[OURS], i, 3 + n, texts[n]),
				set(&libraries[THEIRS], my[THEIRS], i, 3 + n, texts[n]));
		}
		compare_told(my);
		compare_public(my);
	}
	close_both(my);
}

static void
what_is_no_option_is_refused(void **state)
{
	MYSQL *my[2];

	make_both(my);
	for (int k = 0; k < 2; k++) {
		assert_int_equal(libraries[k].mysql_options(my[k], 4711, "x"), 1);
		assert_int_equal(my[k]->net.last_errno, CR_NOT_IMPLEMENTED);
		assert_int_equal(libraries[k].mysql_options4(
					 my[k], MYSQL_OPT_CONNECT_ATTR_ADD, "", "x"),
			1);
		assert_int_equal(my[k]->net.last_errno, CR_INVALID_PARAMETER_NO);
	}
	assert_string_equal(my[OURS]->net.last_error, my[THEIRS]->net.last_error);
	close_both(my);
}

static void
attributes_are_listed(void **state)
{
	const char *names[8] = { NULL }, *values[8] = { NULL };
	const char **name = names, **value = values;
	MYSQL *my[2];
	unsigned n;

	make_both(my);
	for (int k = 0; k < 2; k++) {
		struct cmy_original *f = &libraries[k];

		f->mysql_options4(my[k], MYSQL_OPT_CONNECT_ATTR_ADD, "program", "test");
		f->mysql_options4(my[k], MYSQL_OPT_CONNECT_ATTR_ADD, "other", "1");
		f->mysql_options(my[k], MYSQL_OPT_CONNECT_ATTR_DELETE, "other");
		n = 77;
		assert_int_equal(f->mysql_get_optionv(my[k], MYSQL_OPT_CONNECT_ATTRS,
					 &name, &value, &n),
			0);
		assert_int_equal(n, 1);
		assert_string_equal(names[0], "program");
		assert_string_equal(values[0], "test");
		f->mysql_options(my[k], MYSQL_OPT_CONNECT_ATTR_RESET, NULL);
		f->mysql_get_optionv(my[k], MYSQL_OPT_CONNECT_ATTRS, &name, &value, &n);
		assert_int_equal(n, 0);
	}
	close_both(my);
}

/* ---- option files ---- */

static const char file_text[] = "# comment\n"
				"[client]\n"
				"port=3307\n"
				" user = \"app\" \n"
				"password='a b\\tc'\n"
				"database=app\n"
				"init-command=set @a=1\n"
				"init_command = \"set @b='x'\"\n"
				"connect-timeout=7\n"
				"default-character-set=latin1\n"
				"reconnect\n"
				"report-data-truncation=0\n"
				"multi-statements=0\n"
				"ssl-ca=/x/ca.pem\n"
				"plugin_dir=/p\\\\q\\n\n"
				"max-allowed-packet=16M\n"
				"unknown-key=3\n"
				"[mysql]\n"
				"port=1\n"
				"[group]\n"
				"bind-address=1.2.3.4\n"
				"secure-auth=1\n"
				"default-auth=\n"
				"\"\n"
				"port=9\n"
				"\"\n"
				"[client-mariadb]\n"
				"tls-fp=AA\n"
				"compress=1\n"
				"\\escaped=2\n"
				"[client-server]\n"
				"ssl-key='\n"
				"ssl-cert=\"\"x\"\n";

static void
write_file(const char *path, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(file_text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

/* Connecting reads the file, and then fails, because there is no server. */
static void
read_file(struct cmy_original *f, MYSQL *my, const char *path)
{
	f->mysql_options(my, MYSQL_READ_DEFAULT_FILE, path);
	f->mysql_options(my, MYSQL_READ_DEFAULT_GROUP, "group");
	assert_null(f->mysql_real_connect(
		my, NULL, NULL, NULL, NULL, 0, "/nowhere", CLIENT_REMEMBER_OPTIONS));
}

static void
compare_init_commands(MYSQL **my)
{
	char **commands[2];
	unsigned n[2];

	for (int k = 0; k < 2; k++)
		libraries[k].mysql_get_optionv(
			my[k], MYSQL_INIT_COMMAND, &commands[k], &n[k]);
	assert_int_equal(n[OURS], n[THEIRS]);
	for (unsigned i = 0; i < n[OURS]; i++)
		assert_string_equal(commands[OURS][i], commands[THEIRS][i]);
}

/* Whether the cut leaves an init command without a command: the original crashes there. */
static int
has_cut_command(size_t len)
{
	size_t begin = len;

	while (begin > 0 && file_text[begin - 1] != '\n')
		begin--;
	return len - begin >= strlen("init-command") &&
	       strncmp(file_text + begin, "init", 4) == 0;
}

static void
a_file_is_read_the_same_wherever_it_is_cut(void **state)
{
	char path[] = "/tmp/cnt-my-cnf-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	for (size_t len = 0; len < sizeof(file_text); len++) {
		MYSQL *my[2];

		if (has_cut_command(len))
			continue;
		write_file(path, len);
		make_both(my);
		for (int k = 0; k < 2; k++)
			read_file(&libraries[k], my[k], path);
		compare_public(my);
		compare_told(my);
		compare_init_commands(my);
		close_both(my);
	}
	unlink(path);
}

/* ---- error messages ---- */

static void
errors_have_the_words_of_the_original(void **state)
{
	const char **list[2];
	MYSQL *my[2];

	make_both(my);
	for (int k = 0; k < 2; k++)
		assert_int_equal(libraries[k].mariadb_get_infov(
					 my[k], MARIADB_CLIENT_ERRORS, &list[k]),
			0);
	for (int i = 0; i <= CR_DUPLICATE_CONNECTION_ATTR - CR_UNKNOWN_ERROR; i++)
		assert_string_equal(list[OURS][i], list[THEIRS][i]);
	close_both(my);
}

static int
setup(void **state)
{
	setenv("CENOTE_SERVER", "unix:/nowhere", 1);
	setenv("CENOTE_POOL", "main", 1);
	unsetenv("CENOTE_FALLBACK");
	unsetenv("MYSQL_PWD");
	cnt_older_note(cnt_library_original(CNT_ORIGINAL_LIBMARIADB));
	cnt_library_open(
		&libraries[THEIRS], cnt_library_original(CNT_ORIGINAL_LIBMARIADB));
	cnt_library_open(&libraries[OURS], CNT_OUR_LIBMARIADB);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_option_is_kept_where_the_original_keeps_it),
		cmocka_unit_test(what_is_no_option_is_refused),
		cmocka_unit_test(attributes_are_listed),
		cmocka_unit_test(a_file_is_read_the_same_wherever_it_is_cut),
		cmocka_unit_test(errors_have_the_words_of_the_original),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
