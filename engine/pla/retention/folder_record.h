/* SPDX-License-Identifier: MIT */
/* Which folders a set's runs have made: a record of each in the store, and a mark in the folder that says the same
   random word. One without the other, a folder that was moved, renamed or copied, is nobody's (DECISIONS 103). */
#ifndef OPENPLA_FOLDER_RECORD_H
#define OPENPLA_FOLDER_RECORD_H

#include "engine/base/process.h"
#include "engine/pla/retention/run_files.h"

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
