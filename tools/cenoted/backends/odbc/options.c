/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "../../units.h"
#include "../passfile.h"
#include "odbc.h"

#define CONNECT_MAX 65536u

static const char *const text_words[] = { "auto", "wide", "narrow" };
static const char *const reset_words[] = { "auto", "attribute", "reconnect" };

struct option_def {
	const char *key;
	size_t offset; /* in struct cnd_od_options */
	const char *const *words; /* NULL: any text */
	const char *allowed;
};

#define AT(member) offsetof(struct cnd_od_options, member)
#define ANY        "a text that is not empty"

static const struct option_def defs[] = {
	{ "connect", AT(connect), NULL, ANY },
	{ "connect_timeout", AT(connect_timeout), NULL,
		"a time of whole seconds up to a day, such as 10s or 2min" },
	{ "dsn", AT(dsn), NULL, ANY },
	{ "init", AT(init), NULL, ANY },
	{ "passfile", AT(passfile), NULL, ANY },
	{ "password", AT(password), NULL, ANY },
	{ "ping", AT(ping), NULL, ANY },
	{ "reset", AT(reset), reset_words, "auto, attribute or reconnect" },
	{ "text", AT(text), text_words, "auto, wide or narrow" },
	{ "user", AT(user), NULL, ANY },
};

#define N_DEFS (sizeof(defs) / sizeof(defs[0]))

static int
set_word(int *at, const char *const *words, const char *value)
{
	for (int i = 0; i < 3; i++) {
		if (strcasecmp(value, words[i]) == 0) {
			*at = i;
			return 0;
		}
	}
	return -1;
}

static int
set_seconds(unsigned *at, const char *value)
{
	int64_t ms;

	if (cnd_ms_parse(value, &ms) < 0 || ms % 1000 != 0 || ms > 86400000)
		return -1;
	*at = (unsigned)(ms / 1000);
	return 0;
}

/* 0, or -1 if the value is not allowed. */
static int
set_value(struct cnd_od_options *o, const struct option_def *def, const char *value)
{
	void *at = (char *)o + def->offset;

	if (def->words)
		return set_word(at, def->words, value);
	if (def->offset == AT(connect_timeout))
		return set_seconds(at, value);
	*(const char **)at = value;
	return *value ? 0 : -1;
}

static int
bad(struct cnc_diag *diag, const char *text)
{
	cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER), "%s", text);
	return CENOTE_ERR_ARG;
}

static int
unknown_key(struct cnc_diag *diag, const char *key)
{
	const char *nearest = cnd_nearest(key, &defs[0].key, N_DEFS, sizeof(defs[0]));

	cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER),
		"unknown key \"%s\" for ODBC: did you mean %s? What the driver has of "
		"its own "
		"belongs into connect or into its data source",
		key, nearest ? nearest : "connect");
	return CENOTE_ERR_ARG;
}

static int
set_one(struct cnd_od_options *o, const struct cnd_option *given, struct cnc_diag *diag)
{
	size_t i = 0;

	while (i < N_DEFS && strcmp(defs[i].key, given->key) != 0)
		i++;
	if (i == N_DEFS)
		return unknown_key(diag, given->key);
	if (set_value(o, &defs[i], given->value) == 0)
		return CENOTE_OK;
	/* a password is never shown */
	if (defs[i].offset == AT(password))
		return bad(diag, "the password is empty: leave the key out");
	cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER), "%s=%s is not allowed: it is %s",
		given->key, given->value, defs[i].allowed);
	return CENOTE_ERR_ARG;
}

/* What goes together, and what does not. */
static int
check_all(const struct cnd_od_options *o, struct cnc_diag *diag)
{
	if (!o->dsn == !o->connect)
		return bad(diag,
			"give dsn (a data source of odbc.ini) or connect (a whole "
			"connection string): one of the two");
	if (o->dsn && strpbrk(o->dsn, ";{}"))
		return bad(
			diag, "dsn is a name alone: a connection string goes to connect");
	if (o->password && o->passfile)
		return bad(diag, "give password or passfile, not both");
	if (o->passfile && !o->user)
		return bad(diag, "passfile needs user: the file is searched for it");
	if (o->password && !o->user)
		return bad(diag, "password needs user");
	return CENOTE_OK;
}

int
cnd_od_options_read(const struct cnd_server_spec *spec, struct cnd_od_options *ret_opt,
	struct cnc_diag *ret_diag)
{
	struct cnd_od_options o = { .connect_timeout = 10 };
	size_t i;
	int r;

	for (i = 0; i < spec->n_options; i++) {
		r = set_one(&o, &spec->options[i], ret_diag);
		if (r < 0)
			return r;
	}
	*ret_opt = o;
	return check_all(&o, ret_diag);
}

/* ---- the connection string ---- */

static int
append(struct cnc_buf *b, const char *text)
{
	return cnc_buf_append(b, text, strlen(text));
}

/* A value with other characters than these is put in braces, of which a closing one is doubled. */
static int
append_value(struct cnc_buf *b, const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-./:@\\%+~";
	const char *p;
	int r;

	if (value[strspn(value, plain)] == '\0')
		return append(b, value);
	r = append(b, "{");
	for (p = value; r == CENOTE_OK && *p; p++)
		r = cnc_buf_append(b, *p == '}' ? "}}" : p, *p == '}' ? 2 : 1);
	return r == CENOTE_OK ? append(b, "}") : r;
}

static int
append_pair(struct cnc_buf *b, const char *key, const char *value)
{
	int r;

	if (!value)
		return CENOTE_OK;
	r = append(b, key);
	if (r == CENOTE_OK)
		r = append_value(b, value);
	return r == CENOTE_OK ? append(b, ";") : r;
}

static int
build(struct cnc_buf *b, const struct cnd_od_options *o, const char *password)
{
	int r = append_pair(b, "DSN=", o->dsn);

	if (r == CENOTE_OK && o->connect)
		r = append(b, o->connect);
	if (r == CENOTE_OK && o->connect && o->connect[strlen(o->connect) - 1] != ';')
		r = append(b, ";");
	if (r == CENOTE_OK)
		r = append_pair(b, "UID=", o->user);
	if (r == CENOTE_OK)
		r = append_pair(b, "PWD=", password);
	return r;
}

int
cnd_od_connect_string(const struct cnd_od_options *o, const struct cenote_allocator *mem,
	char **ret_text, struct cnc_diag *ret_diag)
{
	char *password = NULL;
	struct cnc_buf b;
	int r = CENOTE_OK;

	if (o->passfile)
		r = cnd_passfile(o->passfile, o->user, mem, &password, ret_diag);
	if (r < 0)
		return r;
	cnc_buf_init(&b, mem, CONNECT_MAX);
	r = build(&b, o, password ? password : o->password);
	if (r == CENOTE_ERR_LIMIT)
		r = bad(ret_diag, "the connection string is longer than 64 kB");
	if (r == CENOTE_OK) {
		*ret_text =
			cnc_strndup(mem, (const char *)cnc_buf_head(&b), cnc_buf_len(&b));
		r = *ret_text ? CENOTE_OK : CENOTE_ERR_NOMEM;
	}
	if (cnc_buf_len(&b) > 0)
		cnc_wipe(b.data, b.tail);
	cnc_buf_finish(&b);
	if (password)
		cnc_wipe(password, strlen(password));
	cnc_free(mem, password);
	return r;
}

int
cnd_od_check(const struct cnd_server_spec *spec, struct cnc_diag *ret_diag)
{
	struct cnd_od_options o;
	char *text = NULL;
	int r = cnd_od_options_read(spec, &o, ret_diag);

	if (r == CENOTE_OK)
		r = cnd_od_connect_string(&o, &cnc_mem_default, &text, ret_diag);
	if (text)
		cnc_wipe(text, strlen(text));
	cnc_free(&cnc_mem_default, text);
	return r;
}
