/* SPDX-License-Identifier: MIT */
/* Sessions that start with the host, as the registry describes them under Control\WMI\Autologger and
   Control\WMI\GlobalLogger (under Wine they start with the first process of a prefix that traces), and their registry
   keys. */
#ifndef OPENPLA_AUTOLOGGER_H
#define OPENPLA_AUTOLOGGER_H

#include "engine/etw/directory.h"
#include "engine/etw/trace_properties.h"

/* Where the log of one without a FileName lies, and its MB without a MaxFileSize. */
#define AUTOLOGGER_FOLDER "%SystemRoot%\\System32\\LogFiles\\WMI"
enum { AUTOLOGGER_FILE_MB = 100 };

/* A value of the registry; `there`: it is, and of the right type. */
struct autologger_number {
    bool there;
    uint64_t value;
};
/* As EnableTraceEx2 takes it. */
struct autologger_filter {
    uint32_t type; /* EVENT_FILTER_TYPE_* */
    uint32_t size;
    uint8_t *data; /* from memory_alloc */
};
struct autologger_provider {
    GUID guid;
    struct autologger_number enabled, level, flags, any, all, property;
    struct autologger_filter filter[DIRECTORY_FILTERS];
    uint32_t filter_count;
};
struct autologger {
    bool global;       /* the GlobalLogger: one, older; it enables no providers */
    char *name;        /* of its key, which is the session's */
    char *guid, *file; /* NULL: there is none */
    char *set;         /* XML of who made it, for what ETW does not know; NULL: there is none */
    struct autologger_number start, buffer_kb, minimum_buffers, maximum_buffers, flush_timer, clock, mode, maximum_file,
        file_max, file_counter;
    struct autologger_provider *providers;
    size_t provider_count, provider_capacity;
    uint32_t kernel_flags[8]; /* EnableKernelFlags */
    char *damaged;            /* the first value that is there and of no right type or form; NULL: all are right */
    struct texts problems;    /* of each such value, and of those that autologger_override changed: what is wrong */
};
void autologger_free(struct autologger *a); /* what it points to */
void autologger_provider_free(struct autologger_provider *p);

/* What ETW cannot support becomes what holds in its place, each with a text in `problems`. E_OUTOFMEMORY. */
HRESULT autologger_override(struct autologger *a);

#define AUTOLOGGER_NO_COUNTER UINT32_MAX
/* What StartTrace would be told. ERROR_INVALID_PARAMETER with a text that names the value; ERROR_NOT_ENOUGH_MEMORY.
   `folder`: where logs lie that have no FileName. *counter: the number in the log's name, which FileCounter becomes;
   AUTOLOGGER_NO_COUNTER: it has none. *out is complete, and to be freed. */
ULONG autologger_settings(const struct autologger *a, const char *folder, struct trace_settings *out,
                          uint32_t *counter);
/* Starts it, and enables its providers; one that cannot be enabled is told to the journal, and the others are. What
   Status becomes. */
ULONG autologger_start(struct directory *d, const struct autologger *a, const char *folder, uint32_t *counter);

/* Starts those that are described for the directory of this name (OPENPLA_ETW), at most 32 characters, once as long as
   the prefix runs. Natively there is no registry. */
void autologgers_begin(struct directory *d, const char *directory);

/* ---- registry keys; one table of values serves readers and writers ---- */

#define AUTOLOGGER_KEY "Autologger"
#define AUTOLOGGER_ONE "GlobalLogger"
enum { AUTOLOGGER_NAME = 255 }; /* most UTF-16 units of the name of a key */

/* The path of Control\WMI\Autologger or ...\GlobalLogger (`kind`) of the directory of that name, or of the key `name`
   in it if that is not NULL. From memory_alloc, NULL when out of memory. */
char *autologger_path(const char *kind, const char *directory, const char *name);
/* What the key says; values that are not as they should be are as if they were not there, and the first of them is in
   `damaged`. S_FALSE: there is no key. *out is empty unless S_OK, else for autologger_free. */
HRESULT autologger_load(const char *path, const char *name, struct autologger *out);
/* Writes the values that are `there` and takes away the others, providers' keys as well; what is in the key besides, as
   FileCounter, Status and what others have put there, stays. A key that is not there is made, and Start is written
   last. ERROR_ALREADY_EXISTS's HRESULT: `is_new`, and there is one. What has failed is put back as far as it can be. */
HRESULT autologger_save(const char *path, const struct autologger *a, bool is_new);

#endif
