/* SPDX-License-Identifier: MIT */
/* The server process: the objects and clients that keep it alive, its security, and the classes that it serves. */
#ifndef OPENPLA_SERVER_H
#define OPENPLA_SERVER_H

#include "engine/base/process.h"

#include <objbase.h>
#include <stdbool.h>
#include <stddef.h>
#include <windows.h>

/* These functions count the COM objects of this module and the calls of LockServer(TRUE). In a client's process the
   count is for DllCanUnloadNow. In an openplasrv.exe that COM started, the grace period begins when the count reaches
   zero. */
void server_object_created(void);
void server_object_destroyed(void);
LONG server_object_count(void);

/* The COM classes, which com/objects/factory.c defines. With `for_client`, the objects are in a client's process and
   forward their methods to the server. The factory exists as long as the module. */
enum {
#define CLASS(name, guid, title, create, category)    COM_CLASS_##name,
#define FACADE(name, guid, title, create, for_client) COM_CLASS_##name,
#include "reg/classes.def"
#undef FACADE
#undef CLASS
    COM_CLASS_COUNT
};
IUnknown *com_class_factory(size_t index, bool for_client, CLSID *clsid);
/* Returns OpenPLA's separate class for this class of Windows (reg/registration_table.h). */
CLSID com_class_beside(const CLSID *clsid);
/* Makes COM in this process use OpenPLA's proxies and stubs, which are not registered when OpenPLA runs next to
   Windows' PLA. One call per process is enough. */
HRESULT com_use_own_proxies(void);

/* Whether any set is running; defined in com/server/lifetime.c. */
bool server_set_is_running(void);
/* Prints the running sets; with `stop_them`, also stops them. Returns true if some sets are still running. Also returns
   true if the sets cannot be listed, and prints the reason to stderr. */
bool server_report_sets(bool stop_them);

/* The main program of openplasrv.exe; exported. Returns exit code 0 or 1. For missing, unknown or contradictory
   arguments, prints the usage and returns 1. */
int OpenPlaServer(int argc, WCHAR **argv);

typedef HRESULT WINAPI initialize_security(PSECURITY_DESCRIPTOR descriptor, LONG services,
                                           SOLE_AUTHENTICATION_SERVICE *service, void *reserved, DWORD authentication,
                                           DWORD impersonation, void *list, DWORD capabilities, void *reserved_too);

/* Calls `initialize`, which is CoInitializeSecurity, and requires packet privacy (MS-PLA 2.1). When the server calls an
   object of a client, this object can find out the server's account, but cannot act for the server. Objects of clients
   cannot bring custom marshalling code, and no server is started on behalf of a client. */
HRESULT server_secure(initialize_security *initialize);

/* Records the current call's process, because it has objects of the server. Wine never releases the references of a
   process that exits without releasing them (such as a script that calls WScript.Quit), so the server checks whether
   its clients are alive. An unknown process counts as a client that never exits. */
void clients_note_caller(void);
/* Whether any recorded process is alive; forgets those that have exited. */
bool clients_alive(void);

/* The child process that keeps Wine running: wineserver stops services when the last program that is not a service has
   exited. Therefore, while a service has work to do, it keeps a program running that is not a service. This program
   does nothing, and exits together with the service. server_child_start starts openplasrv.exe with the arguments
   `option` and this process's id. *child, NULL on failure, is for idle_child_end. */
HRESULT server_child_start(const char *option, struct process **child);
/* Calls server_child_start with `/idle`. */
HRESULT idle_child_start(struct process **child);
void idle_child_end(struct process *child); /* NULL is allowed */
/* The main program of the child: waits until the process with the id in `parent` exits. Returns the exit code. */
int idle_child_main(const WCHAR *parent);

#endif
