/* SPDX-License-Identifier: MIT */
/* API tracing logs a program's calls to Windows functions as events (MS-PLA 3.2.4.10, DECISIONS 146).

       collector's process                              traced program
       +--------------------------+    entry point     +------------------------------+
       | watcher (api_watch) -----|------------------->| openapitrace.dll             |
       |                          |                    |   import slots -> stubs      |
       | section: statistics,     |<---- numbers ------|   stub -> thunk -> EventWrite|
       |          settings        |---- settings ----->|                              |
       +--------------------------+                    +------------------------------+
              | session enables the event provider,           | events
              | filter = name and hash of the settings        v
              v                                        openetw.dll: the session's log

   The watcher injects the DLL into each new process of the program, before its entry point runs. The DLL registers the
   event provider below, which is enabled only while an API tracing session runs. When the session ends or its host
   process is killed, the DLL removes the hooks. The session uses EVENT_TRACE_BLOCKING_MODE: the traced program waits
   for a free buffer if it makes calls faster than the log is written. */
#ifndef OPENPLA_API_TRACE_H
#define OPENPLA_API_TRACE_H

#include "engine/base/text.h"
#include "engine/etw/etw_types.h"

#include <stdatomic.h>

#define API_TRACE_DLL "openapitrace.dll"
extern const GUID api_trace_provider; /* OpenPLA-API-Tracing */

/* The event provider's events. */
enum api_trace_event {
    API_EVENT_START = 1,   /* the process is hooked */
    API_EVENT_MODULE = 2,  /* describes a loaded module, whose code can make calls */
    API_EVENT_CALL = 3,    /* the function's name; written before the call */
    API_EVENT_RETURN = 4,  /* the name, arguments and result; written when the function returns */
    API_EVENT_UNWOUND = 5, /* an exception or longjmp left the function */
};

/* The event provider's manifest in XML. */
extern const char api_trace_manifest[];
extern const size_t api_trace_manifest_size;

/* ---- settings, which the collector passes to the DLL ---- */

enum api_trace_flag { API_TRACE_ARGUMENTS = 1, API_TRACE_RECURSIVE = 2, API_TRACE_FLAGS = 3 };
/* Names are canonical: lower case, modules without folder and ".dll" (path_api_name); the lists are sorted. */
struct api_settings {
    uint32_t flags;             /* enum api_trace_flag */
    uint64_t cycles_per_second; /* frequency of the processor's time stamp counter; not 0 */
    char *program;              /* full path */
    struct texts modules;       /* all functions of these modules are logged, except those in `exclude` */
    struct texts include;       /* functions that are also logged, as module!function */
    struct texts exclude;       /* functions that are never logged, as module!function */
};
void api_settings_free(struct api_settings *s); /* zeroes the struct; a zero struct is allowed */
/* These two functions add the canonical form of each name. api_settings_add_apis returns E_INVALIDARG if a name is not
   <module>!<function>; the error text begins with `property`. */
HRESULT api_settings_add_modules(struct api_settings *s, const struct texts *modules);
HRESULT api_settings_add_apis(struct texts *list, const struct texts *apis, const char *property);
/* Sorts the lists and appends the settings in the section's format. E_INVALIDARG: they exceed API_SETTINGS_MAX. */
HRESULT api_settings_write(struct api_settings *s, struct text_buffer *out);
/* Reads settings in the section's format. `data` must be a private copy, to which no other process can write. Returns
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if the settings are corrupt. */
HRESULT api_settings_read(const uint8_t *data, size_t size, struct api_settings *out);

enum api_module_use { API_MODULE_UNUSED, API_MODULE_SOME, API_MODULE_ALL };
/* api_settings_module returns whether all, some or no functions of a module are logged; `module` is canonical.
   api_settings_has returns whether `api` (canonical) is logged; `use` is the result of api_settings_module for the
   module of `api`. */
enum api_module_use api_settings_module(const struct api_settings *s, const char *module);
bool api_settings_has(const struct api_settings *s, enum api_module_use use, const char *api);

/* Data of the filter with which a session enables the event provider. */
#define API_FILTER_MAGIC 0x4954504Fu /* "OPTI" */
struct api_filter {
    uint32_t magic;
    uint32_t size; /* bytes of the settings */
    uint64_t hash; /* api_settings_hash; a traced program ignores a section whose settings have been changed */
    char section[64];
};
uint64_t api_settings_hash(const uint8_t *data, size_t size);

/* The section begins with this struct; the settings follow at offset API_SECTION_SETTINGS. The traced programs increase
   the counters and could write any value to them; therefore the counters are only displayed. */
struct api_statistics {
    atomic_uint_least64_t processes, functions, calls, unwound;
};
enum { API_SECTION_SETTINGS = 4096, API_SETTINGS_MAX = 16 << 20 };

/* ---- the collector's side ---- */

/* Returns HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED) if programs cannot be traced on this host OS. */
HRESULT api_trace_supported(void);
/* Returns HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT) if this host OS cannot run 32-bit programs or their openapitrace.dll
   is missing. `name` is used in the error text. */
HRESULT api_trace_supports_32(const char *name);
struct api_trace; /* holds the section, the claim on the program and the watcher */
/* Claims the program and creates the section with the settings. Nothing is injected before api_trace_watch. Returns
   PLA_E_EXE_ALREADY_CONFIGURED if another collector traces the program. `claimed` is an existing api_trace of this
   process, or NULL. If `claimed` traces the same program, the new api_trace shares the claim of `claimed`. If `claimed`
   also has the same settings, no new api_trace is created, and *out is `claimed`. */
HRESULT api_trace_open(struct api_settings *settings, struct api_trace *claimed, struct api_trace **out);
void api_trace_close(struct api_trace *t); /* NULL is allowed */
/* Returns whether this api_trace has more than one user. Each call of api_trace_open that returns the api_trace adds a
   user, and the matching api_trace_close removes this user. */
bool api_trace_is_shared(const struct api_trace *t);
/* Returns the filter's data, borrowed. */
const struct api_filter *api_trace_filter(const struct api_trace *t);
/* Starts watching for new processes of the program. With `attach`, processes that are already running are traced from
   now on. In these processes, calls are missed if they use a function address that was stored outside the import slots.
   Returns S_FALSE if the program is already being watched. */
HRESULT api_trace_watch(struct api_trace *t, bool attach);
struct api_trace_numbers {
    uint64_t processes, functions, calls, unwound;
    uint64_t late;     /* processes whose first calls were missed */
    uint64_t failed;   /* processes that could not be traced */
    uint64_t attached; /* processes that were already running */
    bool restored;     /* another program had changed the settings in the section since the last call; they were
                          restored */
};
void api_trace_read(struct api_trace *t, struct api_trace_numbers *out);
/* Returns the error text for the latest process that could not be traced; from memory_alloc. NULL: every process since
   the last call could be traced. */
char *api_trace_take_failure(struct api_trace *t);
/* Returns a session name that is unique to the traced program; from memory_alloc. */
char *api_trace_session_name(const struct api_trace *t);

struct injection_source;
/* Checks that the program in this file can be traced. Errors: those of injection_program_read and
   api_trace_supports_32. */
HRESULT api_trace_check_program(const struct injection_source *from, const char *name);
/* Injects the DLL into a suspended process that has not run yet. `process` is a HANDLE with all access; `name` is used
   in error texts. */
HRESULT api_trace_inject(void *process, const char *name);

#endif
