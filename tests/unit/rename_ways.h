/* SPDX-License-Identifier: MIT */
/* Simulates file systems that always replace an existing file when they rename one, or that do not support links. The
   test must be linked with --wrap=renameat2 and --wrap=linkat. */
#ifndef OPENPLA_TESTS_RENAME_WAYS_H
#define OPENPLA_TESTS_RENAME_WAYS_H

#include <stdio.h>
#include <errno.h>

enum rename_way { WAY_RENAME, WAY_LINK, WAY_NAME, WAYS };
#ifndef _WIN32
static enum rename_way rename_way;            /* the first of the ways that the simulated file system supports */
static void (*rename_tried)(enum rename_way); /* called before the first two ways; NULL: no call */

int __real_renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags);
int __wrap_renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags);
int __wrap_renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
    if (rename_tried)
        rename_tried(WAY_RENAME);
    if (rename_way == WAY_RENAME)
        return __real_renameat2(from_at, from, to_at, to, flags);
    errno = EINVAL;
    return -1;
}

int __real_linkat(int from_at, const char *from, int to_at, const char *to, int flags);
int __wrap_linkat(int from_at, const char *from, int to_at, const char *to, int flags);
int __wrap_linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
    if (rename_tried)
        rename_tried(WAY_LINK);
    if (rename_way <= WAY_LINK)
        return __real_linkat(from_at, from, to_at, to, flags);
    errno = EPERM;
    return -1;
}
#endif

#endif
