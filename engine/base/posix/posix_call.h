/* SPDX-License-Identifier: MIT */
/* What the POSIX files of this layer share: errno as a result, and the lock of an open file. */
#ifndef OPENPLA_POSIX_CALL_H
#define OPENPLA_POSIX_CALL_H

#include "engine/base/error.h"

/* The HRESULT_FROM_WIN32 result of an errno value. */
HRESULT posix_result(int error);
/* The same, with an error text that names `what`. */
HRESULT posix_report(int error, const char *what);
/* For a call that has failed: never a success, whatever errno says. */
static inline HRESULT posix_failed(int error, const char *what)
{
    HRESULT hr = posix_report(error, what);
    return FAILED(hr) ? hr : E_FAIL;
}
#define EPOCH_1970 116444736000000000LL /* FILETIME of 1970-01-01 */
/* FILETIME of a moment since then. */
static inline int64_t posix_filetime(int64_t seconds, long nanoseconds)
{
    return seconds * 10000000 + nanoseconds / 100 + EPOCH_1970;
}
/* file_rename_new of two names in the folder that is open as `at`, or AT_FDCWD; `path` is that of `to`, for texts. */
HRESULT posix_rename_new(int at, const char *from, const char *to, const char *path);
/* flock without waiting, again when a signal comes; 0 or errno. */
int posix_flock(int fd, int operation);
/* The file has at least this size, and the room for it. A handler of a signal may call it. 0 or errno. */
int posix_take_room(int fd, uint64_t size);

#endif
