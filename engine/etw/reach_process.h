/* SPDX-License-Identifier: MIT */
/* Programs under Wine that do not know us: openetw.dll is put into a process before its program begins, and takes the
   calls that Wine answers with nothing (DECISIONS 44). */
#ifndef OPENPLA_REACH_PROCESS_H
#define OPENPLA_REACH_PROCESS_H

#include "engine/etw/injection/reach_exports.h"

/* Path of openetw.dll as Wine's loader takes names of imports, each byte one UTF-16 unit: `folder` (UTF-8) may have to
   be named by its short name. From memory_alloc. HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME): it cannot be said so. */
HRESULT reach_dll_path(const char *folder, char **out);

/* Makes that DLL the first import of a process (a HANDLE with all access) whose program has not begun; `name` is the
   program's, for texts. S_FALSE: it is already. Failures leave the process as it was: those of reach_image_read,
   HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_MEMORY) for no place behind its image. */
HRESULT reach_process(void *process, const char *name, const char *dll, bool children);

/* Is this process to be reached, and what it starts, if `children`? Once: its headers then say again what its file
   says, for those programs that walk their own imports. */
bool reach_self(bool *children);

/* ntdll's system call of this name, in whose place a function of ours is to stand: a copy of its code that does the
   same. NULL: in this Wine it looks unlike those that are known, or is missing, or memory is out. */
void *reach_system_call_copy(const char *name);
/* Whether it looks like those that are known, or a function of ours stands in its place already. */
bool reach_system_call_is_known(const char *name);

/* Adds exports to a module of this process (engine/etw/injection/reach_exports.h), so that GetProcAddress finds them.
   S_FALSE: it has all of them. E_OUTOFMEMORY; ERROR_NOT_ENOUGH_MEMORY's HRESULT: there is no place behind the module.
 */
HRESULT reach_exports_add(void *module, const struct reach_export *more, size_t count);

/* Functions that are to stand in the place of NtQuerySystemInformation and NtSetSystemInformation: of the class
   SystemPerformanceTraceInformation they answer by engine/etw/controller/system_trace.h. NULL: as
   reach_system_call_copy. */
void *reach_query_system_begin(void);
void *reach_set_system_begin(void);

/* Can what a program starts be reached too? Only where ntdll's NtCreateUserProcess looks as it does in Wine so far, or
   where this process is reached and that function taken.
   HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), with a text. */
HRESULT reach_children_possible(void);
/* What has to stand in the place of that function, for good, and gives each process the DLL. NULL: not possible. */
void *reach_children_begin(const char *dll);

/* In openetw.dll, for `module`, when it is loaded (DllMain): where reach_self says so, the functions that this module
   exports are called in the place of those of ntdll, advapi32, sechost and kernelbase from now on. */
void reach_begin(void *module);

#endif
