/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Make exceptions: a class for each kind of failure, chosen by status, SQLSTATE and the server's
 * number. All other files raise exceptions through this file. The state is the table of classes,
 * set when Ruby loads the extension.
 */
#include "cenote_ruby.h"

#include <string.h>

static VALUE error_class;

/* A class for each kind of failure that programs handle in their own way. */
static struct {
	int status;
	const char *name;
	VALUE class;
} kinds[] = {
	{ CENOTE_ERR_SERVER, "ServerError", Qnil },
	{ CENOTE_ERR_CONN, "ConnectionError", Qnil },
	{ CENOTE_ERR_AUTH, "AuthenticationError", Qnil },
	{ CENOTE_ERR_PROTOCOL, "ProtocolError", Qnil },
	{ CENOTE_ERR_TIMEOUT, "TimeoutError", Qnil },
	{ CENOTE_ERR_UNSUPPORTED, "UnsupportedError", Qnil },
	{ CENOTE_ERR_ARG, "ArgumentError", Qnil },
	{ CENOTE_ERR_STATE, "StateError", Qnil },
	{ CENOTE_ERR_LIMIT, "LimitError", Qnil },
	{ CENOTE_ERR_CONVERT, "ConversionError", Qnil },
};

/*
 * Classes for errors of the server. `sqlstate` is the begin of the SQLSTATE, and `native` the
 * server's number (0: any): MariaDB and MySQL have one SQLSTATE for most constraints. The last
 * entry that matches counts.
 */
static struct {
	const char *name, *parent, *sqlstate;
	int native;
	VALUE class;
} states[] = {
	{ "ConstraintError", "ServerError", "23", 0, Qnil },
	{ "NotNullViolation", "ConstraintError", "23502", 0, Qnil },
	{ "NotNullViolation", "ConstraintError", "23000", 1048, Qnil },
	{ "ForeignKeyViolation", "ConstraintError", "23503", 0, Qnil },
	{ "ForeignKeyViolation", "ConstraintError", "23001", 0, Qnil },
	{ "ForeignKeyViolation", "ConstraintError", "23000", 1216, Qnil },
	{ "ForeignKeyViolation", "ConstraintError", "23000", 1217, Qnil },
	{ "ForeignKeyViolation", "ConstraintError", "23000", 1451, Qnil },
	{ "ForeignKeyViolation", "ConstraintError", "23000", 1452, Qnil },
	{ "UniqueViolation", "ConstraintError", "23505", 0, Qnil },
	{ "UniqueViolation", "ConstraintError", "23000", 1062, Qnil },
	{ "UniqueViolation", "ConstraintError", "23000", 1586, Qnil },
	{ "CheckViolation", "ConstraintError", "23514", 0, Qnil },
	{ "CheckViolation", "ConstraintError", "23000", 4025, Qnil },
	{ "CheckViolation", "ConstraintError", "HY000", 3819, Qnil },
	{ "ExclusionViolation", "ConstraintError", "23P01", 0, Qnil },
	{ "DataError", "ServerError", "22", 0, Qnil },
	{ "TransactionRollback", "ServerError", "40", 0, Qnil },
	{ "QueryCanceled", "ServerError", "57014", 0, Qnil },
	{ "QueryCanceled", "ServerError", "70100", 0, Qnil },
};

static void
define_states(void)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		VALUE parent = rb_const_get(rbc_mCenote, rb_intern(states[i].parent));

		states[i].class =
			rb_define_class_under(rbc_mCenote, states[i].name, parent);
		rb_gc_register_mark_object(states[i].class);
	}
}

void
rbc_error_init(void)
{
	error_class = rb_define_class_under(rbc_mCenote, "Error", rb_eStandardError);
	rb_gc_register_mark_object(error_class);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		kinds[i].class =
			rb_define_class_under(rbc_mCenote, kinds[i].name, error_class);
		rb_gc_register_mark_object(kinds[i].class);
	}
	define_states();
}

static VALUE
class_of(int status)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (kinds[i].status == status)
			return kinds[i].class;
	}
	return error_class;
}

static VALUE
class_of_diag(int status, const cenote_diag *diag)
{
	const char *sqlstate = cenote_diag_sqlstate(diag);
	int native = cenote_diag_native(diag);

	for (size_t i = sizeof(states) / sizeof(*states);
		status == CENOTE_ERR_SERVER && i > 0; i--) {
		const char *first = states[i - 1].sqlstate;
		int wanted = states[i - 1].native;

		if (strncmp(sqlstate, first, strlen(first)) == 0 &&
			(wanted == 0 || wanted == native))
			return states[i - 1].class;
	}
	return class_of(status);
}

/* The server's fields, by their letters. */
static VALUE
fields_of(const cenote_diag *diag)
{
	static const char letters[] = "SVCMDHPpqWstcdnFLRNBXA";
	VALUE fields = rb_hash_new();

	for (const char *letter = letters; *letter; letter++) {
		const char *text = cenote_diag_field(diag, *letter);

		if (text)
			rb_hash_aset(fields, rb_str_new(letter, 1),
				rb_utf8_str_new_cstr(text));
	}
	return fields;
}

void
rbc_raise(int status, const cenote_diag *diag)
{
	VALUE error;

	if (status == CENOTE_ERR_NOMEM)
		rb_memerror();
	error = rb_exc_new_str(class_of_diag(status, diag),
		rb_utf8_str_new_cstr(cenote_diag_message(diag)));
	rb_ivar_set(error, rb_intern("@sqlstate"),
		rb_utf8_str_new_cstr(cenote_diag_sqlstate(diag)));
	rb_ivar_set(error, rb_intern("@native"), INT2NUM(cenote_diag_native(diag)));
	rb_ivar_set(error, rb_intern("@fields"), fields_of(diag));
	rb_exc_raise(error);
}

void
rbc_raise_text(int status, const char *sqlstate, const char *message)
{
	VALUE error = rb_exc_new_str(class_of(status), rb_utf8_str_new_cstr(message));

	rb_ivar_set(error, rb_intern("@sqlstate"), rb_utf8_str_new_cstr(sqlstate));
	rb_ivar_set(error, rb_intern("@native"), INT2FIX(0));
	rb_ivar_set(error, rb_intern("@fields"), rb_hash_new());
	rb_exc_raise(error);
}

void
rbc_check(const struct rbc_conn *c, int status)
{
	if (status < 0)
		rbc_raise(status, cenote_conn_diag(c->conn));
}
