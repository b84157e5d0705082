/* SPDX-License-Identifier: MIT */
/* Our PDH: the Win32 names over the core, for hosts whose own does not work. Signatures, status codes and the protocol
   of buffers are Windows'. Natively `openpdh_api` (engine/os/pdh_types.h) is the table of these. */
#ifndef OPENPLA_PDH_H
#define OPENPLA_PDH_H

#include "engine/os/pdh_types.h"

/* On Windows this also holds our list against the system's own prototypes. */
#define PDH_DECLARE(name, parameters) PDH_STATUS WINAPI name parameters;
PDH_API_LIST(PDH_DECLARE)
#undef PDH_DECLARE

/* The counter's values are shown multiplied by 10^factor, PDH_MIN_SCALE to PDH_MAX_SCALE. */
PDH_STATUS WINAPI PdhSetCounterScaleFactor(PDH_HCOUNTER counter, LONG factor);

#endif
