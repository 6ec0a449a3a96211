/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scalar functions of {fn ...} and the servers' equivalents. escape_call.c looks up templates,
 * info.c the masks for SQLGetInfo(). It has no state.
 */
#include "function.h"

#include <sql.h>
#include <sqlext.h>

#include "escape.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* The servers with templates. For other servers, functions stay as they are, and SQLGetInfo()
 * claims none. */
enum server {
	PG,
	MY,
	LITE,
	N_SERVERS
};

static int
server_of(enum cod_dialect dialect)
{
	static const int servers[COD_N_DIALECTS] = {
		[COD_DIALECT_OTHER] = N_SERVERS,
		[COD_DIALECT_POSTGRESQL] = PG,
		[COD_DIALECT_MYSQL] = MY,
		[COD_DIALECT_SQLITE] = LITE,
		[COD_DIALECT_TDS] = N_SERVERS,
	};

	return servers[dialect];
}

struct function {
	const char *name;
	unsigned char least, most; /* how many arguments it takes */
	SQLUSMALLINT info; /* SQL_STRING_FUNCTIONS or a similar type */
	/* the function's bit in the mask of `info`; 0: another row has it */
	SQLUINTEGER bit;
	const char *templates[N_SERVERS];
};

#define STR(bit)            SQL_STRING_FUNCTIONS, SQL_FN_STR_##bit
#define NUM(bit)            SQL_NUMERIC_FUNCTIONS, SQL_FN_NUM_##bit
#define TD(bit)             SQL_TIMEDATE_FUNCTIONS, SQL_FN_TD_##bit
#define SYS(bit)            SQL_SYSTEM_FUNCTIONS, SQL_FN_SYS_##bit
#define SAME                ""
#define PG_PART(field)      "CAST(extract(" field " FROM CAST(%1 AS timestamp)) AS integer)"
#define PG_TIME(field)      "CAST(floor(extract(" field " FROM %1)) AS integer)"
#define LITE_PART(format)   "CAST(strftime('" format "', %1) AS INTEGER)"
#define LITE_NAME(all, way) "rtrim(substr('" all "', " way ", 9))"
#define DAYS                "Sunday   Monday   Tuesday  WednesdayThursday Friday   Saturday "
#define MONTHS                                                                           \
	"January  February March    April    May      June     July     August   "       \
	"SeptemberOctober  November December "
#define LOCATE_FROM(position)                                                            \
	"coalesce(nullif(" position "(substr(%2, %3), %1), 0) + (%3) - 1, 0)"

static const struct function functions[] = {
	{ "ASCII", 1, 1, STR(ASCII), { SAME, SAME, "unicode(%1)" } },
	{ "BIT_LENGTH", 1, 1, STR(BIT_LENGTH),
		{ SAME, SAME, "(8 * length(CAST(%1 AS BLOB)))" } },
	{ "CHAR", 1, 1, STR(CHAR), { "chr(%1)", "char(%1 USING utf8mb4)", SAME } },
	{ "CHAR_LENGTH", 1, 1, STR(CHAR_LENGTH), { SAME, SAME, "length(%1)" } },
	{ "CHARACTER_LENGTH", 1, 1, STR(CHARACTER_LENGTH), { SAME, SAME, "length(%1)" } },
	{ "CONCAT", 2, 2, STR(CONCAT), { "(%1 || %2)", SAME, "(%1 || %2)" } },
	{ "INSERT", 4, 4, STR(INSERT),
		{ "overlay(%1 PLACING %4 FROM %2 FOR %3)", SAME,
			"(substr(%1, 1, (%2) - 1) || %4 || substr(%1, (%2) + (%3)))" } },
	{ "LCASE", 1, 1, STR(LCASE), { "lower(%1)", SAME, "lower(%1)" } },
	{ "LEFT", 2, 2, STR(LEFT), { SAME, SAME, "substr(%1, 1, %2)" } },
	{ "LENGTH", 1, 1, STR(LENGTH),
		{ "char_length(rtrim(%1))", "char_length(rtrim(%1))",
			"length(rtrim(%1))" } },
	{ "LOCATE", 2, 2, STR(LOCATE_2), { "strpos(%2, %1)", SAME, "instr(%2, %1)" } },
	{ "LOCATE", 3, 3, STR(LOCATE),
		{ LOCATE_FROM("strpos"), SAME, LOCATE_FROM("instr") } },
	{ "LTRIM", 1, 1, STR(LTRIM), { SAME, SAME, SAME } },
	{ "OCTET_LENGTH", 1, 1, STR(OCTET_LENGTH),
		{ SAME, SAME, "length(CAST(%1 AS BLOB))" } },
	{ "POSITION", 1, 1, STR(POSITION), { SAME, SAME, NULL } },
	{ "REPEAT", 2, 2, STR(REPEAT),
		{ SAME, SAME, "replace(hex(zeroblob(%2)), '00', %1)" } },
	{ "REPLACE", 3, 3, STR(REPLACE), { SAME, SAME, SAME } },
	{ "RIGHT", 2, 2, STR(RIGHT), { SAME, SAME, "substr(%1, -(%2), %2)" } },
	{ "RTRIM", 1, 1, STR(RTRIM), { SAME, SAME, SAME } },
	{ "SOUNDEX", 1, 1, STR(SOUNDEX), { NULL, SAME, NULL } },
	{ "SPACE", 1, 1, STR(SPACE),
		{ "repeat(' ', %1)", SAME, "replace(hex(zeroblob(%1)), '00', ' ')" } },
	{ "SUBSTRING", 2, 3, STR(SUBSTRING), { "substr(%*)", SAME, "substr(%*)" } },
	{ "UCASE", 1, 1, STR(UCASE), { "upper(%1)", SAME, "upper(%1)" } },
	{ "DIFFERENCE", 2, 2, STR(DIFFERENCE), { NULL, NULL, NULL } },

	{ "ABS", 1, 1, NUM(ABS), { SAME, SAME, SAME } },
	{ "ACOS", 1, 1, NUM(ACOS), { SAME, SAME, SAME } },
	{ "ASIN", 1, 1, NUM(ASIN), { SAME, SAME, SAME } },
	{ "ATAN", 1, 1, NUM(ATAN), { SAME, SAME, SAME } },
	{ "ATAN2", 2, 2, NUM(ATAN2), { SAME, SAME, SAME } },
	{ "CEILING", 1, 1, NUM(CEILING), { SAME, SAME, SAME } },
	{ "COS", 1, 1, NUM(COS), { SAME, SAME, SAME } },
	{ "COT", 1, 1, NUM(COT), { SAME, SAME, "(1.0 / tan(%1))" } },
	{ "DEGREES", 1, 1, NUM(DEGREES), { SAME, SAME, SAME } },
	{ "EXP", 1, 1, NUM(EXP), { SAME, SAME, SAME } },
	{ "FLOOR", 1, 1, NUM(FLOOR), { SAME, SAME, SAME } },
	{ "LOG", 1, 1, NUM(LOG), { "ln(%1)", "ln(%1)", "ln(%1)" } },
	{ "LOG10", 1, 1, NUM(LOG10), { "log(%1)", SAME, SAME } },
	{ "MOD", 2, 2, NUM(MOD), { SAME, SAME, "((%1) % (%2))" } },
	{ "PI", 0, 0, NUM(PI), { SAME, SAME, SAME } },
	{ "POWER", 2, 2, NUM(POWER), { SAME, SAME, SAME } },
	{ "RADIANS", 1, 1, NUM(RADIANS), { SAME, SAME, SAME } },
	{ "RAND", 0, 0, NUM(RAND),
		{ "random()", SAME,
			"((random() + 9223372036854775808.0) / "
			"18446744073709551616.0)" } },
	{ "RAND", 1, 1, SQL_NUMERIC_FUNCTIONS, 0, { NULL, SAME, NULL } },
	{ "ROUND", 2, 2, NUM(ROUND), { "round(CAST(%1 AS numeric), %2)", SAME, SAME } },
	{ "SIGN", 1, 1, NUM(SIGN), { SAME, SAME, SAME } },
	{ "SIN", 1, 1, NUM(SIN), { SAME, SAME, SAME } },
	{ "SQRT", 1, 1, NUM(SQRT), { SAME, SAME, SAME } },
	{ "TAN", 1, 1, NUM(TAN), { SAME, SAME, SAME } },
	{ "TRUNCATE", 2, 2, NUM(TRUNCATE),
		{ "trunc(CAST(%1 AS numeric), %2)", SAME,
			"(trunc((%1) * power(10.0, %2)) / power(10.0, %2))" } },

	{ "CURDATE", 0, 0, TD(CURDATE),
		{ "current_date", SAME, "date('now', 'localtime')" } },
	{ "CURRENT_DATE", 0, 0, TD(CURRENT_DATE),
		{ "current_date", SAME, "date('now', 'localtime')" } },
	{ "CURTIME", 0, 0, TD(CURTIME),
		{ "localtime(0)", SAME, "time('now', 'localtime')" } },
	{ "CURRENT_TIME", 0, 0, TD(CURRENT_TIME),
		{ "localtime(0)", SAME, "time('now', 'localtime')" } },
	{ "CURRENT_TIME", 1, 1, SQL_TIMEDATE_FUNCTIONS, 0,
		{ "localtime(%1)", SAME, NULL } },
	{ "CURRENT_TIMESTAMP", 0, 0, TD(CURRENT_TIMESTAMP),
		{ "localtimestamp", SAME, "datetime('now', 'localtime')" } },
	{ "CURRENT_TIMESTAMP", 1, 1, SQL_TIMEDATE_FUNCTIONS, 0,
		{ "localtimestamp(%1)", SAME, NULL } },
	{ "NOW", 0, 0, TD(NOW),
		{ "localtimestamp", SAME, "datetime('now', 'localtime')" } },
	{ "DAYNAME", 1, 1, TD(DAYNAME),
		{ "to_char(CAST(%1 AS timestamp), 'FMDay')", SAME,
			LITE_NAME(DAYS, "1 + 9 * strftime('%w', %1)") } },
	{ "DAYOFMONTH", 1, 1, TD(DAYOFMONTH), { PG_PART("day"), SAME, LITE_PART("%d") } },
	{ "DAYOFWEEK", 1, 1, TD(DAYOFWEEK),
		{ "(1 + " PG_PART("dow") ")", SAME, "(1 + " LITE_PART("%w") ")" } },
	{ "DAYOFYEAR", 1, 1, TD(DAYOFYEAR), { PG_PART("doy"), SAME, LITE_PART("%j") } },
	{ "EXTRACT", 1, 1, TD(EXTRACT), { SAME, SAME, NULL } },
	{ "HOUR", 1, 1, TD(HOUR), { PG_TIME("hour"), SAME, LITE_PART("%H") } },
	{ "MINUTE", 1, 1, TD(MINUTE), { PG_TIME("minute"), SAME, LITE_PART("%M") } },
	{ "MONTH", 1, 1, TD(MONTH), { PG_PART("month"), SAME, LITE_PART("%m") } },
	{ "MONTHNAME", 1, 1, TD(MONTHNAME),
		{ "to_char(CAST(%1 AS timestamp), 'FMMonth')", SAME,
			LITE_NAME(MONTHS, "9 * strftime('%m', %1) - 8") } },
	{ "QUARTER", 1, 1, TD(QUARTER),
		{ PG_PART("quarter"), SAME, "((2 + " LITE_PART("%m") ") / 3)" } },
	{ "SECOND", 1, 1, TD(SECOND), { PG_TIME("second"), SAME, LITE_PART("%S") } },
	{ "WEEK", 1, 1, TD(WEEK),
		{ PG_PART("week"), SAME, "(1 + " LITE_PART("%W") ")" } },
	{ "YEAR", 1, 1, TD(YEAR), { PG_PART("year"), SAME, LITE_PART("%Y") } },

	{ "DATABASE", 0, 0, SYS(DBNAME), { "current_database()", SAME, "'main'" } },
	{ "IFNULL", 2, 2, SYS(IFNULL), { "coalesce(%1, %2)", SAME, SAME } },
	{ "USER", 0, 0, SYS(USERNAME),
		{ "CAST(current_user AS text)", "substring_index(user(), '@', 1)",
			"''" } },
};

static const struct unit {
	const char *name;
	SQLUINTEGER bit;
	const char *add[N_SERVERS];
	const char *diff[N_SERVERS];
} units[] = {
#define PG_ADD(amount) "(CAST(%2 AS timestamp) + (%1) * INTERVAL '" amount "')"
#define PG_EPOCH       "extract(epoch FROM CAST(%2 AS timestamp) - CAST(%1 AS timestamp))"
#define PG_DIFF(way)   "CAST(trunc(" PG_EPOCH " " way ") AS bigint)"
#define PG_AGE(field)                                                                    \
	"extract(" field " FROM age(CAST(%2 AS timestamp), CAST(%1 AS timestamp)))"
#define PG_MONTHS        "(12 * " PG_AGE("year") " + " PG_AGE("month") ")"
#define MY_ADD(unit)     "timestampadd(" unit ", %1, %2)"
#define MY_DIFF(unit)    "timestampdiff(" unit ", %1, %2)"
#define LITE_ADD(amount) "datetime(%2, (" amount ") || ' "
#define LITE_DIFF(way)   "((strftime('%s', %2) - strftime('%s', %1))" way ")"
	{ "SQL_TSI_FRAC_SECOND", SQL_FN_TSI_FRAC_SECOND,
		{ "(CAST(%2 AS timestamp) + (%1) * INTERVAL '1 microsecond' / 1000)",
			"timestampadd(MICROSECOND, (%1) / 1000, %2)", NULL },
		{ PG_DIFF("* 1000000000"), "(1000 * " MY_DIFF("MICROSECOND") ")",
			NULL } },
	{ "SQL_TSI_SECOND", SQL_FN_TSI_SECOND,
		{ PG_ADD("1 second"), MY_ADD("SECOND"), LITE_ADD("%1") "second')" },
		{ PG_DIFF(""), MY_DIFF("SECOND"), LITE_DIFF("") } },
	{ "SQL_TSI_MINUTE", SQL_FN_TSI_MINUTE,
		{ PG_ADD("1 minute"), MY_ADD("MINUTE"), LITE_ADD("%1") "minute')" },
		{ PG_DIFF("/ 60"), MY_DIFF("MINUTE"), LITE_DIFF(" / 60") } },
	{ "SQL_TSI_HOUR", SQL_FN_TSI_HOUR,
		{ PG_ADD("1 hour"), MY_ADD("HOUR"), LITE_ADD("%1") "hour')" },
		{ PG_DIFF("/ 3600"), MY_DIFF("HOUR"), LITE_DIFF(" / 3600") } },
	{ "SQL_TSI_DAY", SQL_FN_TSI_DAY,
		{ PG_ADD("1 day"), MY_ADD("DAY"), LITE_ADD("%1") "day')" },
		{ PG_DIFF("/ 86400"), MY_DIFF("DAY"), LITE_DIFF(" / 86400") } },
	{ "SQL_TSI_WEEK", SQL_FN_TSI_WEEK,
		{ PG_ADD("7 days"), MY_ADD("WEEK"), LITE_ADD("7 * (%1)") "day')" },
		{ PG_DIFF("/ 604800"), MY_DIFF("WEEK"), LITE_DIFF(" / 604800") } },
	{ "SQL_TSI_MONTH", SQL_FN_TSI_MONTH,
		{ PG_ADD("1 month"), MY_ADD("MONTH"), LITE_ADD("%1") "month')" },
		{ "CAST(" PG_MONTHS " AS bigint)", MY_DIFF("MONTH"), NULL } },
	{ "SQL_TSI_QUARTER", SQL_FN_TSI_QUARTER,
		{ PG_ADD("3 months"), MY_ADD("QUARTER"), LITE_ADD("3 * (%1)") "month')" },
		{ "CAST(trunc(" PG_MONTHS " / 3) AS bigint)", MY_DIFF("QUARTER"),
			NULL } },
	{ "SQL_TSI_YEAR", SQL_FN_TSI_YEAR,
		{ PG_ADD("1 year"), MY_ADD("YEAR"), LITE_ADD("%1") "year')" },
		{ "CAST(" PG_AGE("year") " AS bigint)", MY_DIFF("YEAR"), NULL } },
};

static const struct cast {
	const char *name;
	SQLUINTEGER bit; /* SQL_CVT_… */
	const char *types[N_SERVERS];
} casts[] = {
	{ "SQL_BIGINT", SQL_CVT_BIGINT, { "bigint", "signed", "INTEGER" } },
	{ "SQL_BINARY", SQL_CVT_BINARY, { "bytea", "binary", "BLOB" } },
	{ "SQL_BIT", SQL_CVT_BIT, { "boolean", "unsigned", "INTEGER" } },
	{ "SQL_CHAR", SQL_CVT_CHAR, { "text", "char", "TEXT" } },
	{ "SQL_DATE", SQL_CVT_DATE, { "date", "date", NULL } },
	{ "SQL_TYPE_DATE", SQL_CVT_DATE, { "date", "date", NULL } },
	{ "SQL_DECIMAL", SQL_CVT_DECIMAL, { "numeric", "decimal(65, 30)", "NUMERIC" } },
	{ "SQL_DOUBLE", SQL_CVT_DOUBLE, { "double precision", "double", "REAL" } },
	{ "SQL_FLOAT", SQL_CVT_FLOAT, { "double precision", "double", "REAL" } },
	{ "SQL_GUID", SQL_CVT_GUID, { "uuid", NULL, NULL } },
	{ "SQL_INTEGER", SQL_CVT_INTEGER, { "integer", "signed", "INTEGER" } },
	{ "SQL_LONGVARBINARY", SQL_CVT_LONGVARBINARY, { "bytea", "binary", "BLOB" } },
	{ "SQL_LONGVARCHAR", SQL_CVT_LONGVARCHAR, { "text", "char", "TEXT" } },
	{ "SQL_NUMERIC", SQL_CVT_NUMERIC, { "numeric", "decimal(65, 30)", "NUMERIC" } },
	{ "SQL_REAL", SQL_CVT_REAL, { "real", "double", "REAL" } },
	{ "SQL_SMALLINT", SQL_CVT_SMALLINT, { "smallint", "signed", "INTEGER" } },
	{ "SQL_TIME", SQL_CVT_TIME, { "time", "time", NULL } },
	{ "SQL_TYPE_TIME", SQL_CVT_TIME, { "time", "time", NULL } },
	{ "SQL_TIMESTAMP", SQL_CVT_TIMESTAMP, { "timestamp", "datetime", NULL } },
	{ "SQL_TYPE_TIMESTAMP", SQL_CVT_TIMESTAMP, { "timestamp", "datetime", NULL } },
	{ "SQL_TINYINT", SQL_CVT_TINYINT, { "smallint", "signed", "INTEGER" } },
	{ "SQL_VARBINARY", SQL_CVT_VARBINARY, { "bytea", "binary", "BLOB" } },
	{ "SQL_VARCHAR", SQL_CVT_VARCHAR, { "text", "char", "TEXT" } },
	{ "SQL_WCHAR", SQL_CVT_WCHAR, { "text", "char", "TEXT" } },
	{ "SQL_WLONGVARCHAR", SQL_CVT_WLONGVARCHAR, { "text", "char", "TEXT" } },
	{ "SQL_WVARCHAR", SQL_CVT_WVARCHAR, { "text", "char", "TEXT" } },
};

const char *
cod_function(enum cod_dialect dialect, struct cod_span name, size_t n_args)
{
	int server = server_of(dialect);

	if (server == N_SERVERS)
		return "";
	for (size_t i = 0; i < COUNT(functions); i++) {
		const struct function *f = &functions[i];

		if (n_args >= f->least && n_args <= f->most && cod_span_is(name, f->name))
			return f->templates[server];
	}
	return NULL;
}

int
cod_is_function(struct cod_span name)
{
	for (size_t i = 0; i < COUNT(functions); i++) {
		if (cod_span_is(name, functions[i].name))
			return 1;
	}
	return 0;
}

const char *
cod_interval_function(enum cod_dialect dialect, struct cod_span unit, int is_diff)
{
	int server = server_of(dialect);

	for (size_t i = 0; server < N_SERVERS && i < COUNT(units); i++) {
		if (cod_span_is(unit, units[i].name))
			return is_diff ? units[i].diff[server] : units[i].add[server];
	}
	return NULL;
}

const char *
cod_cast_type(enum cod_dialect dialect, struct cod_span type)
{
	int server = server_of(dialect);

	for (size_t i = 0; server < N_SERVERS && i < COUNT(casts); i++) {
		if (cod_span_is(type, casts[i].name))
			return casts[i].types[server];
	}
	return NULL;
}

/* ---- masks for SQLGetInfo() ---- */

SQLUINTEGER
cod_function_mask(enum cod_dialect dialect, SQLUSMALLINT info_type)
{
	int server = server_of(dialect);
	SQLUINTEGER mask = 0;

	if (server == N_SERVERS)
		return 0;
	for (size_t i = 0; i < COUNT(functions); i++) {
		if (functions[i].info == info_type && functions[i].templates[server])
			mask |= functions[i].bit;
	}
	if (info_type == SQL_TIMEDATE_FUNCTIONS)
		mask |= SQL_FN_TD_TIMESTAMPADD | SQL_FN_TD_TIMESTAMPDIFF;
	return mask;
}

SQLUINTEGER
cod_interval_mask(enum cod_dialect dialect, SQLUSMALLINT info_type)
{
	int server = server_of(dialect),
	    is_diff = info_type == SQL_TIMEDATE_DIFF_INTERVALS;
	SQLUINTEGER mask = 0;

	for (size_t i = 0; server < N_SERVERS && i < COUNT(units); i++) {
		if (is_diff ? units[i].diff[server] : units[i].add[server])
			mask |= units[i].bit;
	}
	return mask;
}

SQLUINTEGER
cod_cast_mask(enum cod_dialect dialect)
{
	int server = server_of(dialect);
	SQLUINTEGER mask = 0;

	for (size_t i = 0; server < N_SERVERS && i < COUNT(casts); i++) {
		if (casts[i].types[server])
			mask |= casts[i].bit;
	}
	return mask;
}
