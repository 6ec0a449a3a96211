/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Base64 against the vectors of RFC 4648, and the texts that the decoder must refuse. It
 * needs no server.
 */
#include "support/cnt_cmocka.h"

#include <string.h>

#include "core/base64.h"

/* RFC 4648, section 10. */
static const struct {
	const char *bytes;
	const char *text;
} vectors[] = {
	{ "", "" },
	{ "f", "Zg==" },
	{ "fo", "Zm8=" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" },
	{ "fooba", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy" },
};

static void
the_vectors_of_the_standard_go_both_ways(void **state)
{
	for (size_t i = 0; i < CNT_COUNT(vectors); i++) {
		size_t n = strlen(vectors[i].bytes);
		char text[16];
		char bytes[16];

		assert_int_equal(cnc_base64_encode(vectors[i].bytes, n, text),
			strlen(vectors[i].text));
		assert_string_equal(text, vectors[i].text);
		assert_int_equal(
			cnc_base64_decode(text, strlen(text), bytes, n), (ptrdiff_t)n);
		assert_memory_equal(bytes, vectors[i].bytes, n);
	}
}

static void
every_byte_goes_both_ways(void **state)
{
	uint8_t bytes[256], again[256];
	char text[CNC_BASE64_LEN(256) + 1];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7);
	for (size_t n = 0; n <= sizeof(bytes); n++) {
		size_t len = cnc_base64_encode(bytes, n, text);

		assert_int_equal(len, CNC_BASE64_LEN(n));
		assert_int_equal(text[len], 0);
		assert_int_equal(
			cnc_base64_decode(text, len, again, sizeof(again)), (ptrdiff_t)n);
		assert_memory_equal(again, bytes, n);
	}
}

static void
what_is_no_base64_is_refused(void **state)
{
	/* wrong length, padding or digits; bits that belong to no byte */
	static const char *const bad[] = { "Z", "Zg", "Zg=", "Zg===", "=",
		"====", "Zg==Zg==", "Z===", "Z=g=", "Zm9\n", "Zm 9", "Zm9-", "Zm9_",
		"Zh==", "Zm9=", "Zm9v=" };
	char bytes[16];

	for (size_t i = 0; i < CNT_COUNT(bad); i++)
		assert_int_equal(
			cnc_base64_decode(bad[i], strlen(bad[i]), bytes, sizeof(bytes)),
			-1);
	assert_int_equal(cnc_base64_decode("Zm\09", 4, bytes, sizeof(bytes)), -1);
}

static void
more_than_there_is_room_for_is_refused(void **state)
{
	char bytes[6];

	for (size_t i = 0; i < CNT_COUNT(vectors); i++) {
		size_t n = strlen(vectors[i].bytes);

		if (n > 0)
			assert_int_equal(cnc_base64_decode(vectors[i].text,
						 strlen(vectors[i].text), bytes, n - 1),
				-1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vectors_of_the_standard_go_both_ways),
		cmocka_unit_test(every_byte_goes_both_ways),
		cmocka_unit_test(what_is_no_base64_is_refused),
		cmocka_unit_test(more_than_there_is_room_for_is_refused),
	};

	return cmocka_run_group_tests_name("base64", tests, NULL, NULL);
}
