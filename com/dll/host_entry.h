/* SPDX-License-Identifier: MIT */
/* What openpla.dll exports for openplahost.exe. */
#ifndef OPENPLA_HOST_ENTRY_H
#define OPENPLA_HOST_ENTRY_H

#include "engine/base/wintypes.h"

/* The main program of a run's host: argv is <program> <namespace> <name> <run key>. Returns the process's exit code: 0,
   or the failing HRESULT (E_INVALIDARG for another number of arguments or ones that are no Unicode). */
int OpenPlaHost(int argc, WCHAR **argv);

#endif
