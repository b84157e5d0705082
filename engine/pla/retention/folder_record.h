/* SPDX-License-Identifier: MIT */
/* The folders that a set's runs created, and the files in them. For each folder there is a record in the store and a
   mark file in the folder, with the same random word. The set owns the folder only if record and mark file exist and
   match. The set therefore does not own a folder that was moved, renamed or copied (DECISIONS 103). The mark also lists
   the files of the runs; each name is added before the file is created. All other files belong to users and are left
   alone (DECISIONS 113). */
#ifndef OPENPLA_FOLDER_RECORD_H
#define OPENPLA_FOLDER_RECORD_H

#include "engine/base/folder.h"
#include "engine/base/process.h"

/* ---- the mark, and the files that it names ---- */

#define FOLDER_MARK       "openpla.run" /* file name of the mark */
#define FOLDER_MARK_FIRST "openpla-folder 1\n"

struct run_files {
    struct texts names; /* paths below the folder, with '/'; sorted */
    struct texts parts; /* names of numbered files; the number stands in place of "%d" or after the name */
};
/* Opens the mark of the open folder for reading. S_FALSE, with *out NULL: the folder has no mark, or a link has the
   name of the mark. On failure it is unknown whether a mark exists; callers must not treat a failure as a missing mark,
   because the folder would lose its owner. */
HRESULT run_files_mark(struct held_folder *f, struct file **out);

/* Reads the file names from the folder's mark. *out is empty if there is no mark, or an older mark without names.
   Ignores a truncated line. Fails as run_files_mark does, with *out empty. */
HRESULT run_files_read(struct held_folder *f, struct run_files *out);
void run_files_free(struct run_files *r);
bool run_files_have(const struct run_files *r, const char *name);
bool run_files_below(const struct run_files *r, const char *folder); /* whether a listed file is below `folder` */

/* Call before a run creates the file `path`. The file is in the run's folder or in a subfolder of it; `folder` is the
   run's folder, below `root`. Adds the file's name to the list in the folder's mark file. Never uses the mark of an
   outer folder, because that mark belongs to another run, which would delete the file. `parts`: the name stands for
   several numbered files. S_FALSE: nothing was added, because the folder has no mark, because `path` exists and is
   therefore not the run's file, or because the list cannot represent a character of the name.
   HRESULT_FROM_WIN32(ERROR_FILE_TOO_LARGE): the list is full. If another process has the mark open, waits up to two
   seconds. If this wait fails, further calls do not wait for the same mark for a minute, so that a thousand copies do
   not wait each time. */
HRESULT run_files_add(const char *root, const char *folder, const char *path, bool parts);

/* ---- records of folders ---- */

struct folder_record {
    char *name; /* below RootPath */
    char word[SHARED_KEY_DIGITS + 1];
    uint32_t serial;
    int64_t started; /* FILETIME, UTC; Wine stores no creation time */
    uint64_t sent;   /* folder_sent_to of the cabinet's destination; 0: not sent */
    bool going;      /* its deletion has started */
};
struct folder_records {
    struct folder_record *items; /* in the order of the runs */
    size_t count, capacity;
};
/* Parses the lines of the store, skipping invalid ones. E_OUTOFMEMORY, with *out empty. */
HRESULT folder_records_read(const struct texts *lines, struct folder_records *out);
void folder_records_free(struct folder_records *r);
/* Finds the record with that name; NULL: none. */
struct folder_record *folder_records_find(const struct folder_records *r, const char *name);

/* Registers a folder that a run created: writes its mark and appends its record. Replaces a record of the same name. A
   shared folder that already belongs to the set becomes the newest folder, with the new serial number. A shared folder
   also becomes the newest folder if the call fails because the mark cannot be read. The folder is safe then, because
   the newest folder is never deleted. `made`: the run has created the folder. S_FALSE: the folder existed before and
   does not belong to the set; nothing is written. */
HRESULT folder_take(const char *space, const char *set, const char *root, const char *name, bool made, uint32_t serial);
/* Undoes folder_take for a folder that was created by a failed start; ignores failures. */
void folder_give_back(const char *space, const char *set, const char *root, const char *name);
/* Call for an existing folder that the run uses but that does not belong to the set. Removes the folder's mark,
   whichever set owns the folder, so that the owner does not delete the files of this run. S_FALSE: no mark. */
HRESULT folder_leave(const char *root, const char *name);
/* Checks the mark of the open folder. S_OK: the mark belongs to `record`; S_FALSE: the folder has no mark, or the mark
   belongs to another record. */
HRESULT folder_check_mark(struct held_folder *f, const struct folder_record *record);

/* Reads the word of the open folder's mark, regardless of its set. S_FALSE: no mark. */
HRESULT folder_read_word(struct held_folder *f, char word[SHARED_KEY_DIGITS + 1]);

/* Updates the records in one write. `fate`: the deletion of the folders has started, the folders were deleted, or the
   cabinets of the folders were sent to the destination `sent`. */
enum folder_fate { FOLDER_GOING, FOLDER_GONE, FOLDER_SENT };
HRESULT folder_note(const char *space, const char *set, enum folder_fate fate,
                    const struct folder_record *const *records, size_t count, uint64_t sent);
uint64_t folder_sent_to(const char *destination); /* never 0 */

#endif
