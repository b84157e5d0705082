/* SPDX-License-Identifier: MIT */
#include "engine/base/posix/shared_folder.h"

#include "engine/base/host.h"
#include "engine/base/memory.h"
#include "engine/base/posix/posix_call.h"
#include "engine/base/process.h"

#include <stdio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_ROOM = 80, MAKE_TRIES = 100 };

static struct host_lock lock = HOST_LOCK_INIT;
static char known[NAME_ROOM]; /* under the lock; "": none yet */

static int open_own(int root, const char *name, int *out)
{
    struct stat st;
    const int fd = openat(root, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno;
    if (!fstat(fd, &st) && st.st_uid == geteuid() && (st.st_mode & 077) == 0) {
        *out = fd;
        return 0;
    }
    close(fd);
    return EACCES;
}

/* The first folder by name; false: not found. */
static bool find(int root, const char *plain, char name[NAME_ROOM])
{
    const size_t length = strlen(plain);
    const int again = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = again < 0 ? NULL : fdopendir(again);
    name[0] = 0;
    for (struct dirent *e; list && (e = readdir(list));) {
        int fd = -1;
        if (strncmp(e->d_name, plain, length) != 0 || (e->d_name[length] && e->d_name[length] != '-') ||
            strlen(e->d_name) >= NAME_ROOM || (name[0] && strcmp(e->d_name, name) >= 0) ||
            open_own(root, e->d_name, &fd))
            continue;
        close(fd);
        memcpy(name, e->d_name, strlen(e->d_name) + 1);
    }
    if (list)
        closedir(list);
    else if (again >= 0)
        close(again);
    return name[0] != 0;
}

static int make(int root, const char *plain)
{
    char key[SHARED_KEY_DIGITS + 1], name[NAME_ROOM];
    if (!mkdirat(root, plain, 0700))
        return 0;
    if (errno != EEXIST)
        return errno;
    if (FAILED(shared_new_key(key)))
        return EIO;
    snprintf(name, sizeof name, "%s-%s", plain, key);
    return mkdirat(root, name, 0700) && errno != EEXIST ? errno : 0;
}

/* Under the lock. */
static int open_known(int root, int *out)
{
    char plain[NAME_ROOM];
    int error;
    if (known[0] && !open_own(root, known, out))
        return 0;
    snprintf(plain, sizeof plain, "openpla-%lu", (unsigned long)geteuid());
    for (int i = 0; i < MAKE_TRIES; i++) {
        if (find(root, plain, known) && !open_own(root, known, out))
            return 0;
        error = make(root, plain);
        if (error)
            return error;
    }
    return EACCES;
}

int shared_folder_open(int *out)
{
    const int root = open(SHARED_FOLDER_ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return errno;
    host_lock_enter(&lock);
    const int error = open_known(root, out);
    host_lock_leave(&lock);
    close(root);
    return error;
}

HRESULT section_folder(char **out)
{
    int fd = -1;
    const int error = shared_folder_open(&fd);
    *out = NULL;
    if (error)
        return posix_failed(error, SHARED_FOLDER_ROOT);
    close(fd);
    host_lock_enter(&lock);
    *out = text_format("%s/%s", SHARED_FOLDER_ROOT, known);
    host_lock_leave(&lock);
    return *out ? S_OK : E_OUTOFMEMORY;
}
