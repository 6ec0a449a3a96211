/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads and compares positions: PostgreSQL's LSNs and MariaDB's GTIDs. A client brings such a text back, so each byte is
 * checked, and no part of it ever gets into SQL. It has no state and does no I/O.
 */
#include "position.h"

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

#include "core/diag.h"

/* ---- numbers ---- */

static int
digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* Read a number that ends with the character `end`, and pass both. */
static bool
take_number(const char **at, unsigned base, uint64_t most, char end, uint64_t *ret)
{
	const char *p = *at;
	uint64_t n = 0;
	unsigned digit;

	for (; (digit = (unsigned)digit_of(*p)) < base; p++) {
		if (n > (most - digit) / base)
			return false;
		n = n * base + digit;
	}
	if (p == *at || *p != end)
		return false;
	*at = end != '\0' ? p + 1 : p;
	*ret = n;
	return true;
}

/* ---- PostgreSQL ---- */

struct lsn {
	uint64_t system, timeline, high, low;
};

static bool
take_lsn(const char *text, struct lsn *ret)
{
	return take_number(&text, 10, UINT64_MAX, '/', &ret->system) &&
	       take_number(&text, 10, UINT32_MAX, '/', &ret->timeline) &&
	       take_number(&text, 16, UINT32_MAX, '/', &ret->high) &&
	       take_number(&text, 16, UINT32_MAX, '\0', &ret->low);
}

/*
 * A server on a later timeline than the wanted one has followed a promotion. It has all that the promoted server had. What
 * that server did not have is lost with the former primary, so waiting would not bring it. A server on an earlier
 * timeline may have changes at the same LSN that are other ones, so its LSN says nothing.
 */
int
cnd_lsn_covers(const char *have, const char *wanted, const char **ret_why)
{
	struct lsn h, w;

	*ret_why = "this is no position of a PostgreSQL server";
	if (!take_lsn(wanted, &w))
		return CENOTE_ERR_ARG;
	if (have == NULL)
		return 1;
	if (!take_lsn(have, &h))
		return 0;
	*ret_why = "this is a position of another database cluster";
	if (h.system != w.system)
		return CENOTE_ERR_ARG;
	if (h.timeline != w.timeline)
		return h.timeline > w.timeline;
	return h.high != w.high ? h.high > w.high : h.low >= w.low;
}

/* ---- MariaDB ---- */

struct gtid {
	uint64_t domain, server, number;
};

/* Read the next GTID of a list. 1: there was one; 0: the list has ended; negative: it is malformed. */
static int
take_gtid(const char **at, struct gtid *ret)
{
	if (**at == '\0')
		return 0;
	if (!take_number(at, 10, UINT32_MAX, '-', &ret->domain) ||
		!take_number(at, 10, UINT32_MAX, '-', &ret->server))
		return CENOTE_ERR_ARG;
	if (take_number(at, 10, UINT64_MAX, '\0', &ret->number))
		return 1;
	/* a comma is followed by another GTID */
	return take_number(at, 10, UINT64_MAX, ',', &ret->number) && **at != '\0'
		       ? 1
		       : CENOTE_ERR_ARG;
}

/* Numbers grow within a domain, whichever server writes. */
static bool
has_gtid(const char *have, const struct gtid *wanted)
{
	struct gtid h;

	while (take_gtid(&have, &h) > 0) {
		if (h.domain == wanted->domain)
			return h.number >= wanted->number;
	}
	return false;
}

int
cnd_gtid_covers(const char *have, const char *wanted, const char **ret_why)
{
	struct gtid w;
	int covers = 1;
	int r;

	*ret_why = "this is no position of a MariaDB server";
	while ((r = take_gtid(&wanted, &w)) > 0) {
		if (have != NULL && !has_gtid(have, &w))
			covers = 0;
	}
	return r < 0 ? r : covers;
}
