/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types that have the same OID on every server (pg_type.dat). Other types (of extensions, enums,
 * composites, rows of the catalog's newer tables) have a different OID in each database.
 */
#include "pg.h"
#include "types.h"

struct type {
	uint32_t oid;
	uint8_t type; /* enum cenote_type */
	const char *name;
};

#define T(oid, type, name) { oid, CENOTE_TYPE_##type, name },
/* Sorted by OID. */
static const struct type types[] = {
	/* clang-format off */
	T(16, BOOL, "bool")
	T(17, BYTES, "bytea")
	T(18, TEXT, "char")
	T(19, TEXT, "name")
	T(20, INT64, "int8")
	T(21, INT64, "int2")
	T(22, OTHER, "int2vector")
	T(23, INT64, "int4")
	T(24, OTHER, "regproc")
	T(25, TEXT, "text")
	T(26, INT64, "oid")
	T(27, OTHER, "tid")
	T(28, INT64, "xid")
	T(29, INT64, "cid")
	T(30, OTHER, "oidvector")
	T(32, OTHER, "pg_ddl_command")
	T(71, OTHER, "pg_type")
	T(75, OTHER, "pg_attribute")
	T(81, OTHER, "pg_proc")
	T(83, OTHER, "pg_class")
	T(114, JSON, "json")
	T(142, TEXT, "xml")
	T(143, OTHER, "_xml")
	T(194, OTHER, "pg_node_tree")
	T(199, OTHER, "_json")
	T(210, OTHER, "_pg_type")
	T(269, OTHER, "table_am_handler")
	T(270, OTHER, "_pg_attribute")
	T(271, OTHER, "_xid8")
	T(272, OTHER, "_pg_proc")
	T(273, OTHER, "_pg_class")
	T(325, OTHER, "index_am_handler")
	T(600, OTHER, "point")
	T(601, OTHER, "lseg")
	T(602, OTHER, "path")
	T(603, OTHER, "box")
	T(604, OTHER, "polygon")
	T(628, OTHER, "line")
	T(629, OTHER, "_line")
	T(650, OTHER, "cidr")
	T(651, OTHER, "_cidr")
	T(700, DOUBLE, "float4")
	T(701, DOUBLE, "float8")
	T(705, TEXT, "unknown")
	T(718, OTHER, "circle")
	T(719, OTHER, "_circle")
	T(774, OTHER, "macaddr8")
	T(775, OTHER, "_macaddr8")
	T(790, OTHER, "money")
	T(791, OTHER, "_money")
	T(829, OTHER, "macaddr")
	T(869, OTHER, "inet")
	T(1000, OTHER, "_bool")
	T(1001, OTHER, "_bytea")
	T(1002, OTHER, "_char")
	T(1003, OTHER, "_name")
	T(1005, OTHER, "_int2")
	T(1006, OTHER, "_int2vector")
	T(1007, OTHER, "_int4")
	T(1008, OTHER, "_regproc")
	T(1009, OTHER, "_text")
	T(1010, OTHER, "_tid")
	T(1011, OTHER, "_xid")
	T(1012, OTHER, "_cid")
	T(1013, OTHER, "_oidvector")
	T(1014, OTHER, "_bpchar")
	T(1015, OTHER, "_varchar")
	T(1016, OTHER, "_int8")
	T(1017, OTHER, "_point")
	T(1018, OTHER, "_lseg")
	T(1019, OTHER, "_path")
	T(1020, OTHER, "_box")
	T(1021, OTHER, "_float4")
	T(1022, OTHER, "_float8")
	T(1027, OTHER, "_polygon")
	T(1028, OTHER, "_oid")
	T(1033, OTHER, "aclitem")
	T(1034, OTHER, "_aclitem")
	T(1040, OTHER, "_macaddr")
	T(1041, OTHER, "_inet")
	T(1042, TEXT, "bpchar")
	T(1043, TEXT, "varchar")
	T(1082, DATE, "date")
	T(1083, TIME, "time")
	T(1114, TIMESTAMP, "timestamp")
	T(1115, OTHER, "_timestamp")
	T(1182, OTHER, "_date")
	T(1183, OTHER, "_time")
	T(1184, TIMESTAMP, "timestamptz")
	T(1185, OTHER, "_timestamptz")
	T(1186, INTERVAL, "interval")
	T(1187, OTHER, "_interval")
	T(1231, OTHER, "_numeric")
	T(1248, OTHER, "pg_database")
	T(1263, OTHER, "_cstring")
	T(1266, TIME, "timetz")
	T(1270, OTHER, "_timetz")
	T(1560, OTHER, "bit")
	T(1561, OTHER, "_bit")
	T(1562, OTHER, "varbit")
	T(1563, OTHER, "_varbit")
	T(1700, DECIMAL, "numeric")
	T(1790, TEXT, "refcursor")
	T(2201, OTHER, "_refcursor")
	T(2202, OTHER, "regprocedure")
	T(2203, OTHER, "regoper")
	T(2204, OTHER, "regoperator")
	T(2205, OTHER, "regclass")
	T(2206, OTHER, "regtype")
	T(2207, OTHER, "_regprocedure")
	T(2208, OTHER, "_regoper")
	T(2209, OTHER, "_regoperator")
	T(2210, OTHER, "_regclass")
	T(2211, OTHER, "_regtype")
	T(2249, OTHER, "record")
	T(2275, TEXT, "cstring")
	T(2276, OTHER, "any")
	T(2277, OTHER, "anyarray")
	T(2278, OTHER, "void")
	T(2279, OTHER, "trigger")
	T(2280, OTHER, "language_handler")
	T(2281, OTHER, "internal")
	T(2283, OTHER, "anyelement")
	T(2287, OTHER, "_record")
	T(2776, OTHER, "anynonarray")
	T(2842, OTHER, "pg_authid")
	T(2843, OTHER, "pg_auth_members")
	T(2949, OTHER, "_txid_snapshot")
	T(2950, UUID, "uuid")
	T(2951, OTHER, "_uuid")
	T(2970, OTHER, "txid_snapshot")
	T(3115, OTHER, "fdw_handler")
	T(3220, OTHER, "pg_lsn")
	T(3221, OTHER, "_pg_lsn")
	T(3310, OTHER, "tsm_handler")
	T(3361, OTHER, "pg_ndistinct")
	T(3402, OTHER, "pg_dependencies")
	T(3500, OTHER, "anyenum")
	T(3614, OTHER, "tsvector")
	T(3615, OTHER, "tsquery")
	T(3642, OTHER, "gtsvector")
	T(3643, OTHER, "_tsvector")
	T(3644, OTHER, "_gtsvector")
	T(3645, OTHER, "_tsquery")
	T(3734, OTHER, "regconfig")
	T(3735, OTHER, "_regconfig")
	T(3769, OTHER, "regdictionary")
	T(3770, OTHER, "_regdictionary")
	T(3802, JSON, "jsonb")
	T(3807, OTHER, "_jsonb")
	T(3831, OTHER, "anyrange")
	T(3838, OTHER, "event_trigger")
	T(3904, OTHER, "int4range")
	T(3905, OTHER, "_int4range")
	T(3906, OTHER, "numrange")
	T(3907, OTHER, "_numrange")
	T(3908, OTHER, "tsrange")
	T(3909, OTHER, "_tsrange")
	T(3910, OTHER, "tstzrange")
	T(3911, OTHER, "_tstzrange")
	T(3912, OTHER, "daterange")
	T(3913, OTHER, "_daterange")
	T(3926, OTHER, "int8range")
	T(3927, OTHER, "_int8range")
	T(4066, OTHER, "pg_shseclabel")
	T(4072, OTHER, "jsonpath")
	T(4073, OTHER, "_jsonpath")
	T(4089, OTHER, "regnamespace")
	T(4090, OTHER, "_regnamespace")
	T(4096, OTHER, "regrole")
	T(4097, OTHER, "_regrole")
	T(4191, OTHER, "regcollation")
	T(4192, OTHER, "_regcollation")
	T(4451, OTHER, "int4multirange")
	T(4532, OTHER, "nummultirange")
	T(4533, OTHER, "tsmultirange")
	T(4534, OTHER, "tstzmultirange")
	T(4535, OTHER, "datemultirange")
	T(4536, OTHER, "int8multirange")
	T(4537, OTHER, "anymultirange")
	T(4538, OTHER, "anycompatiblemultirange")
	T(4600, OTHER, "pg_brin_bloom_summary")
	T(4601, OTHER, "pg_brin_minmax_multi_summary")
	T(5017, OTHER, "pg_mcv_list")
	T(5038, OTHER, "pg_snapshot")
	T(5039, OTHER, "_pg_snapshot")
	T(5069, UINT64, "xid8")
	T(5077, OTHER, "anycompatible")
	T(5078, OTHER, "anycompatiblearray")
	T(5079, OTHER, "anycompatiblenonarray")
	T(5080, OTHER, "anycompatiblerange")
	T(6101, OTHER, "pg_subscription")
	T(6150, OTHER, "_int4multirange")
	T(6151, OTHER, "_nummultirange")
	T(6152, OTHER, "_tsmultirange")
	T(6153, OTHER, "_tstzmultirange")
	T(6155, OTHER, "_datemultirange")
	T(6157, OTHER, "_int8multirange")
	/* clang-format on */
};
#undef T

static const struct type *
find_type(uint32_t oid)
{
	size_t low = 0, high = sizeof(types) / sizeof(types[0]);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (types[middle].oid == oid)
			return &types[middle];
		if (types[middle].oid < oid)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

uint8_t
cnd_pg_type(uint32_t oid)
{
	const struct type *t = find_type(oid);

	return t ? t->type : CENOTE_TYPE_OTHER;
}

/* Modifiers of types with a length count these bytes as well. */
#define HEADER                      4
/* Digits of a fraction of a second, if the column declares none. */
#define FRACTION                    6
/* The modifier of an interval holds both its fields and the digits of its fraction. */
#define INTERVAL_FRACTION(modifier) ((modifier)&0xffff)

static void
fill_numeric(struct cnp_column *c)
{
	int32_t packed;

	if (c->modifier < HEADER)
		return;
	packed = c->modifier - HEADER;
	c->precision = packed >> 16;
	/* 11 bits with a sign; older servers have no negative scale, and none above 1000. */
	c->scale = ((packed & 0x7ff) ^ 1024) - 1024;
}

static void
fill_text(struct cnp_column *c)
{
	c->length = c->modifier >= HEADER ? c->modifier - HEADER : -1;
}

static void
fill_bits(struct cnp_column *c)
{
	c->length = c->modifier >= 0 ? c->modifier : -1;
}

static void
fill_time(struct cnp_column *c)
{
	c->scale = c->modifier >= 0 && c->modifier < FRACTION ? c->modifier : FRACTION;
}

static void
fill_interval(struct cnp_column *c)
{
	int32_t declared = INTERVAL_FRACTION(c->modifier);

	c->scale = c->modifier >= 0 && declared < FRACTION ? declared : FRACTION;
}

static const struct {
	uint32_t oid;
	void (*fill)(struct cnp_column *c);
} by_modifier[] = {
	{ CND_PG_OID_NUMERIC, fill_numeric },
	{ CND_PG_OID_BPCHAR, fill_text },
	{ CND_PG_OID_VARCHAR, fill_text },
	{ CND_PG_OID_BIT, fill_bits },
	{ CND_PG_OID_VARBIT, fill_bits },
	{ CND_PG_OID_TIME, fill_time },
	{ CND_PG_OID_TIMETZ, fill_time },
	{ CND_PG_OID_TIMESTAMP, fill_time },
	{ CND_PG_OID_TIMESTAMPTZ, fill_time },
	{ CND_PG_OID_INTERVAL, fill_interval },
};

void
cnd_pg_type_fill(struct cnp_column *c)
{
	const struct type *t = find_type(c->native_type);
	size_t i;

	c->type = t ? t->type : CENOTE_TYPE_OTHER;
	c->type_name = cnp_str(t ? t->name : "");
	/* -1 and -2 (text that ends with a zero byte) mean a variable length. */
	if (c->length < 0)
		c->length = -1;
	c->precision = -1;
	c->scale = -1;
	c->charset = 0;
	for (i = 0; i < sizeof(by_modifier) / sizeof(by_modifier[0]); i++) {
		if (by_modifier[i].oid == c->native_type)
			by_modifier[i].fill(c);
	}
}
