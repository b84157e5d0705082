/* SPDX-License-Identifier: MIT */
/* Where we run: names, folders, environment, settings, and locks between threads. */
#ifndef OPENPLA_OS_H
#define OPENPLA_OS_H

#include "engine/base/text.h"

bool os_is_wine(void);
/* Whether the user wants the host's own processes, with its numbers, where Wine's with Windows' numbers would be shown:
   the environment's OPENPLA_PROCESSES, else the string value "Processes" of HKLM\Software\OpenPLA, says "host". */
bool os_processes_wanted(void);
char *os_computer_name(void); /* NetBIOS form, upper case; from memory_alloc */
#define OS_DNS_NAME_BYTES 768
/* This computer's name in the DNS, with its domain if that is known; "" when it has none. */
void os_dns_name(char name[OS_DNS_NAME_BYTES]);
/* Whether a name of a computer means this one: NULL, "", ".", "localhost", our names (with a domain
   only ours, or any when ours is not known), a loopback address and the addresses of all interfaces, an IPv6 one with
   or without brackets; leading backslashes do not matter. Fails with the system's reason, or E_OUTOFMEMORY. */
HRESULT os_is_own_name(const char *name, bool *own);
char *os_expand_environment(const char *t); /* %name% replaced where known, kept as it is where not */
/* Folder of OpenPLA's data: %OPENPLA_DATA% if set, else %ProgramData%\OpenPLA (natively $HOME/.openpla). */
char *os_data_folder(void);
/* Folder of the module this code is in: openpla.dll's, or the program's. */
char *os_module_folder(void);
/* Absolute, by this process's folder, so that processes in different folders mean the same one; from memory_alloc. */
char *os_full_path(const char *path);
uint64_t os_memory_bytes(void); /* memory of the computer; 0: unknown */
/* The languages of the user who runs this process, the best first, as "de-DE;en-US"; from memory_alloc. */
char *os_ui_languages(void);
char *os_user_name(void);       /* DOMAIN\user of this process */
HRESULT os_new_guid(GUID *out); /* unlike any other on any computer: random, version 4 of RFC 4122 */
/* The string resource that "@binary,#id" names: binary is a full path on a drive, with environment variables; none of
   its code runs. A copy of the reference when it has another form, or when the string does not exist here (natively:
   always). From memory_alloc, NULL when out of memory. */
char *os_resource_text(const char *reference);

/* A plain lock between threads, not recursive. Static initialiser: LOCK_INIT. */
struct lock {
    void *opaque[8];
};
#define LOCK_INIT                                                                                                      \
    {                                                                                                                  \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }
void lock_enter(struct lock *lock);
void lock_leave(struct lock *lock);

/* ---- environment and settings ---- */

/* S_OK: *value is its text, from memory_alloc. S_FALSE: it is not set, or empty; *value NULL. E_OUTOFMEMORY. */
HRESULT environment_get(const char *name, char **value);

/* S_OK: what the environment's `variable` says, else the value `name` of HKLM\Software\OpenPLA, of a number its digits;
   from memory_alloc. S_FALSE, and NULL: neither says anything. E_OUTOFMEMORY, or why the value cannot be read. */
HRESULT environment_read_setting(const char *variable, const char *name, char **out);

/* The same, NULL when it cannot be had: for what goes on without. */
char *environment_setting(const char *variable, const char *name);

/* Windows only. For our programs, first thing: from now on libraries that anybody loads by their names, the system's
   own code too, come from the program's folder and the system's, never from the current folder or PATH. */
void libraries_restrict(void);

#endif
