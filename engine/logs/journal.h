/* SPDX-License-Identifier: MIT */
/* The event journal has one line per event about collector sets, in a folder of numbered files. Only the newest files
   are kept. Processes append under a lock; readers need no lock. */
#ifndef OPENPLA_JOURNAL_H
#define OPENPLA_JOURNAL_H

#include "engine/base/text.h"

/* The same values as in EVENT_DESCRIPTOR. */
enum journal_level { JOURNAL_ERROR = 2, JOURNAL_WARNING = 3, JOURNAL_INFORMATION = 4 };

#define JOURNAL_FIELDS_MAX 16
struct journal_field {
    const char *name, *value;
};
struct journal_entry {
    int64_t utc; /* FILETIME. If `utc` is 0, journal_append uses the time at which it writes the line, so that lines are
                    in time order */
    uint32_t id;
    enum journal_level level;
    const char *message;
    size_t count;
    struct journal_field fields[JOURNAL_FIELDS_MAX];
};

/* Returns the folder of this host OS's events, <data folder>/events, from memory_alloc. */
char *journal_folder(void);
/* Appends an event; creates the folder if necessary. Keeps two files of about 1 MiB each and deletes the oldest file
   when a third one begins. S_FALSE: the event is dropped because this process has written too many; a separate event
   reports that. */
HRESULT journal_append(const char *folder, const struct journal_entry *e);

struct journal_reader;
/* Opens a reader at the oldest event. A folder that does not exist yet has no events. */
HRESULT journal_reader_open(const char *folder, struct journal_reader **out);
/* Reads the next event. S_OK: *out is the event; its strings are borrowed until the next call. S_FALSE: no event now;
   later calls return events that are appended in the meantime. Skips lines that are not events. */
HRESULT journal_reader_next(struct journal_reader *r, struct journal_entry *out);
void journal_reader_close(struct journal_reader *r); /* NULL is allowed */

#endif
