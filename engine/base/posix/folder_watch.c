/* SPDX-License-Identifier: MIT */
/* Watching a folder on Linux: inotify, and an eventfd that wakes the waiter. */
#include "engine/base/folder_watch.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/posix/posix_call.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

struct folder_watch {
    int inotify, wake;
    int count;
};

#define CHANGES                                                                                                        \
    (IN_CLOSE_WRITE | IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)

HRESULT folder_watch_open(const char *path, struct folder_watch **out)
{
    struct folder_watch *w = memory_zero(1, sizeof(*w));
    HRESULT hr = S_OK;
    *out = NULL;
    if (!w)
        return E_OUTOFMEMORY;
    w->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->inotify < 0 || w->wake < 0)
        hr = posix_failed(errno, path);
    if (SUCCEEDED(hr))
        hr = folder_watch_add(w, path);
    if (FAILED(hr)) {
        folder_watch_close(w);
        return hr;
    }
    *out = w;
    return S_OK;
}

HRESULT folder_watch_add(struct folder_watch *w, const char *path)
{
    if (w->count == FOLDERS_WATCHED)
        return error_set(E_INVALIDARG, "%s: %d folders are watched already", path, FOLDERS_WATCHED);
    if (inotify_add_watch(w->inotify, path, CHANGES | IN_ONLYDIR) < 0)
        return posix_failed(errno, path);
    w->count++;
    return S_OK;
}

/* Takes all that is pending. False: the folder itself is gone. */
static bool take_changes(int fd)
{
    _Alignas(struct inotify_event) char room[4096];
    ssize_t n;
    bool there = true;

    while ((n = read(fd, room, sizeof(room))) > 0) {
        for (char *at = room; at < room + n;) {
            const struct inotify_event *e = (const struct inotify_event *)(const void *)at;
            there = there && !(e->mask & (IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT));
            at += sizeof(*e) + e->len;
        }
    }
    return there;
}

HRESULT folder_watch_wait(struct folder_watch *w, uint32_t timeout_ms)
{
    struct pollfd both[2] = {{.fd = w->inotify, .events = POLLIN}, {.fd = w->wake, .events = POLLIN}};
    uint64_t limit = clock_monotonic_ms() + timeout_ms, woken;
    int n;
    do {
        uint64_t now = clock_monotonic_ms();
        n = poll(both, 2, now >= limit ? 0 : limit - now > INT32_MAX ? INT32_MAX : (int)(limit - now));
    } while ((n < 0 && errno == EINTR) || (!n && clock_monotonic_ms() < limit));
    if (n < 0)
        return posix_failed(errno, "watch of a folder");
    if (!n)
        return S_FALSE;
    if (both[1].revents && read(w->wake, &woken, sizeof(woken)) < 0 && errno != EAGAIN)
        return posix_failed(errno, "watch of a folder");
    if (both[0].revents && !take_changes(w->inotify))
        return posix_failed(ENOENT, "the watched folder");
    return S_OK;
}

void folder_watch_wake(struct folder_watch *w)
{
    uint64_t one = 1;
    while (write(w->wake, &one, sizeof(one)) < 0 && errno == EINTR)
        ; /* EAGAIN: it is set already */
}

void folder_watch_close(struct folder_watch *w)
{
    if (!w)
        return;
    if (w->inotify >= 0)
        close(w->inotify);
    if (w->wake >= 0)
        close(w->wake);
    memory_free(w);
}
