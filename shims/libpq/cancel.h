/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CPQ_CANCEL_H
#define CPQ_CANCEL_H

/* libpq 17's CONNECTION_ALLOCATED. */
#define CPQ_CONNECTION_ALLOCATED ((ConnStatusType)12)

#endif
