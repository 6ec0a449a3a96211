/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_ORACLE_TIME_H
#define CMY_ORACLE_TIME_H

#include "abi.h"

/*
 * Dates and times as Oracle's library reads them from texts and numbers. All fill
 * *ret_time in any case, and return whether something was wrong or left over.
 */
int cmy_oracle_datetime(const char *p, size_t n, MYSQL_TIME *ret_time);
int cmy_oracle_time(const char *p, size_t n, MYSQL_TIME *ret_time);
int cmy_oracle_number_time(int64_t number, MYSQL_TIME *ret_time);

#endif
