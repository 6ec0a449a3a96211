/* SPDX-License-Identifier: BSD-2-Clause */
/* In place of webhook.c in a build without libcurl. */
#include "alerts.h"

const char *
cnd_webhook_lacks(void)
{
	return "this build of cenoted has no libcurl";
}

const char *
cnd_webhook_send(const char *url, const char *json)
{
	(void)url;
	(void)json;
	return cnd_webhook_lacks();
}
