/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CN_LOAN_LOAD_H
#define CN_LOAN_LOAD_H

#include "loan.h"

/* The module that serves lent sessions. */

/* Load the module; it stays loaded until the process ends. NULL: it cannot be loaded, or is of another version. */
const struct cn_loan_ops *cn_loan_load(void);

#endif
