/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the packets of rows. A length in a packet is never trusted beyond the packet's end.
 */
#include "values.h"

/* Stands in place of a value's length, in the text protocol. */
#define LENGTH_NULL 251u

struct reader {
	const uint8_t *p;
	size_t left;
};

/* The next n bytes; NULL: fewer are left. */
static const uint8_t *
take(struct reader *x, size_t n)
{
	const uint8_t *p = x->p;

	if (n > x->left)
		return NULL;
	x->p += n;
	x->left -= n;
	return p;
}

/* The size of a length field after its first byte. */
static size_t
length_bytes(uint8_t first)
{
	return first == 252 ? 2 : first == 253 ? 3 : first == 254 ? 8 : 0;
}

/* Read a length that is not NULL. CENOTE_OK or CENOTE_ERR_PROTOCOL. */
static int
take_length(struct reader *x, size_t *ret_len)
{
	const uint8_t *first = take(x, 1), *p;
	uint64_t len = 0;
	size_t n;

	if (!first)
		return CENOTE_ERR_PROTOCOL;
	if (*first < LENGTH_NULL) {
		*ret_len = *first;
		return CENOTE_OK;
	}
	n = length_bytes(*first);
	p = n > 0 ? take(x, n) : NULL;
	if (!p)
		return CENOTE_ERR_PROTOCOL;
	while (n-- > 0)
		len = len << 8 | p[n];
	if (len > x->left)
		return CENOTE_ERR_PROTOCOL;
	*ret_len = (size_t)len;
	return CENOTE_OK;
}

/* Read a value after its length. */
static int
take_value(struct reader *x, const uint8_t **ret_value, size_t *ret_len)
{
	int r = take_length(x, ret_len);

	if (r < 0)
		return r;
	*ret_value = take(x, *ret_len);
	return *ret_value ? CENOTE_OK : CENOTE_ERR_PROTOCOL;
}

static int
put_text(struct cnc_batch *w, const struct cnp_column *c, struct reader *x)
{
	const uint8_t *value;
	size_t len;
	int r;

	if (x->left > 0 && *x->p == LENGTH_NULL) {
		(void)take(x, 1);
		return cnc_batch_null(w);
	}
	r = take_value(x, &value, &len);
	if (r < 0)
		return r;
	return c->format == CENOTE_FORMAT_CANONICAL
		       ? cnd_my_text_put(w, c, (const char *)value, len)
		       : cnc_batch_put(w, value, len);
}

int
cnd_my_text_row(struct cnc_batch *w, const struct cnp_column *columns, uint32_t n,
	const uint8_t *packet, size_t len)
{
	struct reader x = { packet, len };
	int r = CENOTE_OK;
	uint32_t i;

	for (i = 0; r == CENOTE_OK && i < n; i++)
		r = put_text(w, &columns[i], &x);
	return r == CENOTE_OK && x.left > 0 ? CENOTE_ERR_PROTOCOL : r;
}

/* No value takes more room in the batch than in the packet, where its length precedes it. */
int
cnd_my_plain_row(struct cnc_batch *w, uint32_t n, const uint8_t *packet, size_t len)
{
	struct reader x = { packet, len };
	struct cnc_batch_fill fill;
	const uint8_t *value;
	size_t value_len;
	uint32_t i;
	int r = len > 0 ? cnc_batch_fill_begin(w, len - 1, &fill) : CENOTE_ERR_PROTOCOL;

	for (i = 0; r == CENOTE_OK && i < n; i++) {
		if (x.left > 0 && *x.p == LENGTH_NULL) {
			cnc_batch_fill_value(&fill, x.p, 0, x.left, CNC_BATCH_NULL);
			(void)take(&x, 1);
			continue;
		}
		r = take_value(&x, &value, &value_len);
		if (r == CENOTE_OK)
			cnc_batch_fill_value(
				&fill, value, value_len, value_len + x.left, 0);
	}
	if (r < 0 || x.left > 0)
		return r < 0 ? r : CENOTE_ERR_PROTOCOL;
	cnc_batch_fill_end(w, &fill);
	return CENOTE_OK;
}

/* Text or bytes that are sent unchanged: the most common values. */
static int
is_copied(const struct cnp_column *c)
{
	return c->native_type >= CND_MY_TYPE_JSON && c->format != CENOTE_FORMAT_CANONICAL;
}

static int
put_binary(struct cnc_batch *w, const struct cnp_column *c, struct reader *x)
{
	int size, r = CENOTE_OK;
	const uint8_t *value;
	size_t len;

	if (is_copied(c)) {
		r = take_value(x, &value, &len);
		return r < 0 ? r : cnc_batch_put(w, value, len);
	}
	size = cnd_my_binary_size(c->native_type);
	if (size >= 0) {
		len = (size_t)size;
		value = take(x, len);
	} else {
		r = take_value(x, &value, &len);
	}
	if (r < 0 || !value)
		return CENOTE_ERR_PROTOCOL;
	return cnd_my_binary_put(w, c, value, len);
}

/* The packet: a zero byte, a bitmap of the NULL values after two unused bits, and the other values. */
int
cnd_my_binary_row(struct cnc_batch *w, const struct cnp_column *columns, uint32_t n,
	const uint8_t *packet, size_t len)
{
	struct reader x = { packet, len };
	const uint8_t *head = take(&x, 1), *nulls = take(&x, ((size_t)n + 9) / 8);
	int r = CENOTE_OK;
	uint32_t i;

	if (!head || !nulls)
		return CENOTE_ERR_PROTOCOL;
	for (i = 0; r == CENOTE_OK && i < n; i++) {
		uint32_t bit = i + 2;

		r = nulls[bit / 8] >> bit % 8 & 1 ||
				    columns[i].native_type == MYSQL_TYPE_NULL
			    ? cnc_batch_null(w)
			    : put_binary(w, &columns[i], &x);
	}
	return r == CENOTE_OK && x.left > 0 ? CENOTE_ERR_PROTOCOL : r;
}
