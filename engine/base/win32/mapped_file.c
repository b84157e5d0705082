/* SPDX-License-Identifier: MIT */
/* Under Wine a page behind the end of its file is an access violation; on Windows no file that is mapped can be
   shortened. The handler comes before those of the program, which may take such an exception for a crash. */
#include "engine/base/mapped_file.h"

#include "engine/base/thread_slot.h"
#include "engine/base/win32/win32_call.h"

#include <windows.h>

enum { FUTILE_MOST = 1000 }; /* more than threads that meet one shortened file at the same time */

static bool has_room_again(struct mapped_file *m)
{
    const HANDLE file = (HANDLE)atomic_load(&m->file);
    const LONGLONG size = (LONGLONG)atomic_load(&m->size);
    LARGE_INTEGER now;
    if (!GetFileSizeEx(file, &now))
        return false;
    if (now.QuadPart >= size) /* another thread was faster; else no page can be had, as memory is full */
        return atomic_fetch_add(&m->futile, 1) < FUTILE_MOST;
    FILE_END_OF_FILE_INFO end = {.EndOfFile.QuadPart = size};
    atomic_store(&m->futile, 0);
    return SetFileInformationByHandle(file, FileEndOfFileInfo, &end, sizeof end);
}

static LONG CALLBACK on_exception(EXCEPTION_POINTERS *exception)
{
    const EXCEPTION_RECORD *record = exception->ExceptionRecord;
    if ((record->ExceptionCode != EXCEPTION_ACCESS_VIOLATION && record->ExceptionCode != EXCEPTION_IN_PAGE_ERROR) ||
        record->NumberParameters < 2)
        return EXCEPTION_CONTINUE_SEARCH;
    struct mapped_file *m = mapped_file_at(record->ExceptionInformation[1]);
    const DWORD last = GetLastError();
    const bool goes_on = m && has_room_again(m);
    SetLastError(last);
    return goes_on ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

HRESULT mapped_file_watch(void)
{
    static struct host_lock lock = HOST_LOCK_INIT;
    static void *handler;
    module_pin(); /* the handler stays */
    host_lock_enter(&lock);
    if (!handler)
        handler = AddVectoredExceptionHandler(1, on_exception);
    const bool watches = handler != NULL;
    host_lock_leave(&lock);
    return watches ? S_OK : win32_failed(ERROR_NOT_ENOUGH_MEMORY, "handler of exceptions");
}
