/* SPDX-License-Identifier: MIT */
/* What openpla.dll exports under the names of pla.dll's flat functions. */
#ifndef OPENPLA_TASK_ENTRY_H
#define OPENPLA_TASK_ENTRY_H

#include <windows.h>
#include <oleauto.h>

/* TaskArguments with their variables filled in, as a run does it. What the VARIANT holds is not published; here it is a
   BSTR, the arguments, or an array of BSTR or of VARIANT with BSTR: the arguments, and a name and a value for each
   variable. A name that comes more than once is a list. *out is the caller's. E_POINTER, DISP_E_TYPEMISMATCH for
   another type, E_INVALIDARG for a name without a value, more than 1,024 pairs, and what is no Unicode, E_OUTOFMEMORY.
 */
HRESULT WINAPI PlaExpandTaskArguments(VARIANT arguments, BSTR *out);

#endif
