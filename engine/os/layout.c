/* SPDX-License-Identifier: MIT */
/* The types of wintypes.h have the same size, sign and layout on every host: file data and tables are laid over them.
 */
#include "engine/os/wintypes.h"

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has another size")
#define SIGNED(type)      _Static_assert((type)-1 < 0, #type " is unsigned")
#define UNSIGNED(type)    _Static_assert((type)-1 > 0, #type " is signed")

SIZE(HRESULT, 4);
SIGNED(HRESULT);
SIZE(DWORD, 4);
UNSIGNED(DWORD);
SIZE(LONG, 4);
SIGNED(LONG);
SIZE(ULONG, 4);
UNSIGNED(ULONG);
SIZE(LONGLONG, 8);
SIGNED(LONGLONG);
SIZE(ULONGLONG, 8);
UNSIGNED(ULONGLONG);
SIZE(WORD, 2);
UNSIGNED(WORD);
SIZE(BYTE, 1);
UNSIGNED(BYTE);
SIZE(BOOL, 4);
SIZE(DWORD_PTR, sizeof(void *));
SIZE(WCHAR, 2);
UNSIGNED(WCHAR);
SIZE(FILETIME, 8);
_Static_assert(_Alignof(FILETIME) == 4, "FILETIME is aligned otherwise");
_Static_assert(offsetof(FILETIME, dwHighDateTime) == 4, "FILETIME.dwHighDateTime has moved");
SIZE(GUID, 16);
_Static_assert(offsetof(GUID, Data2) == 4 && offsetof(GUID, Data3) == 6 && offsetof(GUID, Data4) == 8,
               "a field of GUID has moved");
_Static_assert(HRESULT_FROM_WIN32(ERROR_DISK_FULL) == (HRESULT)0x80070070, "results are made otherwise");
_Static_assert(E_ACCESSDENIED == (HRESULT)0x80070005 && E_OUTOFMEMORY == (HRESULT)0x8007000E &&
                   E_INVALIDARG == (HRESULT)0x80070057 && E_UNEXPECTED == (HRESULT)0x8000FFFF,
               "a common result has another value");
_Static_assert(PLA_E_DCS_NOT_FOUND == (HRESULT)0x80300002 && PLA_E_CABAPI_FAILURE == (HRESULT)0x80300113,
               "a result of PLA has another value");
