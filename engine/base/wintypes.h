/* SPDX-License-Identifier: MIT */
/* The Windows types that the portable engine uses on every host OS. On Windows, this header includes the system's
   definitions. */
#ifndef OPENPLA_WINTYPES_H
#define OPENPLA_WINTYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A size or offset in a Windows structure, for 64-bit and for 32-bit programs. */
#define BY_POINTER(of_64, of_32) (sizeof(void *) == 8 ? (of_64) : (of_32))

#ifdef _WIN32
#include <guiddef.h>
#include <windef.h>
#include <winerror.h>
#else
typedef int32_t HRESULT;
typedef uint32_t DWORD;
typedef int32_t LONG;
typedef uint32_t ULONG;
typedef int64_t LONGLONG;
typedef uint64_t ULONGLONG;
typedef uint16_t WORD;
typedef uint8_t BYTE;
typedef int BOOL;
typedef uintptr_t DWORD_PTR;
typedef uint_least16_t WCHAR; /* the type behind char16_t, so that u"" literals fit */
typedef WCHAR *LPWSTR, *PZZWSTR;
typedef const WCHAR *LPCWSTR;
typedef struct {
    uint32_t dwLowDateTime;
    uint32_t dwHighDateTime;
} FILETIME;
typedef struct {
    uint32_t Data1;
    uint16_t Data2, Data3;
    uint8_t Data4[8];
} GUID;
#define SUCCEEDED(hr)              ((HRESULT)(hr) >= 0)
#define FAILED(hr)                 ((HRESULT)(hr) < 0)
#define S_OK                       ((HRESULT)0)
#define S_FALSE                    ((HRESULT)1)
#define E_NOTIMPL                  ((HRESULT)0x80004001)
#define E_NOINTERFACE              ((HRESULT)0x80004002)
#define E_POINTER                  ((HRESULT)0x80004003)
#define E_ABORT                    ((HRESULT)0x80004004)
#define E_PENDING                  ((HRESULT)0x8000000A)
#define E_FAIL                     ((HRESULT)0x80004005)
#define E_UNEXPECTED               ((HRESULT)0x8000FFFF)
#define E_ACCESSDENIED             ((HRESULT)0x80070005)
#define E_OUTOFMEMORY              ((HRESULT)0x8007000E)
#define E_INVALIDARG               ((HRESULT)0x80070057)
#define DISP_E_BADVARTYPE          ((HRESULT)0x80020008)
#define DISP_E_TYPEMISMATCH        ((HRESULT)0x80020005)
#define DISP_E_BADINDEX            ((HRESULT)0x8002000B)
#define DISP_E_OVERFLOW            ((HRESULT)0x8002000A)
#define ERROR_SUCCESS              0
#define ERROR_FILE_NOT_FOUND       2
#define ERROR_PATH_NOT_FOUND       3
#define ERROR_ACCESS_DENIED        5
#define ERROR_NOT_SUPPORTED        50
#define ERROR_FILE_EXISTS          80
#define ERROR_INVALID_PARAMETER    87
#define ERROR_DISK_FULL            112
#define ERROR_INVALID_NAME         123
#define ERROR_BAD_PATHNAME         161
#define ERROR_INVALID_OWNER        1307
#define ERROR_ALREADY_EXISTS       183
#define ERROR_SHARING_VIOLATION    32
#define ERROR_LOCK_VIOLATION       33
#define ERROR_INVALID_DATA         13
#define ERROR_HANDLE_EOF           38
#define ERROR_BAD_NETPATH          53
#define ERROR_CONNECTION_REFUSED   1225
#define ERROR_HOST_UNREACHABLE     1232
#define ERROR_CONNECTION_ABORTED   1236
#define WSAEADDRINUSE              10048
#define WSAEADDRNOTAVAIL           10049
#define ERROR_WRITE_PROTECT        19
#define ERROR_MOD_NOT_FOUND        126
#define ERROR_PROC_NOT_FOUND       127
#define ERROR_DIR_NOT_EMPTY        145
#define ERROR_BAD_EXE_FORMAT       193
#define ERROR_FILENAME_EXCED_RANGE 206
#define ERROR_FILE_TOO_LARGE       223
#define ERROR_DIRECTORY            267
#define ERROR_IO_DEVICE            1117
#define ERROR_NO_DATA              232
#define ERROR_CANCELLED            1223
#define ERROR_TIMEOUT              1460
#define RPC_S_SERVER_TOO_BUSY      1723
#define ERROR_NOT_ENOUGH_QUOTA     1816
#define HRESULT_FROM_WIN32(x)      ((x) <= 0 ? (HRESULT)(x) : (HRESULT)(((x)&0xFFFF) | 0x80070000))
#endif

/* PLA's own results, facility 0x30. The names are Microsoft's, from MS-PLA 2.2.1 and the public error list. */
#ifndef PLA_E_DCS_NOT_FOUND
#define PLA_E_DCS_NOT_FOUND                 ((HRESULT)0x80300002)
#define PLA_E_TOO_MANY_FOLDERS              ((HRESULT)0x80300045)
#define PLA_E_NO_MIN_DISK                   ((HRESULT)0x80300070)
#define PLA_E_DCS_IN_USE                    ((HRESULT)0x803000AA)
#define PLA_E_DCS_ALREADY_EXISTS            ((HRESULT)0x803000B7)
#define PLA_S_PROPERTY_IGNORED              ((HRESULT)0x00300100)
#define PLA_E_PROPERTY_CONFLICT             ((HRESULT)0x80300101)
#define PLA_E_DCS_SINGLETON_REQUIRED        ((HRESULT)0x80300102)
#define PLA_E_CREDENTIALS_REQUIRED          ((HRESULT)0x80300103)
#define PLA_E_DCS_NOT_RUNNING               ((HRESULT)0x80300104)
#define PLA_E_CONFLICT_INCL_EXCL_API        ((HRESULT)0x80300105)
#define PLA_E_NETWORK_EXE_NOT_VALID         ((HRESULT)0x80300106)
#define PLA_E_EXE_ALREADY_CONFIGURED        ((HRESULT)0x80300107)
#define PLA_E_EXE_PATH_NOT_VALID            ((HRESULT)0x80300108)
#define PLA_E_DC_ALREADY_EXISTS             ((HRESULT)0x80300109)
#define PLA_E_DCS_START_WAIT_TIMEOUT        ((HRESULT)0x8030010A)
#define PLA_E_DC_START_WAIT_TIMEOUT         ((HRESULT)0x8030010B)
#define PLA_E_REPORT_WAIT_TIMEOUT           ((HRESULT)0x8030010C)
#define PLA_E_NO_DUPLICATES                 ((HRESULT)0x8030010D)
#define PLA_E_EXE_FULL_PATH_REQUIRED        ((HRESULT)0x8030010E)
#define PLA_E_INVALID_SESSION_NAME          ((HRESULT)0x8030010F)
#define PLA_E_PLA_CHANNEL_NOT_ENABLED       ((HRESULT)0x80300110)
#define PLA_E_TASKSCHED_CHANNEL_NOT_ENABLED ((HRESULT)0x80300111)
#define PLA_E_RULES_MANAGER_FAILED          ((HRESULT)0x80300112)
#define PLA_E_CABAPI_FAILURE                ((HRESULT)0x80300113)
#endif
/* OpenPLA's own results: the customer bit 0x20000000 distinguishes them from Microsoft's (MS-PLA 1.8). */
#define OPENPLA_E_MALFORMED_XML ((HRESULT)0xA0300001) /* text is not well-formed XML, or has another root element */
#define OPENPLA_E_BAD_PATTERN   ((HRESULT)0xA0300002) /* a name pattern (2.2.3.1) has an unknown, unescaped letter */
#define OPENPLA_E_HOST_DIED     ((HRESULT)0xA0300003) /* the run's host process exited before it reported its result */

#endif
