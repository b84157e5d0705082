/* SPDX-License-Identifier: MIT */
/* Loads the ODBC driver manager of this host OS (odbc32.dll on Windows and under Wine, unixODBC's libodbc in native
   builds) and declares its types, constants and functions. */
#ifndef OPENPLA_ODBC_LIBRARY_H
#define OPENPLA_ODBC_LIBRARY_H

#include "engine/base/wintypes.h"

#ifdef _WIN32
#include <windows.h>
#include <sql.h>
#include <sqlext.h>
#include <sqlucode.h>
#else
#define SQL_API
typedef int16_t SQLSMALLINT;
typedef uint16_t SQLUSMALLINT;
typedef int32_t SQLINTEGER;
typedef intptr_t SQLLEN;
typedef uintptr_t SQLULEN;
typedef int16_t SQLRETURN;
typedef void *SQLPOINTER, *SQLHANDLE, *SQLHENV, *SQLHDBC, *SQLHSTMT, *SQLHWND;
typedef WCHAR SQLWCHAR;

#define SQL_HANDLE_ENV         1
#define SQL_HANDLE_DBC         2
#define SQL_HANDLE_STMT        3
#define SQL_SUCCESS            0
#define SQL_SUCCESS_WITH_INFO  1
#define SQL_NO_DATA            100
#define SQL_FETCH_NEXT         1
#define SQL_FETCH_FIRST        2
#define SQL_NTS                (-3)
#define SQL_NULL_DATA          (-1)
#define SQL_ATTR_ODBC_VERSION  200
#define SQL_OV_ODBC3           3UL
#define SQL_ATTR_AUTOCOMMIT    102
#define SQL_AUTOCOMMIT_OFF     0UL
#define SQL_AUTOCOMMIT_ON      1UL
#define SQL_ATTR_LOGIN_TIMEOUT 103
#define SQL_IS_UINTEGER        (-5)
#define SQL_DRIVER_NOPROMPT    0
#define SQL_DBMS_NAME          17
#define SQL_COMMIT             0
#define SQL_ROLLBACK           1
#define SQL_CLOSE              0
#define SQL_PARAM_INPUT        1
#define SQL_INTEGER            4
#define SQL_DOUBLE             8
#define SQL_WVARCHAR           (-9)
#define SQL_C_SLONG            (-16)
#define SQL_C_DOUBLE           8
#define SQL_C_WCHAR            (-8)
#endif

/* X(name, parameters) for every ODBC function that OpenPLA uses. */
#define ODBC_API_LIST(X)                                                                                               \
    X(SQLAllocHandle, (SQLSMALLINT kind, SQLHANDLE parent, SQLHANDLE * out))                                           \
    X(SQLFreeHandle, (SQLSMALLINT kind, SQLHANDLE handle))                                                             \
    X(SQLSetEnvAttr, (SQLHENV environment, SQLINTEGER attribute, SQLPOINTER value, SQLINTEGER length))                 \
    X(SQLSetConnectAttrW, (SQLHDBC connection, SQLINTEGER attribute, SQLPOINTER value, SQLINTEGER length))             \
    X(SQLDriversW, (SQLHENV environment, SQLUSMALLINT direction, SQLWCHAR * name, SQLSMALLINT name_room,               \
                    SQLSMALLINT * name_units, SQLWCHAR * more, SQLSMALLINT more_room, SQLSMALLINT * more_units))       \
    X(SQLDriverConnectW, (SQLHDBC connection, SQLHWND window, SQLWCHAR * in, SQLSMALLINT in_units, SQLWCHAR * out,     \
                          SQLSMALLINT out_room, SQLSMALLINT * out_units, SQLUSMALLINT completion))                     \
    X(SQLDisconnect, (SQLHDBC connection))                                                                             \
    X(SQLGetInfoW, (SQLHDBC connection, SQLUSMALLINT what, SQLPOINTER value, SQLSMALLINT room, SQLSMALLINT * length))  \
    X(SQLEndTran, (SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT completion))                                        \
    X(SQLExecDirectW, (SQLHSTMT statement, SQLWCHAR * text, SQLINTEGER units))                                         \
    X(SQLPrepareW, (SQLHSTMT statement, SQLWCHAR * text, SQLINTEGER units))                                            \
    X(SQLExecute, (SQLHSTMT statement))                                                                                \
    X(SQLBindParameter,                                                                                                \
      (SQLHSTMT statement, SQLUSMALLINT number, SQLSMALLINT direction, SQLSMALLINT c_type, SQLSMALLINT sql_type,       \
       SQLULEN size, SQLSMALLINT digits, SQLPOINTER value, SQLLEN room, SQLLEN * length))                              \
    X(SQLBindCol,                                                                                                      \
      (SQLHSTMT statement, SQLUSMALLINT number, SQLSMALLINT c_type, SQLPOINTER value, SQLLEN room, SQLLEN * length))   \
    X(SQLFetch, (SQLHSTMT statement))                                                                                  \
    X(SQLFreeStmt, (SQLHSTMT statement, SQLUSMALLINT option))                                                          \
    X(SQLGetDiagRecW, (SQLSMALLINT kind, SQLHANDLE handle, SQLSMALLINT record, SQLWCHAR * state, SQLINTEGER * native,  \
                       SQLWCHAR * text, SQLSMALLINT room, SQLSMALLINT * units))

#define ODBC_API_MEMBER(name, parameters) SQLRETURN(SQL_API *name) parameters;
struct odbc_api {
    ODBC_API_LIST(ODBC_API_MEMBER)
};
#undef ODBC_API_MEMBER

/* Loads the library for the lifetime of the process and fills the function table. Fails with
   HRESULT_FROM_WIN32(ERROR_MOD_NOT_FOUND) or HRESULT_FROM_WIN32(ERROR_PROC_NOT_FOUND); the error message contains the
   name of the library. */
HRESULT odbc_library_load(struct odbc_api *out);

#endif
