/* SPDX-License-Identifier: MIT */
/* Processes that a reached program starts, by whatever function: in Wine each of them ends in ntdll's
   NtCreateUserProcess, a copy of which is the way through. */
#include "engine/base/text.h"
#include "engine/etw/reach_process.h"

#include <windows.h>
#include <winternl.h>

#define CREATE_SUSPENDED_THREAD 1 /* THREAD_CREATE_FLAGS_CREATE_SUSPENDED */

#define CREATE_PROCESS          "NtCreateUserProcess"

typedef NTSTATUS(NTAPI *create_function)(HANDLE *process, HANDLE *thread, ACCESS_MASK, ACCESS_MASK, void *, void *,
                                         ULONG process_flags, ULONG thread_flags, void *, void *, void *);
static create_function original;
static char *dll_path;

HRESULT reach_children_possible(void)
{
    return reach_system_call_is_known(CREATE_PROCESS)
               ? S_OK
               : error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                           "this Wine starts processes in another way than those that are known");
}

/* What cannot be reached (32 bits, .NET) runs as it would without us. */
static NTSTATUS NTAPI create_reached(HANDLE *process, HANDLE *thread, ACCESS_MASK process_access,
                                     ACCESS_MASK thread_access, void *process_attributes, void *thread_attributes,
                                     ULONG process_flags, ULONG thread_flags, void *parameters, void *info,
                                     void *attributes)
{
    const DWORD error = GetLastError();
    const NTSTATUS status =
        original(process, thread, process_access, thread_access, process_attributes, thread_attributes, process_flags,
                 thread_flags | CREATE_SUSPENDED_THREAD, parameters, info, attributes);
    if (status < 0)
        return status;
    reach_process(*process, "", dll_path, true);
    if (!(thread_flags & CREATE_SUSPENDED_THREAD))
        ResumeThread(*thread);
    SetLastError(error);
    return status;
}

void *reach_children_begin(const char *path)
{
    dll_path = text_copy(path);
    original = dll_path ? (create_function)reach_system_call_copy(CREATE_PROCESS) : NULL;
    return original ? (void *)create_reached : NULL;
}
