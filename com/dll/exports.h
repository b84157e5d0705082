/* SPDX-License-Identifier: MIT */
/* The functions that openpla.dll exports besides COM's entry points: the flat functions under pla.dll's names, and the
   main program of openplahost.exe. This header also declares extract_for, which implements IDataManager's Extract. */
#ifndef OPENPLA_EXPORTS_H
#define OPENPLA_EXPORTS_H

#include "engine/base/security.h"
#include "engine/base/wintypes.h"

#include <windows.h>
#include <oleauto.h>

/* Calls cabinet_extract with the caller's rights. If the caller is another process, both paths must contain a drive:
   this process would access a share under its own account, not under the caller's. Fails with E_INVALIDARG for an
   invalid path. Fails with E_ACCESSDENIED if the caller is another process and a path is on a share or has no drive. On
   Windows, the function impersonates the caller while it extracts; if CoImpersonateClient fails, its result is
   returned. */
HRESULT extract_for(const struct caller *caller, const char *cabinet, const char *folder);

/* Called with the path of each file after all files have been extracted. */
typedef void(CALLBACK *extracted_callback)(const WCHAR *file, void *context);
/* Extracts a cabinet for the program that calls this function, in the same way as IDataManager's Extract. `callback`
   may be NULL. The string type of pla.dll's parameters is not documented, so BSTRs are accepted too. Fails with
   E_POINTER if `cabinet` or `folder` is NULL, with E_INVALIDARG for an invalid path, or as cabinet_extract does. */
HRESULT WINAPI PlaExtractCabinet(const WCHAR *cabinet, const WCHAR *folder, extracted_callback callback, void *context);
/* Deletes the report of a run. `folder` is the path of the run's folder; a BSTR is accepted too. First deletes all
   files and folders in it that a run created. Then deletes the folder itself, unless it contains anything else. Fails
   with E_POINTER if `folder` is NULL, with E_INVALIDARG for an invalid path, with E_ACCESSDENIED if no run created the
   folder, or with PLA_E_DCS_IN_USE while a run writes to it. */
HRESULT WINAPI PlaDeleteReport(const WCHAR *folder);

/* The main program of the set host process: argv is <program> <namespace> <name> <run key>. Returns the exit code: 0 or
   the failing HRESULT (E_INVALIDARG for a wrong number of arguments or invalid Unicode). */
int OpenPlaHost(int argc, WCHAR **argv);

/* Expands the variables of TaskArguments as a run does. The type in the VARIANT is not documented. This function
   accepts a BSTR with the arguments, or an array of BSTRs or of VARIANTs that contain BSTRs. The array contains the
   arguments first, then a name and a value for each variable. If a name is repeated, the variable is a list of its
   values. The caller frees *out. Fails with E_POINTER for a null pointer, with DISP_E_TYPEMISMATCH if the VARIANT has
   another type, or with E_OUTOFMEMORY. Fails with E_INVALIDARG if a name has no value, if there are more than 1,024
   pairs, or if a string is invalid Unicode. */
HRESULT WINAPI PlaExpandTaskArguments(VARIANT arguments, BSTR *out);

#endif
