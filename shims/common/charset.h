/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CSH_CHARSET_H
#define CSH_CHARSET_H

/*
 * The multi-byte characters of MySQL's and MariaDB's character sets, as the server's parser reads
 * them. Escaping depends on them: if a shim took two bytes for one character and the server did
 * not, the second byte could end a literal.
 *
 * csh_NAME_charlen(c): the length of a character that begins with byte c, if its other bytes are
 * valid; 1 if no longer character begins with c; 0 if c cannot begin a character. For gb18030, 0
 * also means that the second byte decides: c is then both bytes.
 *
 * csh_NAME_valid(start, end): the length of the character at `start` if it has several bytes and
 * all are present and valid, else 0. It reads no byte from `end` on.
 */
#define CSH_CHARSET(name)                                                                \
	unsigned csh_##name##_charlen(unsigned c);                                       \
	unsigned csh_##name##_valid(const char *start, const char *end);

CSH_CHARSET(big5)
CSH_CHARSET(cp932)
CSH_CHARSET(euckr)
CSH_CHARSET(gb18030)
CSH_CHARSET(gb2312)
CSH_CHARSET(gbk)
CSH_CHARSET(uhc)
CSH_CHARSET(ujis)
CSH_CHARSET(utf8mb3)
CSH_CHARSET(utf8mb4)
/* Not for clients: servers read no SQL in UTF-16, or in sets with two or four bytes for each
 * character. */
CSH_CHARSET(two)
CSH_CHARSET(four)
CSH_CHARSET(utf16)

#undef CSH_CHARSET

#endif
