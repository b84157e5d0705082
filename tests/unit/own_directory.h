/* SPDX-License-Identifier: MIT */
/* A directory of sessions that only this test and its child processes use. */
#ifndef OPENPLA_OWN_DIRECTORY_H
#define OPENPLA_OWN_DIRECTORY_H

#include "engine/base/clock.h"
#include "engine/etw/directory.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef _WIN32
#include <windows.h>
#endif

/* Must be called before any other tracing function; child processes inherit the setting. */
static inline void own_directory_name(void)
{
    char name[33];
    snprintf(name, sizeof name, "t%ux%llx", (unsigned)process_own_id(), (unsigned long long)clock_utc());
#ifdef _WIN32
    SetEnvironmentVariableA("OPENPLA_ETW", name);
    _putenv_s("OPENPLA_ETW", name); /* makes it visible to getenv */
#else
    setenv("OPENPLA_ETW", name, 1);
#endif
}

static inline struct directory *own_directory(void)
{
    struct directory *d;
    if (FAILED(directory_get(&d)))
        abort();
    return d;
}

#endif
