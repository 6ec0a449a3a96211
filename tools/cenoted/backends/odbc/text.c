/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ODBC has two variants of each function with text. One takes wide characters, which are UTF-16. The other
 * takes bytes, in an encoding that the driver chooses. Cenote's text is UTF-8, so it calls the wide variant,
 * unless the driver has none and reads bytes as UTF-8.
 */
#include <string.h>

#include "odbc.h"

/* Decode the character at `p`, of at most `n` bytes. Returns its length; 0: it is not UTF-8. */
static size_t
decode(const unsigned char *p, size_t n, uint32_t *ret_c)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len, i;
	uint32_t c;

	if (p[0] < 0x80) {
		*ret_c = p[0];
		return 1;
	}
	len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || len > n)
		return 0;
	c = p[0] & (0x7fu >> len);
	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3fu);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*ret_c = c;
	return len;
}

size_t
cnd_od_utf16(const char *utf8, size_t len, SQLWCHAR *out)
{
	const unsigned char *p = (const unsigned char *)utf8;
	size_t i = 0, n = 0, used;
	uint32_t c;

	while (i < len) {
		used = decode(p + i, len - i, &c);
		if (used == 0)
			return SIZE_MAX;
		i += used;
		if (c < 0x10000) {
			if (out)
				out[n] = (SQLWCHAR)c;
			n++;
			continue;
		}
		if (out) {
			out[n] = (SQLWCHAR)(0xd800 + ((c - 0x10000) >> 10));
			out[n + 1] = (SQLWCHAR)(0xdc00 + ((c - 0x10000) & 0x3ff));
		}
		n += 2;
	}
	return n;
}

static size_t
encode(uint32_t c, char *out)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static int
is_pair(const SQLWCHAR *units, size_t n)
{
	return n > 1 && units[0] >= 0xd800 && units[0] < 0xdc00 && units[1] >= 0xdc00 &&
	       units[1] < 0xe000;
}

size_t
cnd_od_utf8(const SQLWCHAR *units, size_t n, char *out)
{
	char *at = out;
	uint32_t c;
	size_t i;

	for (i = 0; i < n; i++) {
		c = units[i];
		if (is_pair(units + i, n - i)) {
			c = 0x10000 + ((c - 0xd800) << 10) + (units[i + 1] - 0xdc00u);
			i++;
		} else if (c >= 0xd800 && c < 0xe000) {
			c = 0xfffd;
		}
		at += encode(c, at);
	}
	return (size_t)(at - out);
}

int
cnd_od_text_make(
	struct cnd_session *s, const char *utf8, size_t len, struct cnd_od_text *ret_text)
{
	size_t n;
	SQLWCHAR *units;

	if (!s->is_wide) {
		*ret_text = (struct cnd_od_text){ (void *)(uintptr_t)utf8, len, 0 };
		return CENOTE_OK;
	}
	n = cnd_od_utf16(utf8, len, NULL);
	if (n == SIZE_MAX)
		return CENOTE_ERR_CONVERT;
	units = cnc_calloc(s->mem, n + 1, sizeof(*units));
	if (!units)
		return CENOTE_ERR_NOMEM;
	(void)cnd_od_utf16(utf8, len, units);
	*ret_text = (struct cnd_od_text){ units, n, 1 };
	return CENOTE_OK;
}

void
cnd_od_text_finish(struct cnd_session *s, struct cnd_od_text *t)
{
	if (t->is_owned)
		cnc_free(s->mem, t->p);
	*t = (struct cnd_od_text){ NULL, 0, 0 };
}

void
cnd_od_text_take(const struct cnd_session *s, const void *raw, size_t n_units, char *out,
	size_t size)
{
	const SQLWCHAR *units = raw;
	char one[4];
	size_t n = 0, i, used;

	if (!s->is_wide) {
		n = n_units < size ? n_units : cnc_utf8_cut(raw, n_units, size - 1);
		memcpy(out, raw, n);
		out[n] = '\0';
		return;
	}
	for (i = 0; i < n_units; i += used) {
		used = is_pair(units + i, n_units - i) ? 2 : 1;
		size_t len = cnd_od_utf8(units + i, used, one);

		if (n + len >= size)
			break;
		memcpy(out + n, one, len);
		n += len;
	}
	out[n] = '\0';
}
