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
#ifdef _WIN32
/* The system's values against those that the other hosts get from wintypes.h. */
#define VALUE(name, value) _Static_assert((name) == (HRESULT)(value), #name " has another value")
VALUE(HRESULT_FROM_WIN32(ERROR_DISK_FULL), 0x80070070);
VALUE(E_NOTIMPL, 0x80004001);
VALUE(E_NOINTERFACE, 0x80004002);
VALUE(E_POINTER, 0x80004003);
VALUE(E_ABORT, 0x80004004);
VALUE(E_FAIL, 0x80004005);
VALUE(E_UNEXPECTED, 0x8000FFFF);
VALUE(E_ACCESSDENIED, 0x80070005);
VALUE(E_OUTOFMEMORY, 0x8007000E);
VALUE(E_INVALIDARG, 0x80070057);
VALUE(DISP_E_BADVARTYPE, 0x80020008);
VALUE(DISP_E_TYPEMISMATCH, 0x80020005);
VALUE(DISP_E_BADINDEX, 0x8002000B);
VALUE(DISP_E_OVERFLOW, 0x8002000A);
VALUE(ERROR_FILE_NOT_FOUND, 2);
VALUE(ERROR_PATH_NOT_FOUND, 3);
VALUE(ERROR_ACCESS_DENIED, 5);
VALUE(ERROR_INVALID_DATA, 13);
VALUE(ERROR_WRITE_PROTECT, 19);
VALUE(ERROR_SHARING_VIOLATION, 32);
VALUE(ERROR_LOCK_VIOLATION, 33);
VALUE(ERROR_NOT_SUPPORTED, 50);
VALUE(ERROR_FILE_EXISTS, 80);
VALUE(ERROR_INVALID_PARAMETER, 87);
VALUE(ERROR_INVALID_NAME, 123);
VALUE(ERROR_MOD_NOT_FOUND, 126);
VALUE(ERROR_PROC_NOT_FOUND, 127);
VALUE(ERROR_DIR_NOT_EMPTY, 145);
VALUE(ERROR_ALREADY_EXISTS, 183);
VALUE(ERROR_FILENAME_EXCED_RANGE, 206);
VALUE(ERROR_FILE_TOO_LARGE, 223);
VALUE(ERROR_DIRECTORY, 267);
VALUE(ERROR_IO_DEVICE, 1117);
VALUE(ERROR_TIMEOUT, 1460);
#endif
