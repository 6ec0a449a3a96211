/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <string.h>

/* The values that are bound: a few of each type. stmt_values.c tries all conversions. */

#define PATTERN 0x5a

static const enum enum_field_types types[] = { MYSQL_TYPE_LONG, MYSQL_TYPE_STRING,
	MYSQL_TYPE_LONGLONG, MYSQL_TYPE_VAR_STRING, MYSQL_TYPE_TINY, MYSQL_TYPE_SHORT,
	MYSQL_TYPE_DOUBLE, MYSQL_TYPE_FLOAT, MYSQL_TYPE_BLOB, MYSQL_TYPE_DATETIME,
	MYSQL_TYPE_DATE, MYSQL_TYPE_TIME, MYSQL_TYPE_TIMESTAMP, MYSQL_TYPE_NEWDECIMAL,
	MYSQL_TYPE_NULL, MYSQL_TYPE_LONG, MYSQL_TYPE_STRING, MYSQL_TYPE_YEAR,
	MYSQL_TYPE_INT24, MYSQL_TYPE_LONG_BLOB, (enum enum_field_types)200 };

static void
bind_to(MYSQL_BIND *bind, struct fz_value *value, uint32_t number)
{
	memset(bind, 0, sizeof(*bind));
	bind->buffer_type = types[number % (sizeof(types) / sizeof(types[0]))];
	bind->buffer = &value->at;
	bind->buffer_length = sizeof(value->at.bytes);
	bind->length = &value->length;
	bind->is_null = &value->is_null;
	bind->error = &value->error;
	bind->is_unsigned = number / 32 % 4 == 0;
}

static void
give_time(MYSQL_TIME *t, enum enum_field_types type, uint32_t number)
{
	memset(t, 0, sizeof(*t));
	t->year = 2000 + number % 30;
	t->month = 1 + number % 12;
	t->day = 1 + number % 28;
	t->hour = number % 24;
	t->minute = number % 60;
	t->second = number % 60;
	t->second_part = number % 3 ? 0 : number % 1000000;
	t->time_type = type == MYSQL_TYPE_TIME   ? MYSQL_TIMESTAMP_TIME
		       : type == MYSQL_TYPE_DATE ? MYSQL_TIMESTAMP_DATE
						 : MYSQL_TIMESTAMP_DATETIME;
}

/* Numbers of all sizes begin at the same byte: all machines here are little-endian. */
static void
give_number(struct fz_value *value, enum enum_field_types type, uint32_t number)
{
	static const long long numbers[] = { 1, 2, 3, 0, -1, 40, 127, 255, 100000 };
	long long chosen = numbers[number % (sizeof(numbers) / sizeof(numbers[0]))];
	float small = (float)chosen / 4;

	value->at.number = chosen;
	if (type == MYSQL_TYPE_DOUBLE)
		value->at.real = (double)chosen / 4;
	if (type == MYSQL_TYPE_FLOAT)
		memcpy(value->at.bytes, &small, sizeof(small));
}

void
fz_give(struct fz *z, MYSQL_BIND *bind, struct fz_value *value, uint32_t number)
{
	const char *text = FZ_PICK(values, number / 4096);

	memset(value, 0, sizeof(*value));
	bind_to(bind, value, number);
	/* the original sends more bytes of this type than it should */
	if (bind->buffer_type == MYSQL_TYPE_YEAR)
		bind->buffer_type = MYSQL_TYPE_SHORT;
	value->is_null = number / 256 % 11 == 0;
	switch (bind->buffer_type) {
	case MYSQL_TYPE_DATE:
	case MYSQL_TYPE_TIME:
	case MYSQL_TYPE_DATETIME:
	case MYSQL_TYPE_TIMESTAMP:
		give_time(&value->at.time, bind->buffer_type, number / 512);
		break;
	case MYSQL_TYPE_STRING:
	case MYSQL_TYPE_VAR_STRING:
	case MYSQL_TYPE_BLOB:
	case MYSQL_TYPE_LONG_BLOB:
	case MYSQL_TYPE_NEWDECIMAL:
		snprintf(value->at.bytes, sizeof(value->at.bytes), "%s", text);
		value->length = (unsigned long)strlen(text);
		break;
	default:
		give_number(value, bind->buffer_type, number / 512);
	}
	fz_say(z, " ");
	fz_show_value(z, bind);
}

void
fz_take(MYSQL_BIND *bind, struct fz_value *value, uint32_t number)
{
	memset(value, PATTERN, sizeof(*value));
	value->is_null = 0;
	value->error = 0;
	bind_to(bind, value, number);
	if (number / 64 % 5 == 0)
		bind->buffer_length = 4;
	if (number / 64 % 17 == 0)
		bind->buffer_length = 0;
}
