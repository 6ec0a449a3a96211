/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"

#include <string.h>

#include "core/sqlstate.h"

/*
 * cenote:// URIs: parse them, and set the options that they name (cenote_conn_set_uri()).
 */

#define URI_SCHEME "cenote://"

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static int
bad_uri(struct cnc_diag *diag, const char *why)
{
	cnc_diag_set(diag, CNC_SQLSTATE(BAD_PARAMETER), "URI: %s", why);
	return CENOTE_ERR_ARG;
}

/* Percent-decode into `out`, which holds CN_OPTION_VALUE_MAX + 1 bytes. */
static int
decode(const char *text, size_t len, char *out, struct cnc_diag *diag)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int c = (unsigned char)text[i];

		if (c == '%') {
			int high = i + 2 < len ? hex_digit(text[i + 1]) : -1;
			int low = i + 2 < len ? hex_digit(text[i + 2]) : -1;

			if (high < 0 || low < 0)
				return bad_uri(
					diag, "% must be followed by two hex digits");
			c = high * 16 + low;
			i += 2;
		}
		if (c == 0)
			return bad_uri(diag, "a zero byte is not allowed");
		if (n == CN_OPTION_VALUE_MAX)
			return bad_uri(diag, "a part is too long");
		out[n++] = (char)c;
	}
	out[n] = '\0';
	return CENOTE_OK;
}

/* The most bytes that decoding writes: decoding never makes a text longer. */
static size_t
decoded_max(size_t len)
{
	return len < CN_OPTION_VALUE_MAX ? len + 1 : CN_OPTION_VALUE_MAX + 1u;
}

static int
set_decoded(struct cn_options *o, int option, const char *text, size_t len,
	struct cnc_diag *diag)
{
	char value[CN_OPTION_VALUE_MAX + 1];
	int r = decode(text, len, value, diag);

	if (r == CENOTE_OK)
		r = cn_options_set(o, option, value, diag);
	cnc_wipe(value, decoded_max(len));
	return r;
}

/* Set user and password from the part before the hosts. */
static int
apply_login(struct cn_options *o, const char *login, size_t len, struct cnc_diag *diag)
{
	const char *colon = memchr(login, ':', len);
	size_t user_len = colon ? (size_t)(colon - login) : len;
	int r;

	r = set_decoded(o, CN_OPTION_USER, login, user_len, diag);
	if (r < 0 || !colon)
		return r;
	return set_decoded(o, CN_OPTION_PASSWORD, colon + 1, len - user_len - 1, diag);
}

static const char *
find_last(const char *text, size_t len, char c)
{
	while (len > 0) {
		if (text[--len] == c)
			return text + len;
	}
	return NULL;
}

static int
apply_authority(struct cn_options *o, const char *text, size_t len, struct cnc_diag *diag)
{
	const char *at = find_last(text, len, '@');
	int r;

	if (at) {
		r = apply_login(o, text, (size_t)(at - text), diag);
		if (r < 0)
			return r;
		len -= (size_t)(at + 1 - text);
		text = at + 1;
	}
	return len > 0 ? set_decoded(o, CN_OPTION_HOST, text, len, diag) : CENOTE_OK;
}

static int
apply_pair(struct cn_options *o, const char *pair, size_t len, struct cnc_diag *diag)
{
	char value[CN_OPTION_VALUE_MAX + 1];
	const char *equals = memchr(pair, '=', len);
	size_t name_len;
	int r;

	if (!equals)
		return bad_uri(diag, "an option needs a value: name=value");
	name_len = (size_t)(equals - pair);
	r = decode(equals + 1, len - name_len - 1, value, diag);
	if (r == CENOTE_OK)
		r = cn_options_set_named(o, pair, name_len, value, diag);
	cnc_wipe(value, decoded_max(len));
	return r;
}

static int
apply_query(struct cn_options *o, const char *query, struct cnc_diag *diag)
{
	while (*query) {
		size_t len = strcspn(query, "&");
		int r = len > 0 ? apply_pair(o, query, len, diag) : CENOTE_OK;

		if (r < 0)
			return r;
		query += len + (query[len] == '&');
	}
	return CENOTE_OK;
}

int
cn_uri_apply(struct cn_options *o, const char *uri, struct cnc_diag *diag)
{
	const char *rest;
	size_t len;
	int r;

	if (!strstr(uri, "://"))
		return cn_options_set(o, CN_OPTION_POOL, uri, diag);
	if (strncmp(uri, URI_SCHEME, strlen(URI_SCHEME)) != 0)
		return bad_uri(diag, "it must begin with cenote://");
	rest = uri + strlen(URI_SCHEME);
	if (strchr(rest, '#'))
		return bad_uri(diag, "a fragment (#) is not allowed; write it as %23");
	len = strcspn(rest, "/?");
	r = apply_authority(o, rest, len, diag);
	if (r < 0)
		return r;
	rest += len;
	if (*rest == '/') {
		rest++;
		len = strcspn(rest, "?");
		if (memchr(rest, '/', len))
			return bad_uri(diag, "the pool's name must not hold a '/'");
		r = len > 0 ? set_decoded(o, CN_OPTION_POOL, rest, len, diag) : 0;
		if (r < 0)
			return r;
		rest += len;
	}
	return *rest == '?' ? apply_query(o, rest + 1, diag) : CENOTE_OK;
}
