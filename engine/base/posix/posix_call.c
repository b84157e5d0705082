/* SPDX-License-Identifier: MIT */
/* Converts errno values to the results that the engine uses. */
#include "engine/base/posix/posix_call.h"

#include "engine/base/error.h"
#include "engine/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>

static HRESULT posix_result(int error)
{
    switch (error) {
    case 0:
        return S_OK;
    case ENOENT:
        return HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND);
    case ENOTDIR:
        return HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND);
    case EACCES:
    case EPERM:
    case EISDIR: /* Windows reports denied access when a folder is opened as a file */
        return E_ACCESSDENIED;
    case EROFS:
        return HRESULT_FROM_WIN32(ERROR_WRITE_PROTECT);
    case EEXIST:
        return HRESULT_FROM_WIN32(ERROR_FILE_EXISTS);
    case ENOTEMPTY:
        return HRESULT_FROM_WIN32(ERROR_DIR_NOT_EMPTY);
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return HRESULT_FROM_WIN32(ERROR_DISK_FULL);
    case ENAMETOOLONG:
        return HRESULT_FROM_WIN32(ERROR_FILENAME_EXCED_RANGE);
    case ENOMEM:
        return E_OUTOFMEMORY;
    case EINVAL:
        return E_INVALIDARG;
    case EAGAIN:
    case ETXTBSY:
    case EBUSY:
        return HRESULT_FROM_WIN32(ERROR_SHARING_VIOLATION);
    case ETIMEDOUT:
        return HRESULT_FROM_WIN32(ERROR_TIMEOUT);
    case ECONNREFUSED:
        return HRESULT_FROM_WIN32(ERROR_CONNECTION_REFUSED);
    case ENETUNREACH:
    case EHOSTUNREACH:
        return HRESULT_FROM_WIN32(ERROR_HOST_UNREACHABLE);
    case ECONNRESET:
    case EPIPE:
        return HRESULT_FROM_WIN32(ERROR_CONNECTION_ABORTED);
    case EADDRINUSE:
        return HRESULT_FROM_WIN32(WSAEADDRINUSE);
    case EADDRNOTAVAIL:
        return HRESULT_FROM_WIN32(WSAEADDRNOTAVAIL);
    case EIO:
        return HRESULT_FROM_WIN32(ERROR_IO_DEVICE);
    default:
        return E_FAIL;
    }
}

HRESULT posix_report(int error, const char *what)
{
    HRESULT hr = posix_result(error);
    if (error == EISDIR) /* the result's standard text would report missing rights */
        return error_set(hr, "'%s' is a folder", what);
    return error_set(hr, "'%s': %s (errno %d)", what, error_standard_text(hr), error);
}

int posix_flock(int fd, int operation)
{
    while (flock(fd, operation | LOCK_NB))
        if (errno != EINTR)
            return errno;
    return 0;
}

/* Blocks signals, because a signal makes posix_fallocate undo its work, and a profiler's timer could prevent it from
   completing. */
int posix_take_room(int fd, uint64_t size)
{
    sigset_t all, before;
    int error;
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    do
        error = posix_fallocate(fd, 0, (off_t)size);
    while (error == EINTR); /* the process was stopped during the call, and has been continued */
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* ---- messages: this host OS has no Windows messages, so Windows' codes get OpenPLA's error messages ---- */

/* MS-ERREF 2.3.1 */
static const struct {
    uint32_t status;
    HRESULT same;
} statuses[] = {
    {0xC0000005, HRESULT_FROM_WIN32(998)}, {0xC0000008, HRESULT_FROM_WIN32(6)},  {0xC000000D, E_INVALIDARG},
    {0xC000000F, HRESULT_FROM_WIN32(2)},   {0xC0000017, E_OUTOFMEMORY},          {0xC0000022, E_ACCESSDENIED},
    {0xC0000034, HRESULT_FROM_WIN32(2)},   {0xC000003A, HRESULT_FROM_WIN32(3)},  {0xC0000043, HRESULT_FROM_WIN32(32)},
    {0xC000007F, HRESULT_FROM_WIN32(112)}, {0xC00000BB, HRESULT_FROM_WIN32(50)}, {0, S_OK},
};

char *system_message(enum system_message kind, uint32_t code)
{
    HRESULT hr = (HRESULT)code;
    if (kind == SYSTEM_MESSAGE_WIN32)
        hr = code <= UINT16_MAX ? HRESULT_FROM_WIN32((int32_t)code) : E_UNEXPECTED;
    size_t i = 0;
    if (kind == SYSTEM_MESSAGE_NTSTATUS) {
        while (i < sizeof statuses / sizeof statuses[0] && statuses[i].status != code)
            i++;
        if (i == sizeof statuses / sizeof statuses[0])
            return NULL;
        hr = statuses[i].same;
    }
    const char *text = error_standard_text(hr);
    return strncmp(text, "error 0x", 8) == 0 || (kind == SYSTEM_MESSAGE_WIN32 && hr == E_UNEXPECTED) ? NULL
                                                                                                     : text_copy(text);
}
