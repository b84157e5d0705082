/* SPDX-License-Identifier: MIT */
/* Autologgers are sessions that start with the host OS. The registry describes autologgers under Control\WMI\Autologger
   and Control\WMI\GlobalLogger. Under Wine, autologgers start when the first process of the prefix opens the
   directory. */
#ifndef OPENPLA_AUTOLOGGER_H
#define OPENPLA_AUTOLOGGER_H

#include "engine/etw/directory.h"
#include "engine/etw/trace_properties.h"

/* Defaults: the folder for logs without a FileName, and the maximum size in MB for logs without a MaxFileSize. */
#define AUTOLOGGER_FOLDER "%SystemRoot%\\System32\\LogFiles\\WMI"
enum { AUTOLOGGER_FILE_MB = 100 };

/* A registry value. `there` is true if the value exists and has the right type. */
struct autologger_number {
    bool there;
    uint64_t value;
};
/* An event filter as EnableTraceEx2 takes it. */
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
    bool global;       /* the GlobalLogger: a single session of an older kind, which enables no providers */
    char *name;        /* name of the key and of the session */
    char *guid, *file; /* NULL: not set */
    char *set; /* XML of the data collector set that created this autologger; contains properties that ETW lacks; NULL:
                  not set */
    struct autologger_number start, buffer_kb, minimum_buffers, maximum_buffers, flush_timer, clock, mode, maximum_file,
        file_max, file_counter;
    struct autologger_provider *providers;
    size_t provider_count, provider_capacity;
    uint32_t kernel_flags[8]; /* EnableKernelFlags */
    char *damaged;            /* the first value with a wrong type or format; NULL: all are valid */
    struct texts problems;    /* one message per invalid value and per value that autologger_override changed */
};
void autologger_free(struct autologger *a); /* frees what the members point to, not *a */
void autologger_provider_free(struct autologger_provider *p);

/* If ETW cannot support a value, replaces it with the value that will apply, and adds a message to `problems`. Errors:
   E_OUTOFMEMORY. */
HRESULT autologger_override(struct autologger *a);

#define AUTOLOGGER_NO_COUNTER UINT32_MAX
/* Converts the description to the settings that StartTrace would get. Returns ERROR_INVALID_PARAMETER, with an error
   text that names the value, or ERROR_NOT_ENOUGH_MEMORY. `folder` is the folder for logs without a FileName. *counter
   is the number in the log's name, which the caller stores in FileCounter, or AUTOLOGGER_NO_COUNTER if the name has no
   number. On success *out is complete; free it with trace_settings_free. */
ULONG autologger_settings(const struct autologger *a, const char *folder, struct trace_settings *out,
                          uint32_t *counter);
/* Starts the session and enables its providers. A provider that cannot be enabled is reported in the journal and
   skipped. The caller stores the result in the registry value Status. */
ULONG autologger_start(struct directory *d, const struct autologger *a, const char *folder, uint32_t *counter);

/* Starts the autologgers that the registry describes for the directory named `directory` (see directory_name; at most
   32 characters). The first call that finds a description starts the autologgers. Later calls have no effect until the
   last process of the Wine prefix has exited. In the native build, which has no registry, the function does nothing. */
void autologgers_begin(struct directory *d, const char *directory);

/* ---- registry keys; the same table of values serves readers and writers ---- */

#define AUTOLOGGER_KEY "Autologger"
#define AUTOLOGGER_ONE "GlobalLogger"
enum { AUTOLOGGER_NAME = 255 }; /* maximum UTF-16 units of a key name */

/* Returns the path of the key Control\WMI\Autologger or Control\WMI\GlobalLogger for the directory named `directory`.
   `kind` selects the key. If `name` is not NULL, returns the path of the subkey `name` of that key. From memory_alloc;
   NULL when out of memory. */
char *autologger_path(const char *kind, const char *directory, const char *name);
/* Reads a description. Invalid values count as missing, and the first of them is stored in `damaged`. Returns S_FALSE
   if the key does not exist. *out is empty unless the result is S_OK; free it with autologger_free. */
HRESULT autologger_load(const char *path, const char *name, struct autologger *out);
/* Writes *a to the registry key, and creates the key if it does not exist. Deletes each value that has a member in
   struct autologger but is not set in *a, and the keys of providers that *a does not list. Keeps all other values of
   the key, and the values that ETW itself writes (FileCounter, Status). Start is written last. Returns
   HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) if `is_new` and the key exists. A failure restores the previous values as
   far as possible. */
HRESULT autologger_save(const char *path, const struct autologger *a, bool is_new);

#endif
