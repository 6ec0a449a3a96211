/* SPDX-License-Identifier: BSD-2-Clause */
/* The master's state. All files of the master read and change it. */
#include "master_internal.h"

struct cnd_master cnd_the_master;
