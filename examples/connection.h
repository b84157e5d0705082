/* SPDX-License-Identifier: MIT */
/* What both examples do: reach the server of a machine, and say in words what failed. */
#ifndef OPENPLA_EXAMPLE_CONNECTION_H
#define OPENPLA_EXAMPLE_CONNECTION_H

#include "mspla.h"

#include <windows.h>
#include <ole2.h>

/* A new data collector set in the server of `machine`; NULL or "": of this one. COM must be initialised. */
HRESULT create_set(const WCHAR *machine, IDataCollectorSet **set);
/* Commits and shows what the server has to remark. */
HRESULT commit_set(IDataCollectorSet *set, const WCHAR *name, CommitMode mode);
/* Start(TRUE): returns when the set collects, or with what kept it from it. Asked for by name, because a late-bound
   call brings the server's words along wherever it runs. */
HRESULT start_set(IDataCollectorSet *set);

/* Where the latest run of the first collector wrote to, after the set is read anew: SysFreeString. NULL: it said why.
 */
BSTR latest_output(IDataCollectorSet *set, const WCHAR *name);

/* For a call that failed: says the step, the result and the server's words if there are any. Returns whether it did. */
BOOL failed(HRESULT hr, const char *step);

#endif
