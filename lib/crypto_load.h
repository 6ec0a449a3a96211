/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_CRYPTO_LOAD_H
#define CN_CRYPTO_LOAD_H

#include "core/diag.h"
#include "crypto/crypto.h"

/* The module with everything that needs OpenSSL. */

/* 1: the module's file exists. This does not load it. */
int cn_crypto_is_there(void);
/* Load the module; it stays loaded until the process ends. CENOTE_OK;
 * CENOTE_ERR_UNSUPPORTED: `diag` names the file, and what to install. */
int cn_crypto_load(const struct cn_crypto **ret_crypto, struct cnc_diag *diag);

#endif
