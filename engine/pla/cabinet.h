/* SPDX-License-Identifier: MIT */
/* Cabinets (MS-CAB): written of a folder's files, judged as a whole before anything is taken out, taken apart.
   What is wrong with a cabinet itself, or cannot be put into one, is PLA_E_CABAPI_FAILURE, with a text that names the
   cabinet, the entry and what is wrong; what a file or folder refuses is that call's own failure. */
#ifndef OPENPLA_CABINET_H
#define OPENPLA_CABINET_H

#include "engine/base/file.h"

#define CABINET_FILES_MAX 65535u
#define CABINET_SIZE_MAX  0x7FFFFFFFu /* of the whole cabinet, bytes */
#define CABINET_FILE_MAX  0x7FFF8000u /* of one file in it, bytes: 65,535 blocks of 32,768 */

/* Told of the bytes that have been read or written of `whole`, at least once in a megabyte; may be all zeros. */
struct cabinet_watch {
    bool (*go_on)(void *user, uint64_t done, uint64_t whole); /* false: end with ERROR_CANCELLED's HRESULT */
    void *user;
};

/* ---- writing, of opened files: folders are such that others may change meanwhile ---- */

struct cabinet;
struct cabinet_limits;
struct cabinet_member {
    const char *name;    /* below the folder, with either separator; what cabinet_open would refuse is refused here */
    uint64_t size;       /* bytes: as many are read */
    int64_t written;     /* FILETIME, UTC */
    uint32_t attributes; /* FILE_TRAIT_ of engine/base/file.h */
};
struct cabinet_source {
    const struct cabinet_member *members;
    size_t count;
    HRESULT (*open)(void *user, size_t index, struct file **in); /* closed by who asked, before the next one */
    void *user;
};
/* Writes a cabinet of these into `out`, an empty file that is open for writing, in their order: by cabinet.dll where
   there is one, MSZIP on every host. PLA_E_CABAPI_FAILURE: no members, a name that is none, a file too large or shorter
   than its size, a cabinet larger than 2 GB. What is in `out` after a failure is nothing. */
HRESULT cabinet_pack(const struct cabinet_source *source, struct file *out, const struct cabinet_watch *watch);
/* cabinet_open of a file that is open and stays the caller's; `name` is for texts. */
HRESULT cabinet_open_file(struct file *f, const char *name, const struct cabinet_limits *limits, struct cabinet **out);
/* S_OK: each member is in the cabinet, in its size, and what is opened of it is what is in there, byte for byte and no
   longer. Else PLA_E_CABAPI_FAILURE, with the first one that is not, or what `open` failed with. To be asked before
   files are deleted that are said to be in a cabinet. */
HRESULT cabinet_compare(struct cabinet *c, const struct cabinet_source *source, const struct cabinet_watch *watch);

/* ---- reading ---- */

/* What a reader takes of an unknown cabinet; NULL where it is asked for: the most that the format holds, and 64 GiB. */
struct cabinet_limits {
    uint64_t bytes; /* of all files together */
    uint32_t files;
    const struct cabinet_watch *watch; /* asked while a cabinet of many blocks is judged; NULL: nobody */
};
struct cabinet_entry {
    char *name;          /* UTF-8, with '/', judged: it names something below any folder on any host */
    uint64_t size;       /* bytes */
    int64_t written;     /* FILETIME, local time, in steps of 2 s; 0: the cabinet's is no time */
    uint32_t attributes; /* FILE_TRAIT_ of engine/base/file.h */
};
/* Opens it and judges all headers, names and sizes, without taking anything out: what leads out of a folder, is no
   name on some host or there twice, blocks that are not there or overlap, sizes that do not add up, parts of sets of
   several cabinets, compression other than MSZIP, many times the blocks that so many bytes need. What is opened is what
   is taken apart: the file stays open. */
HRESULT cabinet_open(const char *path, const struct cabinet_limits *limits, struct cabinet **out);
void cabinet_close(struct cabinet *c); /* NULL is allowed */
size_t cabinet_count(const struct cabinet *c);
const struct cabinet_entry *cabinet_entry_at(const struct cabinet *c, size_t index); /* borrowed */

/* Takes all out into the folder, which is made if it is missing: into a new folder in it first, from there by renames
   once all is whole. Nothing that is there is replaced: a name that exists already is ERROR_FILE_EXISTS' HRESULT, too
   little room is ERROR_DISK_FULL's, and both are found before anything is written. Links are never followed below the
   folder. Of attributes only read-only is kept. On failure the folder is as it was, or with the folders that it is in
   not there again. */
HRESULT cabinet_extract_all(struct cabinet *c, const char *folder, const struct cabinet_watch *watch);
/* The three in one. */
HRESULT cabinet_extract(const char *path, const struct cabinet_limits *limits, const char *folder,
                        const struct cabinet_watch *watch);

#endif
