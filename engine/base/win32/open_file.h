/* SPDX-License-Identifier: MIT */
/* Files from handles that were opened otherwise than by file_open. */
#ifndef OPENPLA_OPEN_FILE_H
#define OPENPLA_OPEN_FILE_H

#include "engine/base/file.h"

#include <windows.h>

/* CreateFile for a file of that mode, shared as file_open shares it. `more`: flags of CreateFile;
   FILE_FLAG_WRITE_THROUGH also asks for the right to rename. What is made gets the protection. INVALID_HANDLE_VALUE on
   failure. */
HRESULT file_create_handle(const char *path, enum file_mode mode, DWORD disposition, DWORD more, enum protection what,
                           HANDLE *out);
/* Memory for a file, before one is made that would be left behind without it. NULL: out of memory. */
struct file *file_reserve(const char *path);
/* Makes an open file of it and the handle. */
struct file *file_take(struct file *f, HANDLE handle);
/* Of an open file, borrowed. */
HANDLE file_handle(const struct file *f);
const char *file_path(const struct file *f);
/* Where what is open lies, all links followed; from memory_alloc. `path` is for texts. A volume without a drive letter
   has its device's name only. */
HRESULT file_final_path(HANDLE handle, const char *path, WCHAR **out);

#endif
