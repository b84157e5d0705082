/* SPDX-License-Identifier: MIT */
/* Which folders the runs of a set have made, and which files in them. For each folder the store has a record, and the
   folder a mark that says the same random word; one without the other, as of a folder that was moved, renamed or
   copied, belongs to nobody (DECISIONS 103). The mark also names each file of the runs before it is created; a file
   that it does not name is another user's and is left alone (DECISIONS 113). */
#ifndef OPENPLA_FOLDER_RECORD_H
#define OPENPLA_FOLDER_RECORD_H

#include "engine/base/folder.h"
#include "engine/base/process.h"

/* ---- the mark and the files that it names ---- */

#define FOLDER_MARK       "openpla.run" /* the name of the mark's file */
#define FOLDER_MARK_FIRST "openpla-folder 1\n"

struct run_files {
    struct texts names; /* below the folder, with '/'; sorted */
    struct texts parts; /* of files that have several: a number is in place of "%d", or behind the name */
};
/* The open folder's mark, to be read. S_FALSE, and NULL: it has none, but maybe a link of that name. A failure says why
   that cannot be known: who took it for none would give the folder up. */
HRESULT run_files_mark(struct held_folder *f, struct file **out);

/* Of the folder's mark; empty where it has none, or one without names, as marks of before there were lists. A line that
   is cut off is none. run_files_mark's failures, and nothing in *out. */
HRESULT run_files_read(struct held_folder *f, struct run_files *out);
void run_files_free(struct run_files *r);
bool run_files_have(const struct run_files *r, const char *name);
bool run_files_below(const struct run_files *r, const char *folder); /* whether one of them is in it */

/* A run is about to make `path` in its `folder`, or in one of that, below `root`: names it in the folder's mark. The
   mark of one that the folder lies in is another run's, which would delete what is named there. `parts`: it is the name
   of several files. S_FALSE: nothing to name, since the folder has no mark, something has that name already, which is
   not the run's then, or the name has characters that no list can hold. ERROR_FILE_TOO_LARGE's HRESULT: the list is
   full. A mark that another has open is waited for, two seconds at most, and then a minute long not again: a thousand
   copies are not to wait for it each. */
HRESULT run_files_add(const char *root, const char *folder, const char *path, bool parts);

/* ---- records of folders ---- */

struct folder_record {
    char *name; /* below RootPath */
    char word[SHARED_KEY_DIGITS + 1];
    uint32_t serial;
    int64_t started; /* FILETIME, UTC; Wine keeps no time of creation */
    uint64_t sent;   /* folder_sent_to of where its cabinet has been sent; 0: nowhere */
    bool going;      /* its deletion has begun */
};
struct folder_records {
    struct folder_record *items; /* in the order of the runs */
    size_t count, capacity;
};
/* Of the lines that the store keeps; one that is none is passed over. E_OUTOFMEMORY, and nothing in *out. */
HRESULT folder_records_read(const struct texts *lines, struct folder_records *out);
void folder_records_free(struct folder_records *r);
/* NULL: there is none. */
struct folder_record *folder_records_find(const struct folder_records *r, const char *name);

/* A folder that a run has made: writes its mark into it, and its record behind all others, in place of one of that
   name. A folder that has the mark of its record already, as runs share it, becomes the newest with that serial number,
   also where a failure says that the mark cannot be read: what is the newest is not deleted. S_FALSE: it was there
   before the run and is not the set's; nothing is written. */
HRESULT folder_take(const char *space, const char *set, const char *root, const char *name, bool made, uint32_t serial);
/* Takes back what folder_take did with a folder that was made, for a start that fails; failures are nobody's. */
void folder_give_back(const char *space, const char *set, const char *root, const char *name);
/* A folder that was there before the run, and is not taken: what a run of another set, or of one that is not looked
   after, leaves in it is not for the set to delete that has made it. Takes its mark away, whoever's that is; S_FALSE:
   it has none. */
HRESULT folder_leave(const char *root, const char *name);
/* S_OK: the open folder has the mark of this record; S_FALSE: it has none, or another one's. */
HRESULT folder_check_mark(struct held_folder *f, const struct folder_record *record);

/* The word of the open folder's mark, whichever set's that is. S_FALSE: it has none. */
HRESULT folder_read_word(struct held_folder *f, char word[SHARED_KEY_DIGITS + 1]);

/* What becomes of these records: that their deletion begins, or where their cabinet was sent, is noted; those that are
   gone go. In one write. */
enum folder_fate { FOLDER_GOING, FOLDER_GONE, FOLDER_SENT };
HRESULT folder_note(const char *space, const char *set, enum folder_fate fate,
                    const struct folder_record *const *records, size_t count, uint64_t sent);
uint64_t folder_sent_to(const char *destination); /* never 0 */

#endif
