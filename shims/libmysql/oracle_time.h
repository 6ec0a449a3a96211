/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_ORACLE_TIME_H
#define CMY_ORACLE_TIME_H

#include "abi.h"

/*
 * Dates and times as Oracle's library reads them from texts and numbers. Each function sets
 * *ret_time even if the text is wrong. It returns whether the text is wrong, or longer than the
 * value.
 */
int cmy_oracle_datetime(const char *p, size_t n, MYSQL_TIME *ret_time);
int cmy_oracle_time(const char *p, size_t n, MYSQL_TIME *ret_time);
int cmy_oracle_number_time(int64_t number, MYSQL_TIME *ret_time);

#endif
