/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef COD_GUID_H
#define COD_GUID_H

#include <stddef.h>

#include <sql.h>
#include <sqlext.h>

/* The value of a hexadecimal digit; -1: not a digit. */
int cod_hex_digit(char c);

/* Read 8-4-4-4-12 hexadecimal digits, perhaps in braces, with blanks around. 0, or -1: not
 * a GUID. */
int cod_guid_read(const char *text, size_t n, SQLGUID *ret_guid);

#define COD_GUID_TEXT 36
/* Write COD_GUID_TEXT characters in lower case, and a zero. */
void cod_guid_text(const SQLGUID *guid, char *out);

#endif
