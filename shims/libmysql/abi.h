/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMY_ABI_H
#define CMY_ABI_H

/*
 * The types of the MySQL client API, in the layouts of both flavours of the library. Programs read
 * the members of these types directly. MariaDB's is Connector/C 3.3 (libmariadb.so.3). Oracle's is
 * MySQL 9.7 (libmysqlclient.so.24), which is the same as 8.x (so.21) in everything that the shim
 * uses. CMY_ORACLE (1 or 0) chooses the flavour at compile time. The file was written from the
 * public headers, because no machine has both; tests/shims/libmysql compares it with the headers
 * that are installed. Members that only the original uses are here so that the offsets are right.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef CMY_ORACLE
#define CMY_ORACLE 0
#endif

#if CMY_ORACLE
typedef bool my_bool;
#define CMY_ERRMSG_SIZE 512
#else
typedef char my_bool;
#define CMY_ERRMSG_SIZE 512
#endif

#define CMY_SQLSTATE_SIZE 6

/* The members of MariaDB's MYSQL.methods->api, in order. */
/* clang-format off */
#define CMY_API(M) \
	M(mysql_num_rows) M(mysql_num_fields) M(mysql_eof) \
	M(mysql_fetch_field_direct) M(mysql_fetch_fields) M(mysql_row_tell) \
	M(mysql_field_tell) M(mysql_field_count) M(mysql_more_results) \
	M(mysql_next_result) M(mysql_affected_rows) M(mysql_autocommit) \
	M(mysql_commit) M(mysql_rollback) M(mysql_insert_id) M(mysql_errno) \
	M(mysql_error) M(mysql_info) M(mysql_thread_id) M(mysql_character_set_name) \
	M(mysql_get_character_set_info) M(mysql_set_character_set) \
	M(mariadb_get_infov) M(mariadb_get_info) M(mysql_init) M(mysql_ssl_set) \
	M(mysql_get_ssl_cipher) M(mysql_change_user) M(mysql_real_connect) \
	M(mysql_close) M(mysql_select_db) M(mysql_query) M(mysql_send_query) \
	M(mysql_read_query_result) M(mysql_real_query) M(mysql_shutdown) \
	M(mysql_dump_debug_info) M(mysql_refresh) M(mysql_kill) M(mysql_ping) \
	M(mysql_stat) M(mysql_get_server_info) M(mysql_get_server_version) \
	M(mysql_get_host_info) M(mysql_get_proto_info) M(mysql_list_dbs) \
	M(mysql_list_tables) M(mysql_list_fields) M(mysql_list_processes) \
	M(mysql_store_result) M(mysql_use_result) M(mysql_options) \
	M(mysql_free_result) M(mysql_data_seek) M(mysql_row_seek) \
	M(mysql_field_seek) M(mysql_fetch_row) M(mysql_fetch_lengths) \
	M(mysql_fetch_field) M(mysql_escape_string) M(mysql_real_escape_string) \
	M(mysql_thread_safe) M(mysql_warning_count) M(mysql_sqlstate) \
	M(mysql_server_init) M(mysql_server_end) M(mysql_thread_end) \
	M(mysql_thread_init) M(mysql_set_server_option) M(mysql_get_client_info) \
	M(mysql_get_client_version) M(mariadb_connection) M(mysql_get_server_name) \
	M(mariadb_get_charset_by_name) M(mariadb_get_charset_by_nr) \
	M(mariadb_convert_string) M(mysql_optionsv) M(mysql_get_optionv) \
	M(mysql_get_option) M(mysql_hex_string) M(mysql_get_socket) \
	M(mysql_get_timeout_value) M(mysql_get_timeout_value_ms) \
	M(mariadb_reconnect) M(mysql_stmt_init) M(mysql_stmt_prepare) \
	M(mysql_stmt_execute) M(mysql_stmt_fetch) M(mysql_stmt_fetch_column) \
	M(mysql_stmt_store_result) M(mysql_stmt_param_count) M(mysql_stmt_attr_set) \
	M(mysql_stmt_attr_get) M(mysql_stmt_bind_param) M(mysql_stmt_bind_result) \
	M(mysql_stmt_close) M(mysql_stmt_reset) M(mysql_stmt_free_result) \
	M(mysql_stmt_send_long_data) M(mysql_stmt_result_metadata) \
	M(mysql_stmt_param_metadata) M(mysql_stmt_errno) M(mysql_stmt_error) \
	M(mysql_stmt_sqlstate) M(mysql_stmt_row_seek) M(mysql_stmt_row_tell) \
	M(mysql_stmt_data_seek) M(mysql_stmt_num_rows) M(mysql_stmt_affected_rows) \
	M(mysql_stmt_insert_id) M(mysql_stmt_field_count) M(mysql_stmt_next_result) \
	M(mysql_stmt_more_results) M(mariadb_stmt_execute_direct) \
	M(mysql_reset_connection)
/* clang-format on */

enum enum_field_types {
	MYSQL_TYPE_DECIMAL,
	MYSQL_TYPE_TINY,
	MYSQL_TYPE_SHORT,
	MYSQL_TYPE_LONG,
	MYSQL_TYPE_FLOAT,
	MYSQL_TYPE_DOUBLE,
	MYSQL_TYPE_NULL,
	MYSQL_TYPE_TIMESTAMP,
	MYSQL_TYPE_LONGLONG,
	MYSQL_TYPE_INT24,
	MYSQL_TYPE_DATE,
	MYSQL_TYPE_TIME,
	MYSQL_TYPE_DATETIME,
	MYSQL_TYPE_YEAR,
	MYSQL_TYPE_NEWDATE,
	MYSQL_TYPE_VARCHAR,
	MYSQL_TYPE_BIT,
	MYSQL_TYPE_TIMESTAMP2,
	MYSQL_TYPE_DATETIME2,
	MYSQL_TYPE_TIME2,
	MYSQL_TYPE_VECTOR = 242,
	MYSQL_TYPE_JSON = 245,
	MYSQL_TYPE_NEWDECIMAL = 246,
	MYSQL_TYPE_ENUM = 247,
	MYSQL_TYPE_SET = 248,
	MYSQL_TYPE_TINY_BLOB = 249,
	MYSQL_TYPE_MEDIUM_BLOB = 250,
	MYSQL_TYPE_LONG_BLOB = 251,
	MYSQL_TYPE_BLOB = 252,
	MYSQL_TYPE_VAR_STRING = 253,
	MYSQL_TYPE_STRING = 254,
	MYSQL_TYPE_GEOMETRY = 255
};

/* Up to MYSQL_OPT_USE_RESULT both flavours have the same numbers. */
enum mysql_option {
	MYSQL_OPT_CONNECT_TIMEOUT,
	MYSQL_OPT_COMPRESS,
	MYSQL_OPT_NAMED_PIPE,
	MYSQL_INIT_COMMAND,
	MYSQL_READ_DEFAULT_FILE,
	MYSQL_READ_DEFAULT_GROUP,
	MYSQL_SET_CHARSET_DIR,
	MYSQL_SET_CHARSET_NAME,
	MYSQL_OPT_LOCAL_INFILE,
	MYSQL_OPT_PROTOCOL,
	MYSQL_SHARED_MEMORY_BASE_NAME,
	MYSQL_OPT_READ_TIMEOUT,
	MYSQL_OPT_WRITE_TIMEOUT,
	MYSQL_OPT_USE_RESULT,
#if CMY_ORACLE
	MYSQL_REPORT_DATA_TRUNCATION,
	MYSQL_OPT_RECONNECT,
	MYSQL_PLUGIN_DIR,
	MYSQL_DEFAULT_AUTH,
	MYSQL_OPT_BIND,
	MYSQL_OPT_SSL_KEY,
	MYSQL_OPT_SSL_CERT,
	MYSQL_OPT_SSL_CA,
	MYSQL_OPT_SSL_CAPATH,
	MYSQL_OPT_SSL_CIPHER,
	MYSQL_OPT_SSL_CRL,
	MYSQL_OPT_SSL_CRLPATH,
	MYSQL_OPT_CONNECT_ATTR_RESET,
	MYSQL_OPT_CONNECT_ATTR_ADD,
	MYSQL_OPT_CONNECT_ATTR_DELETE,
	MYSQL_SERVER_PUBLIC_KEY,
	MYSQL_ENABLE_CLEARTEXT_PLUGIN,
	MYSQL_OPT_CAN_HANDLE_EXPIRED_PASSWORDS,
	MYSQL_OPT_MAX_ALLOWED_PACKET,
	MYSQL_OPT_NET_BUFFER_LENGTH,
	MYSQL_OPT_TLS_VERSION,
	MYSQL_OPT_SSL_MODE,
	MYSQL_OPT_GET_SERVER_PUBLIC_KEY,
	MYSQL_OPT_RETRY_COUNT,
	MYSQL_OPT_OPTIONAL_RESULTSET_METADATA,
	MYSQL_OPT_SSL_FIPS_MODE,
	MYSQL_OPT_TLS_CIPHERSUITES,
	MYSQL_OPT_COMPRESSION_ALGORITHMS,
	MYSQL_OPT_ZSTD_COMPRESSION_LEVEL,
	MYSQL_OPT_LOAD_DATA_LOCAL_DIR,
	MYSQL_OPT_USER_PASSWORD,
	MYSQL_OPT_SSL_SESSION_DATA,
	MYSQL_OPT_TLS_SNI_SERVERNAME
#else
	MYSQL_OPT_USE_REMOTE_CONNECTION,
	MYSQL_OPT_USE_EMBEDDED_CONNECTION,
	MYSQL_OPT_GUESS_CONNECTION,
	MYSQL_SET_CLIENT_IP,
	MYSQL_SECURE_AUTH,
	MYSQL_REPORT_DATA_TRUNCATION,
	MYSQL_OPT_RECONNECT,
	MYSQL_OPT_SSL_VERIFY_SERVER_CERT,
	MYSQL_PLUGIN_DIR,
	MYSQL_DEFAULT_AUTH,
	MYSQL_OPT_BIND,
	MYSQL_OPT_SSL_KEY,
	MYSQL_OPT_SSL_CERT,
	MYSQL_OPT_SSL_CA,
	MYSQL_OPT_SSL_CAPATH,
	MYSQL_OPT_SSL_CIPHER,
	MYSQL_OPT_SSL_CRL,
	MYSQL_OPT_SSL_CRLPATH,
	MYSQL_OPT_CONNECT_ATTR_RESET,
	MYSQL_OPT_CONNECT_ATTR_ADD,
	MYSQL_OPT_CONNECT_ATTR_DELETE,
	MYSQL_SERVER_PUBLIC_KEY,
	MYSQL_ENABLE_CLEARTEXT_PLUGIN,
	MYSQL_OPT_CAN_HANDLE_EXPIRED_PASSWORDS,
	MYSQL_OPT_SSL_ENFORCE,
	MYSQL_OPT_MAX_ALLOWED_PACKET,
	MYSQL_OPT_NET_BUFFER_LENGTH,
	MYSQL_OPT_TLS_VERSION,
	MYSQL_OPT_ZSTD_COMPRESSION_LEVEL,
	MYSQL_PROGRESS_CALLBACK = 5999,
	MYSQL_OPT_NONBLOCK,
	MYSQL_DATABASE_DRIVER = 7000,
	MARIADB_OPT_SSL_FP,
	MARIADB_OPT_SSL_FP_LIST,
	MARIADB_OPT_TLS_PASSPHRASE,
	MARIADB_OPT_TLS_CIPHER_STRENGTH,
	MARIADB_OPT_TLS_VERSION,
	MARIADB_OPT_TLS_PEER_FP,
	MARIADB_OPT_TLS_PEER_FP_LIST,
	MARIADB_OPT_CONNECTION_READ_ONLY,
	MYSQL_OPT_CONNECT_ATTRS,
	MARIADB_OPT_USERDATA,
	MARIADB_OPT_CONNECTION_HANDLER,
	MARIADB_OPT_PORT,
	MARIADB_OPT_UNIXSOCKET,
	MARIADB_OPT_PASSWORD,
	MARIADB_OPT_HOST,
	MARIADB_OPT_USER,
	MARIADB_OPT_SCHEMA,
	MARIADB_OPT_DEBUG,
	MARIADB_OPT_FOUND_ROWS,
	MARIADB_OPT_MULTI_RESULTS,
	MARIADB_OPT_MULTI_STATEMENTS,
	MARIADB_OPT_INTERACTIVE,
	MARIADB_OPT_PROXY_HEADER,
	MARIADB_OPT_IO_WAIT,
	MARIADB_OPT_SKIP_READ_RESPONSE,
	MARIADB_OPT_RESTRICTED_AUTH,
	MARIADB_OPT_RPL_REGISTER_REPLICA,
	MARIADB_OPT_STATUS_CALLBACK,
	MARIADB_OPT_SERVER_PLUGINS
#endif
};

enum mysql_status {
	MYSQL_STATUS_READY,
	MYSQL_STATUS_GET_RESULT,
	MYSQL_STATUS_USE_RESULT,
#if CMY_ORACLE
	MYSQL_STATUS_STATEMENT_GET_RESULT
#else
	MYSQL_STATUS_QUERY_SENT,
	MYSQL_STATUS_SENDING_LOAD_DATA,
	MYSQL_STATUS_FETCHING_DATA,
	MYSQL_STATUS_NEXT_RESULT_PENDING,
	MYSQL_STATUS_QUIT_SENT,
	MYSQL_STATUS_STMT_RESULT
#endif
};

enum enum_mysql_set_option {
	MYSQL_OPTION_MULTI_STATEMENTS_ON,
	MYSQL_OPTION_MULTI_STATEMENTS_OFF
};

enum mysql_enum_shutdown_level {
	SHUTDOWN_DEFAULT = 0,
	KILL_QUERY = 254,
	KILL_CONNECTION = 255
};

/* Commands of the protocol: MYSQL.methods takes them, and some have no equivalent statement. */
enum enum_server_command {
	COM_QUIT = 1,
	COM_INIT_DB = 2,
	COM_QUERY = 3,
	COM_REFRESH = 7,
	COM_SHUTDOWN = 8,
	COM_STATISTICS = 9,
	COM_PROCESS_KILL = 12,
	COM_DEBUG = 13,
	COM_PING = 14,
	COM_SET_OPTION = 27,
	COM_RESET_CONNECTION = 31
};

enum enum_session_state_type {
	SESSION_TRACK_SYSTEM_VARIABLES,
	SESSION_TRACK_SCHEMA,
	SESSION_TRACK_STATE_CHANGE,
	SESSION_TRACK_GTIDS,
	SESSION_TRACK_TRANSACTION_CHARACTERISTICS,
	SESSION_TRACK_TRANSACTION_STATE
};
#define CMY_SESSION_TRACK_KINDS (SESSION_TRACK_TRANSACTION_STATE + 1)

#if !CMY_ORACLE
/* The events of MARIADB_OPT_STATUS_CALLBACK: server_status, or a kind of session tracking with one
 * or two texts. */
enum enum_mariadb_status_info {
	STATUS_TYPE = 0,
	SESSION_TRACK_TYPE
};
typedef void cmy_status_fn(void *data, enum enum_mariadb_status_info what, ...);
#endif

enum enum_stmt_attr_type {
	STMT_ATTR_UPDATE_MAX_LENGTH,
	STMT_ATTR_CURSOR_TYPE,
	STMT_ATTR_PREFETCH_ROWS,
#if !CMY_ORACLE
	STMT_ATTR_PREBIND_PARAMS = 200,
	STMT_ATTR_ARRAY_SIZE,
	STMT_ATTR_ROW_SIZE,
	STMT_ATTR_STATE,
	STMT_ATTR_CB_USER_DATA,
	STMT_ATTR_CB_PARAM,
	STMT_ATTR_CB_RESULT
#endif
};

enum enum_cursor_type {
	CURSOR_TYPE_NO_CURSOR = 0,
	CURSOR_TYPE_READ_ONLY = 1,
	CURSOR_TYPE_FOR_UPDATE = 2,
	CURSOR_TYPE_SCROLLABLE = 4
};

enum enum_resultset_metadata {
	RESULTSET_METADATA_NONE,
	RESULTSET_METADATA_FULL
};

enum net_async_status {
	NET_ASYNC_COMPLETE,
	NET_ASYNC_NOT_READY,
	NET_ASYNC_ERROR,
	NET_ASYNC_COMPLETE_NO_MORE_RESULTS
};

enum connect_stage {
	CONNECT_STAGE_INVALID,
	CONNECT_STAGE_NOT_STARTED,
	CONNECT_STAGE_NET_BEGIN_CONNECT,
	CONNECT_STAGE_NET_WAIT_CONNECT,
	CONNECT_STAGE_NET_COMPLETE_CONNECT,
	CONNECT_STAGE_READ_GREETING,
	CONNECT_STAGE_PARSE_HANDSHAKE,
	CONNECT_STAGE_ESTABLISH_SSL,
	CONNECT_STAGE_AUTHENTICATE,
	CONNECT_STAGE_AUTH_BEGIN,
	CONNECT_STAGE_AUTH_RUN_FIRST_AUTHENTICATE_USER,
	CONNECT_STAGE_AUTH_HANDLE_FIRST_AUTHENTICATE_USER,
	CONNECT_STAGE_AUTH_READ_CHANGE_USER_RESULT,
	CONNECT_STAGE_AUTH_HANDLE_CHANGE_USER_REQUEST,
	CONNECT_STAGE_AUTH_RUN_SECOND_AUTHENTICATE_USER,
	CONNECT_STAGE_AUTH_INIT_MULTI_AUTH,
	CONNECT_STAGE_AUTH_FINISH_AUTH,
	CONNECT_STAGE_AUTH_HANDLE_SECOND_AUTHENTICATE_USER,
	CONNECT_STAGE_AUTH_DO_MULTI_PLUGIN_AUTH,
	CONNECT_STAGE_AUTH_HANDLE_MULTI_AUTH_RESPONSE,
	CONNECT_STAGE_PREP_SELECT_DATABASE,
	CONNECT_STAGE_PREP_INIT_COMMANDS,
	CONNECT_STAGE_SEND_ONE_INIT_COMMAND,
	CONNECT_STAGE_COMPLETE
};

enum enum_mysql_timestamp_type {
	MYSQL_TIMESTAMP_NONE = -2,
	MYSQL_TIMESTAMP_ERROR = -1,
	MYSQL_TIMESTAMP_DATE = 0,
	MYSQL_TIMESTAMP_DATETIME = 1,
	MYSQL_TIMESTAMP_TIME = 2,
#if CMY_ORACLE
	MYSQL_TIMESTAMP_DATETIME_TZ = 3
#endif
};

/* CLIENT_…, capabilities and connect flags */
#define CLIENT_LONG_PASSWORD     1UL
#define CLIENT_FOUND_ROWS        2UL
#define CLIENT_LONG_FLAG         4UL
#define CLIENT_CONNECT_WITH_DB   8UL
#define CLIENT_NO_SCHEMA         16UL
#define CLIENT_COMPRESS          32UL
#define CLIENT_ODBC              64UL
#define CLIENT_LOCAL_FILES       128UL
#define CLIENT_IGNORE_SPACE      256UL
#define CLIENT_PROTOCOL_41       512UL
#define CLIENT_INTERACTIVE       1024UL
#define CLIENT_SSL               2048UL
#define CLIENT_TRANSACTIONS      8192UL
#define CLIENT_SECURE_CONNECTION 32768UL
#define CLIENT_MULTI_STATEMENTS  (1UL << 16)
#define CLIENT_MULTI_RESULTS     (1UL << 17)
#define CLIENT_PS_MULTI_RESULTS  (1UL << 18)
#define CLIENT_PLUGIN_AUTH       (1UL << 19)
#define CLIENT_SESSION_TRACKING  (1UL << 23)
#define CLIENT_PROGRESS          (1UL << 29) /* MariaDB's */
#define CLIENT_REMEMBER_OPTIONS  (1UL << 31)

/* MYSQL.server_status */
#define SERVER_STATUS_IN_TRANS             1U
#define SERVER_STATUS_AUTOCOMMIT           2U
#define SERVER_MORE_RESULTS_EXISTS         8U
#define SERVER_STATUS_CURSOR_EXISTS        64U
#define SERVER_STATUS_LAST_ROW_SENT        128U
#define SERVER_STATUS_NO_BACKSLASH_ESCAPES 512U
#define SERVER_PS_OUT_PARAMS               4096U
#define SERVER_SESSION_STATE_CHANGED       16384U
#define SERVER_STATUS_ANSI_QUOTES          32768U /* MariaDB's */

/* MYSQL_FIELD.flags */
#define NOT_NULL_FLAG       1U
#define PRI_KEY_FLAG        2U
#define UNIQUE_KEY_FLAG     4U
#define MULTIPLE_KEY_FLAG   8U
#define BLOB_FLAG           16U
#define UNSIGNED_FLAG       32U
#define ZEROFILL_FLAG       64U
#define BINARY_FLAG         128U
#define ENUM_FLAG           256U
#define AUTO_INCREMENT_FLAG 512U
#define TIMESTAMP_FLAG      1024U
#define SET_FLAG            2048U
#define NUM_FLAG            32768U

#define MYSQL_NO_DATA          100
#define MYSQL_DATA_TRUNCATED   101
#define MYSQL_COUNT_ERROR      (~(uint64_t)0)
#define MYSQL_WAIT_READ        1
#define MYSQL_WAIT_WRITE       2
#define MYSQL_WAIT_EXCEPT      4
#define MYSQL_WAIT_TIMEOUT     8
#define LOCAL_INFILE_ERROR_LEN 512

typedef char **MYSQL_ROW;
typedef unsigned int MYSQL_FIELD_OFFSET;

typedef struct cmy_list {
	struct cmy_list *prev, *next;
	void *data;
} LIST;

#if CMY_ORACLE

typedef struct MEM_ROOT MEM_ROOT;
#define CMY_ROOT(name) MEM_ROOT *name

typedef struct NET {
	void *vio; /* not NULL while connected */
	unsigned char *buff, *buff_end, *write_pos, *read_pos;
	int fd;
	unsigned long remain_in_buf, length, buf_length, where_b;
	unsigned long max_packet, max_packet_size;
	unsigned int pkt_nr, compress_pkt_nr;
	unsigned int write_timeout, read_timeout, retry_count;
	int fcntl;
	unsigned int *return_status;
	unsigned char reading_or_writing;
	unsigned char save_char;
	my_bool compress;
	unsigned int last_errno;
	unsigned char error;
	char last_error[CMY_ERRMSG_SIZE];
	char sqlstate[CMY_SQLSTATE_SIZE];
	void *extension;
} NET;

#else

typedef struct st_ma_mem_root {
	void *free, *used, *pre_alloc;
	size_t min_malloc, block_size;
	unsigned int block_num, first_block_usage;
	void (*error_handler)(void);
} MEM_ROOT;
#define CMY_ROOT(name) MEM_ROOT name

typedef struct st_net {
	void *pvio; /* not NULL while connected */
	unsigned char *buff, *buff_end, *write_pos, *read_pos;
	int fd;
	unsigned long remain_in_buf, length, buf_length, where_b;
	unsigned long max_packet, max_packet_size;
	unsigned int pkt_nr, compress_pkt_nr;
	unsigned int write_timeout, read_timeout, retry_count;
	int fcntl;
	unsigned int *return_status;
	unsigned char reading_or_writing;
	char save_char;
	char unused_1;
	my_bool unused_2;
	my_bool compress;
	my_bool unused_3;
	void *unused_4;
	unsigned int last_errno;
	unsigned char error;
	my_bool unused_5;
	my_bool unused_6;
	char last_error[CMY_ERRMSG_SIZE];
	char sqlstate[CMY_SQLSTATE_SIZE];
	void *extension;
} NET;

#endif

typedef struct cmy_field {
	char *name;
	char *org_name;
	char *table;
	char *org_table;
	char *db;
	char *catalog;
	char *def;
	unsigned long length;
	unsigned long max_length;
	unsigned int name_length;
	unsigned int org_name_length;
	unsigned int table_length;
	unsigned int org_table_length;
	unsigned int db_length;
	unsigned int catalog_length;
	unsigned int def_length;
	unsigned int flags;
	unsigned int decimals;
	unsigned int charsetnr;
	enum enum_field_types type;
	void *extension;
} MYSQL_FIELD;

typedef struct cmy_rows {
	struct cmy_rows *next;
	MYSQL_ROW data;
	unsigned long length;
} MYSQL_ROWS;
typedef MYSQL_ROWS *MYSQL_ROW_OFFSET;

typedef struct cmy_data {
	MYSQL_ROWS *data;
#if CMY_ORACLE
	MEM_ROOT *alloc;
	uint64_t rows;
	unsigned int fields;
#else
	void *embedded_info;
	MEM_ROOT alloc;
	unsigned long long rows;
	unsigned int fields;
	void *extension;
#endif
} MYSQL_DATA;

typedef struct cmy_charset_info {
	unsigned int number;
	unsigned int state;
	const char *csname; /* the character set; `name` is the collation */
	const char *name;
	const char *comment;
	const char *dir;
	unsigned int mbminlen;
	unsigned int mbmaxlen;
} MY_CHARSET_INFO;

/* MariaDB only: mariadb_get_charset_by_name() returns it, and MYSQL.charset points to
 * it. */
typedef struct ma_charset_info_st {
	unsigned int nr;
	unsigned int state;
	const char *csname;
	const char *name;
	const char *dir;
	unsigned int codepage;
	const char *encoding;
	unsigned int char_minlen;
	unsigned int char_maxlen;
	unsigned int (*mb_charlen)(unsigned int c);
	unsigned int (*mb_valid)(const char *start, const char *end);
} MARIADB_CHARSET_INFO;

struct cmy_mysql;

typedef int cmy_infile_init(void **handle, const char *file, void *user);
typedef int cmy_infile_read(void *handle, char *buffer, unsigned int size);
typedef void cmy_infile_end(void *handle);
typedef int cmy_infile_error(void *handle, char *message, unsigned int size);

struct st_mysql_options {
	unsigned int connect_timeout, read_timeout, write_timeout;
	unsigned int port, protocol;
	unsigned long client_flag;
	char *host, *user, *password, *unix_socket, *db;
	void *init_command;
	char *my_cnf_file, *my_cnf_group, *charset_dir, *charset_name;
	char *ssl_key, *ssl_cert, *ssl_ca, *ssl_capath, *ssl_cipher;
	char *shared_memory_base_name;
	unsigned long max_allowed_packet;
#if CMY_ORACLE
	my_bool compress, named_pipe;
	char *bind_address;
	my_bool report_data_truncation;
#else
	my_bool use_ssl;
	my_bool compress, named_pipe;
	my_bool reconnect, unused_1, unused_2, unused_3;
	enum mysql_option methods_to_use;
	char *bind_address;
	my_bool secure_auth;
	my_bool report_data_truncation;
#endif
	cmy_infile_init *local_infile_init;
	cmy_infile_read *local_infile_read;
	cmy_infile_end *local_infile_end;
	cmy_infile_error *local_infile_error;
	void *local_infile_userdata;
	void *extension;
};

typedef struct cmy_mysql {
	NET net;
	void *unused_0; /* Oracle's: connector_fd */
	char *host, *user, *passwd, *unix_socket, *server_version, *host_info;
	char *info, *db;
	const MARIADB_CHARSET_INFO *charset; /* in Oracle's library a private type */
	MYSQL_FIELD *fields;
	CMY_ROOT(field_alloc);
	uint64_t affected_rows;
	uint64_t insert_id;
	uint64_t extra_info;
	unsigned long thread_id;
	unsigned long packet_length;
	unsigned int port;
	unsigned long client_flag;
	unsigned long server_capabilities;
	unsigned int protocol_version;
	unsigned int field_count;
	unsigned int server_status;
	unsigned int server_language;
	unsigned int warning_count;
	struct st_mysql_options options;
	enum mysql_status status;
#if CMY_ORACLE
	enum enum_resultset_metadata resultset_metadata;
	my_bool free_me;
	my_bool reconnect;
	char scramble[21];
	LIST *stmts;
	const struct cmy_methods *methods;
	void *thd;
	my_bool *unbuffered_fetch_owner;
#else
	my_bool free_me;
	my_bool unused_1;
	char scramble_buff[21];
	my_bool unused_2;
	void *unused_3, *unused_4, *unused_5, *unused_6;
	LIST *stmts;
	const struct cmy_methods *methods;
	void *thd;
	my_bool *unbuffered_fetch_owner;
	char *info_buffer;
#endif
	void *extension; /* ours: struct cmy_session, whose first word is &cmy_tag */
} MYSQL;

#if CMY_ORACLE
typedef struct cmy_res {
	uint64_t row_count;
	MYSQL_FIELD *fields;
	MYSQL_DATA *data;
	MYSQL_ROWS *data_cursor;
	unsigned long *lengths;
	MYSQL *handle;
	const struct cmy_methods *methods;
	MYSQL_ROW row;
	MYSQL_ROW current_row;
	MEM_ROOT *field_alloc;
	unsigned int field_count, current_field;
	my_bool eof;
	my_bool unbuffered_fetch_cancelled;
	enum enum_resultset_metadata metadata;
	void *extension; /* ours: &cmy_tag */
} MYSQL_RES;
#else
typedef struct cmy_res {
	uint64_t row_count;
	unsigned int field_count, current_field;
	MYSQL_FIELD *fields;
	MYSQL_DATA *data;
	MYSQL_ROWS *data_cursor;
	MEM_ROOT field_alloc; /* ours: error_handler is cmy_tag_handler() */
	MYSQL_ROW row;
	MYSQL_ROW current_row;
	unsigned long *lengths;
	MYSQL *handle;
	my_bool eof;
	my_bool is_ps;
} MYSQL_RES;
#endif

typedef struct cmy_time {
	unsigned int year, month, day, hour, minute, second;
	unsigned long second_part; /* microseconds */
	my_bool neg;
	enum enum_mysql_timestamp_type time_type;
#if CMY_ORACLE
	int time_zone_displacement; /* seconds */
#endif
} MYSQL_TIME;

typedef struct cmy_bind {
	unsigned long *length;
	my_bool *is_null;
	void *buffer;
	my_bool *error;
	union {
		unsigned char *row_ptr;
		char *indicator; /* MariaDB's arrays of parameters */
	} u;
	void (*store_param_func)(NET *net, struct cmy_bind *param);
	void (*fetch_result)(struct cmy_bind *, MYSQL_FIELD *, unsigned char **row);
	void (*skip_result)(struct cmy_bind *, MYSQL_FIELD *, unsigned char **row);
	unsigned long buffer_length;
	unsigned long offset;
	unsigned long length_value;
	unsigned int flags; /* Oracle's: param_number */
	unsigned int pack_length;
	enum enum_field_types buffer_type;
	my_bool error_value;
	my_bool is_unsigned;
	my_bool long_data_used;
	my_bool is_null_value;
	void *extension;
} MYSQL_BIND;

#if CMY_ORACLE
enum enum_mysql_stmt_state {
	MYSQL_STMT_INIT_DONE = 1,
	MYSQL_STMT_PREPARE_DONE,
	MYSQL_STMT_EXECUTE_DONE,
	MYSQL_STMT_FETCH_DONE
};

typedef struct cmy_mysql_stmt {
	MEM_ROOT *mem_root;
	LIST list;
	MYSQL *mysql;
	MYSQL_BIND *params;
	MYSQL_BIND *bind;
	MYSQL_FIELD *fields;
	MYSQL_DATA result;
	MYSQL_ROWS *data_cursor;
	int (*read_row_func)(struct cmy_mysql_stmt *stmt, unsigned char **row);
	uint64_t affected_rows;
	uint64_t insert_id;
	unsigned long stmt_id;
	unsigned long flags;
	unsigned long prefetch_rows;
	unsigned int server_status;
	unsigned int last_errno;
	unsigned int param_count;
	unsigned int field_count;
	enum enum_mysql_stmt_state state;
	char last_error[CMY_ERRMSG_SIZE];
	char sqlstate[CMY_SQLSTATE_SIZE];
	my_bool send_types_to_server;
	my_bool bind_param_done;
	unsigned char bind_result_done;
	my_bool unbuffered_fetch_cancelled;
	my_bool update_max_length;
	void *extension; /* ours: &cmy_tag */
} MYSQL_STMT;
#else
enum enum_mysql_stmt_state {
	MYSQL_STMT_INITTED = 0,
	MYSQL_STMT_PREPARED,
	MYSQL_STMT_EXECUTED,
	MYSQL_STMT_WAITING_USE_OR_STORE,
	MYSQL_STMT_USE_OR_STORE_CALLED,
	MYSQL_STMT_USER_FETCHING,
	MYSQL_STMT_FETCH_DONE
};

enum enum_indicator_type {
	STMT_INDICATOR_NTS = -1,
	STMT_INDICATOR_NONE = 0,
	STMT_INDICATOR_NULL = 1,
	STMT_INDICATOR_DEFAULT = 2,
	STMT_INDICATOR_IGNORE = 3,
	STMT_INDICATOR_IGNORE_ROW = 4
};

typedef struct cmy_mysql_stmt {
	MEM_ROOT mem_root;
	MYSQL *mysql;
	unsigned long stmt_id;
	unsigned long flags;
	enum enum_mysql_stmt_state state;
	MYSQL_FIELD *fields;
	unsigned int field_count;
	unsigned int param_count;
	unsigned char send_types_to_server;
	MYSQL_BIND *params;
	MYSQL_BIND *bind;
	MYSQL_DATA result;
	MYSQL_ROWS *result_cursor;
	my_bool bind_result_done;
	my_bool bind_param_done;
	struct {
		unsigned int warning_count;
		unsigned int server_status;
		unsigned long long affected_rows;
		unsigned long long last_insert_id;
	} upsert_status;
	unsigned int last_errno;
	char last_error[CMY_ERRMSG_SIZE + 1];
	char sqlstate[CMY_SQLSTATE_SIZE];
	my_bool update_max_length;
	unsigned long prefetch_rows;
	LIST list;
	my_bool cursor_exists;
	void *extension; /* ours: &cmy_tag */
	int (*fetch_row_func)(
		struct cmy_mysql_stmt *stmt, unsigned char **row, unsigned long *length);
	unsigned int execute_count;
	MYSQL_RES *(*default_rset_handler)(struct cmy_mysql_stmt *stmt);
	unsigned char *request_buffer;
	unsigned int array_size;
	size_t row_size;
	unsigned int prebind_params;
	void *user_data;
	void (*result_callback)(void *data, unsigned int column, unsigned char **row);
	my_bool (*param_callback)(void *data, MYSQL_BIND *bind, unsigned int row);
	size_t request_length;
} MYSQL_STMT;
#endif

/* MYSQL.methods */
#if CMY_ORACLE
/* The two functions that programs called while the type was still public. */
struct cmy_methods {
	my_bool (*read_query_result)(MYSQL *my);
	my_bool (*advanced_command)(MYSQL *my, int command, const unsigned char *header,
		size_t header_length, const unsigned char *arg, size_t arg_length,
		my_bool skip_check, MYSQL_STMT *stmt);
	void (*others[16])(void);
};
#else
/* The member `api` has each function, in this order. */
struct cmy_api {
#define CMY_API_MEMBER(name) void (*name)(void);
	CMY_API(CMY_API_MEMBER)
#undef CMY_API_MEMBER
};

struct cmy_methods {
	MYSQL *(*db_connect)(MYSQL *my, const char *host, const char *user,
		const char *passwd, const char *db, unsigned int port,
		const char *unix_socket, unsigned long clientflag);
	void (*db_close)(MYSQL *my);
	int (*db_command)(MYSQL *my, int command, const char *arg, size_t length,
		my_bool skip_check, void *opt_arg);
	void (*db_skip_result)(MYSQL *my);
	int (*db_read_query_result)(MYSQL *my);
	MYSQL_DATA *(*db_read_rows)(MYSQL *my, MYSQL_FIELD *fields, unsigned int n);
	int (*db_read_one_row)(
		MYSQL *my, unsigned int n, MYSQL_ROW row, unsigned long *lengths);
	my_bool (*db_supported_buffer_type)(enum enum_field_types type);
	my_bool (*db_read_prepare_response)(MYSQL_STMT *stmt);
	int (*db_read_stmt_result)(MYSQL *my);
	my_bool (*db_stmt_get_result_metadata)(MYSQL_STMT *stmt);
	my_bool (*db_stmt_get_param_metadata)(MYSQL_STMT *stmt);
	int (*db_stmt_read_all_rows)(MYSQL_STMT *stmt);
	int (*db_stmt_fetch)(
		MYSQL_STMT *stmt, unsigned char **row, unsigned long *length);
	int (*db_stmt_fetch_to_bind)(
		MYSQL_STMT *stmt, unsigned char *row, unsigned long length);
	void (*db_stmt_flush_unbuffered)(MYSQL_STMT *stmt);
	void (*set_error)(MYSQL *my, unsigned int code, const char *sqlstate,
		const char *format, ...);
	void (*invalidate_stmts)(MYSQL *my, const char *function_name);
	const struct cmy_api *api;
	int (*db_read_execute_response)(MYSQL_STMT *stmt);
	unsigned char *(*db_execute_generate_request)(
		MYSQL_STMT *stmt, size_t *request_len, my_bool internal);
};
#endif

typedef struct {
	unsigned long *p_max_allowed_packet;
	unsigned long *p_net_buffer_length;
	void *extension;
} MYSQL_PARAMETERS;

typedef struct {
	const char *str;
	size_t length;
} MARIADB_CONST_STRING;

enum mariadb_field_attr_t {
	MARIADB_FIELD_ATTR_DATA_TYPE_NAME,
	MARIADB_FIELD_ATTR_FORMAT_NAME
};

/* mariadb_get_info() */
enum mariadb_value {
	MARIADB_CHARSET_ID,
	MARIADB_CHARSET_NAME,
	MARIADB_CLIENT_ERRORS,
	MARIADB_CLIENT_VERSION,
	MARIADB_CLIENT_VERSION_ID,
	MARIADB_CONNECTION_ASYNC_TIMEOUT,
	MARIADB_CONNECTION_ASYNC_TIMEOUT_MS,
	MARIADB_CONNECTION_MARIADB_CHARSET_INFO,
	MARIADB_CONNECTION_ERROR,
	MARIADB_CONNECTION_ERROR_ID,
	MARIADB_CONNECTION_HOST,
	MARIADB_CONNECTION_INFO,
	MARIADB_CONNECTION_PORT,
	MARIADB_CONNECTION_PROTOCOL_VERSION_ID,
	MARIADB_CONNECTION_PVIO_TYPE,
	MARIADB_CONNECTION_SCHEMA,
	MARIADB_CONNECTION_SERVER_TYPE,
	MARIADB_CONNECTION_SERVER_VERSION,
	MARIADB_CONNECTION_SERVER_VERSION_ID,
	MARIADB_CONNECTION_SOCKET,
	MARIADB_CONNECTION_SQLSTATE,
	MARIADB_CONNECTION_SSL_CIPHER,
	MARIADB_TLS_LIBRARY,
	MARIADB_CONNECTION_TLS_VERSION,
	MARIADB_CONNECTION_TLS_VERSION_ID,
	MARIADB_CONNECTION_TYPE,
	MARIADB_CONNECTION_UNIX_SOCKET,
	MARIADB_CONNECTION_USER,
	MARIADB_MAX_ALLOWED_PACKET,
	MARIADB_NET_BUFFER_LENGTH,
	MARIADB_CONNECTION_SERVER_STATUS,
	MARIADB_CONNECTION_SERVER_CAPABILITIES,
	MARIADB_CONNECTION_EXTENDED_SERVER_CAPABILITIES,
	MARIADB_CONNECTION_CLIENT_CAPABILITIES,
	MARIADB_CONNECTION_BYTES_READ,
	MARIADB_CONNECTION_BYTES_SENT
};

/* Replication and plugins: the shim never makes these handles. */
typedef struct st_mariadb_rpl MARIADB_RPL;
typedef struct st_mariadb_rpl_event MARIADB_RPL_EVENT;
typedef struct MYSQL_RPL MYSQL_RPL;
struct st_mysql_client_plugin;
typedef int my_socket;

/* Check the offsets of members that programs read directly (x86-64; other 64-bit machines have the
 * same). */
#if UINTPTR_MAX > 0xffffffffU
#define CMY_SAME(maria, oracle) (CMY_ORACLE ? (oracle) : (maria))
_Static_assert(sizeof(MYSQL) == CMY_SAME(1272, 1160), "MYSQL");
_Static_assert(sizeof(NET) == CMY_SAME(680, 664), "NET");
_Static_assert(sizeof(MYSQL_RES) == CMY_SAME(136, 104), "MYSQL_RES");
_Static_assert(sizeof(MYSQL_FIELD) == 128, "MYSQL_FIELD");
_Static_assert(sizeof(MYSQL_BIND) == 112, "MYSQL_BIND");
_Static_assert(sizeof(MYSQL_STMT) == CMY_SAME(928, 704), "MYSQL_STMT");
_Static_assert(sizeof(MYSQL_TIME) == CMY_SAME(40, 48), "MYSQL_TIME");
_Static_assert(offsetof(NET, fd) == 40, "NET.fd");
_Static_assert(offsetof(NET, last_errno) == CMY_SAME(144, 132), "NET.last_errno");
_Static_assert(offsetof(NET, last_error) == CMY_SAME(151, 137), "NET.last_error");
_Static_assert(offsetof(NET, sqlstate) == CMY_SAME(663, 649), "NET.sqlstate");
_Static_assert(offsetof(MYSQL, affected_rows) == CMY_SAME(824, 760), "affected_rows");
_Static_assert(offsetof(MYSQL, insert_id) == CMY_SAME(832, 768), "insert_id");
_Static_assert(offsetof(MYSQL, thread_id) == CMY_SAME(848, 784), "thread_id");
_Static_assert(offsetof(MYSQL, server_status) == CMY_SAME(896, 832), "server_status");
_Static_assert(offsetof(MYSQL, field_count) == CMY_SAME(892, 828), "field_count");
#endif

#endif
