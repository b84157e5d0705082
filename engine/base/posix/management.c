/* SPDX-License-Identifier: MIT */
/* A host without WMI. */
#include "engine/base/management.h"

HRESULT management_query(const char *namespace_path, const char *query,
                         HRESULT (*take)(void *user, struct management_row *row), void *user)
{
    (void)query;
    (void)take;
    (void)user;
    return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "%.300s: this host has no WMI", namespace_path);
}
