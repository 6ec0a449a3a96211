/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"

#include <string.h>

/* The table of the flavour's options, after the functions of the options that must do more than
 * record a value. options.c looks options up here. */

/* ---- options with functions of their own ---- */

static size_t
stored_length(size_t length)
{
	return length + (length < 251 ? 1 : length < 65536 ? 3 : 4);
}

static size_t
attributes_length(const struct cmy_options *o, const struct option *what)
{
	size_t sum = 0;

	for (size_t i = 0; i < o->n; i++) {
		if (o->records[i].what == what)
			sum += stored_length(strlen(o->records[i].first)) +
			       stored_length(strlen(o->records[i].second));
	}
	return sum;
}

static size_t
find_named(const struct cmy_options *o, const struct option *what, const char *name)
{
	size_t i;

	for (i = 0; i < o->n; i++) {
		if (o->records[i].what == what && strcmp(o->records[i].first, name) == 0)
			break;
	}
	return i;
}

static int
add_attribute(struct cmy_options *o, const struct option *what, const void *first,
	const void *second)
{
	const char *name = first ? first : "", *value = second ? second : "";

	if (*name == '\0' || (!CMY_ORACLE && *value == '\0'))
		return cmy_option_refuse(o, CR_INVALID_PARAMETER_NO);
	if (attributes_length(o, what) + stored_length(strlen(name)) +
			stored_length(strlen(value)) >
		65535)
		return cmy_option_refuse(o, CR_INVALID_PARAMETER_NO);
	if (CMY_ORACLE && find_named(o, what, name) < o->n)
		return cmy_option_refuse(o, CR_DUPLICATE_CONNECTION_ATTR);
	return cmy_option_record(o, what, name, value);
}

static int
delete_attribute(struct cmy_options *o, const struct option *what, const void *first,
	const void *second)
{
	size_t i;

	(void)second;
	what = cmy_option_find(MYSQL_OPT_CONNECT_ATTR_ADD);
	i = first ? find_named(o, what, first) : o->n;
	if (i < o->n)
		cmy_option_remove(o, i);
	return 0;
}

static int
reset_attributes(struct cmy_options *o, const struct option *what, const void *first,
	const void *second)
{
	(void)first;
	(void)second;
	what = cmy_option_find(MYSQL_OPT_CONNECT_ATTR_ADD);
	for (size_t i = o->n; i > 0; i--) {
		if (o->records[i - 1].what == what)
			cmy_option_remove(o, i - 1);
	}
	return 0;
}

static int
get_charset(struct cmy_options *o, void *arg, void *more, unsigned *n)
{
	(void)more;
	(void)n;
	*(const char **)arg = !CMY_ORACLE && o->my->charset ? o->my->charset->csname
							    : o->my->options.charset_name;
	return 0;
}

static int
get_infile(struct cmy_options *o, void *arg, void *more, unsigned *n)
{
	(void)more;
	(void)n;
	*(unsigned *)arg = (o->my->options.client_flag & CLIENT_LOCAL_FILES) != 0;
	return 0;
}

static int
set_max_packet(struct cmy_options *o, const struct option *what, const void *first,
	const void *second)
{
	memcpy(&o->my->options.max_allowed_packet, first, sizeof(unsigned long));
	return cmy_option_record(o, what, first, second);
}

static int
get_max_packet(struct cmy_options *o, void *arg, void *more, unsigned *n)
{
	(void)more;
	(void)n;
	*(unsigned long *)arg = o->my->options.max_allowed_packet;
	return 0;
}

static int
set_net_buffer(struct cmy_options *o, const struct option *what, const void *first,
	const void *second)
{
	(void)o;
	(void)what;
	(void)second;
	memcpy(&cmy_net_buffer_length, first, sizeof(unsigned long));
	return 0;
}

static int
get_net_buffer(struct cmy_options *o, void *arg, void *more, unsigned *n)
{
	(void)o;
	(void)more;
	(void)n;
	*(unsigned long *)arg = cmy_net_buffer_length;
	return 0;
}

#if CMY_ORACLE

static int
set_pipe(struct cmy_options *o, const struct option *what, const void *first,
	const void *second)
{
	(void)what;
	(void)first;
	(void)second;
	o->my->options.protocol = CMY_PROTOCOL_PIPE;
	return 0;
}

static int
set_compression(struct cmy_options *o, const struct option *what, const void *first,
	const void *second)
{
	int on = first && (strstr(first, "zlib") || strstr(first, "zstd"));

	o->my->options.compress = on;
	cmy_option_flag(o->my, CLIENT_COMPRESS, first && strstr(first, "zlib"));
	return cmy_option_record(o, what, first, second);
}

static int
get_nothing(struct cmy_options *o, void *arg, void *more, unsigned *n)
{
	(void)o;
	(void)arg;
	(void)more;
	(void)n;
	return 1;
}

#else

static int
set_nonblock(struct cmy_options *o, const struct option *what, const void *first,
	const void *second)
{
	size_t size = 0;

	if (first)
		memcpy(&size, first, sizeof(size));
	if (cmy_fibre_want(o->my->extension, size) < 0)
		return 1;
	return cmy_option_record(o, what, first, second);
}

static int
get_nonblock(struct cmy_options *o, void *arg, void *more, unsigned *n)
{
	const struct cmy_session *s = o->my->extension;

	(void)more;
	(void)n;
	*(my_bool *)arg = cmy_bool(s->fibre != NULL);
	return 0;
}

static int
set_userdata(struct cmy_options *o, const struct option *what, const void *first,
	const void *second)
{
	size_t i;

	if (!first || !second)
		return cmy_option_refuse(o, CR_INVALID_PARAMETER_NO);
	i = find_named(o, what, first);
	if (i == o->n)
		return cmy_option_record(o, what, first, second);
	o->records[i].second = (void *)second;
	return 0;
}

/* Get an attribute: `arg` is its name; the value goes to `more`. */
static int
get_userdata(struct cmy_options *o, void *arg, void *more, unsigned *n)
{
	const struct option *what = cmy_option_find(MARIADB_OPT_USERDATA);
	size_t i = arg ? find_named(o, what, arg) : o->n;

	(void)n;
	if (more)
		*(void **)more = i < o->n ? o->records[i].second : NULL;
	return 0;
}

/* Put the names into *arg and the values into *more, if the program gave arrays. */
static int
get_attributes(struct cmy_options *o, void *arg, void *more, unsigned *n)
{
	const struct option *what = cmy_option_find(MYSQL_OPT_CONNECT_ATTR_ADD);
	char **names = arg ? *(char ***)arg : NULL;
	char **values = more ? *(char ***)more : NULL;

	if (!n)
		return 1;
	*n = 0;
	for (size_t i = 0; i < o->n; i++) {
		if (o->records[i].what != what)
			continue;
		if (names)
			names[*n] = o->records[i].first;
		if (values)
			values[*n] = o->records[i].second;
		++*n;
	}
	return 0;
}

/* Put the commands into *arg, and their number into `more`. */
static int
get_init_commands(struct cmy_options *o, void *arg, void *more, unsigned *n)
{
	unsigned count;

	(void)n;
	if (cmy_init_commands(o, &count) < 0)
		return 1;
	if (arg)
		*(char ***)arg = count > 0 ? o->init_commands : NULL;
	if (more)
		*(unsigned *)more = count;
	return 0;
}

static int
get_nothing(struct cmy_options *o, void *arg, void *more, unsigned *n)
{
	(void)o;
	(void)more;
	(void)n;
	*(void **)arg = NULL;
	return 0;
}

/* Two NULLs remove the function and its data. If only one is NULL, that one stays unchanged. */
static int
set_status_callback(struct cmy_options *o, const struct option *what, const void *first,
	const void *second)
{
	struct cmy_session *s = o->my->extension;
	int is_none = !first && !second;

	if (first || is_none)
		memcpy(&s->on_status, &first, sizeof(first));
	if (second || is_none)
		s->status_data = (void *)second;
	memcpy(&first, &s->on_status, sizeof(first));
	return cmy_option_record(o, what, first, s->status_data);
}

static int
set_progress_callback(struct cmy_options *o, const struct option *what, const void *first,
	const void *second)
{
	struct cmy_session *s = o->my->extension;

	memcpy(&s->on_progress, &first, sizeof(first));
	cmy_progress_is_wanted(s);
	return cmy_option_record(o, what, first, second);
}

static int
set_io_wait(struct cmy_options *o, const struct option *what, const void *first,
	const void *second)
{
	struct cmy_session *s = o->my->extension;

	memcpy(&s->io_wait, &first, sizeof(first));
	if (s->conn)
		cmy_choose_wait(s);
	return cmy_option_record(o, what, first, second);
}

static int
set_fingerprint(struct cmy_options *o, const struct option *what, const void *first,
	const void *second)
{
	o->my->options.use_ssl = 1;
	return cmy_option_record(o, what, first, second);
}

#endif

/* ---- the table ---- */

#define IN(member)      .at = offsetof(MYSQL, member)
#define IN_OPT(member)  .at = offsetof(MYSQL, options.member)
#define CLIENT_EXPIRED  (1UL << 22)
#define CLIENT_OPT_META (1UL << 25)

static const struct option table[] = {
	{ MYSQL_OPT_CONNECT_TIMEOUT, KIND_UINT, IN_OPT(connect_timeout) },
	{ MYSQL_OPT_COMPRESS, KIND_NONE, IN_OPT(compress), .flag = CLIENT_COMPRESS },
	{ MYSQL_READ_DEFAULT_FILE, KIND_TEXT, IN_OPT(my_cnf_file) },
	{ MYSQL_READ_DEFAULT_GROUP, KIND_TEXT, IN_OPT(my_cnf_group) },
	{ MYSQL_OPT_LOCAL_INFILE, KIND_UINT, .is_optional = 1, .flag = CLIENT_LOCAL_FILES,
		.get = get_infile },
	{ MYSQL_OPT_PROTOCOL, KIND_UINT, IN_OPT(protocol) },
	{ MYSQL_OPT_READ_TIMEOUT, KIND_UINT, IN_OPT(read_timeout) },
	{ MYSQL_OPT_WRITE_TIMEOUT, KIND_UINT, IN_OPT(write_timeout) },
	{ MYSQL_SET_CHARSET_NAME, KIND_TEXT, IN_OPT(charset_name), .get = get_charset },
	{ MYSQL_REPORT_DATA_TRUNCATION, KIND_BOOL, IN_OPT(report_data_truncation) },
	{ MYSQL_PLUGIN_DIR, KIND_TEXT },
	{ MYSQL_DEFAULT_AUTH, KIND_TEXT },
	{ MYSQL_OPT_BIND, KIND_TEXT, IN_OPT(bind_address) },
	{ MYSQL_OPT_SSL_KEY, KIND_TEXT, IN_OPT(ssl_key) },
	{ MYSQL_OPT_SSL_CERT, KIND_TEXT, IN_OPT(ssl_cert) },
	{ MYSQL_OPT_SSL_CA, KIND_TEXT, IN_OPT(ssl_ca) },
	{ MYSQL_OPT_SSL_CAPATH, KIND_TEXT, IN_OPT(ssl_capath) },
	{ MYSQL_OPT_SSL_CIPHER, KIND_TEXT, IN_OPT(ssl_cipher) },
	{ MYSQL_OPT_SSL_CRL, KIND_TEXT },
	{ MYSQL_OPT_SSL_CRLPATH, KIND_TEXT },
	{ MYSQL_OPT_CONNECT_ATTR_RESET, KIND_NONE, .set = reset_attributes },
	{ MYSQL_OPT_CONNECT_ATTR_ADD, KIND_TEXT_TEXT, .adds = 1, .set = add_attribute },
	{ MYSQL_OPT_CONNECT_ATTR_DELETE, KIND_TEXT, .set = delete_attribute },
	{ MYSQL_SERVER_PUBLIC_KEY, KIND_TEXT },
	{ MYSQL_OPT_CAN_HANDLE_EXPIRED_PASSWORDS, KIND_BOOL, .flag = CLIENT_EXPIRED },
	{ MYSQL_OPT_MAX_ALLOWED_PACKET, KIND_SIZE, .set = set_max_packet,
		.get = get_max_packet },
	{ MYSQL_OPT_NET_BUFFER_LENGTH, KIND_SIZE, .set = set_net_buffer,
		.get = get_net_buffer },
	{ MYSQL_OPT_TLS_VERSION, KIND_TEXT },
	{ CMY_OPT_PORT, KIND_UINT, IN_OPT(port) },
	{ CMY_OPT_SOCKET, KIND_TEXT, IN_OPT(unix_socket) },
	{ CMY_OPT_PASSWORD, KIND_TEXT, IN_OPT(password) },
	{ CMY_OPT_HOST, KIND_TEXT, IN_OPT(host) },
	{ CMY_OPT_USER, KIND_TEXT, IN_OPT(user) },
	{ CMY_OPT_DATABASE, KIND_TEXT, IN_OPT(db) },
	{ CMY_OPT_FOUND_ROWS, KIND_NONE, .flag = CLIENT_FOUND_ROWS },
	{ CMY_OPT_MULTI_RESULTS, KIND_NONE, .flag = CLIENT_MULTI_RESULTS },
	{ CMY_OPT_MULTI_STATEMENTS, KIND_NONE,
		.flag = CLIENT_MULTI_STATEMENTS | CLIENT_MULTI_RESULTS },
	{ CMY_OPT_INTERACTIVE, KIND_NONE, .flag = CLIENT_INTERACTIVE },
#if CMY_ORACLE
	{ MYSQL_INIT_COMMAND, KIND_TEXT, .adds = 1, .get = get_nothing },
	{ MYSQL_SET_CHARSET_DIR, KIND_TEXT, IN_OPT(charset_dir) },
	{ MYSQL_OPT_NAMED_PIPE, KIND_NONE, .set = set_pipe, .get = get_nothing },
	{ MYSQL_SHARED_MEMORY_BASE_NAME, KIND_TEXT, IN_OPT(shared_memory_base_name) },
	{ MYSQL_OPT_RECONNECT, KIND_BOOL, IN(reconnect) },
	{ MYSQL_ENABLE_CLEARTEXT_PLUGIN, KIND_BOOL },
	{ MYSQL_OPT_SSL_MODE, KIND_UINT },
	{ MYSQL_OPT_GET_SERVER_PUBLIC_KEY, KIND_BOOL },
	{ MYSQL_OPT_RETRY_COUNT, KIND_UINT },
	{ MYSQL_OPT_OPTIONAL_RESULTSET_METADATA, KIND_BOOL, .flag = CLIENT_OPT_META },
	{ MYSQL_OPT_SSL_FIPS_MODE, KIND_UINT },
	{ MYSQL_OPT_TLS_CIPHERSUITES, KIND_TEXT },
	{ MYSQL_OPT_COMPRESSION_ALGORITHMS, KIND_TEXT, .set = set_compression },
	{ MYSQL_OPT_ZSTD_COMPRESSION_LEVEL, KIND_UINT },
	{ MYSQL_OPT_LOAD_DATA_LOCAL_DIR, KIND_TEXT },
	{ MYSQL_OPT_USER_PASSWORD, KIND_UINT_TEXT, .adds = 1, .get = get_nothing },
	{ MYSQL_OPT_SSL_SESSION_DATA, KIND_TEXT },
	{ MYSQL_OPT_TLS_SNI_SERVERNAME, KIND_TEXT },
#else
	{ MYSQL_INIT_COMMAND, KIND_TEXT, .adds = 1, .get = get_init_commands },
	{ MYSQL_SET_CHARSET_DIR, KIND_TEXT, IN_OPT(charset_dir), .get = get_nothing },
	{ MYSQL_OPT_NAMED_PIPE, KIND_NONE, IN_OPT(named_pipe) },
	{ MYSQL_OPT_RECONNECT, KIND_BOOL, IN_OPT(reconnect) },
	{ MYSQL_SECURE_AUTH, KIND_BOOL, IN_OPT(secure_auth) },
	{ MYSQL_ENABLE_CLEARTEXT_PLUGIN, KIND_NONE },
	{ MYSQL_OPT_SSL_VERIFY_SERVER_CERT, KIND_BOOL },
	{ MYSQL_OPT_SSL_ENFORCE, KIND_BOOL, IN_OPT(use_ssl) },
	{ MYSQL_PROGRESS_CALLBACK, KIND_POINTER, .set = set_progress_callback },
	{ MYSQL_OPT_NONBLOCK, KIND_SIZE, .is_optional = 1, .set = set_nonblock,
		.get = get_nonblock },
	{ MARIADB_OPT_SSL_FP, KIND_TEXT, .set = set_fingerprint },
	{ MARIADB_OPT_TLS_PEER_FP, KIND_TEXT, .set = set_fingerprint },
	{ MARIADB_OPT_SSL_FP_LIST, KIND_TEXT, .set = set_fingerprint },
	{ MARIADB_OPT_TLS_PEER_FP_LIST, KIND_TEXT, .set = set_fingerprint },
	{ MARIADB_OPT_TLS_PASSPHRASE, KIND_TEXT },
	{ MARIADB_OPT_TLS_CIPHER_STRENGTH, KIND_UINT },
	{ MARIADB_OPT_TLS_VERSION, KIND_TEXT },
	{ MARIADB_OPT_CONNECTION_READ_ONLY, KIND_BOOL },
	{ MYSQL_OPT_CONNECT_ATTRS, KIND_NONE, .get = get_attributes },
	{ MARIADB_OPT_USERDATA, KIND_TEXT_POINTER, .adds = 1, .set = set_userdata,
		.get = get_userdata },
	{ MARIADB_OPT_CONNECTION_HANDLER, KIND_TEXT },
	{ MARIADB_OPT_DEBUG, KIND_NONE },
	{ MARIADB_OPT_PROXY_HEADER, KIND_BYTES },
	{ MARIADB_OPT_IO_WAIT, KIND_POINTER, .set = set_io_wait },
	{ MARIADB_OPT_SKIP_READ_RESPONSE, KIND_BOOL },
	{ MARIADB_OPT_RESTRICTED_AUTH, KIND_TEXT },
	{ MARIADB_OPT_RPL_REGISTER_REPLICA, KIND_TEXT_UINT },
	{ MARIADB_OPT_STATUS_CALLBACK, KIND_POINTERS, .set = set_status_callback },
	/* the value is an unsigned char */
	{ MYSQL_OPT_ZSTD_COMPRESSION_LEVEL, KIND_BOOL },
#endif
};

const struct option *
cmy_option_find(int option)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (table[i].option == option)
			return &table[i];
	}
	return NULL;
}
