/* SPDX-License-Identifier: MIT */
/* Stubs for the native build, which lacks two features of Windows and Wine: access control of providers, and sessions
   that start with the host OS. */
#include "engine/etw/autologger.h"
#include "engine/etw/controller/trace_security.h"

ULONG trace_allowed(const GUID *guid, uint32_t rights)
{
    (void)guid, (void)rights;
    return ERROR_SUCCESS;
}

void autologgers_begin(struct directory *d, const char *directory)
{
    (void)d, (void)directory;
}
