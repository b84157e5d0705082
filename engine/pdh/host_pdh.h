/* SPDX-License-Identifier: MIT */
/* The choice of the PDH that serves this process. */
#ifndef OPENPLA_HOST_PDH_H
#define OPENPLA_HOST_PDH_H

#include "engine/logs/pdh_types.h"

/* The PDH functions of this host OS: the system's on Windows, openpdh.dll's under Wine, the linked core natively.
   Chosen once for the life of the process; *out is borrowed. Fails with ERROR_MOD_NOT_FOUND or ERROR_PROC_NOT_FOUND and
   the module's name in the error text. */
HRESULT host_pdh(const struct pdh_api **out);

#endif
