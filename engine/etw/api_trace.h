/* SPDX-License-Identifier: MIT */
/* API tracing: a program's calls of Windows' functions as events (MS-PLA 3.2.4.10, DECISIONS 146).

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
   event provider below; it is only enabled while a session of API tracing runs, so the end of the session, also by the
   death of its host process, removes the hooks. The traced program waits only for a free buffer, when the log is slower
   than its calls. */
#ifndef OPENPLA_API_TRACE_H
#define OPENPLA_API_TRACE_H

#include "engine/base/text.h"
#include "engine/etw/etw_types.h"

#include <stdatomic.h>

#define API_TRACE_DLL "openapitrace.dll"
extern const GUID api_trace_provider; /* OpenPLA-API-Tracing */

/* Its events. */
enum api_trace_event {
    API_EVENT_START = 1,   /* the process is hooked */
    API_EVENT_MODULE = 2,  /* a module that callers may be in */
    API_EVENT_CALL = 3,    /* the name, before the call */
    API_EVENT_RETURN = 4,  /* with arguments and result, at the return */
    API_EVENT_UNWOUND = 5, /* left by an exception or longjmp */
};

/* The manifest of the event provider. */
extern const char api_trace_manifest[];
extern const size_t api_trace_manifest_size;

/* ---- settings: what the collector tells the DLL ---- */

enum api_trace_flag { API_TRACE_ARGUMENTS = 1, API_TRACE_RECURSIVE = 2, API_TRACE_FLAGS = 3 };
/* Names are canonical: lower case, modules without folder and ".dll" (path_api_name); the lists are sorted. */
struct api_settings {
    uint32_t flags;             /* enum api_trace_flag */
    uint64_t cycles_per_second; /* of the processor's counter; not 0 */
    char *program;              /* full path */
    struct texts modules;       /* whose functions are logged */
    struct texts include;       /* module!function: these too */
    struct texts exclude;       /* module!function: these never */
};
void api_settings_free(struct api_settings *s); /* zeroes the struct; a zero struct is allowed */
/* Adds the canonical form of each name. E_INVALIDARG: one of an API has no module; `property` names the list. */
HRESULT api_settings_add_modules(struct api_settings *s, const struct texts *modules);
HRESULT api_settings_add_apis(struct texts *list, const struct texts *apis, const char *property);
/* Sorts the lists and writes everything in the form of the section. */
HRESULT api_settings_write(struct api_settings *s, struct text_buffer *out);
/* Reads it, from a copy that nobody else can write to. HRESULT of ERROR_INVALID_DATA. */
HRESULT api_settings_read(const uint8_t *data, size_t size, struct api_settings *out);

enum api_module_use { API_MODULE_UNUSED, API_MODULE_SOME, API_MODULE_ALL };
/* `module` and `api` are canonical. */
enum api_module_use api_settings_module(const struct api_settings *s, const char *module);
bool api_settings_has(const struct api_settings *s, enum api_module_use use, const char *api);

/* The data of the filter with which a session enables the event provider. */
#define API_FILTER_MAGIC 0x4954504Fu /* OPTI */
struct api_filter {
    uint32_t magic;
    uint32_t size; /* of the settings */
    uint64_t hash; /* api_settings_hash: a section that another program has changed is not used */
    char section[64];
};
uint64_t api_settings_hash(const uint8_t *data, size_t size);

/* The section: this, and the settings at API_SECTION_SETTINGS. The traced programs add to the numbers, and could write
   anything: they are for display only. */
struct api_statistics {
    atomic_uint_least64_t processes, functions, calls, unwound;
};
enum { API_SECTION_SETTINGS = 4096, API_SETTINGS_MAX = 16 << 20 };

/* ---- the collector's side ---- */

/* HRESULT of ERROR_NOT_SUPPORTED: no program can be traced on this host. */
HRESULT api_trace_supported(void);
/* HRESULT of ERROR_BAD_EXE_FORMAT: this host runs no 32-bit programs, or the DLL for them is missing. `name` is for the
   error text. */
HRESULT api_trace_supports_32(const char *name);
struct api_trace; /* the section, the claim on the program and the watcher */
/* What is traced, and the filter for the session. Claims the program: PLA_E_EXE_ALREADY_CONFIGURED if another collector
   traces it. `claimed`: an api_trace of this process that has the claim, which is shared, and is returned itself if
   the settings are the same; NULL: none. Creates the section; nothing is injected before api_trace_watch. */
HRESULT api_trace_open(struct api_settings *settings, struct api_trace *claimed, struct api_trace **out);
void api_trace_close(struct api_trace *t); /* NULL is allowed */
/* Whether another api_trace_open returned it too, and has not closed it. */
bool api_trace_is_shared(const struct api_trace *t);
/* Returns the data of the filter, borrowed. */
const struct api_filter *api_trace_filter(const struct api_trace *t);
/* Begins to watch for new processes of the program. `attach`: those that run already are traced from now on, but their
   calls through addresses that they keep outside of import slots are missing. S_FALSE: already. */
HRESULT api_trace_watch(struct api_trace *t, bool attach);
struct api_trace_numbers {
    uint64_t processes, functions, calls, unwound;
    uint64_t late;     /* processes whose first calls were missed */
    uint64_t failed;   /* processes that could not be traced */
    uint64_t attached; /* processes that ran already */
    bool restored;     /* a program had changed the settings since the last call; they were written again */
};
void api_trace_read(struct api_trace *t, struct api_trace_numbers *out);
/* The error text of the latest process that could not be traced; NULL: none since the last call. From memory_alloc. */
char *api_trace_take_failure(struct api_trace *t);
/* A name for the session that no other traced program's has; from memory_alloc. */
char *api_trace_session_name(const struct api_trace *t);

struct injection_source;
/* Checks that the program in this file can be traced: fails as injection_program_read and api_trace_supports_32. */
HRESULT api_trace_check_program(const struct injection_source *from, const char *name);
/* Injects the DLL into a suspended process that has not run yet (a HANDLE with all access). `name` is for error
   texts. */
HRESULT api_trace_inject(void *process, const char *name);

#endif
