/* SPDX-License-Identifier: MIT */
/* The ODBC driver manager of this host: odbc32.dll on Windows and under Wine, natively unixODBC's libodbc. */
#ifndef OPENPLA_ODBC_LIBRARY_H
#define OPENPLA_ODBC_LIBRARY_H

#include "engine/logs/sql/odbc_types.h"

/* Loads it, for the life of the process, and fills the table. HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND or
   ERROR_PROC_NOT_FOUND), with a text that names the library. */
HRESULT odbc_library_load(struct odbc_api *out);

#endif
