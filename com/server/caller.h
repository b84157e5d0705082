/* SPDX-License-Identifier: MIT */
/* Who calls the method that this thread is in. */
#ifndef OPENPLA_COM_CALLER_H
#define OPENPLA_COM_CALLER_H

#include "engine/base/caller.h"

/* caller_self for a call of this process. It is of use as long as the call runs. Fast: it asks for no account. */
struct caller com_caller(void);

#endif
