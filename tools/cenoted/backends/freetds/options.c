/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys are those of freetds.conf, with an underscore for each blank, and keys that a login
 * needs besides. Values that only the library can judge are left to the library.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "shared/units.h"
#include "../common/line.h"
#include "../common/passfile.h"
#include "tds.h"

enum kind {
	KIND_TEXT,
	KIND_PLAIN, /* goes into a freetds.conf, which has no quotes */
	KIND_FLAG,
	KIND_NUMBER,
	KIND_PORT,
	KIND_TIME,
	KIND_ENCRYPTION,
	KIND_VERSION
};

/* Whether a key may be given beside `section`. */
enum place {
	OF_SERVER, /* may not: it is in the section */
	OF_LOGIN /* may: it has a property of its own, and overrides the section */
};

struct option_def {
	const char *key;
	enum kind kind;
	enum place place;
	size_t offset; /* in struct cnd_tds_options */
};

#define AT(member) offsetof(struct cnd_tds_options, member)

static const struct option_def defs[] = {
	{ "app_name", KIND_TEXT, OF_LOGIN, AT(app_name) },
	{ "ca_file", KIND_PLAIN, OF_SERVER, AT(ca_file) },
	{ "charset", KIND_PLAIN, OF_SERVER, AT(server_charset) },
	{ "check_certificate_hostname", KIND_FLAG, OF_SERVER, AT(check_name) },
	{ "client_charset", KIND_PLAIN, OF_LOGIN, AT(client_charset) },
	{ "client_host", KIND_TEXT, OF_LOGIN, AT(client_host) },
	{ "conf", KIND_TEXT, OF_LOGIN, AT(conf) },
	{ "connect_timeout", KIND_TIME, OF_LOGIN, AT(connect_timeout) },
	{ "crl_file", KIND_PLAIN, OF_SERVER, AT(crl_file) },
	{ "database", KIND_TEXT, OF_LOGIN, AT(database) },
	{ "enable_gssapi_delegation", KIND_FLAG, OF_SERVER, AT(delegation) },
	{ "enable_tls_v1", KIND_FLAG, OF_SERVER, AT(tls_v1) },
	{ "encryption", KIND_ENCRYPTION, OF_SERVER, AT(encryption) },
	{ "host", KIND_PLAIN, OF_SERVER, AT(host) },
	{ "initial_block_size", KIND_NUMBER, OF_SERVER, AT(packet_size) },
	{ "instance", KIND_PLAIN, OF_SERVER, AT(instance) },
	{ "language", KIND_PLAIN, OF_SERVER, AT(language) },
	{ "mutual_authentication", KIND_FLAG, OF_SERVER, AT(mutual) },
	{ "openssl_ciphers", KIND_PLAIN, OF_SERVER, AT(tls_ciphers) },
	{ "passfile", KIND_TEXT, OF_LOGIN, AT(passfile) },
	{ "password", KIND_TEXT, OF_LOGIN, AT(password) },
	{ "port", KIND_PORT, OF_SERVER, AT(port) },
	{ "read-only_intent", KIND_FLAG, OF_SERVER, AT(readonly_intent) },
	{ "realm", KIND_PLAIN, OF_SERVER, AT(realm) },
	{ "section", KIND_TEXT, OF_LOGIN, AT(section) },
	{ "spn", KIND_PLAIN, OF_SERVER, AT(spn) },
	{ "tds_version", KIND_VERSION, OF_SERVER, AT(tds_version) },
	{ "text_size", KIND_NUMBER, OF_SERVER, AT(text_size) },
	{ "timeout", KIND_TIME, OF_LOGIN, AT(timeout) },
	{ "use_ntlmv2", KIND_FLAG, OF_SERVER, AT(ntlmv2) },
	{ "use_utf-16", KIND_FLAG, OF_SERVER, AT(utf16) },
	{ "user", KIND_TEXT, OF_LOGIN, AT(user) },
};

#define N_DEFS (sizeof(defs) / sizeof(defs[0]))

static const struct cnd_line_table table = { defs, N_DEFS, sizeof(defs[0]), "FreeTDS",
	"the common ones are host, port, instance, database, user, passfile, encryption "
	"and ca_file; cenoted-backends(5) lists all" };

static const char *const allowed[] = {
	[KIND_TEXT] = CND_LINE_ANY,
	[KIND_PLAIN] = "a text of at most 200 characters without # and ;",
	[KIND_FLAG] = "yes or no",
	[KIND_NUMBER] = "a number from 1 to 2147483647",
	[KIND_PORT] = "a number from 1 to 65535",
	[KIND_TIME] = CND_LINE_SECONDS,
	[KIND_ENCRYPTION] = "off, request or require",
	[KIND_VERSION] = "auto, 4.2, 5.0, 7.0, 7.1, 7.2, 7.3 or 7.4",
};

static int
is_one_of(const char *value, const char *const *words)
{
	while (*words && strcasecmp(value, *words) != 0)
		words++;
	return *words != NULL;
}

/* A line of freetds.conf has at most 255 characters. */
static int
is_plain(const char *value)
{
	const char *p;

	for (p = value; *p != '\0'; p++) {
		if ((unsigned char)*p < ' ' || *p == '#' || *p == ';')
			return 0;
	}
	return p > value && p - value <= 200;
}

static int
is_number(const char *value, uint64_t max)
{
	uint64_t number = 0;

	return cnd_number_parse(value, max, &number) == 0 && number > 0;
}

static int
is_of_kind(const char *value, enum kind kind)
{
	static const char *const flags[] = { "yes", "no", "on", "off", "true", "false",
		NULL };
	static const char *const encryptions[] = { "off", "request", "require", NULL };
	static const char *const versions[] = { "auto", "4.2", "5.0", "7.0", "7.1", "7.2",
		"7.3", "7.4", NULL };

	switch (kind) {
	case KIND_TEXT:
		return *value != '\0';
	case KIND_PLAIN:
		return is_plain(value);
	case KIND_FLAG:
		return is_one_of(value, flags);
	case KIND_NUMBER:
		return is_number(value, INT32_MAX);
	case KIND_PORT:
		return is_number(value, 65535);
	case KIND_ENCRYPTION:
		return is_one_of(value, encryptions);
	case KIND_VERSION:
		return is_one_of(value, versions);
	case KIND_TIME:
		break;
	}
	return 0;
}

/* Returns 0, or -1 if the value is not of this kind. */
static int
set_value(struct cnd_tds_options *o, const struct option_def *def, const char *value)
{
	void *at = (char *)o + def->offset;

	if (def->kind == KIND_TIME)
		return cnd_line_seconds(value, at);
	*(const char **)at = value;
	return is_of_kind(value, def->kind) ? 0 : -1;
}

static int
set_one(struct cnd_tds_options *o, const struct cnd_option *given, struct cnc_diag *diag)
{
	size_t i;

	if (cnd_line_find(&table, given->key, &i, diag) < 0)
		return CENOTE_ERR_ARG;
	if (set_value(o, &defs[i], given->value) == 0)
		return CENOTE_OK;
	return cnd_line_refuse(given,
		defs[i].offset == AT(password) ? NULL : allowed[defs[i].kind], diag);
}

static int
check_section(const struct cnd_server_spec *spec, struct cnc_diag *diag)
{
	size_t i, k;

	for (i = 0; i < spec->n_options; i++) {
		for (k = 0; k < N_DEFS; k++) {
			if (defs[k].place == OF_LOGIN ||
				strcmp(defs[k].key, spec->options[i].key) != 0)
				continue;
			cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER),
				"section names a section of freetds.conf: %s is to be "
				"set there",
				defs[k].key);
			return CENOTE_ERR_ARG;
		}
	}
	return CENOTE_OK;
}

/* Check which keys go together, and which do not. */
static int
check_all(struct cnd_tds_options *o, const struct cnd_server_spec *spec,
	struct cnc_diag *diag)
{
	int has_tls =
		o->ca_file || o->crl_file || o->check_name || o->tls_v1 || o->tls_ciphers;

	if (cnd_line_check_login(o->user, o->password, o->passfile, diag) < 0)
		return CENOTE_ERR_ARG;
	if (o->conf && !o->section)
		return cnd_line_bad(
			diag, "conf needs section: which one of the file it is");
	if (o->section)
		return check_section(spec, diag);
	if (!o->host)
		return cnd_line_bad(
			diag, "host is missing (or section, of a freetds.conf)");
	if (o->port && o->instance)
		return cnd_line_bad(diag, "give port or instance, not both");
	if ((o->crl_file || cnd_tds_checks_name(o)) && !o->ca_file && o->check_name)
		return cnd_line_bad(diag,
			"without ca_file FreeTDS checks no certificate: "
			"check_certificate_hostname needs it");
	if (o->encryption && strcasecmp(o->encryption, "off") == 0 && has_tls)
		return cnd_line_bad(diag,
			"encryption=off cannot be given together with other TLS "
			"keys");
	/* a line that asks for a check of the certificate must not connect without TLS */
	if (!o->encryption && has_tls)
		o->encryption = "require";
	return CENOTE_OK;
}

int
cnd_tds_options_read(const struct cnd_server_spec *spec, struct cnd_tds_options *ret_opt,
	struct cnc_diag *ret_diag)
{
	struct cnd_tds_options o = {
		.client_charset = "UTF-8", .app_name = "cenoted", .connect_timeout = 10
	};
	size_t i;
	int r = CENOTE_OK;

	for (i = 0; r == CENOTE_OK && i < spec->n_options; i++)
		r = set_one(&o, &spec->options[i], ret_diag);
	if (r == CENOTE_OK)
		r = check_all(&o, spec, ret_diag);
	*ret_opt = o;
	return r;
}

static int
is_yes(const char *flag)
{
	return flag && (strcasecmp(flag, "yes") == 0 || strcasecmp(flag, "on") == 0 ||
			       strcasecmp(flag, "true") == 0);
}

const char *
cnd_tds_host(const struct cnd_tds_options *o)
{
	return o->host ? o->host : "";
}

unsigned
cnd_tds_port(const struct cnd_tds_options *o)
{
	if (o->port)
		return (unsigned)strtoul(o->port, NULL, 10);
	return o->host && !o->instance ? 1433 : 0;
}

int
cnd_tds_requires_tls(const struct cnd_tds_options *o)
{
	return o->encryption && strcasecmp(o->encryption, "require") == 0;
}

int
cnd_tds_checks_name(const struct cnd_tds_options *o)
{
	return o->ca_file && (!o->check_name || is_yes(o->check_name));
}

int
cnd_tds_check(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag)
{
	struct cnd_tds_options o;
	int r = cnd_tds_options_read(spec, &o, ret_diag);

	return r < 0 || !o.passfile ? r
				    : cnd_passfile_check(o.passfile, o.user, ret_diag);
}
