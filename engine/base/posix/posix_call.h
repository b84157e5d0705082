/* SPDX-License-Identifier: MIT */
/* Functions that the POSIX files share: they convert errno to results, lock open files, allocate space for open files,
   and make open files from descriptors. */
#ifndef OPENPLA_POSIX_CALL_H
#define OPENPLA_POSIX_CALL_H

#include "engine/base/error.h"
#include "engine/base/file.h"

/* Returns the HRESULT_FROM_WIN32 result for an errno value, with an error text that names `what`. */
HRESULT posix_report(int error, const char *what);
/* Like posix_report, for a failed call: never returns success, regardless of errno. */
static inline HRESULT posix_failed(int error, const char *what)
{
    HRESULT hr = posix_report(error, what);
    return FAILED(hr) ? hr : E_FAIL;
}
#define EPOCH_1970 116444736000000000LL /* FILETIME of 1970-01-01 */
/* Converts a Unix time to a FILETIME. */
static inline int64_t posix_filetime(int64_t seconds, long nanoseconds)
{
    return seconds * 10000000 + nanoseconds / 100 + EPOCH_1970;
}
/* Like file_rename_new, for two names in the folder that is open as `at` (or AT_FDCWD). `path` is the path of `to`, for
   error texts. */
HRESULT posix_rename_new(int at, const char *from, const char *to, const char *path);
/* Calls flock without waiting, and repeats the call if a signal interrupts it. Returns 0 or errno. */
int posix_flock(int fd, int operation);
/* Extends the file to at least this size and allocates its space. A signal handler may call this function. Returns 0 or
   errno. */
int posix_take_room(int fd, uint64_t size);

/* ---- files from descriptors that file_open did not open ---- */

extern const int file_mode_flags[]; /* flags of open() for each file_mode */
/* Allocates a file object before the file itself is created, so that no file is left behind on failure. NULL: out of
   memory. */
struct file *file_reserve(const char *path);
/* Makes an open file from a reserved object and a descriptor. On failure it closes the descriptor and frees the
   object. */
HRESULT file_take(struct file *f, int fd, enum file_mode mode, struct file **out);
/* Returns the descriptor of an open file, borrowed. */
int file_descriptor(const struct file *f);
const char *file_path(const struct file *f);

#endif
