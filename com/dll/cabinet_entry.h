/* SPDX-License-Identifier: MIT */
/* Cabinets for clients: IDataManager's Extract, and what openpla.dll exports for them, and for reports,
   under pla.dll's names. */
#ifndef OPENPLA_CABINET_ENTRY_H
#define OPENPLA_CABINET_ENTRY_H

#include "engine/base/caller.h"

#include <windows.h>

/* cabinet_extract with the caller's rights. Another process names both by a drive: a share would be gone to, and logged
   on to, by this process in its stead. E_INVALIDARG for what is no path of a file or folder, E_ACCESSDENIED for another
   process' share or path without a drive; where COM tells who calls, its rights are taken, or CoImpersonateClient's
   failure. */
HRESULT extract_for(const struct caller *caller, const char *cabinet, const char *folder);

/* Told of each file, by its path, once all are there. */
typedef void(CALLBACK *extracted_callback)(const WCHAR *file, void *context);
/* Takes a cabinet apart, as Extract does it, for the program that calls. `callback` may be NULL. Which text parameters
   pla.dll has is not published: a BSTR may be given, too. E_POINTER, E_INVALIDARG, cabinet_extract's failures. */
HRESULT WINAPI PlaExtractCabinet(const WCHAR *cabinet, const WCHAR *folder, extracted_callback callback, void *context);
/* Deletes the report of a run, which is its folder: what runs have made in it, and the folder, unless something else is
   in it, which stays. `folder` is its path; a BSTR may be given, too. E_POINTER, E_INVALIDARG, E_ACCESSDENIED where no
   run has made the folder, PLA_E_DCS_IN_USE while one writes to it. */
HRESULT WINAPI PlaDeleteReport(const WCHAR *folder);

#endif
