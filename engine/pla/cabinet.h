/* SPDX-License-Identifier: MIT */
/* Cabinets (MS-CAB): packing the files of a folder, validating a whole cabinet before any file is extracted, and
   extracting it. Errors in the cabinet itself, or in a file that cannot be packed, are PLA_E_CABAPI_FAILURE; the
   message names the cabinet, the entry and the reason; errors of files and folders are those of the failing call. */
#ifndef OPENPLA_CABINET_H
#define OPENPLA_CABINET_H

#include "engine/base/file.h"

#define CABINET_FILES_MAX 65535u
#define CABINET_SIZE_MAX  0x7FFFFFFFu /* of the whole cabinet, bytes */
#define CABINET_FILE_MAX  0x7FFF8000u /* of one file in it, bytes: 65,535 blocks of 32,768 */

/* Reports progress: bytes read or written of `whole`, at least once per megabyte. May be all zeros. */
struct cabinet_watch {
    bool (*go_on)(void *user, uint64_t done, uint64_t whole); /* false: end with ERROR_CANCELLED's HRESULT */
    void *user;
};

/* ---- packing opened files, because other users may change the folders at the same time ---- */

struct cabinet;
struct cabinet_limits;
struct cabinet_member {
    const char *name; /* below the folder, with either separator; names that cabinet_open rejects are rejected here */
    uint64_t size;    /* bytes that are read */
    int64_t written;  /* FILETIME, UTC */
    uint32_t attributes; /* FILE_TRAIT_ of engine/base/file.h */
};
struct cabinet_source {
    const struct cabinet_member *members;
    size_t count;
    HRESULT(*open)
    (void *user, size_t index, struct file **in); /* closed by the caller before the next one is opened */
    void *user;
};
/* Writes the members, in their order, to `out`, an empty file open for writing. Uses cabinet.dll if it exists;
   always MSZIP. PLA_E_CABAPI_FAILURE: no members, an invalid name, a file too large or shorter than its size, a
   cabinet over 2 GB. After a failure the contents of `out` are undefined. */
HRESULT cabinet_pack(const struct cabinet_source *source, struct file *out, const struct cabinet_watch *watch);
/* cabinet_open of an open file, which remains the caller's; `name` is for messages. */
HRESULT cabinet_open_file(struct file *f, const char *name, const struct cabinet_limits *limits, struct cabinet **out);
/* Compares the cabinet with its sources. Call it before deleting files because they are in a cabinet. S_OK: each member
   is in the cabinet with its size, and its file has exactly those bytes. Otherwise PLA_E_CABAPI_FAILURE with a message
   that names the first difference, or the failure of `open`. */
HRESULT cabinet_compare(struct cabinet *c, const struct cabinet_source *source, const struct cabinet_watch *watch);

/* ---- reading ---- */

/* Limits for an untrusted cabinet. NULL selects the defaults: the maximum of the format, and 64 GiB. */
struct cabinet_limits {
    uint64_t bytes; /* total size of all files */
    uint32_t files;
    const struct cabinet_watch *watch; /* called while a cabinet with many blocks is validated; may be NULL */
};
struct cabinet_entry {
    char *name;          /* UTF-8 with '/', validated: it is below any folder on any host OS */
    uint64_t size;       /* bytes */
    int64_t written;     /* FILETIME, local time, in steps of 2 s; 0: the cabinet has no valid time */
    uint32_t attributes; /* FILE_TRAIT_ of engine/base/file.h */
};
/* Opens the cabinet and validates all headers, names and sizes without extracting anything. Rejects names that leave
   the folder, that are invalid on some host or occur twice, missing or overlapping blocks, inconsistent sizes, parts of
   multi-cabinet sets, compression other than MSZIP, and far more blocks than the sizes require. The file stays open, so
   that the validated file is the one that is extracted. */
HRESULT cabinet_open(const char *path, const struct cabinet_limits *limits, struct cabinet **out);
void cabinet_close(struct cabinet *c); /* NULL is allowed */
size_t cabinet_count(const struct cabinet *c);
const struct cabinet_entry *cabinet_entry_at(const struct cabinet *c, size_t index); /* borrowed */

/* Extracts everything into the folder, and creates it if it is missing. The files are first written to a new subfolder,
   and moved from there when all of them are complete. Nothing is replaced: the result is ERROR_FILE_EXISTS's HRESULT if
   a name exists, and ERROR_DISK_FULL's if there is too little space, both before anything is written. Links below the
   folder are never followed. The only attribute that is preserved is read-only. On failure an existing folder is
   unchanged, and folders that were created are removed again. */
HRESULT cabinet_extract_all(struct cabinet *c, const char *folder, const struct cabinet_watch *watch);
/* Opens, extracts and closes a cabinet. */
HRESULT cabinet_extract(const char *path, const struct cabinet_limits *limits, const char *folder,
                        const struct cabinet_watch *watch);

#endif
