/* SPDX-License-Identifier: MIT */
/* The environment of the process: names, folders, variables, settings, and locks between threads. */
#ifndef OPENPLA_OS_H
#define OPENPLA_OS_H

#include "engine/base/text.h"

bool os_is_wine(void);
/* Whether the user has requested the host OS's processes and their ids, instead of Wine's processes with Windows' ids.
   The request is the value "host" of the environment variable OPENPLA_PROCESSES or, if the variable is not set, of the
   string value "Processes" of HKLM\Software\OpenPLA. */
bool os_processes_wanted(void);
char *os_computer_name(void); /* NetBIOS form, upper case; from memory_alloc */
#define OS_DNS_NAME_BYTES 768
/* Returns this computer's DNS name, with its domain if the domain is known; "" if the computer has no DNS name. */
void os_dns_name(char name[OS_DNS_NAME_BYTES]);
/* Whether a computer name means this computer: NULL, "", ".", "localhost", one of this computer's names (with its
   domain, or with any domain if it is unknown), a loopback address, or an address of an interface (an IPv6 address may
   be in brackets). Leading backslashes are ignored. Fails with the system's error, or E_OUTOFMEMORY. */
HRESULT os_is_own_name(const char *name, bool *own);
char *os_expand_environment(const char *t); /* replaces each %name% whose variable exists, and keeps the others */
/* Returns the folder of OpenPLA's data: %OPENPLA_DATA% if set, otherwise %ProgramData%\OpenPLA (native build:
   $HOME/.openpla). */
char *os_data_folder(void);
/* Returns the folder of the DLL or program that contains this code. */
char *os_module_folder(void);
/* Makes a relative path absolute, starting from this process's current folder, so that processes with other current
   folders find the same file. From memory_alloc. */
char *os_full_path(const char *path);
uint64_t os_memory_bytes(void); /* memory of the computer; 0: unknown */
/* Returns the languages of the user who runs this process, the preferred one first, as "de-DE;en-US"; from
   memory_alloc. */
char *os_ui_languages(void);
char *os_user_name(void);                  /* DOMAIN\user of this process */
HRESULT os_random(void *out, size_t size); /* random bytes from the host OS, good enough for keys */
HRESULT os_new_guid(GUID *out);            /* a random GUID, version 4 of RFC 4122 */
/* Returns the string resource that "@binary,#id" names. The binary is a full path on a drive, and can contain
   environment variables. The code of the file is not executed. Returns a copy of the reference if it has another form,
   or if the string does not exist on this computer. The native build always returns a copy. From memory_alloc; NULL:
   out of memory. */
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

/* Reads an environment variable. S_OK: *value is its text, from memory_alloc. S_FALSE: the variable is not set, or
   empty; *value is NULL. Fails with E_OUTOFMEMORY. */
HRESULT environment_get(const char *name, char **value);

/* Reads a setting from the environment variable `variable`, otherwise from the value `name` of HKLM\Software\OpenPLA. A
   number is returned as digits. *out is from memory_alloc. S_FALSE: neither is set, and *out is NULL. Fails with
   E_OUTOFMEMORY, or with the reason why the value cannot be read. */
HRESULT environment_read_setting(const char *variable, const char *name, char **out);

/* Like environment_read_setting, but returns NULL on any failure, for callers that can continue without the setting. */
char *environment_setting(const char *variable, const char *name);

/* From now on, libraries that are loaded by name are found only in the program's folder and the system's folders, and
   not in the current folder or PATH. These rules also apply to libraries that the system's code loads. Windows only;
   must be the first call in OpenPLA's programs. */
void libraries_restrict(void);

#endif
