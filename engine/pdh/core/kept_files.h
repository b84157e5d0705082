/* SPDX-License-Identifier: MIT */
/* Small files of the kernel, one for each of many things (/sys/class/thermal/thermal_zone3/temp), through handles that
   are kept from one sample to the next: to open a file costs many times what reading it does. Those that were not read
   between two sweeps are closed. */
#ifndef OPENPLA_PDH_KEPT_FILES_H
#define OPENPLA_PDH_KEPT_FILES_H

#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"

/* Zero-initialise. */
struct kept_files {
    struct kept_file *files;
    size_t count, capacity;
    size_t next;               /* where the file that is asked for next is likely to be */
    struct kernel_file *spare; /* one beyond those that may be kept */
};
/* The text of a file as it is now, borrowed until the next call. Fails as kernel_file_open and kernel_file_read do. */
HRESULT kept_files_text(struct kept_files *k, const char *path, const char **text, size_t *size);
/* The number that the file begins with; S_FALSE when it begins with none, or cannot be read. E_OUTOFMEMORY. */
HRESULT kept_files_number(struct kept_files *k, const char *path, int64_t *value);
void kept_files_sweep(struct kept_files *k);
void kept_files_close(struct kept_files *k);

/* The names in a folder of the kernel that begin with `prefix`, sorted by number and then by name: looked for anew once
   in ten seconds, since to list a folder is dear under Wine. Zero-initialise. */
struct kept_folder {
    struct texts names;
    uint64_t looked; /* clock_monotonic_ms(); 0: never */
};
/* A folder that is not there has no names. E_OUTOFMEMORY. */
HRESULT kept_folder_follow(struct kept_folder *k, const char *path, const char *prefix);
void kept_folder_close(struct kept_folder *k);

#endif
