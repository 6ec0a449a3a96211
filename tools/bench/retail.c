/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The workload retail: the tables of a chain of stores, and what its users do. Of 25 users, 17 sell
 * (a transaction), 4 look at the stock of a product, and 4 look at the turnover of a store. Of 1,250
 * users, these are 850, 200 and 200. workloads.c lists it. It owns no state.
 */
#include <stdio.h>

#include "bench.h"

#define N_COUNTRIES 20
#define N_STORES    200
#define N_PRODUCTS  1000
#define PER_INSERT  500

/* ------------------------------------------------------------ the users -- */

enum kind {
	KIND_PURCHASE,
	KIND_INVENTORY,
	KIND_TURNOVER
};

static enum kind
kind_of(uint32_t number)
{
	uint32_t n = number % 25;

	return n < 17 ? KIND_PURCHASE : n < 21 ? KIND_INVENTORY : KIND_TURNOVER;
}

#define STORE(key)       ((key) % N_STORES + 1)
#define PRODUCT(key)     ((key) / N_STORES % N_PRODUCTS + 1)
#define SAY(script, ...) snprintf((script)->sql, sizeof((script)->sql), __VA_ARGS__)

/* Write the next statement of a purchase: it reads the price and the store's country, writes the sale, and
 * takes the goods from the stock. Returns 1, or 0 after the last statement. */
static int
purchase(struct cnb_script *s)
{
	uint32_t store = STORE(s->key), product = PRODUCT(s->key);

	s->is_query = s->step == 1 || s->step == 2;
	switch (s->step) {
	case 0:
		SAY(s, "begin");
		return 1;
	case 1:
		SAY(s, "select name, price from retail_products where id = %u", product);
		return 1;
	case 2:
		SAY(s,
			"select c.name, c.tax from retail_stores s "
			"join retail_countries c on c.id = s.country_id where s.id = %u",
			store);
		return 1;
	case 3:
		SAY(s,
			"insert into retail_sales (store_id, product_id, amount, price) "
			"values (%u, %u, 2, 499)",
			store, product);
		return 1;
	case 4:
		SAY(s,
			"update retail_stock set amount = amount - 2 "
			"where store_id = %u and product_id = %u",
			store, product);
		return 1;
	case 5:
		SAY(s, "commit");
		return 1;
	default:
		return 0;
	}
}

int
cnb_retail_statement(struct cnb_run *run)
{
	struct cnb_script *s = &run->script;
	enum kind kind = kind_of(run->number);

	if (s->step == 0)
		s->key = cnb_random(s, N_STORES * N_PRODUCTS) - 1;
	if (kind == KIND_PURCHASE)
		return purchase(s);
	if (s->step > 0)
		return 0;
	s->is_query = 1;
	if (kind == KIND_INVENTORY)
		SAY(s,
			"select sum(amount), count(*) from retail_stock "
			"where product_id = %u",
			PRODUCT(s->key));
	else
		SAY(s,
			"select product_id, sum(amount * price) from (select product_id, "
			"amount, price from retail_sales where store_id = %u order by id "
			"desc limit 50) t group by product_id",
			STORE(s->key));
	return 1;
}

/* ----------------------------------------------------------- the tables -- */

/* This SQL works on PostgreSQL and on MariaDB. */
static const char *const tables[] = {
	"create table retail_countries (id integer primary key, "
	"name varchar(40) not null, tax integer not null)",
	"create table retail_stores (id integer primary key, "
	"country_id integer not null, name varchar(40) not null)",
	"create table retail_products (id integer primary key, "
	"name varchar(40) not null, price integer not null)",
	"create table retail_stock (store_id integer not null, "
	"product_id integer not null, amount integer not null, "
	"primary key (product_id, store_id))",
	"create table retail_sales (id serial primary key, store_id integer not null, "
	"product_id integer not null, amount integer not null, price integer not null)",
	"create index retail_sales_store on retail_sales (store_id, id)",
};

static const char *const table_names[] = { "retail_countries", "retail_stores",
	"retail_products", "retail_stock", "retail_sales" };
#define N_TABLES (sizeof(table_names) / sizeof(table_names[0]))

static void
country_row(uint32_t i, char *ret, size_t size)
{
	snprintf(ret, size, "(%u,'country %u',%u)", i + 1, i + 1, 5 + i % 20);
}

static void
store_row(uint32_t i, char *ret, size_t size)
{
	snprintf(ret, size, "(%u,%u,'store %u')", i + 1, i % N_COUNTRIES + 1, i + 1);
}

static void
product_row(uint32_t i, char *ret, size_t size)
{
	snprintf(ret, size, "(%u,'product %u',%u)", i + 1, i + 1, 99 + i % 900);
}

static void
stock_row(uint32_t i, char *ret, size_t size)
{
	snprintf(ret, size, "(%u,%u,100000)", STORE(i), PRODUCT(i));
}

/* Each store gets sales: consecutive rows belong to different stores. */
static void
sale_row(uint32_t i, char *ret, size_t size)
{
	snprintf(ret, size, "(%u,%u,1,%u)", STORE(i), i * 7919 % N_PRODUCTS + 1,
		99 + i % 900);
}

struct filling {
	const char *into;
	uint32_t n_rows;
	void (*row)(uint32_t i, char *ret, size_t size);
};

static int
query(const struct cnb_target *target, struct cnb_session *s, const char *sql,
	struct cnb_error *ret_error)
{
	struct cnb_answer answer;

	return target->query(s, sql, &answer, ret_error);
}

static int
fill_table(const struct cnb_target *target, struct cnb_session *session,
	const struct filling *f, struct cnb_error *ret_error)
{
	static char sql[PER_INSERT * 48 + 128];
	uint32_t i, k;
	size_t n;

	for (i = 0; i < f->n_rows; i += k) {
		n = (size_t)snprintf(sql, sizeof(sql), "insert into %s values ", f->into);
		for (k = 0; k < PER_INSERT && i + k < f->n_rows; k++) {
			char row[48];

			f->row(i + k, row, sizeof(row));
			n += (size_t)snprintf(
				sql + n, sizeof(sql) - n, "%s%s", k > 0 ? "," : "", row);
		}
		if (query(target, session, sql, ret_error) < 0)
			return -1;
	}
	return 0;
}

static int
fill_all(const struct cnb_target *target, struct cnb_session *session, uint32_t n_rows,
	struct cnb_error *ret_error)
{
	const struct filling fillings[] = {
		{ "retail_countries", N_COUNTRIES, country_row },
		{ "retail_stores", N_STORES, store_row },
		{ "retail_products", N_PRODUCTS, product_row },
		{ "retail_stock", N_STORES * N_PRODUCTS, stock_row },
		{ "retail_sales (store_id, product_id, amount, price)", n_rows,
			sale_row },
	};
	size_t i;

	if (query(target, session, "begin", ret_error) < 0)
		return -1;
	for (i = 0; i < sizeof(fillings) / sizeof(fillings[0]); i++) {
		if (fill_table(target, session, &fillings[i], ret_error) < 0)
			return -1;
	}
	return query(target, session, "commit", ret_error);
}

static int
drop_tables(const struct cnb_target *target, struct cnb_session *session,
	struct cnb_error *ret_error)
{
	char sql[80];
	size_t i;

	for (i = 0; i < N_TABLES; i++) {
		snprintf(sql, sizeof(sql), "drop table if exists %s", table_names[i]);
		if (query(target, session, sql, ret_error) < 0)
			return -1;
	}
	return 0;
}

/* Without statistics, PostgreSQL would first read whole tables instead of using the keys. MariaDB wants the
 * word TABLE. */
static void
analyze(const struct cnb_target *target, struct cnb_session *session)
{
	struct cnb_error ignored;
	char sql[80];
	size_t i;

	for (i = 0; i < N_TABLES; i++) {
		snprintf(sql, sizeof(sql), "analyze table %s", table_names[i]);
		if (query(target, session, sql, &ignored) == 0)
			continue;
		snprintf(sql, sizeof(sql), "analyze %s", table_names[i]);
		(void)query(target, session, sql, &ignored);
	}
}

static int
make_tables(const struct cnb_target *target, struct cnb_session *session, uint32_t n_rows,
	struct cnb_error *ret_error)
{
	size_t i;

	if (drop_tables(target, session, ret_error) < 0)
		return -1;
	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (query(target, session, tables[i], ret_error) < 0)
			return -1;
	}
	if (fill_all(target, session, n_rows, ret_error) < 0)
		return -1;
	analyze(target, session);
	return 0;
}

int
cnb_retail_setup(const struct cnb_target *target, const struct cnb_env *env,
	uint32_t n_rows, struct cnb_error *ret_error)
{
	struct cnb_session *session;
	int r = target->open(env, &session, ret_error);

	if (r < 0)
		return r;
	r = make_tables(target, session, n_rows, ret_error);
	target->close(session);
	return r;
}

void
cnb_retail_cleanup(const struct cnb_target *target, const struct cnb_env *env)
{
	struct cnb_session *session;
	struct cnb_error error;

	if (target->open(env, &session, &error) < 0)
		return;
	(void)drop_tables(target, session, &error);
	target->close(session);
}
