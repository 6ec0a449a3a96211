/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys of a `server` line, and the settings that a client gives at login. Fills struct
 * cnd_my_options, whose strings belong to the line.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "shared/units.h"
#include "../common/line.h"
#include "../common/passfile.h"
#include "my.h"

enum kind {
	KIND_TEXT,
	KIND_FLAG,
	KIND_PORT,
	KIND_QUERIES,
	KIND_TIME,
	KIND_TLS
};

struct option_def {
	const char *key;
	enum kind kind;
	size_t offset; /* offset in struct cnd_my_options */
};

#define AT(member) offsetof(struct cnd_my_options, member)

static const struct option_def defs[] = {
	{ "bind_address", KIND_TEXT, AT(bind_address) },
	{ "charset", KIND_TEXT, AT(charset) },
	{ "cleartext_password", KIND_FLAG, AT(has_cleartext) },
	{ "compress", KIND_FLAG, AT(is_compressed) },
	{ "connect_timeout", KIND_TIME, AT(connect_timeout) },
	{ "dbname", KIND_TEXT, AT(dbname) },
	{ "default_file", KIND_TEXT, AT(default_file) },
	{ "default_group", KIND_TEXT, AT(default_group) },
	{ "found_rows", KIND_FLAG, AT(has_found_rows) },
	{ "get_server_public_key", KIND_FLAG, AT(takes_server_key) },
	{ "host", KIND_TEXT, AT(host) },
	{ "init_command", KIND_TEXT, AT(init_command) },
	{ "local_infile", KIND_FLAG, AT(is_infile_allowed) },
	{ "passfile", KIND_TEXT, AT(passfile) },
	{ "password", KIND_TEXT, AT(password) },
	{ "plugin_dir", KIND_TEXT, AT(plugin_dir) },
	{ "port", KIND_PORT, AT(port) },
	{ "queries", KIND_QUERIES, AT(has_pure_queries) },
	{ "read_timeout", KIND_TIME, AT(read_timeout) },
	{ "server_public_key", KIND_TEXT, AT(server_public_key) },
	{ "socket", KIND_TEXT, AT(socket) },
	{ "ssl_ca", KIND_TEXT, AT(tls_ca) },
	{ "ssl_capath", KIND_TEXT, AT(tls_capath) },
	{ "ssl_cert", KIND_TEXT, AT(tls_cert) },
	{ "ssl_cipher", KIND_TEXT, AT(tls_cipher) },
	{ "ssl_crl", KIND_TEXT, AT(tls_crl) },
	{ "ssl_crlpath", KIND_TEXT, AT(tls_crlpath) },
	{ "ssl_key", KIND_TEXT, AT(tls_key) },
	{ "ssl_mode", KIND_TLS, AT(tls_mode) },
	{ "ssl_passphrase", KIND_TEXT, AT(tls_passphrase) },
	{ "ssl_verify_server_cert", KIND_FLAG, AT(tls_verify) },
	{ "tls_fp", KIND_TEXT, AT(tls_fp) },
	{ "tls_fplist", KIND_TEXT, AT(tls_fplist) },
	{ "tls_version", KIND_TEXT, AT(tls_version) },
	{ "user", KIND_TEXT, AT(user) },
	{ "write_timeout", KIND_TIME, AT(write_timeout) },
};

#define N_DEFS (sizeof(defs) / sizeof(defs[0]))

static const struct cnd_line_table table = { defs, N_DEFS, sizeof(defs[0]), "MySQL",
	"the common ones are host, port, socket, dbname, user, passfile and ssl_mode; "
	"cenoted-backends(5) lists all" };

static const char *const allowed[] = {
	[KIND_TEXT] = CND_LINE_ANY,
	[KIND_FLAG] = "yes or no",
	[KIND_PORT] = "a number from 1 to 65535",
	[KIND_QUERIES] = "any or pure",
	[KIND_TIME] = CND_LINE_SECONDS,
	[KIND_TLS] = "disabled, preferred or required",
};

/* 0, or -1 if the value does not fit the kind. */
static int
set_value(struct cnd_my_options *o, const struct option_def *def, const char *value)
{
	static const char *const flags[] = { "no", "yes", "off", "on", "false", "true",
		"0", "1" };
	static const char *const modes[] = { "disabled", "preferred", "required" };
	static const char *const queries[] = { "any", "pure" };
	void *at = (char *)o + def->offset;
	uint64_t number = 0;
	int word = 0;

	switch (def->kind) {
	case KIND_TEXT:
		*(const char **)at = value;
		return *value ? 0 : -1;
	case KIND_FLAG:
		word = cnd_line_word(value, flags, 8);
		*(uint8_t *)at = word & 1;
		return word < 0 ? -1 : 0;
	case KIND_TLS:
		word = cnd_line_word(value, modes, 3);
		*(int *)at = word;
		return word < 0 ? -1 : 0;
	case KIND_PORT:
		if (cnd_number_parse(value, 65535, &number) < 0)
			return -1;
		*(unsigned *)at = (unsigned)number;
		return number == 0 ? -1 : 0;
	case KIND_QUERIES:
		word = cnd_line_word(value, queries, 2);
		*(uint8_t *)at = word == 1;
		return word < 0 ? -1 : 0;
	case KIND_TIME:
		return cnd_line_seconds(value, at);
	}
	return -1;
}

static int
set_one(struct cnd_my_options *o, const struct cnd_option *given, struct cnc_diag *diag)
{
	int is_secret;
	size_t i;

	if (cnd_line_find(&table, given->key, &i, diag) < 0)
		return CENOTE_ERR_ARG;
	if (set_value(o, &defs[i], given->value) == 0)
		return CENOTE_OK;
	is_secret =
		defs[i].offset == AT(password) || defs[i].offset == AT(tls_passphrase);
	return cnd_line_refuse(given, is_secret ? NULL : allowed[defs[i].kind], diag);
}

/* On a unix socket the server may identify the client by cenoted's own unix user. */
static int
check_clients(const struct cnd_my_options *o, struct cnc_diag *diag)
{
	if (!CND_MY_IS_MARIADB)
		return cnd_line_bad(diag,
			"auth = pass-through needs MariaDB's client library, "
			"which can be told to log in by password only");
	if (o->socket || !o->host || strcasecmp(o->host, "localhost") == 0)
		return cnd_line_bad(diag,
			"auth = pass-through needs the server's host, other "
			"than localhost, which stands for the unix socket: "
			"there the server may trust cenoted's own user");
	return CENOTE_OK;
}

/* Check that the options fit together. */
static int
check_all(struct cnd_my_options *o, struct cnc_diag *diag)
{
	int has_tls = o->tls_ca || o->tls_capath || o->tls_cert || o->tls_key ||
		      o->tls_cipher || o->tls_crl || o->tls_crlpath || o->tls_fp ||
		      o->tls_fplist || o->tls_version || o->tls_verify;

	if (o->socket && (o->host || o->port))
		return cnd_line_bad(
			diag, "socket cannot be given together with host or port");
	if (cnd_line_check_login(o->user, o->password, o->passfile, diag) < 0)
		return CENOTE_ERR_ARG;
	if (o->default_group && !o->default_file)
		return cnd_line_bad(diag, "default_group needs default_file");
	if (o->tls_mode == CND_MY_TLS_DISABLED && has_tls)
		return cnd_line_bad(diag,
			"ssl_mode=disabled cannot be given together with other "
			"TLS keys");
	if (!o->tls_cert != !o->tls_key)
		return cnd_line_bad(diag, "ssl_cert and ssl_key go together");
	if (!CND_MY_IS_MARIADB && (o->tls_fp || o->tls_fplist || o->tls_passphrase))
		return cnd_line_bad(diag,
			"tls_fp, tls_fplist and ssl_passphrase need MariaDB's "
			"client library");
	if (o->is_clients && check_clients(o, diag) < 0)
		return CENOTE_ERR_ARG;
	if (!cnd_my_knows_charset(o->charset))
		return cnd_line_bad(diag,
			"the client library does not know the character set that "
			"charset names");
	/* checking a certificate requires TLS */
	if (o->tls_mode == CND_MY_TLS_UNSET)
		o->tls_mode = has_tls ? CND_MY_TLS_REQUIRED : CND_MY_TLS_DISABLED;
	return CENOTE_OK;
}

int
cnd_my_options_read(const struct cnd_server_spec *spec, struct cnd_my_options *ret_opt,
	struct cnc_diag *ret_diag)
{
	struct cnd_my_options o = {
		.charset = "utf8mb4", .connect_timeout = 10, .tls_mode = CND_MY_TLS_UNSET
	};
	size_t i;
	int r;

	o.is_clients = spec->is_clients;
	for (i = 0; i < spec->n_options; i++) {
		r = set_one(&o, &spec->options[i], ret_diag);
		if (r < 0)
			return r;
	}
	r = check_all(&o, ret_diag);
	o.own_dbname = o.dbname;
	o.own_found_rows = o.has_found_rows;
	if (r == CENOTE_OK && spec->settings)
		r = cnd_my_settings_read(&o, spec->settings, ret_diag);
	*ret_opt = o;
	return r;
}

/* ---- the client's settings for its login ---- */

static int
set_wish(struct cnd_my_options *o, const char *wish, size_t len)
{
	static const char *const wishes[] = { "found_rows=off", "found_rows=on",
		"database=none" };
	unsigned i;

	for (i = 0; i < 3; i++) {
		if (strlen(wishes[i]) == len && memcmp(wishes[i], wish, len) == 0)
			break;
	}
	if (i == 3)
		return -1;
	if (i == 2)
		o->dbname = NULL;
	else
		o->has_found_rows = (uint8_t)i;
	return 0;
}

int
cnd_my_settings_read(
	struct cnd_my_options *o, const char *settings, struct cnc_diag *ret_diag)
{
	size_t len;

	o->dbname = o->own_dbname;
	o->has_found_rows = o->own_found_rows;
	for (; *settings != '\0'; settings += len) {
		settings += strspn(settings, " ");
		len = strcspn(settings, " ");
		if (len == 0 || set_wish(o, settings, len) == 0)
			continue;
		cnc_diag_set(ret_diag, CNC_SQLSTATE(BAD_PARAMETER),
			"mysql_login takes found_rows=on|off and database=none, not "
			"\"%.*s\"",
			(int)len, settings);
		return CENOTE_ERR_ARG;
	}
	return CENOTE_OK;
}

int
cnd_my_has_settings(const struct cnd_session *s, const char *settings)
{
	struct cnd_my_options o = s->opt;
	struct cnc_diag diag;
	int r;

	cnc_diag_init(&diag, s->mem);
	r = cnd_my_settings_read(&o, settings, &diag);
	cnc_diag_finish(&diag);
	return r == CENOTE_OK && !o.dbname == !s->opt.dbname &&
	       o.has_found_rows == s->opt.has_found_rows;
}

/* The whole key is read at login; here, see that the file is one. */
static int
check_key(const char *path, struct cnc_diag *diag)
{
	char line[64] = "", text[400];
	FILE *f = fopen(path, "re");
	int error = errno, is_key;

	is_key = f && fgets(line, sizeof(line), f) &&
		 strncmp(line, "-----BEGIN PUBLIC KEY-----", 26) == 0;
	if (f)
		(void)fclose(f);
	if (is_key)
		return CENOTE_OK;
	(void)snprintf(text, sizeof(text), "server_public_key %.300s: %s", path,
		f ? "no RSA key in PEM form (-----BEGIN PUBLIC KEY-----)"
		  : strerror(error));
	return cnd_line_bad(diag, text);
}

int
cnd_my_check(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag)
{
	struct cnd_my_options o;
	int r = cnd_my_options_read(spec, &o, ret_diag);

	if (r == CENOTE_OK && o.server_public_key)
		r = check_key(o.server_public_key, ret_diag);
	return r < 0 || !o.passfile ? r
				    : cnd_passfile_check(o.passfile, o.user, ret_diag);
}
