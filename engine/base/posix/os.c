/* SPDX-License-Identifier: MIT */
/* The host OS and this process on POSIX systems. */
#include "engine/base/os.h"

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/posix/posix_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <pthread.h>
#include <pwd.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define NETBIOS_NAME_MAX 15

bool os_is_wine(void)
{
    return false;
}

char *os_computer_name(void)
{
    char name[256] = "";
    gethostname(name, sizeof(name) - 1);
    size_t n = strcspn(name, ".");
    if (n > NETBIOS_NAME_MAX)
        n = NETBIOS_NAME_MAX;
    name[n] = 0;
    return text_fold(n ? name : "localhost");
}

void os_dns_name(char name[OS_DNS_NAME_BYTES])
{
    name[0] = 0;
    gethostname(name, OS_DNS_NAME_BYTES - 1);
    name[OS_DNS_NAME_BYTES - 1] = 0;
}

HRESULT environment_get(const char *name, char **value)
{
    const char *set = getenv(name);
    *value = NULL;
    if (!set || !*set)
        return S_FALSE;
    *value = text_copy(set);
    return *value ? S_OK : E_OUTOFMEMORY;
}

char *os_ui_languages(void)
{
    static const char *const names[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    const char *set = NULL;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && (!set || !*set); i++)
        set = getenv(names[i]);
    char *text = text_copy_n(set ? set : "", strcspn(set ? set : "", ".@")); /* de_DE.UTF-8 */
    for (char *c = text; c && *c; c++)
        *c = *c == '_' ? '-' : *c;
    return text;
}

char *os_full_path(const char *path)
{
    char here[4096];
    if (path[0] == '/' || !getcwd(here, sizeof(here)))
        return text_copy(path);
    return path_join(here, path);
}

uint64_t os_memory_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

char *os_data_folder(void)
{
    const char *set = getenv("OPENPLA_DATA"), *home = getenv("HOME");
    if (set && *set)
        return os_full_path(set);
    return path_join(home && *home ? home : "/tmp", ".openpla");
}

char *os_module_folder(void)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = 0;
    return path_folder(path);
}

/* Finds the account's name without its computer. A user without a name is shown by its number. */
static void find_own_name(uid_t user, char *out, size_t size)
{
    char space[4096];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(user, &entry, space, sizeof(space), &found) || !found)
        snprintf(out, size, "%u", (unsigned)user);
    else
        snprintf(out, size, "%s", found->pw_name);
}

/* The name is cached, because each commit and each event in the journal needs it, and a lookup reads files or queries a
   server. */
char *os_user_name(void)
{
    static struct lock lock = LOCK_INIT;
    static char own[256]; /* empty: not known yet */
    static uid_t owner;
    char name[sizeof own], *computer = os_computer_name();
    const uid_t user = geteuid();
    lock_enter(&lock);
    if (!*own || owner != user) {
        find_own_name(user, own, sizeof own);
        owner = user;
    }
    memcpy(name, own, sizeof name);
    lock_leave(&lock);
    char *both = computer ? text_format("%s\\%s", computer, name) : NULL;
    memory_free(computer);
    return both;
}

HRESULT os_random(void *out, size_t size)
{
    enum { MOST_AT_ONCE = 256 }; /* a signal can interrupt a larger request */
    for (size_t at = 0; at < size;) {
        const size_t part = size - at < MOST_AT_ONCE ? size - at : MOST_AT_ONCE;
        if (getrandom((char *)out + at, part, 0) != (ssize_t)part)
            return posix_failed(errno, "random numbers");
        at += part;
    }
    return S_OK;
}

HRESULT os_new_guid(GUID *out)
{
    const HRESULT hr = os_random(out, sizeof *out);
    if (FAILED(hr))
        return hr;
    out->Data3 = (uint16_t)((out->Data3 & 0x0FFF) | 0x4000);
    out->Data4[0] = (uint8_t)((out->Data4[0] & 0x3F) | 0x80);
    return S_OK;
}

/* Returns a copy of the reference, because programs of this host OS have no string resources. */
char *os_resource_text(const char *reference)
{
    return text_copy(reference);
}

_Static_assert(sizeof(pthread_mutex_t) <= sizeof(struct lock), "struct lock has room for a pthread_mutex_t");

/* All zero is PTHREAD_MUTEX_INITIALIZER in glibc and musl. */
void lock_enter(struct lock *lock)
{
    pthread_mutex_lock((pthread_mutex_t *)(void *)lock->opaque);
}

void lock_leave(struct lock *lock)
{
    pthread_mutex_unlock((pthread_mutex_t *)(void *)lock->opaque);
}
