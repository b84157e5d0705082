/* SPDX-License-Identifier: MIT */
/* A scratch folder for a test program, in the current folder. Also sets environment variables for the program. */
#ifndef OPENPLA_SCRATCH_FOLDER_H
#define OPENPLA_SCRATCH_FOLDER_H

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

static inline void scratch_remove(const char *path)
{
    struct texts names = {0};
    for (int folders = 0; folders < 2; folders++) {
        if (FAILED(folder_list(path, folders, &names)))
            continue;
        for (size_t i = 0; i < names.count; i++) {
            char *entry = path_join(path, names.items[i]);
            if (folders)
                scratch_remove(entry);
            else
                file_delete(entry);
            memory_free(entry);
        }
        texts_free(&names);
    }
    folder_delete(path);
}

/* Creates an empty folder and returns its path, from memory_alloc. */
static inline char *scratch_create(const char *test)
{
    char *path = text_format("%s.%u.scratch", test, (unsigned)process_own_id());
    assert_non_null(path);
    scratch_remove(path);
    assert_int_equal(folder_create(path), S_OK);
    return path;
}

/* The teardown function of a test or group. Its setup function must set *state to the result of scratch_create. */
static inline int scratch_end(void **state)
{
    scratch_remove(*state);
    memory_free(*state);
    return 0;
}

static inline void scratch_environment(const char *name, const char *value)
{
#ifdef _WIN32
    char *both = text_format("%s=%s", name, value);

    _putenv(both);
    memory_free(both);
#else
    setenv(name, value, 1);
#endif
}

/* Returns the content of a file as a string. Fails the test if the file cannot be read. */
static inline char *scratch_read(const char *path)
{
    char *text;
    size_t size;
    assert_int_equal(file_load(path, 1 << 20, &text, &size), S_OK);
    return text;
}

#endif
