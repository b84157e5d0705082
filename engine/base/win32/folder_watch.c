/* SPDX-License-Identifier: MIT */
/* Watching a folder on Windows: a change notification, and an event that wakes the waiter. */
#include "engine/base/folder_watch.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/win32/win32_call.h"

struct folder_watch {
    HANDLE handles[1 + FOLDERS_WATCHED]; /* the wake-up first */
    DWORD count;
};

HRESULT folder_watch_open(const char *path, struct folder_watch **out)
{
    struct folder_watch *w = memory_zero(1, sizeof(*w));
    *out = NULL;
    if (!w)
        return E_OUTOFMEMORY;
    w->handles[0] = CreateEventW(NULL, FALSE, FALSE, NULL);
    HRESULT hr = w->handles[0] ? S_OK : win32_failed(GetLastError(), "watch of a folder");
    if (SUCCEEDED(hr)) {
        w->count = 1;
        hr = folder_watch_add(w, path);
    }
    if (FAILED(hr)) {
        folder_watch_close(w);
        return hr;
    }
    *out = w;
    return S_OK;
}

HRESULT folder_watch_add(struct folder_watch *w, const char *path)
{
    HANDLE change = INVALID_HANDLE_VALUE;
    WCHAR *wide = NULL;
    HRESULT hr = w->count <= FOLDERS_WATCHED
                     ? win32_path(path, &wide)
                     : error_set(E_INVALIDARG, "%s: %d folders are watched already", path, FOLDERS_WATCHED);
    if (SUCCEEDED(hr))
        change = FindFirstChangeNotificationW(
            wide, FALSE, FILE_NOTIFY_CHANGE_FILE_NAME | FILE_NOTIFY_CHANGE_SIZE | FILE_NOTIFY_CHANGE_LAST_WRITE);
    if (SUCCEEDED(hr) && change == INVALID_HANDLE_VALUE)
        hr = win32_failed(GetLastError(), path);
    if (SUCCEEDED(hr))
        w->handles[w->count++] = change;
    memory_free(wide);
    return hr;
}

HRESULT folder_watch_wait(struct folder_watch *w, uint32_t timeout_ms)
{
    DWORD which = WaitForMultipleObjects(w->count, w->handles, FALSE, timeout_ms);
    if (which == WAIT_OBJECT_0)
        return S_OK;
    if (which == WAIT_TIMEOUT)
        return S_FALSE;
    if (which > WAIT_OBJECT_0 + FOLDERS_WATCHED)
        return win32_failed(GetLastError(), "watch of a folder");
    return FindNextChangeNotification(w->handles[which - WAIT_OBJECT_0])
               ? S_OK
               : win32_failed(GetLastError(), "the watched folder");
}

void folder_watch_wake(struct folder_watch *w)
{
    SetEvent(w->handles[0]);
}

void folder_watch_close(struct folder_watch *w)
{
    if (!w)
        return;
    for (DWORD i = 1; i < w->count; i++)
        FindCloseChangeNotification(w->handles[i]);
    if (w->handles[0])
        CloseHandle(w->handles[0]);
    memory_free(w);
}
