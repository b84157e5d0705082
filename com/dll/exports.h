/* SPDX-License-Identifier: MIT */
/* The functions that openpla.dll exports besides COM's: the flat functions under pla.dll's names, and the main program
   of openplahost.exe. And IDataManager's Extract, which is one of them with the caller's rights. */
#ifndef OPENPLA_EXPORTS_H
#define OPENPLA_EXPORTS_H

#include "engine/base/security.h"
#include "engine/base/wintypes.h"

#include <windows.h>
#include <oleauto.h>

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

/* The main program of a run's host: argv is <program> <namespace> <name> <run key>. Returns the process's exit code: 0,
   or the failing HRESULT (E_INVALIDARG for another number of arguments or ones that are no Unicode). */
int OpenPlaHost(int argc, WCHAR **argv);

/* TaskArguments with their variables filled in, as a run does it. What the VARIANT holds is not published; here it is a
   BSTR, the arguments, or an array of BSTR or of VARIANT with BSTR: the arguments, and a name and a value for each
   variable. A name that comes more than once is a list. *out is the caller's. E_POINTER, DISP_E_TYPEMISMATCH for
   another type, E_INVALIDARG for a name without a value, more than 1,024 pairs, and what is no Unicode, E_OUTOFMEMORY.
 */
HRESULT WINAPI PlaExpandTaskArguments(VARIANT arguments, BSTR *out);

#endif
