/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Error messages of the server become diagnostic records, also without memory. It needs
 * no server.
 */
#include "support/cnt_cmocka.h"

#include "support/cnt_alloc.h"
#include "support/cnt_guard.h"

#include "pg.h"

#define BODY(text) (const uint8_t *)(text), sizeof(text)

/* Every field. The literal's own zero byte ends the body. */
#define FULL                                                                             \
	"SFEHLER\0VERROR\0C23505\0Mdoppelt \xc3\xa4\0Ddetail\0Hhint\0P12\0p3\0qselect "  \
	"1\0Wwhere\0ss\0tt\0cc\0dd\0nn\0Ffile.c\0L42\0Rroutine\0"

static void
every_field_is_kept(void **state)
{
	static const struct {
		char letter;
		const char *text;
	} fields[] = { { 'S', "FEHLER" }, { 'V', "ERROR" }, { 'C', "23505" },
		{ 'M', "doppelt \xc3\xa4" }, { 'D', "detail" }, { 'H', "hint" },
		{ 'P', "12" }, { 'p', "3" }, { 'q', "select 1" }, { 'W', "where" },
		{ 's', "s" }, { 't', "t" }, { 'c', "c" }, { 'd', "d" }, { 'n', "n" },
		{ 'F', "file.c" }, { 'L', "42" }, { 'R', "routine" },
		{ 'B', "db1:5432" } };
	struct cnc_diag d;
	size_t i;

	cnc_diag_init(&d, &cnc_mem_default);
	assert_ok(cnd_pg_diag(&d, BODY(FULL), "db1:5432"));
	assert_string_equal(d.sqlstate, "23505");
	assert_string_equal(d.message, "doppelt \xc3\xa4");
	assert_int_equal(d.native, 0);
	for (i = 0; i < CNT_COUNT(fields); i++) {
		const char *text = cnc_diag_field(&d, fields[i].letter);

		assert_non_null(text);
		assert_string_equal(text, fields[i].text);
	}
	cnc_diag_finish(&d);
}

static void
unknown_and_repeated_fields_are_left_out(void **state)
{
	struct cnc_diag d;

	cnc_diag_init(&d, &cnc_mem_default);
	assert_ok(cnd_pg_diag(
		&d, BODY("C42601\0Mone\0Mtwo\0zwhat\0Nnative\0C00000\0"), NULL));
	assert_string_equal(d.sqlstate, "42601");
	assert_string_equal(d.message, "one");
	assert_string_equal(cnc_diag_field(&d, 'M'), "one");
	assert_null(cnc_diag_field(&d, 'z'));
	assert_null(cnc_diag_field(&d, 'N'));
	assert_null(cnc_diag_field(&d, 'B'));
	cnc_diag_finish(&d);
}

static void
what_is_missing_or_wrong_is_made_up_for(void **state)
{
	struct cnc_diag d;

	cnc_diag_init(&d, &cnc_mem_default);
	assert_ok(cnd_pg_diag(&d, BODY(""), NULL));
	assert_string_equal(d.sqlstate, "HY000");
	assert_string_equal(d.message, "");
	assert_ok(cnd_pg_diag(&d, BODY("C4\0M\xff\xfe\0"), NULL));
	assert_string_equal(d.sqlstate, "HY000");
	assert_string_equal(d.message, "\xff\xfe");
	cnc_diag_finish(&d);
}

static void
a_body_that_breaks_off_is_refused(void **state)
{
	struct cnt_guard guard;
	struct cnc_diag d;
	size_t n;

	cnt_guard_init(&guard, sizeof(FULL) + 1);
	cnc_diag_init(&d, &cnc_mem_default);
	for (n = 0; n < sizeof(FULL); n++) {
		assert_int_equal(
			cnd_pg_diag(&d, cnt_guard_put(&guard, FULL, n), n, "here"),
			CENOTE_ERR_PROTOCOL);
		assert_string_equal(d.sqlstate, "08P01");
		assert_true(d.message[0] != '\0');
		(void)cnd_pg_is_fatal(cnt_guard_put(&guard, FULL, n), n);
	}
	/* Bytes follow the end of the fields. */
	assert_int_equal(cnd_pg_diag(&d, BODY("Mone\0\0"), NULL), CENOTE_ERR_PROTOCOL);
	cnc_diag_finish(&d);
	cnt_guard_finish(&guard);
}

static void
without_memory_the_message_is_left(void **state)
{
	size_t n;

	for (n = 1;; n++) {
		struct cnc_diag d;
		struct cnt_alloc a;

		cnt_alloc_init(&a, n);
		cnc_diag_init(&d, &a.mem);
		assert_ok(cnd_pg_diag(&d, BODY(FULL), "here"));
		assert_string_equal(d.sqlstate, "23505");
		assert_string_equal(d.message, "doppelt \xc3\xa4");
		cnc_diag_finish(&d);
		assert_int_equal(cnt_alloc_leaks(&a), 0);
		if (!cnt_alloc_has_failed(&a))
			break;
	}
	assert_true(n > 2);
}

static void
a_record_without_memory_of_its_own_is_filled(void **state)
{
	struct cnc_diag d;

	cnc_diag_init(&d, NULL);
	assert_ok(cnd_pg_diag(&d, BODY(FULL), "here"));
	assert_string_equal(d.message, "doppelt \xc3\xa4");
	cnc_diag_finish(&d);
}

static void
severity_tells_the_end_of_the_session(void **state)
{
	assert_true(cnd_pg_is_fatal(BODY("SFATAL\0VFATAL\0")));
	assert_true(cnd_pg_is_fatal(BODY("SPANIK\0VPANIC\0")));
	assert_true(cnd_pg_is_fatal(BODY("SFATAL\0")));
	assert_false(cnd_pg_is_fatal(BODY("SFATAL\0VERROR\0")));
	assert_false(cnd_pg_is_fatal(BODY("SERROR\0VERROR\0MFATAL\0")));
	assert_false(cnd_pg_is_fatal(BODY("")));
	assert_false(cnd_pg_is_fatal((const uint8_t *)"VFATAL", 6));
	assert_false(cnd_pg_is_fatal(NULL, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_is_kept),
		cmocka_unit_test(unknown_and_repeated_fields_are_left_out),
		cmocka_unit_test(what_is_missing_or_wrong_is_made_up_for),
		cmocka_unit_test(a_body_that_breaks_off_is_refused),
		cmocka_unit_test(without_memory_the_message_is_left),
		cmocka_unit_test(a_record_without_memory_of_its_own_is_filled),
		cmocka_unit_test(severity_tells_the_end_of_the_session),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
