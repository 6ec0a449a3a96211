/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CSH_CHARSET_H
#define CSH_CHARSET_H

/*
 * The characters of several bytes of MySQL's and MariaDB's character sets, as the server's parser reads them.
 * Escaping rests on them: if a shim took two bytes for one character and the server did not, the second byte
 * could end a literal.
 *
 * csh_NAME_charlen(c): how long a character is that begins with byte c, if the rest of it is right; 1 if none begins
 * with it. 0 if c cannot begin a character, or, of gb18030, if the second byte decides: c is then both bytes.
 *
 * csh_NAME_valid(start, end): the length of the character at `start` if it has several bytes and all of them are there
 * and right, else 0. It reads no byte from `end` on.
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
/* No client's: a server reads no SQL in UTF-16 or with two or four bytes each. */
CSH_CHARSET(two)
CSH_CHARSET(four)
CSH_CHARSET(utf16)

#undef CSH_CHARSET

#endif
