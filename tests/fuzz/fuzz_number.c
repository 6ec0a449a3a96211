/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers: an accepted text is written and read again as the same number.
 */
#include "fuzz.h"

#include <math.h>
#include <string.h>

#include "core/decimal.h"
#include "core/value.h"

static void
check_int64(const char *text, size_t len)
{
	char out[CNC_VALUE_TEXT_MAX];
	int64_t a, b;
	uint64_t u;

	if (cnc_text_int64(text, len, &a) != CENOTE_OK)
		return;
	FUZZ_CHECK(cnc_text_int64(out, cnc_int64_text(a, out), &b) == CENOTE_OK);
	FUZZ_CHECK(a == b);
	FUZZ_CHECK((cnc_text_uint64(text, len, &u) == CENOTE_OK) == (a >= 0));
	FUZZ_CHECK(a < 0 || u == (uint64_t)a);
}

static void
check_uint64(const char *text, size_t len)
{
	char out[CNC_VALUE_TEXT_MAX];
	uint64_t a, b;

	if (cnc_text_uint64(text, len, &a) != CENOTE_OK)
		return;
	FUZZ_CHECK(cnc_text_uint64(out, cnc_uint64_text(a, out), &b) == CENOTE_OK);
	FUZZ_CHECK(a == b);
}

static int
is_same(double a, double b)
{
	return (isnan(a) && isnan(b)) || (a == b && !signbit(a) == !signbit(b));
}

static void
check_double(const char *text, size_t len)
{
	char out[CNC_VALUE_TEXT_MAX];
	double a, b;

	if (cnc_text_double(text, len, &a) != CENOTE_OK)
		return;
	FUZZ_CHECK(cnc_text_double(out, cnc_double_text(a, out), &b) == CENOTE_OK);
	FUZZ_CHECK(is_same(a, b));
}

/* strtod() of the C locale reads a decimal as cnc_text_double() does. */
static void
check_decimal(const char *text, size_t len)
{
	struct cnc_decimal d;
	char copy[4097];
	double value, expected;

	if (cnc_decimal_parse(text, len, &d) != CENOTE_OK || len >= sizeof(copy))
		return;
	FUZZ_CHECK(d.digits >= text && d.digits <= text + len);
	FUZZ_CHECK(d.n_digits <= len && d.scale <= len);
	FUZZ_CHECK(d.n_digits == 0 || (*d.digits >= '1' && *d.digits <= '9'));
	memcpy(copy, text, len);
	copy[len] = '\0';
	expected = strtod(copy, NULL);
	if (isinf(expected)) {
		FUZZ_CHECK(cnc_text_double(text, len, &value) == CENOTE_ERR_CONVERT);
	} else {
		FUZZ_CHECK(cnc_text_double(text, len, &value) == CENOTE_OK);
		FUZZ_CHECK(is_same(value, expected));
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_int64((const char *)data, size);
	check_uint64((const char *)data, size);
	check_double((const char *)data, size);
	check_decimal((const char *)data, size);
	return 0;
}
