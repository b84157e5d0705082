/* SPDX-License-Identifier: MIT */
/* Folders on POSIX systems, whose only drive is the root. */
#include "engine/base/drives.h"
#include "engine/base/file.h"
#include "engine/base/file_operation.h"
#include "engine/base/hash.h"
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/base/posix/posix_call.h"

#include <stdlib.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

HRESULT file_find(const char *path)
{
    struct stat st;
    if (!stat(path, &st))
        return S_OK;
    return errno == ENOENT || errno == ENOTDIR ? S_FALSE : posix_failed(errno, path);
}

bool file_exists(const char *path)
{
    struct stat st;
    return !stat(path, &st) && !S_ISDIR(st.st_mode);
}

bool folder_exists(const char *path)
{
    struct stat st;
    return !stat(path, &st) && S_ISDIR(st.st_mode);
}

HRESULT folder_create(const char *path)
{
    size_t length = strlen(path);
    HRESULT hr = S_OK;
    if (folder_exists(path))
        return S_OK;
    char *part = text_copy(path);
    if (!part)
        return E_OUTOFMEMORY;
    for (size_t i = 1; i <= length && SUCCEEDED(hr); i++) {
        if (part[i] && part[i] != '/')
            continue;
        part[i] = 0;
        if (!folder_exists(part))
            hr = file_operation(FILE_OPERATION_CREATE_FOLDER, part);
        int error = SUCCEEDED(hr) && mkdir(part, 0777) ? errno : 0;
        if (error && !folder_exists(part))
            hr = error == EEXIST || error == ENOTDIR
                     ? error_set(HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS), "\"%s\": a file is in the way", part)
                     : posix_failed(error, part);
        if (i < length)
            part[i] = '/';
    }
    memory_free(part);
    return hr;
}

HRESULT folder_delete(const char *path)
{
    HRESULT hr = file_operation(FILE_OPERATION_DELETE_FOLDER, path);
    if (FAILED(hr))
        return hr;
    return rmdir(path) ? posix_failed(errno, path) : S_OK;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_folder(DIR *directory, const struct dirent *entry)
{
    struct stat st;
    if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
        return entry->d_type == DT_DIR;
    return !fstatat(dirfd(directory), entry->d_name, &st, 0) && S_ISDIR(st.st_mode);
}

HRESULT folder_list(const char *path, bool folders, struct texts *names)
{
    struct texts found = {0};
    struct dirent *entry;
    HRESULT hr = S_OK;
    DIR *directory = opendir(path);
    if (!directory)
        return errno == ENOENT ? error_set(HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND), "\"%s\": folder not found", path)
                               : posix_failed(errno, path);
    while (SUCCEEDED(hr) && (errno = 0, entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            is_folder(directory, entry) == folders)
            hr = texts_add(&found, entry->d_name);
    if (SUCCEEDED(hr) && errno)
        hr = posix_failed(errno, path);
    closedir(directory);
    if (FAILED(hr)) {
        texts_free(&found);
        return hr;
    }
    if (found.count)
        qsort(found.items, found.count, sizeof(char *), by_bytes);
    texts_free(names);
    *names = found;
    return S_OK;
}

HRESULT folder_each_file(const char *path, HRESULT (*each)(void *user, const struct seen_file *file), void *user)
{
    struct dirent *entry;
    HRESULT hr = S_OK;
    DIR *directory = opendir(path);
    if (!directory)
        return errno == ENOENT ? error_set(HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND), "\"%s\": folder not found", path)
                               : posix_failed(errno, path);
    while (SUCCEEDED(hr) && (errno = 0, entry = readdir(directory))) {
        struct stat st;
        if (fstatat(dirfd(directory), entry->d_name, &st, 0) || S_ISDIR(st.st_mode))
            continue; /* it has just gone */
        uint64_t stamp = hash_number(hash_number(HASH_START, (uint64_t)st.st_size), (uint64_t)st.st_mtim.tv_sec);
        stamp = hash_number(stamp, (uint64_t)st.st_mtim.tv_nsec);
        hr = each(user,
                  &(struct seen_file){entry->d_name, stamp, posix_filetime(st.st_mtim.tv_sec, st.st_mtim.tv_nsec)});
        errno = 0;
    }
    if (SUCCEEDED(hr) && errno)
        hr = posix_failed(errno, path);
    closedir(directory);
    return hr;
}

HRESULT folder_free_bytes(const char *path, uint64_t *bytes)
{
    struct statvfs st;
    if (statvfs(path, &st))
        return posix_failed(errno, path);
    *bytes = (uint64_t)st.f_bavail * st.f_frsize;
    return S_OK;
}

size_t drives_list(struct drive drives[DRIVES_MOST])
{
    drives[0] = (struct drive){"Z:"};
    return 1;
}

HRESULT drive_space(const struct drive *drive, uint64_t *size, uint64_t *free)
{
    (void)drive;
    return kernel_folder_space("/", size, free);
}
