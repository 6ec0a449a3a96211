/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <string.h>

/* clang-format off */
#define WORDS(name, ...) \
	const char *const fz_##name[] = { __VA_ARGS__ }; \
	const unsigned fz_n_##name = sizeof(fz_##name) / sizeof(fz_##name[0])

/* The results must not depend on the time, on chance, or on the order of rows. */
WORDS(queries,
	"select 1",
	"select 1 as a, 'two' as `B c`, null as n",
	"select id, name, price, stamp, raw from items order by id",
	"select * from items where id < 0",
	"select * from items order by id",
	"select id as ID, name `Name` from items order by id limit 2",
	"select seq, repeat('x', seq) from seq_0_to_40",
	"select repeat('y', 9000) from seq_1_to_20",
	"insert into items (name) values ('next')",
	"insert into items (id, name) values (1, 'again')",
	"insert into items (name) values ('m'), ('n'), ('o')",
	"insert ignore into items (id, name) values (1, 'again'), (77, 'x')",
	"replace into items (id, name) values (2, 'replaced')",
	"insert into items (name) values ('returned') returning name",
	"update items set price = price + 1 where id <= 3",
	"update items set name = 'same' where id = 1",
	"update items set name = name where id = 1",
	"delete from items where id > 3",
	"begin",
	"commit",
	"rollback",
	"savepoint s",
	"rollback to savepoint s",
	"set autocommit = 0",
	"set autocommit = 1",
	"select 1/0",
	"select 'abc' + 1",
	"select cast('abc' as signed), cast(300 as char(1))",
	"select * from nowhere",
	"select nothing from items",
	"selct 1",
	"",
	" ",
	";",
	"-- a comment",
	"/* a comment */",
	"select 1; select 2, 'b'; select 3 from dual where 1 = 0",
	"select 1; select nix; select 3",
	"select 1; insert into items (name) values ('in several'); select 3",
	"insert into items (name) values ('first'); update items set price = 9 where id = 1; delete from items where id = 5",
	"call several(2)",
	"call several(0)",
	"call fails(1)",
	"call nowhere()",
	"call changes(1)",
	"create temporary table temp_items (a int, b text)",
	"drop temporary table if exists temp_items",
	"drop table if exists nowhere_at_all",
	"insert into temp_items values (1, 'x'), (2, null)",
	"select a, b from temp_items order by a",
	"select cast('abc' as signed); show warnings",
	"show tables",
	"show columns from items",
	"show create table items",
	"explain select * from items where id = 1",
	"use app2",
	"use app",
	"use nowhere",
	"set names latin1",
	"set names utf8mb4",
	"set character_set_results = null",
	"set sql_mode = 'no_backslash_escapes'",
	"set sql_mode = ''",
	"set sql_mode = 'ansi_quotes'",
	"set @a = 5, @b = 'text'",
	/* not alone: after a statement with a table, a pool with mode = transaction
	 * would answer from a new session */
	"set @a = 6; select @a, @b",
	"set session_track_system_variables = 'autocommit,sql_mode', session_track_schema = 1, session_track_state_change = 1",
	"set session_track_transaction_info = 'state'",
	"set time_zone = '+02:00'",
	"set max_statement_time = 1",
	"select database(), user(), @@autocommit, @@character_set_client, @@sql_mode",
	"prepare p from 'select ? + 1'",
	"execute p using @a",
	"deallocate prepare p",
	"signal sqlstate '45000' set message_text = 'signalled'",
	"signal sqlstate '45000' set message_text = ''",
	"signal sqlstate '01000' set message_text = 'a warning'",
	"select last_insert_id()",
	"update items set price = 8 where id < 3; select row_count()",
	"select sql_calc_found_rows id from items order by id limit 1",
	"select last_insert_id(33)",
	"flush tables",
	"do 1",
	"select id, 10 / (id - 3), name from items order by id",
	"(select 1) union all (select 2)",
	"select cast('2024-01-02 03:04:05.678901' as datetime(6)), cast('-12:34:56.7' as time(1)), cast('1.50' as decimal(5,2)), b'1010', x'00ff', 1.5e0, true",
	"select json_object('a', 1), point(1, 2), cast('x' as binary(4)), uuid() is null",
	"load data local infile 'rows' into table items (id, name)",
	"load data local infile 'none' into table items (id, name)",
	"kill query connection_id()",
	"set statement max_statement_time = 9 for select exp(seq * 300) from seq_1_to_3",
	"change master to nonsense",
	"select * from items where id = 1 for update",
	"analyze table items",
	"checksum table items",
	"help 'nothing of this name'",
	"select 1 into @x",
	"truncate temp_items",
	"xa start 'x'",
	"xa end 'x'",
	"xa rollback 'x'",
);

WORDS(bound_queries,
	"select ?",
	"select ? as a, ? as b, ?",
	"select id, name, price, stamp, raw from items order by id",
	"select id, name from items where id = ?",
	"select name, id from items where id > ? order by id",
	"select * from items order by id",
	"insert into items (name, price) values (?, ?)",
	"insert into items (id, name) values (?, ?)",
	"insert into items (name, raw, stamp) values (?, ?, ?)",
	"update items set name = ? where id = ?",
	"delete from items where id = ?",
	"select seq, repeat('z', ?) from seq_1_to_30",
	"select concat(?, '-', ?), length(?), hex(?)",
	"select ? + 1, cast(? as date), cast(? as time(3)), cast(? as decimal(12,3))",
	"select 1",
	"select 1; select 2",
	"",
	"select * from nowhere where a = ?",
	"selct ?",
	"call several(?)",
	"call gives(?, ?)",
	"call fails(?)",
	"set @a = ?",
	"do ?",
	"select id, 10 / (id - 3) from items order by id",
	"select 1 from items where 1/(id - ?)",
	"create temporary table temp_items (a int, b text)",
	"insert into temp_items values (?, ?)",
	"select a, b from temp_items order by a",
	"drop temporary table temp_items",
	"begin",
	"commit",
	"use app2",
	"show tables",
	"select ? union select ? order by 1",
	"select cast('2024-01-02 03:04:05.678901' as datetime(6)), cast('-12:34:56.7' as time(1)), b'1010', x'00ff', 1.5e0, true, json_array(1)",
	"select repeat('y', 9000) from seq_1_to_20",
	"select sleep(0), ?",
	"signal sqlstate '45000' set message_text = 'signalled'",
	"select ? into @x",
);

/* Statements for servers other than MySQL. */
WORDS(other_queries,
	"select id, name, price, stamp, raw from items order by id",
	"select id as \"B c\", 1.5, null, 'text' from items where id = 1",
	"select sum(price), avg(price), max(name), min(stamp), count(*) from items",
	"select generate_series(1, 300)",
	"select g, repeat('y', 9000) from generate_series(1, 20) g",
	"with recursive g(n) as (select 1 union all select n + 1 from g where n < 300) select n, n * 1000 from g",
	"with recursive g(n) as (select 1 union all select n + 1 from g where n < 20) select n, hex(zeroblob(4500)) from g",
	"insert into items (name) values ('next')",
	"insert into items (id, name) values (100, 'hundred'), (1, 'again')",
	"insert into items (name) values ('returned') returning id, name",
	"update items set price = price + 1 where id <= 3",
	"update items set price = -1",
	"delete from items where id > 3",
	"select 1; select 2, 'b'; select 3 from items where 1 = 0",
	"select 1; select nix; select 3",
	"insert into items (name) values ('first'); update items set price = 9; select count(*) from items",
	"begin; insert into items (id) values (200); select count(*) from items; rollback",
	"begin", "commit", "rollback", "savepoint s", "rollback to s", "begin immediate", "begin isolation level serializable",
	"create temp table temp_items (a integer, b text)",
	"drop table if exists temp_items",
	"select a, b from temp_items order by a",
	"do $$begin raise notice 'from a block'; raise warning 'and this'; end$$",
	"select notices(3)",
	"do $$begin perform fails(); end$$",
	"select array[1,2,null], '{\"a\": 1}'::jsonb, 'f'::bool, 1.5::float8, '\\x0001ff'::bytea, '2024-02-29'::date",
	"select x'00ff', 'it''s', 9223372036854775807",
	"declare cur cursor with hold for select id, name from items order by id",
	"fetch 2 from cur",
	"close cur",
	"listen fz; notify fz, 'x'",
	"copy items (id, name) to stdout",
	"copy items (id, name) from stdin",
	"prepare p as select 1",
	"execute p",
	"set datestyle to german",
	"set client_encoding to latin1",
	"set client_encoding to utf8",
	"set standard_conforming_strings to off",
	"vacuum", "pragma table_info(items)", "values (1, 'a'), (2, 'b')",
	"select from items",
	"select 1/0",
);

/* A statement that fails at its first row may fail at the execution or at the fetch
 * (docs/mysql-shim.md). */
WORDS(other_bound,
	"select ?, ?",
	"select ?",
	"select ? || 'x'",
	"select cast(? as integer) + 1",
	"select name from items where id = ?",
	"select id, name, price, stamp, raw from items where id > ? order by id",
	"insert into items (id, name) values (?, ?)",
	"insert into items (name, price) values (?, ?)",
	"update items set raw = ? where id = ?",
	"select 1; select 2",
	"select id, name, price, stamp, raw from items order by id",
	"select g, repeat('z', 900) from generate_series(1, 200) g",
	"with recursive g(n) as (select 1 union all select n + 1 from g where n < 300) select n, n * 1000 from g",
	"select array[1,2,null], 'f'::bool, 1.5::float8, '\\x0001ff'::bytea, '2024-02-29'::date, '10:11:12'::time",
	"select notices(2)",
	"select '?', \"name\" from items where name = ?",
	"create temp table temp_items (a integer, b text)",
	"begin",
	"fetch 2 from cur",
);

WORDS(databases, "app", "app2", "nowhere", "", "app");
WORDS(tables, "items", "%", "it%", "nowhere", "temp_items", "", "children");
WORDS(charsets, "utf8mb4", "latin1", "utf8", "binary", "nonsense", "cp1251", "sjis", "gbk", "utf16", "", "big5");
WORDS(values, "1", "2", "0", "-7", "text", "it's \"quoted\" \\\xc3\xa4", "", "999999999999", "3.25", "\x01\x80\xff",
	"2024-01-31", "2024-01-31 10:11:12.5", "10:11:12");
WORDS(texts, "", "plain", "it's", "a\"b", "back\\slash", "\xc3\xa4\xc3\xb6", "\xc3", "\xe2\x82", "a\xffz",
	"new\nline\ttab\r\x1a", "\\\\''", "\x81\x5c", "\xf0\x9f\x98\x80!", "%_", "'", "a\xc3'b", "\xa4\xa2\xa1\\", "\xbf\x27");
/* clang-format on */

/* Plans differ from server to server and from time to time. For statements that fail at
 * their first row, see other_bound. */
static const char *
readable_word(const struct fz *z, const char *word)
{
	int is_plan = strncmp(word, "explain", 7) == 0;
	int fails_in_rows = strstr(word, "10 / (id - 3)") != NULL;

	return z->is_elsewhere && (is_plan || fails_in_rows) ? "select 1" : word;
}

const char *
fz_query_word(const struct fz *z, uint32_t number)
{
	if (z->is_elsewhere && number % 3)
		return FZ_PICK(other_queries, number / 3);
	return readable_word(z, FZ_PICK(queries, number));
}

const char *
fz_bound_word(const struct fz *z, uint32_t number)
{
	if (z->is_elsewhere && number % 3)
		return FZ_PICK(other_bound, number / 3);
	return readable_word(z, FZ_PICK(bound_queries, number));
}
