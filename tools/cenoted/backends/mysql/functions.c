/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds out which functions are built into a server of MySQL, which does not list them. login.c calls it; the answer is in s->reading.
 *
 * MySQL looks for a built-in function first, then for a loadable one, and last for a stored one of the current
 * database. Nobody can make a stored function in information_schema. So if a text can be prepared there, all
 * functions that it calls are built in, or the administrator has loaded them. That does not change while a session
 * lives, but for loadable ones.
 */
#include <stdio.h>
#include <string.h>

#include "../common/text.h"
#include "my.h"

#define QUESTION_MAX ((size_t)16 << 10)

/* Calls of functions in the table `natives` (names.c), with arguments that the server takes. Some servers lack some. */
static const char *const calls[] = {
	"ABS(1)",
	"ACOS(1)",
	"ADDTIME(1, 1)",
	"AES_DECRYPT(1, 1)",
	"AES_ENCRYPT(1, 1)",
	"ANY_VALUE(1)",
	"ASIN(1)",
	"ATAN(1)",
	"ATAN2(1, 1)",
	"BENCHMARK(1, 1)",
	"BIN(1)",
	"BIN_TO_UUID(1)",
	"BIT_COUNT(1)",
	"BIT_LENGTH(1)",
	"CEIL(1)",
	"CEILING(1)",
	"CHARACTER_LENGTH(1)",
	"CHAR_LENGTH(1)",
	"COALESCE(1)",
	"COERCIBILITY(1)",
	"COLLATION(1)",
	"COMPRESS(1)",
	"CONCAT(1)",
	"CONCAT_WS(1, 1)",
	"CONNECTION_ID()",
	"CONV(1, 10, 2)",
	"CONVERT_TZ(1, 1, 1)",
	"COS(1)",
	"COT(1)",
	"CRC32(1)",
	"CUME_DIST() OVER ()",
	"DATABASE()",
	"DATEDIFF(1, 1)",
	"DATE_FORMAT(1, 1)",
	"DAYNAME(1)",
	"DAYOFMONTH(1)",
	"DAYOFWEEK(1)",
	"DAYOFYEAR(1)",
	"DEGREES(1)",
	"DENSE_RANK() OVER ()",
	"ELT(1, 1)",
	"EXP(1)",
	"EXPORT_SET(1, 1, 1)",
	"EXTRACTVALUE(''<a/>'', ''/a'')",
	"FIELD(1, 1)",
	"FIND_IN_SET(1, 1)",
	"FIRST_VALUE(1) OVER ()",
	"FLOOR(1)",
	"FORMAT(1, 1)",
	"FORMAT_BYTES(1)",
	"FORMAT_PICO_TIME(1)",
	"FROM_BASE64(1)",
	"FROM_DAYS(1)",
	"FROM_UNIXTIME(1)",
	"GET_LOCK(1, 1)",
	"GREATEST(1, 1)",
	"HEX(1)",
	"IFNULL(1, 1)",
	"INET6_ATON(1)",
	"INET6_NTOA(1)",
	"INET_ATON(1)",
	"INET_NTOA(1)",
	"INSTR(1, 1)",
	"ISNULL(1)",
	"IS_FREE_LOCK(1)",
	"IS_IPV4(1)",
	"IS_IPV4_COMPAT(1)",
	"IS_IPV4_MAPPED(1)",
	"IS_IPV6(1)",
	"IS_USED_LOCK(1)",
	"IS_UUID(1)",
	"JSON_ARRAY(1)",
	"JSON_ARRAYAGG(1)",
	"JSON_ARRAY_APPEND(1, 1, 1)",
	"JSON_ARRAY_INSERT(1, 1, 1)",
	"JSON_CONTAINS(1, 1)",
	"JSON_CONTAINS_PATH(1, 1, 1)",
	"JSON_DEPTH(1)",
	"JSON_EXTRACT(1, 1)",
	"JSON_INSERT(1, 1, 1)",
	"JSON_KEYS(1)",
	"JSON_LENGTH(1)",
	"JSON_MERGE_PATCH(''[]'', ''[]'')",
	"JSON_MERGE_PRESERVE(''[]'', ''[]'')",
	"JSON_OBJECT(1, 1)",
	"JSON_OBJECTAGG(''a'', 1)",
	"JSON_OVERLAPS(''[]'', ''[]'')",
	"JSON_PRETTY(''[]'')",
	"JSON_QUOTE(1)",
	"JSON_REMOVE(1, 1)",
	"JSON_REPLACE(1, 1, 1)",
	"JSON_SEARCH(1, 1, 1)",
	"JSON_SET(1, 1, 1)",
	"JSON_STORAGE_SIZE(''[]'')",
	"JSON_TYPE(1)",
	"JSON_UNQUOTE(1)",
	"JSON_VALID(1)",
	"LAG(1) OVER ()",
	"LAST_DAY(1)",
	"LAST_INSERT_ID()",
	"LAST_VALUE(1) OVER ()",
	"LCASE(1)",
	"LEAD(1) OVER ()",
	"LEAST(1, 1)",
	"LENGTH(1)",
	"LN(1)",
	"LOAD_FILE(1)",
	"LOCATE(1, 1)",
	"LOG(1)",
	"LOG10(1)",
	"LOG2(1)",
	"LOWER(1)",
	"LPAD(1, 1, 1)",
	"LTRIM(1)",
	"MAKEDATE(1, 1)",
	"MAKETIME(1, 1, 1)",
	"MAKE_SET(1, 1)",
	"MD5(1)",
	"MICROSECOND(1)",
	"MOD(1, 1)",
	"MONTHNAME(1)",
	"NAME_CONST(''a'', 1)",
	"NTH_VALUE(1, 1) OVER ()",
	"NTILE(1) OVER ()",
	"NULLIF(1, 1)",
	"OCT(1)",
	"OCTET_LENGTH(1)",
	"ORD(1)",
	"PERCENT_RANK() OVER ()",
	"PERIOD_ADD(1, 1)",
	"PERIOD_DIFF(1, 1)",
	"PI()",
	"POW(1, 1)",
	"POWER(1, 1)",
	"QUARTER(1)",
	"QUOTE(1)",
	"RADIANS(1)",
	"RAND()",
	"RANDOM_BYTES(1)",
	"RANK() OVER ()",
	"REGEXP_INSTR(1, 1)",
	"REGEXP_LIKE(1, 1)",
	"REGEXP_REPLACE(1, 1, 1)",
	"REGEXP_SUBSTR(1, 1)",
	"RELEASE_ALL_LOCKS()",
	"RELEASE_LOCK(1)",
	"REVERSE(1)",
	"ROUND(1)",
	"ROW_COUNT()",
	"ROW_NUMBER() OVER ()",
	"RPAD(1, 1, 1)",
	"RTRIM(1)",
	"SCHEMA()",
	"SEC_TO_TIME(1)",
	"SHA(1)",
	"SHA1(1)",
	"SHA2(1, 256)",
	"SIGN(1)",
	"SIN(1)",
	"SLEEP(1)",
	"SOUNDEX(1)",
	"SPACE(1)",
	"SQRT(1)",
	"STRCMP(1, 1)",
	"STR_TO_DATE(1, 1)",
	"SUBSTRING_INDEX(1, 1, 1)",
	"SUBTIME(1, 1)",
	"TAN(1)",
	"TIMEDIFF(1, 1)",
	"TIME_FORMAT(1, 1)",
	"TIME_TO_SEC(1)",
	"TO_BASE64(1)",
	"TO_DAYS(1)",
	"TO_SECONDS(1)",
	"UCASE(1)",
	"UNCOMPRESS(1)",
	"UNCOMPRESSED_LENGTH(1)",
	"UNHEX(1)",
	"UNIX_TIMESTAMP()",
	"UPDATEXML(''<a/>'', ''/a'', ''<b/>'')",
	"UPPER(1)",
	"UUID()",
	"UUID_SHORT()",
	"UUID_TO_BIN(1)",
	"VERSION()",
	"WEEK(1)",
	"WEEKDAY(1)",
	"WEEKOFYEAR(1)",
	"YEARWEEK(1)",
};

#define N_CALLS (sizeof(calls) / sizeof(calls[0]))

static int
prepare(struct cnd_session *s, size_t first, size_t n)
{
	struct cnd_text t = { .r = CENOTE_OK };
	int r;

	cnc_buf_init(&t.b, s->mem, QUESTION_MAX);
	cnd_text_add(&t, "PREPARE cenote FROM 'SELECT ");
	for (size_t i = 0; i < n; i++) {
		cnd_text_add(&t, i > 0 ? ", " : "");
		cnd_text_add(&t, calls[first + i]);
	}
	cnd_text_add(&t, "'; DEALLOCATE PREPARE cenote");
	r = t.r;
	if (r == CENOTE_OK)
		r = cnd_my_run(s, (const char *)cnc_buf_head(&t.b), cnc_buf_len(&t.b));
	cnc_buf_finish(&t.b);
	return r;
}

/* Confirm these calls. If the server refuses one, halve their number until it stands alone. CENOTE_OK, or a failure of
 * the session. */
static int
confirm(struct cnd_session *s, size_t first, size_t n)
{
	int r = prepare(s, first, n);

	if (r == CENOTE_OK) {
		for (size_t i = first; i < first + n; i++)
			cnd_my_confirm_native(
				&s->reading, calls[i], strcspn(calls[i], "("));
		return CENOTE_OK;
	}
	if (r != CENOTE_ERR_SERVER || s->is_lost)
		return r;
	cnc_diag_clear(s->diag);
	if (n == 1)
		return CENOTE_OK;
	r = confirm(s, first, n / 2);
	return r == CENOTE_OK ? confirm(s, first + n / 2, n - n / 2) : r;
}

static int
enter_database(struct cnd_session *s, const char *name)
{
	return mysql_select_db(s->my, name) != 0 ? cnd_my_failed(s, NULL) : CENOTE_OK;
}

int
cnd_my_learn_functions(struct cnd_session *s)
{
	int r;

	if (cnd_my_is_mariadb(s->my))
		return CENOTE_OK;
	/* without any database, the server finds no stored function either */
	if (!s->opt.dbname)
		return confirm(s, 0, N_CALLS);
	r = enter_database(s, "information_schema");
	if (r == CENOTE_OK)
		r = confirm(s, 0, N_CALLS);
	return r == CENOTE_OK ? enter_database(s, s->opt.dbname) : r;
}
