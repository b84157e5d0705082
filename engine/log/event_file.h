/* SPDX-License-Identifier: MIT */
/* The event file: what happened to the sets, one line an event, in a folder of numbered files of which the newest are
   kept. Processes append in turn; readers need no lock. */
#ifndef OPENPLA_EVENT_FILE_H
#define OPENPLA_EVENT_FILE_H

#include "engine/os/text.h"

enum event_level { EVENT_ERROR = 2, EVENT_WARNING = 3, EVENT_INFORMATION = 4 }; /* as in EVENT_DESCRIPTOR */

#define EVENT_FIELDS_MAX 16
struct event_field {
    const char *name, *value;
};
struct event_record {
    int64_t utc; /* FILETIME */
    uint32_t id;
    enum event_level level;
    const char *message;
    size_t count;
    struct event_field fields[EVENT_FIELDS_MAX];
};

/* Where this host's events are kept: <data folder>/events. From memory_alloc. */
char *event_folder(void);
/* Makes the folder if it is not there. Two files are kept of about 1 MiB each; the older goes when a third begins. */
HRESULT event_file_append(const char *folder, const struct event_record *e);

struct event_reader;
/* At the oldest event that is kept. A folder that is not there yet is one without events. */
HRESULT event_reader_open(const char *folder, struct event_reader **out);
/* S_OK: *out is the next event, its texts borrowed until the next call. S_FALSE: there is none yet; a later call finds
   what has been appended meanwhile. Lines that are no events are passed over. */
HRESULT event_reader_next(struct event_reader *r, struct event_record *out);
void event_reader_close(struct event_reader *r); /* NULL is allowed */

#endif
