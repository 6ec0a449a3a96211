/* SPDX-License-Identifier: BSD-2-Clause */
#include "cenote_ruby.h"

static VALUE error_class;

/* A class for each kind of failure that a program handles in its own way. */
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
	error = rb_exc_new_str(
		class_of(status), rb_utf8_str_new_cstr(cenote_diag_message(diag)));
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
