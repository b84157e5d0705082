/* SPDX-License-Identifier: MIT */
/* Report documents for tests, written to a file in a scratch folder. */
#ifndef OPENPLA_TEST_REPORT_TEXT_H
#define OPENPLA_TEST_REPORT_TEXT_H

#include "tests/unit/scratch_folder.h"

/* Writes a file with this name and these bytes. Returns its path, which is from memory_alloc. */
static inline char *report_file(const char *folder, const char *name, const void *bytes, size_t size)
{
    struct file *file = NULL;
    char *path = path_join(folder, name);
    assert_non_null(path);
    assert_int_equal(file_open(path, FILE_REPLACE, &file), S_OK);
    assert_int_equal(file_write(file, bytes, size), S_OK);
    file_close(file);
    return path;
}

/* Writes a report with one section "s" and the given content. */
static inline char *report_section_file(const char *folder, const char *name, const char *tables)
{
    char *text = text_format("<Report name='r' version='1'><Section name='s'>%s</Section></Report>", tables);
    assert_non_null(text);
    char *path = report_file(folder, name, text, strlen(text));
    memory_free(text);
    return path;
}

#endif
