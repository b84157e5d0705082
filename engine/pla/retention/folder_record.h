/* SPDX-License-Identifier: MIT */
/* The folders that a set's runs created, and the files in them. For each folder the store has a record and the folder
   has a mark with the same random word; one without the other, for example after moving, renaming or copying the
   folder, does not make the set its owner (DECISIONS 103). The mark also names each file of the runs before it is
   created; other files are another user's and are left alone (DECISIONS 113). */
#ifndef OPENPLA_FOLDER_RECORD_H
#define OPENPLA_FOLDER_RECORD_H

#include "engine/base/folder.h"
#include "engine/base/process.h"

/* ---- the mark, and the files that it names ---- */

#define FOLDER_MARK       "openpla.run" /* file name of the mark */
#define FOLDER_MARK_FIRST "openpla-folder 1\n"

struct run_files {
    struct texts names; /* below the folder, with '/'; sorted */
    struct texts parts; /* of numbered files: the number replaces "%d", or follows the name */
};
/* Opens the mark of the open folder for reading. S_FALSE and NULL: it has none, or a link of that name. Failure: the
   state is unknown. Callers must not treat this as a missing mark, because the folder would lose its owner. */
HRESULT run_files_mark(struct held_folder *f, struct file **out);

/* Reads the folder's mark; empty without a mark, or for an older mark without names. Ignores a truncated line. Fails
   as run_files_mark does, with *out empty. */
HRESULT run_files_read(struct held_folder *f, struct run_files *out);
void run_files_free(struct run_files *r);
bool run_files_have(const struct run_files *r, const char *name);
bool run_files_below(const struct run_files *r, const char *folder); /* whether one of them is in that folder */

/* Call before a run creates `path` in its `folder`, or in a subfolder, below `root`: adds the name to the folder's
   mark. The mark of an outer folder belongs to another run, and that run would delete the files named in the mark.
   `parts`: a name for several files. S_FALSE: nothing was added: the folder has no mark; something with that name
   exists, which then is not the run's; or the name has characters that the list cannot represent. HRESULT of
   ERROR_FILE_TOO_LARGE: the list is full. Waits up to two seconds for a mark that another process has open, and then
   not again for a minute, so that a thousand copies do not wait each time. */
HRESULT run_files_add(const char *root, const char *folder, const char *path, bool parts);

/* ---- records of folders ---- */

struct folder_record {
    char *name; /* below RootPath */
    char word[SHARED_KEY_DIGITS + 1];
    uint32_t serial;
    int64_t started; /* FILETIME, UTC; Wine stores no creation time */
    uint64_t sent;   /* folder_sent_to of the destination of its cabinet; 0: not sent */
    bool going;      /* its deletion has started */
};
struct folder_records {
    struct folder_record *items; /* in the order of the runs */
    size_t count, capacity;
};
/* Parses the lines of the store, skipping invalid ones. E_OUTOFMEMORY, with *out empty. */
HRESULT folder_records_read(const struct texts *lines, struct folder_records *out);
void folder_records_free(struct folder_records *r);
/* NULL: no such record. */
struct folder_record *folder_records_find(const struct folder_records *r, const char *name);

/* Registers a folder that a run created: writes its mark and appends its record, replacing one of that name. A shared
   folder that already has its mark becomes the newest with that serial number, even if the call fails because the mark
   cannot be read, because the newest folder is not deleted. S_FALSE: the folder existed and is not the set's; nothing
   is written. */
HRESULT folder_take(const char *space, const char *set, const char *root, const char *name, bool made, uint32_t serial);
/* Undoes folder_take for a folder that was created by a failed start; ignores failures. */
void folder_give_back(const char *space, const char *set, const char *root, const char *name);
/* For an existing folder that is not taken: removes its mark, regardless of its owner, because the former owner must
   not delete the files that this run leaves in it. S_FALSE: no mark. */
HRESULT folder_leave(const char *root, const char *name);
/* S_OK: the open folder has the mark of this record; S_FALSE: it has no mark, or a different one. */
HRESULT folder_check_mark(struct held_folder *f, const struct folder_record *record);

/* Reads the word of the open folder's mark, regardless of its set. S_FALSE: no mark. */
HRESULT folder_read_word(struct held_folder *f, char word[SHARED_KEY_DIGITS + 1]);

/* Updates these records in one write: marks them as being deleted or as sent, or removes those that are gone. */
enum folder_fate { FOLDER_GOING, FOLDER_GONE, FOLDER_SENT };
HRESULT folder_note(const char *space, const char *set, enum folder_fate fate,
                    const struct folder_record *const *records, size_t count, uint64_t sent);
uint64_t folder_sent_to(const char *destination); /* never 0 */

#endif
