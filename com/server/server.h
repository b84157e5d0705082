/* SPDX-License-Identifier: MIT */
/* The server process: what keeps it alive, its security, the registration of its program, and the classes it serves. */
#ifndef OPENPLA_SERVER_H
#define OPENPLA_SERVER_H

#include "engine/base/process.h"

#include <objbase.h>
#include <stdbool.h>
#include <stddef.h>
#include <windows.h>

/* Every COM object of ours, and every LockServer(TRUE), counts from its creation to its end. In process this is the
   count for DllCanUnloadNow; in openplasrv.exe started by COM the last end begins the grace period. */
void server_object_created(void);
void server_object_destroyed(void);
LONG server_object_count(void);

/* The classes that are served; in com/objects/factory.c. `for_client`: the objects are made in a client's process and
   leave the work to the server. The factory lives as long as the module. */
enum {
#define CLASS(name, guid, title, create, category)    COM_CLASS_##name,
#define FACADE(name, guid, title, create, for_client) COM_CLASS_##name,
#include "reg/classes.def"
#undef FACADE
#undef CLASS
    COM_CLASS_COUNT
};
IUnknown *com_class_factory(size_t index, bool for_client, CLSID *clsid);
/* The class of OpenPLA's own that stands beside this one of Windows' (reg/registration_table.h). */
CLSID com_class_beside(const CLSID *clsid);
/* Tells COM in this process that our proxies and stubs serve the interfaces, which no registration says beside Windows'
   own PLA. Once is enough. */
HRESULT com_use_own_proxies(void);

/* Whether a set of any namespace runs now; in com/server/lifetime.c. */
bool server_set_is_running(void);
/* Prints the sets that run, or stops each and prints that; true: some still run, or that could not be told, of which it
   says why on stderr. */
bool server_report_sets(bool stop_them);

/* openplasrv.exe's main program; exported. Exit code 0 or 1. Without an argument that it knows it prints them. */
int OpenPlaServer(int argc, WCHAR **argv);

typedef HRESULT WINAPI initialize_security(PSECURITY_DESCRIPTOR descriptor, LONG services,
                                           SOLE_AUTHENTICATION_SERVICE *service, void *reserved, DWORD authentication,
                                           DWORD impersonation, void *list, DWORD capabilities, void *reserved_too);

/* Calls CoInitializeSecurity, which is the argument. MS-PLA 2.1: packet privacy. Whoever the server calls (objects of
   clients, among them QueryInterface and Release) may learn who it is, and not act for it; no object of a client comes
   with marshalling code of its own; no server is started in a client's name. */
HRESULT server_secure(initialize_security *initialize);

/* Which processes the server's objects were made for. Wine never releases the references of a process that ended
   without doing so (a script that calls WScript.Quit is one), so the server looks whether its clients live.
   Notes the process whose call this thread is in. One that cannot be told counts as a client that lives for ever. */
void clients_note_caller(void);
/* Whether any process that was noted still lives; those that ended are forgotten. */
bool clients_alive(void);

/* The child that keeps Wine up: wineserver ends services when the last program that is no service has ended, so a
   service with work to do keeps one such program, which does nothing and ends with it.
   Starts openplasrv.exe with the arguments `option` and this process' id; *child, NULL on failure, is for
   idle_child_end. */
HRESULT server_child_start(const char *option, struct process **child);
/* The same with `/idle`. */
HRESULT idle_child_start(struct process **child);
void idle_child_end(struct process *child); /* NULL is allowed */
/* The child's main program: waits for the end of the process with the id in `parent`. Exit code. */
int idle_child_main(const WCHAR *parent);

#endif
