/* SPDX-License-Identifier: MIT */
/* Files of the Linux kernel (/proc, /sys), read natively and from inside Wine through a handle that is kept. */
#ifndef OPENPLA_KERNEL_FILE_H
#define OPENPLA_KERNEL_FILE_H

#include "engine/base/text.h"

struct kernel_file;
/* `path` in Unix form ("/proc/stat"). Fails with ERROR_FILE_NOT_FOUND's HRESULT where there is no such file, and
   always on real Windows. */
HRESULT kernel_file_open(const char *path, struct kernel_file **out);
/* Reads the whole file afresh. The text is NUL-terminated, borrowed until the next read or close. A file that has gone
   (a process that ended) is a failure. */
HRESULT kernel_file_read(struct kernel_file *f, const char **text, size_t *size);
/* The same for a file that the kernel writes in one piece, as it does with those of one process and with many that have
   no line for each of many things: a reading that leaves room has read all, and no second one asks for more. */
HRESULT kernel_file_read_piece(struct kernel_file *f, const char **text, size_t *size);
void kernel_file_close(struct kernel_file *f); /* NULL is allowed */
/* A file that is read once: its text, NUL-terminated, from memory_alloc, and unless `size` is NULL its length, which
   counts NULs within. NULL and 0 where it fails, as kernel_file_open and kernel_file_read do. */
HRESULT kernel_file_text(const char *path, char **text, size_t *size);
/* How many files one user may keep open and leave enough for the others; at least 64. */
size_t kernel_file_share(void);
/* Hands each entry's name to `each`, those that begin with a dot too, until that fails. */
HRESULT kernel_folder_each(const char *path, HRESULT (*each)(void *user, const char *name), void *user);
/* Entry names of a folder ("/sys/block"), without those that begin with a dot. */
HRESULT kernel_folder_names(const char *path, struct texts *names);
/* Numbers among the entry names of a folder ("/proc": the processes' ids). *ids from memory_alloc. */
HRESULT kernel_folder_numbers(const char *path, uint32_t **ids, size_t *count);
/* The processes' ids. */
HRESULT kernel_process_ids(uint32_t **ids, size_t *count);
/* Size and free space, in bytes, of the file system that holds the folder; free is what this user may use. */
HRESULT kernel_folder_space(const char *path, uint64_t *size, uint64_t *free);

#endif
