/* SPDX-License-Identifier: MIT */
/* Packs files into a cabinet (MS-CAB), validates a cabinet, and extracts it. A cabinet is validated completely before
   any of its files is extracted. PLA_E_CABAPI_FAILURE reports an invalid cabinet or a file that cannot be packed; its
   message names the cabinet, the entry and the reason. For other errors with files and folders, a function returns the
   error of the call that failed. */
#ifndef OPENPLA_CABINET_H
#define OPENPLA_CABINET_H

#include "engine/base/file.h"

#define CABINET_FILES_MAX 65535u
#define CABINET_SIZE_MAX  0x7FFFFFFFu /* bytes in the whole cabinet */
#define CABINET_FILE_MAX  0x7FFF8000u /* bytes in one file: 65,535 blocks of 32,768 bytes */

/* Receives the progress at least once per megabyte: `done` is the number of bytes read or written so far, `whole` is
   the total. `go_on` may be NULL; if it returns false, the operation is cancelled. */
struct cabinet_watch {
    bool (*go_on)(void *user, uint64_t done, uint64_t whole); /* false: HRESULT_FROM_WIN32(ERROR_CANCELLED) */
    void *user;
};

/* ---- packing: reads members from open files, because other users can change the folders in the meantime ---- */

struct cabinet;
struct cabinet_limits;
struct cabinet_member {
    const char *name;    /* path below the folder, with / or \; cabinet_open must accept the name */
    uint64_t size;       /* bytes to read from the file */
    int64_t written;     /* FILETIME, UTC */
    uint32_t attributes; /* FILE_TRAIT_ of engine/base/file.h */
};
struct cabinet_source {
    const struct cabinet_member *members;
    size_t count;
    HRESULT(*open)
    (void *user, size_t index, struct file **in); /* the caller closes *in before it opens the next file */
    void *user;
};
/* Writes the members in their order to `out`, an empty file that is open for writing. Always compresses with MSZIP;
   uses cabinet.dll if it exists. PLA_E_CABAPI_FAILURE: there are no members, a name is invalid, a file is too large or
   shorter than its `size`, or the cabinet would exceed 2 GB. After a failure the contents of `out` are undefined. */
HRESULT cabinet_pack(const struct cabinet_source *source, struct file *out, const struct cabinet_watch *watch);
/* Works like cabinet_open, for a file that is already open; the caller keeps it and closes it. `name` appears in
   messages. */
HRESULT cabinet_open_file(struct file *f, const char *name, const struct cabinet_limits *limits, struct cabinet **out);
/* Compares the cabinet with its source files. Call it before deleting files that the cabinet replaces. S_OK: every
   member is in the cabinet, with the size and the bytes of its file. Otherwise PLA_E_CABAPI_FAILURE with a message that
   names the first difference, or the failure of `open`. */
HRESULT cabinet_compare(struct cabinet *c, const struct cabinet_source *source, const struct cabinet_watch *watch);

/* ---- reading ---- */

/* Limits for an untrusted cabinet. NULL selects the defaults: 64 GiB in total, and as many files as the format
   allows. */
struct cabinet_limits {
    uint64_t bytes; /* total size of all files */
    uint32_t files;
    const struct cabinet_watch *watch; /* called while a cabinet with many blocks is validated; may be NULL */
};
struct cabinet_entry {
    char *name;          /* UTF-8 with '/'; was validated, so it stays below the target folder on every host OS */
    uint64_t size;       /* bytes */
    int64_t written;     /* FILETIME, local time, in steps of 2 s; 0: the cabinet has no valid time */
    uint32_t attributes; /* FILE_TRAIT_ of engine/base/file.h */
};
/* Opens the cabinet and validates all headers, names and sizes without extracting anything. Rejects names that lead out
   of the target folder, are invalid on some host OS, or occur twice. Also rejects missing or overlapping blocks,
   inconsistent sizes, parts of multi-cabinet sets, compression other than MSZIP, and far more blocks than the sizes
   require. The file stays open, so that the validated file is the one that is extracted. */
HRESULT cabinet_open(const char *path, const struct cabinet_limits *limits, struct cabinet **out);
void cabinet_close(struct cabinet *c); /* NULL is allowed */
size_t cabinet_count(const struct cabinet *c);
const struct cabinet_entry *cabinet_entry_at(const struct cabinet *c, size_t index); /* borrowed */

/* Extracts all entries into the folder, and creates the folder if it is missing. Writes the files to a new subfolder
   first, and moves them to the folder when all of them are complete. Replaces nothing. Before it writes anything, fails
   with HRESULT_FROM_WIN32(ERROR_FILE_EXISTS) if one of the cabinet's top-level files or folders already exists, or with
   HRESULT_FROM_WIN32(ERROR_DISK_FULL) if there is too little space. Never follows links below the folder. Read-only is
   the only attribute that is preserved. On failure an existing folder is unchanged, and folders that were created are
   removed again. */
HRESULT cabinet_extract_all(struct cabinet *c, const char *folder, const struct cabinet_watch *watch);
/* Opens, extracts and closes a cabinet. */
HRESULT cabinet_extract(const char *path, const struct cabinet_limits *limits, const char *folder,
                        const struct cabinet_watch *watch);

#endif
