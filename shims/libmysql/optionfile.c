/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

#include "optionline.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/*
 * Set options by name: from my.cnf, if the program asks for that, and from MariaDB's connection
 * strings. The original's search order and rules apply; unknown names are ignored. login.c calls
 * this file.
 */

#define LINE_SIZE     4096
#define MAX_INCLUDES  64
#define N_GROUPS_ROOM 5

/* ---- names ---- */

enum how {
	TEXT, /* an empty value removes the option */
	NUMBER,
	SIZE,
	YES_NO, /* 0 unless the value begins with another number */
	ALONE, /* the value is ignored */
	ON, /* 1, unless the value is 0 */
	ONE_OF /* a word of a list, or its number in the list */
};

static const char *const protocols[] = { "DEFAULT", "TCP", "SOCKET", "PIPE", "MEMORY",
	NULL };
#if CMY_ORACLE
static const char *const ssl_modes[] = { "", "DISABLED", "PREFERRED", "REQUIRED",
	"VERIFY_CA", "VERIFY_IDENTITY", NULL };
#endif

static const struct name {
	const char *key;
	int option;
	enum how how;
	const char *const *words;
} names[] = {
	{ "port", CMY_OPT_PORT, NUMBER, NULL },
	{ "socket", CMY_OPT_SOCKET, TEXT, NULL },
	{ "compress", MYSQL_OPT_COMPRESS, ALONE, NULL },
	{ "password", CMY_OPT_PASSWORD, TEXT, NULL },
	{ "user", CMY_OPT_USER, TEXT, NULL },
	{ "init-command", MYSQL_INIT_COMMAND, TEXT, NULL },
	{ "host", CMY_OPT_HOST, TEXT, NULL },
	{ "database", CMY_OPT_DATABASE, TEXT, NULL },
	{ "return-found-rows", CMY_OPT_FOUND_ROWS, ALONE, NULL },
	{ "ssl-key", MYSQL_OPT_SSL_KEY, TEXT, NULL },
	{ "ssl-cert", MYSQL_OPT_SSL_CERT, TEXT, NULL },
	{ "ssl-ca", MYSQL_OPT_SSL_CA, TEXT, NULL },
	{ "ssl-capath", MYSQL_OPT_SSL_CAPATH, TEXT, NULL },
	{ "ssl-cipher", MYSQL_OPT_SSL_CIPHER, TEXT, NULL },
	{ "ssl-crl", MYSQL_OPT_SSL_CRL, TEXT, NULL },
	{ "ssl-crlpath", MYSQL_OPT_SSL_CRLPATH, TEXT, NULL },
	{ "character-sets-dir", MYSQL_SET_CHARSET_DIR, TEXT, NULL },
	{ "default-character-set", MYSQL_SET_CHARSET_NAME, TEXT, NULL },
	{ "interactive-timeout", CMY_OPT_INTERACTIVE, ALONE, NULL },
	{ "connect-timeout", MYSQL_OPT_CONNECT_TIMEOUT, NUMBER, NULL },
	{ "timeout", MYSQL_OPT_CONNECT_TIMEOUT, NUMBER, NULL },
	{ "max-allowed-packet", MYSQL_OPT_MAX_ALLOWED_PACKET, SIZE, NULL },
	{ "multi-results", CMY_OPT_MULTI_RESULTS, ALONE, NULL },
	{ "multi-statements", CMY_OPT_MULTI_STATEMENTS, ALONE, NULL },
	{ "multi-queries", CMY_OPT_MULTI_STATEMENTS, ALONE, NULL },
	{ "plugin-dir", MYSQL_PLUGIN_DIR, TEXT, NULL },
	{ "default-auth", MYSQL_DEFAULT_AUTH, TEXT, NULL },
	{ "bind-address", MYSQL_OPT_BIND, TEXT, NULL },
	{ "tls-version", MYSQL_OPT_TLS_VERSION, TEXT, NULL },
#if CMY_ORACLE
	{ "local-infile", MYSQL_OPT_LOCAL_INFILE, ON, NULL },
	{ "report-data-truncation", MYSQL_REPORT_DATA_TRUNCATION, ON, NULL },
	{ "protocol", MYSQL_OPT_PROTOCOL, ONE_OF, protocols },
	{ "enable-cleartext-plugin", MYSQL_ENABLE_CLEARTEXT_PLUGIN, ON, NULL },
	{ "ssl-mode", MYSQL_OPT_SSL_MODE, ONE_OF, ssl_modes },
	{ "optional-resultset-metadata", MYSQL_OPT_OPTIONAL_RESULTSET_METADATA, ON,
		NULL },
	{ "tls-ciphersuites", MYSQL_OPT_TLS_CIPHERSUITES, TEXT, NULL },
	{ "compression-algorithms", MYSQL_OPT_COMPRESSION_ALGORITHMS, TEXT, NULL },
	{ "zstd-compression-level", MYSQL_OPT_ZSTD_COMPRESSION_LEVEL, NUMBER, NULL },
	{ "load-data-local-dir", MYSQL_OPT_LOAD_DATA_LOCAL_DIR, TEXT, NULL },
	{ "tls-sni-servername", MYSQL_OPT_TLS_SNI_SERVERNAME, TEXT, NULL },
#else
	{ "local-infile", MYSQL_OPT_LOCAL_INFILE, NUMBER, NULL },
	{ "report-data-truncation", MYSQL_REPORT_DATA_TRUNCATION, YES_NO, NULL },
	{ "protocol", MYSQL_OPT_PROTOCOL, ONE_OF, protocols },
	{ "pipe", MYSQL_OPT_NAMED_PIPE, ALONE, NULL },
	{ "net-buffer-length", MYSQL_OPT_NET_BUFFER_LENGTH, SIZE, NULL },
	{ "secure-auth", MYSQL_SECURE_AUTH, YES_NO, NULL },
	{ "reconnect", MYSQL_OPT_RECONNECT, YES_NO, NULL },
	{ "ssl-verify-server-cert", MYSQL_OPT_SSL_VERIFY_SERVER_CERT, YES_NO, NULL },
	{ "ssl-fp", MARIADB_OPT_SSL_FP, TEXT, NULL },
	{ "ssl-fp-list", MARIADB_OPT_SSL_FP_LIST, TEXT, NULL },
	{ "ssl-fplist", MARIADB_OPT_SSL_FP_LIST, TEXT, NULL },
	{ "ssl-passphrase", MARIADB_OPT_TLS_PASSPHRASE, TEXT, NULL },
	{ "server-public-key", MYSQL_SERVER_PUBLIC_KEY, TEXT, NULL },
	{ "ssl-enforce", MYSQL_OPT_SSL_ENFORCE, YES_NO, NULL },
	{ "restricted-auth", MARIADB_OPT_RESTRICTED_AUTH, TEXT, NULL },
	{ "db", CMY_OPT_DATABASE, TEXT, NULL },
	{ "unix-socket", CMY_OPT_SOCKET, TEXT, NULL },
	{ "servername", CMY_OPT_HOST, TEXT, NULL },
	{ "passwd", CMY_OPT_PASSWORD, TEXT, NULL },
	{ "tls-fp", MARIADB_OPT_SSL_FP, TEXT, NULL },
	{ "tls-fplist", MARIADB_OPT_SSL_FP_LIST, TEXT, NULL },
	{ "tls-key", MYSQL_OPT_SSL_KEY, TEXT, NULL },
	{ "tls-cert", MYSQL_OPT_SSL_CERT, TEXT, NULL },
	{ "tls-ca", MYSQL_OPT_SSL_CA, TEXT, NULL },
	{ "tls-capath", MYSQL_OPT_SSL_CAPATH, TEXT, NULL },
	{ "tls-crl", MYSQL_OPT_SSL_CRL, TEXT, NULL },
	{ "tls-crlpath", MYSQL_OPT_SSL_CRLPATH, TEXT, NULL },
	{ "tls-cipher", MYSQL_OPT_SSL_CIPHER, TEXT, NULL },
	{ "tls-passphrase", MARIADB_OPT_TLS_PASSPHRASE, TEXT, NULL },
	{ "tls-enforce", MYSQL_OPT_SSL_ENFORCE, YES_NO, NULL },
	{ "tls-verify-peer", MYSQL_OPT_SSL_VERIFY_SERVER_CERT, YES_NO, NULL },
#endif
};

static const struct name *
find_name(char *key)
{
	for (char *p = key; *p != '\0'; p++) {
		if (*p == '_')
			*p = '-';
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i].key, key) == 0)
			return &names[i];
	}
	return NULL;
}

static unsigned
word_number(const char *const *words, const char *value)
{
	for (unsigned i = 0; words[i] != NULL; i++) {
		if (*value != '\0' && strcasecmp(words[i], value) == 0)
			return i;
	}
	return (unsigned)strtol(value, NULL, 10);
}

/* Set an option by its name. 0, or 1 and the error is set. */
static int
set_by_name(MYSQL *my, const struct name *n, const char *value)
{
	long number = value ? strtol(value, NULL, 10) : 0;
	unsigned as_unsigned = (unsigned)number;
	unsigned long as_size = (unsigned long)number;
	my_bool as_bool = (my_bool)(n->how == ON ? !value || number != 0 : number);

	switch (n->how) {
	case TEXT:
		return cmy_option_set(
			my, n->option, value && *value != '\0' ? value : NULL, NULL);
	case SIZE:
		return cmy_option_set(my, n->option, &as_size, NULL);
	case YES_NO:
		return cmy_option_set(my, n->option, &as_bool, NULL);
	case ON:
		/* the table's members are 32 or 64 bits wide; this works only on little-endian
		 * machines */
		as_unsigned = (unsigned char)as_bool;
		return cmy_option_set(my, n->option, &as_unsigned, NULL);
	case ONE_OF:
		as_unsigned = word_number(n->words, value ? value : "");
		return cmy_option_set(my, n->option, &as_unsigned, NULL);
	case NUMBER:
		return cmy_option_set(my, n->option, &as_unsigned, NULL);
	default:
		return cmy_option_set(my, n->option, NULL, NULL);
	}
}

static int
set_option(MYSQL *my, char *key, const char *value)
{
	const struct name *n = find_name(key);

	return n ? set_by_name(my, n, value) : 0;
}

/* ---- files ---- */

struct search {
	MYSQL *my;
	const char *groups[N_GROUPS_ROOM];
	unsigned depth;
};

static int read_file(struct search *search, const char *path);

/* Read "my.cnf", or ".my.cnf", of a directory. */
static int
read_in(struct search *search, const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path) ||
		access(path, R_OK) != 0)
		return 0;
	return read_file(search, path);
}

static int
on_include(void *user, const char *kind, const char *path)
{
	struct search *search = user;

	if (strcmp(kind, "include") == 0)
		return read_file(search, path);
	if (strcmp(kind, "includedir") == 0)
		return read_in(search, path, "my.cnf");
	return 0;
}

static int
on_option(void *user, char *key, const char *value)
{
	struct search *search = user;

	return set_option(search->my, key, value);
}

/* Read a file. If the file is unreadable, or malformed from some line on, the rest is ignored. -1:
 * no memory. */
static int
read_file(struct search *search, const char *path)
{
	struct cmy_option_reader reader = { .groups = search->groups,
		.on_option = on_option,
		.on_include = on_include,
		.user = search };
	char line[LINE_SIZE];
	FILE *f;
	int r = 0;

	if (search->depth >= MAX_INCLUDES)
		return 0;
	f = fopen(path, "re");
	if (!f)
		return 0;
	search->depth++;
	while (r == 0 && fgets(line, sizeof(line), f))
		r = cmy_option_line(&reader, line);
	search->depth--;
	fclose(f);
	return search->my->net.last_errno == CR_OUT_OF_MEMORY ? -1 : 0;
}

static int
read_standard_files(struct search *search)
{
	/* the original calls getenv(), which would let the user of a setuid program choose the server */
	const char *home = secure_getenv(CMY_ORACLE ? "MYSQL_HOME" : "MARIADB_HOME");
	const char *own = secure_getenv("HOME");

	if (!home)
		home = secure_getenv("MYSQL_HOME");
	if (read_in(search, "/etc", "my.cnf") < 0 ||
		read_in(search, "/etc/mysql", "my.cnf") < 0 ||
		(home && read_in(search, home, "my.cnf") < 0) ||
		(own && read_in(search, own, ".my.cnf") < 0))
		return -1;
	return 0;
}

int
cmy_read_option_files(struct cmy_session *s)
{
	struct st_mysql_options *options = &s->my->options;
	const char *group = options->my_cnf_group;
	const char *path = options->my_cnf_file;
	struct search search = { .my = s->my,
		.groups = { "client", CMY_ORACLE ? group : "client-server",
			CMY_ORACLE ? NULL : "client-mariadb", group, NULL } };
	int r;

	if (!path && !group)
		return 0;
	/* as in the original, the next connect does not read the files again */
	options->my_cnf_file = NULL;
	options->my_cnf_group = NULL;
	cmy_options_from_file(s->options, 1);
	r = path && *path != '\0' ? read_file(&search, path)
				  : read_standard_files(&search);
	cmy_options_from_file(s->options, 0);
	return r;
}

/* ---- MariaDB's connection strings ---- */

#if !CMY_ORACLE

static char *
skip_space(char *p)
{
	while (isspace((unsigned char)*p))
		p++;
	return p;
}

/* Find the end of the value at p: a semicolon, or the closing brace. NULL: there is no end. */
static char *
connection_value(char *p, char **ret_value)
{
	char *to;

	*ret_value = p;
	if (*p != '{')
		return p + strcspn(p, ";");
	*ret_value = to = ++p;
	for (; *p != '\0'; p++) {
		if (*p == '}' && *++p != '}') {
			*to = '\0';
			return skip_space(p);
		}
		*to++ = *p;
	}
	return NULL;
}

/* Read one pair of a connection string. Returns the start of the next pair; NULL: malformed. */
static char *
connection_pair(MYSQL *my, char *p)
{
	char *key = p, *value = NULL, *end = p + strcspn(p, "=;");

	if (end == key)
		return NULL;
	if (*end == '=') {
		*end = '\0';
		end = connection_value(skip_space(end + 1), &value);
	}
	if (!end || (*end != '\0' && *end != ';'))
		return NULL;
	if (*end == ';')
		*end++ = '\0';
	(void)set_option(my, key, value);
	return skip_space(end);
}

int
cmy_read_connection_string(MYSQL *my, const char *text)
{
	char *copy = strdup(text), *p, *next;

	if (!copy) {
		cmy_error(my, CR_OUT_OF_MEMORY, NULL);
		return -1;
	}
	for (p = skip_space(copy); *p != '\0'; p = next) {
		next = connection_pair(my, p);
		if (!next)
			break;
	}
	if (*p != '\0')
		cmy_error_text(my, CR_CONNSTR_PARSE_ERROR, NULL,
			"Parse error in connection string (offset %td)", p - copy);
	free(copy);
	return my->net.last_errno != 0 ? -1 : 0;
}

#endif
