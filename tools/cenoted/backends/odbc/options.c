/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keys of a `server` line, and the connection string made from them. session.c calls it at login. It has
 * no state.
 */
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "shared/units.h"
#include "../common/line.h"
#include "../common/passfile.h"
#include "odbc.h"

#define CONNECT_MAX 65536u

static const char *const text_words[] = { "auto", "wide", "narrow" };
static const char *const queries_words[] = { "any", "pure" };
static const char *const reset_words[] = { "auto", "attribute", "reconnect" };

struct option_def {
	const char *key;
	size_t offset; /* in struct cnd_od_options */
	const char *const *words; /* NULL: any text */
	int n_words;
	const char *allowed;
};

#define AT(member) offsetof(struct cnd_od_options, member)

static const struct option_def defs[] = {
	{ "connect", AT(connect), NULL, 0, CND_LINE_ANY },
	{ "connect_timeout", AT(connect_timeout), NULL, 0, CND_LINE_SECONDS },
	{ "dsn", AT(dsn), NULL, 0, CND_LINE_ANY },
	{ "init", AT(init), NULL, 0, CND_LINE_ANY },
	{ "passfile", AT(passfile), NULL, 0, CND_LINE_ANY },
	{ "password", AT(password), NULL, 0, CND_LINE_ANY },
	{ "ping", AT(ping), NULL, 0, CND_LINE_ANY },
	{ "queries", AT(queries), queries_words, 2, "any or pure" },
	{ "reset", AT(reset), reset_words, 3, "auto, attribute or reconnect" },
	{ "text", AT(text), text_words, 3, "auto, wide or narrow" },
	{ "user", AT(user), NULL, 0, CND_LINE_ANY },
};

#define N_DEFS (sizeof(defs) / sizeof(defs[0]))

static const struct cnd_line_table table = { defs, N_DEFS, sizeof(defs[0]), "ODBC",
	"what the driver has of its own belongs into connect or into its data source" };

/* 0, or -1 if the value is not allowed. */
static int
set_value(struct cnd_od_options *o, const struct option_def *def, const char *value)
{
	void *at = (char *)o + def->offset;

	if (def->words) {
		*(int *)at = cnd_line_word(value, def->words, def->n_words);
		return *(int *)at < 0 ? -1 : 0;
	}
	if (def->offset == AT(connect_timeout))
		return cnd_line_seconds(value, at);
	*(const char **)at = value;
	return *value ? 0 : -1;
}

static int
set_one(struct cnd_od_options *o, const struct cnd_option *given, struct cnc_diag *diag)
{
	size_t i;

	if (cnd_line_find(&table, given->key, &i, diag) < 0)
		return CENOTE_ERR_ARG;
	if (set_value(o, &defs[i], given->value) == 0)
		return CENOTE_OK;
	return cnd_line_refuse(
		given, defs[i].offset == AT(password) ? NULL : defs[i].allowed, diag);
}

/* Refuse combinations of keys that do not make sense. */
static int
check_all(const struct cnd_od_options *o, struct cnc_diag *diag)
{
	if (!o->dsn == !o->connect)
		return cnd_line_bad(diag,
			"give dsn (a data source of odbc.ini) or connect (a whole "
			"connection string): one of the two");
	if (o->dsn && strpbrk(o->dsn, ";{}"))
		return cnd_line_bad(
			diag, "dsn is a name alone: a connection string goes to connect");
	if (cnd_line_check_login(o->user, o->password, o->passfile, diag) < 0)
		return CENOTE_ERR_ARG;
	if (o->password && !o->user)
		return cnd_line_bad(diag, "password needs user");
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

/* Append a value. If it has other characters than these, put it in braces and double each closing brace. */
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
		r = cnd_line_bad(ret_diag, "the connection string is longer than 64 kB");
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
