/* SPDX-License-Identifier: MIT */
/* Shared by the COM examples (control_provider.c, query_counters.c): connects to a computer's server, and prints
   failures. */
#ifndef OPENPLA_EXAMPLE_CONNECTION_H
#define OPENPLA_EXAMPLE_CONNECTION_H

#include "mspla.h"

#include <windows.h>
#include <ole2.h>

/* Creates a data collector set in the server of `machine`; NULL or "": this computer. COM must be initialised. */
HRESULT create_set(const WCHAR *machine, IDataCollectorSet **set);
/* Commits, and prints the server's validation issues. */
HRESULT commit_set(IDataCollectorSet *set, const WCHAR *name, CommitMode mode);
/* Start(TRUE): returns when the set collects, or with the reason why it does not. Late-bound, because such a call
   transfers the server's error message between processes. */
HRESULT start_set(IDataCollectorSet *set);

/* Queries the set again, and returns the output location of its first collector's latest run. Free it with
   SysFreeString. NULL: failed, with a message printed. */
BSTR latest_output(IDataCollectorSet *set, const WCHAR *name);

/* If the call failed, prints the step, the result and the server's message if any. Returns whether it failed. */
BOOL failed(HRESULT hr, const char *step);

#endif
