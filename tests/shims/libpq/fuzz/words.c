/* SPDX-License-Identifier: BSD-2-Clause */
#include "driver.h"

#include <string.h>

/* clang-format off */
#define WORDS(name, ...) \
	const char *const fz_##name[] = { __VA_ARGS__ }; \
	const unsigned fz_n_##name = sizeof(fz_##name) / sizeof(fz_##name[0])

/* Nothing here may depend on the time, on chance, or on the order of rows. */
WORDS(queries,
	"select 1",
	"select 1 as a, 'two'::text as \"B c\", null::int4 as n",
	"select id, name, price, stamp, raw from items order by id",
	"select * from items where id < 0",
	"select id as \"ID\", id as id, name as \"Name\" from items order by id limit 2",
	"select name::varchar(7), price::numeric(9,3), 'x'::char(5), b'101'::bit(3), now() is null from items order by id limit 1",
	"insert into items (id, name) values (100, 'hundred')",
	"insert into items (id, name) values (1, 'again')",
	"insert into items (id) values (101), (102) returning id, name",
	"update items set price = price + 1 where id <= 3",
	"update items set id = null where id = 2",
	"delete from items where id > 3",
	"begin",
	"begin read only",
	"begin isolation level repeatable read",
	"begin isolation level serializable, read only",
	"commit",
	"rollback",
	"savepoint s",
	"rollback to s",
	"release s",
	"select 1/0",
	"select id, 10 / (id - 3) from items order by id",
	"select * from nowhere",
	"select nothing from items",
	"selct 1",
	"select\n  'several lines',\n\tnowhere.x\nfrom items",
	"select 'äöü€', nö",
	"",
	" ; ;",
	"select 1; select 2, 'b'; select 3 where false",
	"select 1; select 1/0; select 3",
	"begin; insert into items (id) values (200); select count(*) from items; rollback",
	"select 1;; ;select 2",
	"create temp table temp_items (a int4, b text)",
	"drop table if exists temp_items",
	"insert into temp_items values (1, 'x'), (2, null)",
	"select a, b from temp_items order by a",
	"declare cur cursor with hold for select id, name from items order by id",
	"declare cur cursor for select id, name from items order by id",
	"fetch 2 from cur",
	"fetch all from cur",
	"move 1 in cur",
	"close cur",
	"prepare sqlp as select $1::int4 + 1",
	"execute sqlp(1)",
	"deallocate all",
	"deallocate p1",
	"set datestyle to german",
	"set client_min_messages to warning",
	"set client_min_messages to log",
	"set standard_conforming_strings to off",
	"set standard_conforming_strings to on",
	"set application_name to 'a name'",
	"set client_encoding to latin1",
	"set client_encoding to utf8",
	"set client_encoding to sql_ascii",
	"set client_encoding to nonsense",
	"reset all",
	"discard all",
	"show transaction_read_only",
	"select notices(3)",
	"select notices(1), fails(0)",
	"select fails(1)",
	"select fails(2)",
	"do $$begin raise notice 'from a block'; raise warning 'and %', 'this' using hint = 'a hint', detail = 'a detail'; end$$",
	"do $$begin perform fails(3); end$$",
	"listen fz",
	"listen \"Fz Two\"",
	"unlisten *",
	"notify fz, 'from myself'",
	"begin; notify fz, 'in one'; notify fz; commit",
	"select pg_notify('Fz Two', 'ä')",
	"explain (costs off) select 1",
	"vacuum nowhere",
	"lock table items",
	"truncate temp_items",
	"select g, repeat('x', g) from generate_series(0, 40) g",
	"select repeat('y', 9000) from generate_series(1, 20) g",
	"select from items",
	"select array[1,2,null], row(1, 'a'), '{\"a\": 1}'::jsonb, 'f'::bool, 1.5::float8, '\\x0001ff'::bytea",
	"create table if not exists items (id int4)",
	"alter table items add constraint positive check (id > 0) not valid",
	"insert into items (id, price) values (103, -1)",
	"insert into children (item) values (-5)",
	"values (1, 'a'), (2, 'b')",
	"table items order by id limit 1",
	"with w as (delete from items where id = 1 returning id) select * from w",
	"merge into items using (values (1), (300)) v(i) on id = i when matched then update set name = 'm' when not matched then insert (id) values (i)",
	"call changes(1)",
	"select 'a'::regtype",
	"select '2024-02-30'::date",
	"select 1 from items having",
	"set statement_timeout to 20; select pg_sleep(3)",
	/* change a setting that the server does not list, by statements that do not look like it */
	"select u&\"set\\005fconfig\"('fz.tenant', 'a', false)",
	"select query_to_xml('select set_' || 'config(''fz.tenant'', ''b'', false)', true, true, '')",
	"do $$begin execute 'se' || 't fz.tenant = ''c'''; end$$",
	"create view hides as select set_config('fz.tenant', 'd', false) as v; select v from hides; drop view hides",
	"create function sets(v text) returns text return set_config('fz.tenant', v, false); select sets('e'); drop function sets",
	"select coalesce(current_setting('fz.tenant', true), '')",
	"select current_setting('client_encoding'), current_setting('application_name')",
	"copy items to '/nowhere/at/all'",
);

WORDS(bound_queries,
	"select $1::int4",
	"select $1::text, $2::int4 as n",
	"select $1, $2",
	"select $1::int4 + 1, $2::bytea, $3::numeric",
	"select id, name, raw from items where id = $1 order by id",
	"select name from items where id > $1 order by id",
	"insert into items (id, name) values ($1, $2)",
	"update items set name = $2 where id = $1",
	"select 1",
	"select id, name from items order by id",
	"select id, 10 / (id - 3) from items order by id",
	"select 1; select 2",
	"",
	"begin",
	"begin isolation level serializable",
	"commit",
	"rollback",
	"select 1/$1::int4",
	"select * from nowhere where a = $1",
	"select notices(2)",
	"select fails(1)",
	"declare cur cursor with hold for select id, name from items order by id",
	"declare cur cursor for select id from items order by id",
	"fetch 1 from cur",
	"copy (select id, name from items order by id) to stdout",
	"copy temp_items from stdin",
	"create temp table temp_items (a int4, b text)",
	"set datestyle to sql",
	"notify fz, 'bound'",
	"vacuum items",
	"select repeat('z', 900) from generate_series(1, least($1::int4, 9999))",
	"selct $1",
	"select current_setting('application_name')",
	"select u&\"set\\005fconfig\"('fz.tenant', $1, false)",
	"select coalesce(current_setting('fz.tenant', true), '')",
);

/* Statements for servers other than PostgreSQL. */
WORDS(other_queries,
	"select id, name, price, stamp, raw from items order by id",
	"select * from items",
	"select sum(price), avg(price), max(name), min(stamp), count(*) from items",
	"select x'00ff', 1.5, null, 'text', 1e0, 9223372036854775807",
	"select id as \"B c\" from items where id = 1",
	"insert into items (name) values ('next')",
	"insert into items (id, name) values (100, 'hundred'), (1, 'again')",
	"insert into items (name) values ('returned') returning id, name",
	"replace into items (id, name) values (2, 'replaced')",
	"update items set price = price + 1 where id <= 3",
	"update items set price = -1",
	"delete from items where id > 3",
	"select 1; select 2, 'b'; select 3 from items where 1 = 0",
	"select 1; select nix; select 3",
	"insert into items (name) values ('first'); update items set price = 9; select count(*) from items",
	"begin; insert into items (id) values (200); select count(*) from items; rollback",
	"with recursive g(n) as (select 1 union all select n + 1 from g where n < 300) select n, n * 1000 from g",
	"with recursive g(n) as (select 1 union all select n + 1 from g where n < 20) select n, hex(zeroblob(4500)) from g",
	"select seq, repeat('x', 9000) from seq_1_to_20",
	"create temporary table temp_items (a integer, b text)",
	"drop table if exists temp_items",
	"create table if not exists items (id integer)",
	"call several(3)",
	"call several(0)",
	"call fails(1)",
	"call gives('abc', @a)",
	/* not alone: after a statement with a table, a pool with mode = transaction would answer
	 * "select @a" from a new session */
	"set @a = 6; select @a",
	"set @a = 5",
	"set autocommit = 0",
	"set autocommit = 1",
	"set names latin1",
	"set sql_mode = 'no_backslash_escapes'",
	"set sql_mode = ''",
	"start transaction",
	"begin immediate",
	"end",
	"show tables",
	"pragma table_info(items)",
	"select last_insert_id()",
	"select 'it''s', \"name\" from items where id = 1 -- ; a comment",
	"/* ; */ select ';' /* ; */;",
	"select a, b from temp_items order by a",
	"select json_object('a', 1), date('2024-02-29'), cast('1.50' as decimal(5,2))",
	"prepare p from 'select 1'",
	"execute p",
);

WORDS(other_bound,
	"select $1, $2",
	"select $2, $1, $1",
	"select name from items where id = $1",
	"select id, name, price, stamp, raw from items where id > $1 order by id",
	"insert into items (id, name) values ($1, $2)",
	"insert into items (name, price) values ($1, $2) returning id",
	"update items set raw = $1 where id = $2",
	"select id from items where name = $2 or id = $1",
	"select 1; select 2",
	"select 1; select $1",
	"select 1;",
	"call several($1)",
	"call gives($1, $2)",
	"call several(3)",
	"select * from items order by id",
	"with recursive g(n) as (select 1 union all select n + 1 from g where n < 300) select n, n * 1000 from g",
	"create temporary table temp_items (a integer, b text)",
	"insert into temp_items values ($1, $2)",
	"select $1 + 1, $2 || 'x', '$1'",
	"replace into items (id, name) values ($1, $2)",
	"set names latin1",
	"begin not atomic select 1; select 2; end",
);

WORDS(copies,
	"copy items (id, name) from stdin",
	"copy items (id, name) from stdin with (format csv, header)",
	"copy items (id, raw) from stdin with (format binary)",
	"copy (select id, name from items order by id) to stdout",
	"copy (select id, name, raw from items order by id) to stdout with (format csv, header)",
	"copy (select id, raw from items order by id) to stdout with (format binary)",
	"copy (select 10 / (id - 3) from items order by id) to stdout",
	"copy (select g, repeat('x', 100) from generate_series(1, 300) g) to stdout",
	"copy (select 1 where false) to stdout",
	"copy nowhere from stdin",
	"copy (select id, name from items order by id limit 2) to stdout; select 1",
	"select 1; copy items (id, name) from stdin; select count(*) from items",
	"copy items (id, name) from stdin; copy (select 1) to stdout",
	"copy (select 'ä', E'a\\tb\\nc\\\\') to stdout",
);

WORDS(names, "", "p1", "p2", "Weird \"name\"", "cur", "nowhere", "sqlp");

WORDS(values, "1", "2", "0", "-7", "text", "it's \"quoted\" \\ä", "", "999999999999", "3.25", "\\x00ff",
	"2024-01-31", "{1,2}");

WORDS(pieces, "110\televen\n", "111\ttwelve\n112\t\\N\n", "113\tthir", "teen\n", "no number\tx\n", "1\tagain\n",
	"\\.\n", "", "114\n", "115\ta\tb\n", "\n", "id,name\n", "116,\"a,b\"\n", "PGCOPY\n\377\r\n", "\\.", "117\t\xc3\xa4\n",
	"118\t\xff\n", "119\ta\\tb\n");

/* Appended to the text that names the server. */
WORDS(conninfos, "", " client_encoding=latin1", " client_encoding=auto", " application_name='fuzz me'",
	" fallback_application_name=fuzz", " options='-c datestyle=german -c geqo=off'", " connect_timeout=10",
	" client_encoding=utf8 application_name=x", " sslmode=disable", " sslmode=prefer", " keepalives=0",
	" target_session_attrs=any", " gssencmode=disable", " password=secret", " options=-csearch_path=public");

WORDS(bad_conninfos, "nonsense", "host", "nokey=1", "host='unclosed", "port=abc", "port=70000 ",
	"sslmode=nonsense", "postgresql://a:b@[::1", "postgresql://h/d?nokey=1", "postgresql://h:x/", "postgres://%zz/",
	"service=nowhere", "target_session_attrs=never", "client_encoding=nonsense", "options='-c nonsense=1'",
	"channel_binding=sometimes", "gssencmode=maybe", "ssl_min_protocol_version=TLSv9", 
	"connect_timeout=abc", "keepalives=x", "  =x", "host = 'a' 'b'",
	"load_balance_hosts=random", "sslcertmode=allow", "dbname='a b' host", "user=a password");

WORDS(encodings, "UTF8", "latin1", "SQL_ASCII", "auto", "nonsense", "", "EUC_JP", "SJIS", "a'b", "WIN1252",
	"UTF8; select 1", "MULE_INTERNAL");

WORDS(texts, "", "plain", "it's", "a\"b", "back\\slash", "\xc3\xa4\xc3\xb6", "\xc3", "\xe2\x82", "a\xffz",
	"new\nline\ttab", "\\\\''", "\x81\x5c", "\xf0\x9f\x98\x80!", "\001\002", "'", "\\x", "\\x0g", "\\x0a0B", "\\001a\\\\",
	"\\9", "a\xc3'b", "\xa4\xa2\xa1\\");
/* clang-format on */

/* A plan shows details of the server, and may change from run to run. */
static const char *
readable_word(const struct fz *z, const char *word)
{
	int is_plan = strncmp(word, "explain", 7) == 0;

	return z->is_elsewhere && is_plan ? "select 1" : word;
}

const char *
fz_query_word(const struct fz *z, uint32_t number)
{
	if (z->word != NULL)
		return z->word;
	if (z->is_elsewhere && number % 3)
		return FZ_PICK(other_queries, number / 3);
	return readable_word(z, FZ_PICK(queries, number));
}

const char *
fz_bound_word(const struct fz *z, uint32_t number)
{
	if (z->word != NULL)
		return z->word;
	if (z->is_elsewhere && number % 3)
		return FZ_PICK(other_bound, number / 3);
	return readable_word(z, FZ_PICK(bound_queries, number));
}
