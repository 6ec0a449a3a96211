/* SPDX-License-Identifier: BSD-2-Clause */
#include "protocol/reply.h"

/* The grammar of answers as a table (reply.h). Both ends of a session call this file. */

static const uint8_t shapes[] = {
	[CNP_MSG_CANCEL] = CNP_SHAPE_CANCEL,
	[CNP_MSG_STATUS] = CNP_SHAPE_ROWS,
	[CNP_MSG_QUERY] = CNP_SHAPE_DATA,
	[CNP_MSG_PREPARE] = CNP_SHAPE_DESCRIPTION,
	[CNP_MSG_DESCRIBE] = CNP_SHAPE_DESCRIPTION,
	[CNP_MSG_EXECUTE] = CNP_SHAPE_DATA,
	[CNP_MSG_CLOSE] = CNP_SHAPE_COMMAND,
	[CNP_MSG_FETCH] = CNP_SHAPE_DATA,
	[CNP_MSG_CLOSE_PORTAL] = CNP_SHAPE_COMMAND,
	[CNP_MSG_FUNCTION] = CNP_SHAPE_ROWS,
	[CNP_MSG_LONG_DATA] = CNP_SHAPE_COMMAND,
	[CNP_MSG_BEGIN] = CNP_SHAPE_COMMAND,
	[CNP_MSG_COMMIT] = CNP_SHAPE_COMMAND,
	[CNP_MSG_ROLLBACK] = CNP_SHAPE_COMMAND,
	[CNP_MSG_SAVEPOINT] = CNP_SHAPE_COMMAND,
	[CNP_MSG_AUTOCOMMIT] = CNP_SHAPE_COMMAND,
	[CNP_MSG_CATALOG] = CNP_SHAPE_ROWS,
	[CNP_MSG_PING] = CNP_SHAPE_COMMAND,
	[CNP_MSG_RESET] = CNP_SHAPE_COMMAND,
	[CNP_MSG_SYNC] = CNP_SHAPE_SYNC,
	[CNP_MSG_DETACH] = CNP_SHAPE_COMMAND,
	[CNP_MSG_SUSPEND] = CNP_SHAPE_SUSPEND,
	[CNP_MSG_CHANGE_USER] = CNP_SHAPE_COMMAND,
	[CNP_MSG_SELECT_DATABASE] = CNP_SHAPE_COMMAND,
	[CNP_MSG_SET_OPTION] = CNP_SHAPE_COMMAND,
};

uint8_t
cnp_request_shape(uint8_t code)
{
	return code < sizeof shapes ? shapes[code] : CNP_SHAPE_NONE;
}

int
cnp_request_can_setup(uint8_t code)
{
	return code == CNP_MSG_PREPARE || code == CNP_MSG_CLOSE ||
	       code == CNP_MSG_CLOSE_PORTAL || code == CNP_MSG_AUTOCOMMIT ||
	       code == CNP_MSG_SET_OPTION || code == CNP_MSG_LONG_DATA ||
	       code == CNP_MSG_DETACH;
}

/* In this shape and at one of these stages, the reply leads to the stage `next`. */
struct step {
	uint8_t shape;
	uint8_t stages; /* a bit for each stage */
	uint8_t reply;
	uint8_t next;
	uint8_t needs_known; /* stages at which the columns must be known; a bit for each */
};

#define AT(stage) (uint8_t)(1u << CNP_STAGE_##stage)

static const struct step steps[] = {
	{ CNP_SHAPE_DATA, AT(FRESH) | AT(OPEN) | AT(MORE), CNP_MSG_ROWS, CNP_STAGE_OPEN,
		AT(FRESH) | AT(MORE) },
	{ CNP_SHAPE_DATA, AT(FRESH) | AT(MORE), CNP_MSG_COLUMNS, CNP_STAGE_OPEN, 0 },
	{ CNP_SHAPE_DATA, AT(FRESH) | AT(OPEN) | AT(MORE), CNP_MSG_DONE,
		CNP_STAGE_ANSWERED, 0 },
	{ CNP_SHAPE_DATA, AT(FRESH) | AT(MORE), CNP_MSG_COPY_IN, CNP_STAGE_COPY_IN, 0 },
	{ CNP_SHAPE_DATA, AT(COPY_IN), CNP_MSG_DONE, CNP_STAGE_ANSWERED, 0 },
	{ CNP_SHAPE_DATA, AT(FRESH) | AT(MORE), CNP_MSG_COPY_OUT, CNP_STAGE_COPY_OUT, 0 },
	{ CNP_SHAPE_DATA, AT(COPY_OUT), CNP_MSG_COPY_DATA, CNP_STAGE_COPY_OUT, 0 },
	{ CNP_SHAPE_DATA, AT(COPY_OUT), CNP_MSG_COPY_DONE, CNP_STAGE_COPIED, 0 },
	{ CNP_SHAPE_DATA, AT(COPIED), CNP_MSG_DONE, CNP_STAGE_ANSWERED, 0 },
	{ CNP_SHAPE_ROWS, AT(FRESH) | AT(OPEN) | AT(MORE), CNP_MSG_ROWS, CNP_STAGE_OPEN,
		AT(FRESH) | AT(MORE) },
	{ CNP_SHAPE_ROWS, AT(FRESH) | AT(MORE), CNP_MSG_COLUMNS, CNP_STAGE_OPEN, 0 },
	{ CNP_SHAPE_ROWS, AT(FRESH) | AT(OPEN) | AT(MORE), CNP_MSG_DONE,
		CNP_STAGE_ANSWERED, 0 },
	{ CNP_SHAPE_DESCRIPTION, AT(FRESH), CNP_MSG_PARAMS, CNP_STAGE_DESCRIBED, 0 },
	{ CNP_SHAPE_DESCRIPTION, AT(DESCRIBED), CNP_MSG_COLUMNS, CNP_STAGE_OPEN, 0 },
	{ CNP_SHAPE_DESCRIPTION, AT(DESCRIBED) | AT(OPEN), CNP_MSG_DONE,
		CNP_STAGE_ANSWERED, 0 },
	{ CNP_SHAPE_COMMAND, AT(FRESH), CNP_MSG_DONE, CNP_STAGE_ANSWERED, 0 },
	{ CNP_SHAPE_SUSPEND, AT(FRESH), CNP_MSG_SUSPENDED, CNP_STAGE_ANSWERED, 0 },
	{ CNP_SHAPE_CANCEL, AT(FRESH), CNP_MSG_CANCELLED, CNP_STAGE_ANSWERED, 0 },
};

int
cnp_reply_stage(uint8_t shape, int is_known, uint8_t stage, const struct cnp_msg *m)
{
	const struct step *s;
	uint8_t bit = (uint8_t)(1u << stage);

	if (m->code == CNP_MSG_ERROR)
		return stage < CNP_STAGE_ANSWERED ? CNP_STAGE_ANSWERED
						  : CENOTE_ERR_PROTOCOL;
	for (s = steps; s < steps + sizeof steps / sizeof *steps; s++) {
		if (s->shape != shape || s->reply != m->code || !(s->stages & bit))
			continue;
		if ((s->needs_known & bit) && !is_known)
			return CENOTE_ERR_PROTOCOL;
		/* Only results of statements come in series. */
		if (m->code == CNP_MSG_DONE && (m->as.done.flags & CNP_DONE_MORE_RESULTS))
			return shape == CNP_SHAPE_DATA || shape == CNP_SHAPE_ROWS
				       ? CNP_STAGE_MORE
				       : CENOTE_ERR_PROTOCOL;
		return s->next;
	}
	return CENOTE_ERR_PROTOCOL;
}
