/* SPDX-License-Identifier: BSD-2-Clause */
#include "libmysql.h"

/*
 * The messages of the library's own errors, by number from CR_UNKNOWN_ERROR on, with
 * printf()'s conversions. They are the original's, because programs look for them.
 * error.c and stmt_handle.c use them; mariadb_get_info() gives the list to programs.
 */
#if CMY_ORACLE
static const char *const texts[] = {
	[0] = "Unknown MySQL error",
	[1] = "Can't create UNIX socket (%d)",
	[2] = "Can't connect to local MySQL server through socket '%-.100s' (%d)",
	[3] = "Can't connect to MySQL server on '%-.100s:%u' (%d)",
	[4] = "Can't create TCP/IP socket (%d)",
	[5] = "Unknown MySQL server host '%-.100s' (%d)",
	[6] = "MySQL server has gone away",
	[7] = "Protocol mismatch; server version = %d, client version = %d",
	[8] = "MySQL client ran out of memory",
	[9] = "Wrong host info",
	[10] = "Localhost via UNIX socket",
	[11] = "%-.100s via TCP/IP",
	[12] = "Error in server handshake",
	[13] = "Lost connection to MySQL server during query",
	[14] = "Commands out of sync; you can't run this command now",
	[15] = "Named pipe: %-.32s",
	[16] = "Can't wait for named pipe to host: %-.64s  pipe: %-.32s (%lu)",
	[17] = "Can't open named pipe to host: %-.64s  pipe: %-.32s (%lu)",
	[18] = "Can't set state of named pipe to host: %-.64s  pipe: %-.32s (%lu)",
	[19] = "Can't initialize character set %-.32s (path: %-.100s)",
	[20] = "Got packet bigger than 'max_allowed_packet' bytes",
	[21] = "Embedded server",
	[22] = "Error on SHOW REPLICA STATUS:",
	[23] = "Error on SHOW REPLICA HOSTS:",
	[24] = "Error connecting to replica:",
	[25] = "Error connecting to source:",
	[26] = "SSL connection error: %-.100s",
	[27] = "Malformed packet",
	[28] = ("This client library is licensed only for use with MySQL servers having "
		"'%s' license"),
	[29] = "Invalid use of null pointer",
	[30] = "Statement not prepared",
	[31] = "No data supplied for parameters in prepared statement",
	[32] = "Data truncated",
	[33] = "No parameters exist in the statement",
	[34] = "Invalid parameter number",
	[35] = ("Can't send long data for non-string/non-binary data types (parameter: "
		"%d)"),
	[36] = "Using unsupported buffer type: %d  (parameter: %d)",
	[37] = "Shared memory: %-.100s",
	[38] = "Can't open shared memory; client could not create request event (%lu)",
	[39] = "Can't open shared memory; no answer event received from server (%lu)",
	[40] = "Can't open shared memory; server could not allocate file mapping (%lu)",
	[41] = ("Can't open shared memory; server could not get pointer to file mapping "
		"(%lu)"),
	[42] = "Can't open shared memory; client could not allocate file mapping (%lu)",
	[43] = ("Can't open shared memory; client could not get pointer to file mapping "
		"(%lu)"),
	[44] = "Can't open shared memory; client could not create %s event (%lu)",
	[45] = "Can't open shared memory; no answer from server (%lu)",
	[46] = "Can't open shared memory; cannot send request event to server (%lu)",
	[47] = "Wrong or unknown protocol",
	[48] = "Invalid connection handle",
	[49] = ("Connection using old (pre-4.1.1) authentication protocol refused "
		"(client "
		"option 'secure_auth' enabled)"),
	[50] = "Row retrieval was canceled by mysql_stmt_close() call",
	[51] = "Attempt to read column without prior row fetch",
	[52] = "Prepared statement contains no metadata",
	[53] = ("Attempt to read a row while there is no result set associated with the "
		"statement"),
	[54] = "This feature is not implemented yet",
	[55] = "Lost connection to MySQL server at '%s', system error: %d",
	[56] = "Statement closed indirectly because of a preceding %s() call",
	[57] = ("The number of columns in the result set differs from the number of "
		"bound "
		"buffers. You must reset the statement, rebind the result set columns, "
		"and execute the statement again"),
	[58] = ("This handle is already connected. Use a separate handle for each "
		"connection."),
	[59] = "Authentication plugin '%s' cannot be loaded: %s",
	[60] = "There is an attribute with the same name already",
	[61] = "Authentication plugin '%s' reported error: %s",
	[62] = "Insecure API function call: '%s' Use instead: '%s'",
	[63] = "File name is too long",
	[64] = "Set FIPS mode ON/STRICT failed",
	[65] = "Compression protocol not supported with asynchronous protocol",
	[66] = "Connection failed due to wrongly configured compression algorithm",
	[67] = "SSO user not found, Please perform SSO authentication using kerberos.",
	[68] = ("LOAD DATA LOCAL INFILE file request rejected due to restrictions on "
		"access."),
	[69] = "Determining the real path for '%s' failed with error (%d): %s",
};
#else
/* A number without a message has an empty text: programs get this list from
 * mariadb_get_info(). */
const char *cmy_error_list[] = {
	/* 2000 */ "Unknown error",
	/* 2001 */ "Can't create UNIX socket (%d)",
	/* 2002 */ "Can't connect to local server through socket '%-.64s' (%d)",
	/* 2003 */ "Can't connect to server on '%-.64s' (%d)",
	/* 2004 */ "Can't create TCP/IP socket (%d)",
	/* 2005 */ "Unknown server host '%-.100s' (%d)",
	/* 2006 */ "Server has gone away",
	/* 2007 */ "Protocol mismatch. Server Version = %d Client Version = %d",
	/* 2008 */ "Client run out of memory",
	/* 2009 */ "Wrong host info",
	/* 2010 */ "Localhost via UNIX socket",
	/* 2011 */ "%-.64s via TCP/IP",
	/* 2012 */ "Error in server handshake",
	/* 2013 */ "Lost connection to server during query",
	/* 2014 */ "Commands out of sync; you can't run this command now",
	/* 2015 */ "%-.64s via named pipe",
	/* 2016 */ "Can't wait for named pipe to host: %-.64s  pipe: %-.32s (%lu)",
	/* 2017 */ "Can't open named pipe to host: %-.64s  pipe: %-.32s (%lu)",
	/* 2018 */ "Can't set state of named pipe to host: %-.64s  pipe: %-.32s (%lu)",
	/* 2019 */ "Can't initialize character set %-.64s (path: %-.64s)",
	/* 2020 */ "Got packet bigger than 'max_allowed_packet'",
	/* 2021 */ "",
	/* 2022 */ "",
	/* 2023 */ "",
	/* 2024 */ "",
	/* 2025 */ "",
	/* 2026 */ "TLS/SSL error: %s",
	/* 2027 */ "Received malformed packet",
	/* 2028 */ "",
	/* 2029 */ "",
	/* 2030 */ "Statement is not prepared",
	/* 2031 */ "No data supplied for parameters in prepared statement",
	/* 2032 */ "Data truncated",
	/* 2033 */ "",
	/* 2034 */ "Invalid parameter number",
	/* 2035 */ "Invalid buffer type: %d (parameter: %d)",
	/* 2036 */ "Buffer type is not supported",
	/* 2037 */ "Shared memory: %-.64s",
	/* 2038 */ "Shared memory connection failed during %s. (%lu)",
	/* 2039 */ "",
	/* 2040 */ "",
	/* 2041 */ "",
	/* 2042 */ "",
	/* 2043 */ "",
	/* 2044 */ "",
	/* 2045 */ "",
	/* 2046 */ "",
	/* 2047 */ "Wrong or unknown protocol",
	/* 2048 */ "",
	/* 2049 */ "Connection with old authentication protocol refused.",
	/* 2050 */ "",
	/* 2051 */ "",
	/* 2052 */ "Prepared statement contains no metadata",
	/* 2053 */ "",
	/* 2054 */ "This feature is not implemented or disabled",
	/* 2055 */ "Lost connection to server at '%s', system error: %d",
	/* 2056 */ "Server closed statement due to a prior %s function call",
	/* 2057 */
	("The number of parameters in bound buffers differs from number of columns in "
	 "resultset"),
	/* 2058 */ "Can't connect twice. Already connected",
	/* 2059 */ "Plugin %s could not be loaded: %s",
	/* 2060 */ "An attribute with same name already exists",
	/* 2061 */ "Plugin doesn't support this function", ""
};
#define texts cmy_error_list

#endif

#if CMY_ORACLE
static const char *
more_words(unsigned code)
{
	(void)code;
	return NULL;
}
#else
/* MariaDB's own numbers that this library uses. */
static const char *
more_words(unsigned code)
{
	switch (code) {
	case CR_BULK_WITHOUT_PARAMETERS:
		return "Bulk operation without parameters is not supported";
	case CR_ERR_STMT_PARAM_CALLBACK:
		return "Error while retrieving parameter from callback function";
	case CR_STMT_NO_RESULT:
		return "Statement has no result set";
	default:
		return NULL;
	}
}
#endif

const char *
cmy_error_words(unsigned code)
{
	size_t i = code - CR_UNKNOWN_ERROR;
	const char *text =
		i < sizeof(texts) / sizeof(texts[0]) ? texts[i] : more_words(code);

	return text ? text : texts[0];
}
