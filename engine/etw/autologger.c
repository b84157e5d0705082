/* SPDX-License-Identifier: MIT */
/* From the registry's values of an autologger to its session. */
#include "engine/etw/autologger.h"

#include "engine/etw/controller.h"
#include "engine/etw/session_start.h"
#include "engine/log/etl_header.h"
#include "engine/os/file.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"

enum {
    DEFAULT_FILE_MB = 100,
    GLOBAL_MINIMUM = 3, /* buffers */
    MOST_FILES = 16,
    NO_FILE_MODES = TRACE_MODE_BUFFERING | TRACE_MODE_REAL_TIME,
};

void autologger_free(struct autologger *a)
{
    memory_free(a->name);
    memory_free(a->guid);
    memory_free(a->file);
    memory_free(a->providers);
    memory_free(a->damaged);
    *a = (struct autologger){.name = NULL};
}

static uint32_t number_or(const struct autologger_number *n, uint32_t otherwise)
{
    return n->there ? (uint32_t)n->value : otherwise;
}

/* The file of this start: one of FileMax in turn, or the one. */
static ULONG log_file(const struct autologger *a, const char *folder, char **out, uint32_t *counter)
{
    char *given = a->file ? host_expand_environment(a->file) : NULL, *path = NULL, *own = NULL;
    if (a->file) {
        path = given ? host_full_path(given) : NULL;
    } else {
        own = text_format("%s.etl", a->name);
        path = own ? path_join(folder, own) : NULL;
    }
    memory_free(given);
    memory_free(own);
    *counter = 0;
    if (path && number_or(&a->file_max, 0) != 0) {
        const uint32_t given_most = number_or(&a->file_max, 0),
                       most = given_most < MOST_FILES ? given_most : MOST_FILES,
                       before = number_or(&a->file_counter, 0);
        *counter = before >= 1 && before < most ? before + 1 : 1;
        char *numbered = text_format("%s.%04u", path, (unsigned)*counter);
        memory_free(path);
        path = numbered;
    }
    *out = path;
    return path ? ERROR_SUCCESS : controller_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for the log file's name");
}

ULONG autologger_settings(const struct autologger *a, const char *folder, struct trace_settings *out, uint32_t *counter)
{
    const struct trace_machine machine = {.processors = processor_count(), .memory = host_memory()};
    ULONG code = ERROR_SUCCESS;
    *counter = 0;
    *out = (struct trace_settings){
        .clock = number_or(&a->clock, ETL_CLOCK_TICKS),
        .mode = number_or(&a->mode, TRACE_MODE_SEQUENTIAL),
        .buffer_kb = number_or(&a->buffer_kb, 0),
        .minimum_buffers = number_or(&a->minimum_buffers, a->global ? GLOBAL_MINIMUM : 0),
        .maximum_buffers = number_or(&a->maximum_buffers, 0),
        .flush_timer = number_or(&a->flush_timer, 0),
        .maximum_file = number_or(&a->maximum_file, a->global ? 0 : DEFAULT_FILE_MB),
    };
    if (out->clock > ETL_CLOCK_CYCLES)
        out->clock = ETL_CLOCK_TICKS;
    if (!a->guid || !text_to_guid(a->guid, &out->guid))
        code = controller_refuse(ERROR_INVALID_PARAMETER, "Guid: '%.80s' is no GUID", a->guid ? a->guid : "");
    if (code == ERROR_SUCCESS && (out->mode & (TRACE_MODE_PRIVATE_LOGGER | TRACE_MODE_PRIVATE_IN_PROC)) != 0)
        code = controller_refuse(ERROR_INVALID_PARAMETER, "LogFileMode: 0x%X is that of a private session",
                                 (unsigned)out->mode);
    if (code == ERROR_SUCCESS && !(out->name = text_copy(a->name)))
        code = controller_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for a session's name");
    if (code == ERROR_SUCCESS && (out->mode & TRACE_MODE_BUFFERING) == 0 &&
        (a->file || (out->mode & NO_FILE_MODES) == 0))
        code = log_file(a, folder, &out->file, counter);
    if (code == ERROR_SUCCESS && !out->file)
        out->maximum_file = 0;
    if (code == ERROR_SUCCESS)
        code = trace_settings_complete(out, true, &machine);
    if (code != ERROR_SUCCESS)
        trace_settings_free(out);
    return code;
}

static ULONG enable(const struct autologger_provider *p, TRACEHANDLE handle)
{
    const ENABLE_TRACE_PARAMETERS parameters = {.Version = 2, .EnableProperty = number_or(&p->property, 0)};
    const bool flags_alone = p->flags.there && !p->any.there;
    const struct controller_enable e = {
        .handle = handle,
        .provider = &p->guid,
        .code = EVENT_CONTROL_CODE_ENABLE_PROVIDER,
        .level = (uint8_t)number_or(&p->level, 0),
        .any = flags_alone    ? number_or(&p->flags, 0)
               : p->any.there ? p->any.value
                              : 0,
        .all = p->any.there && p->any.value != 0 && p->all.there ? p->all.value : 0,
        .parameters = flags_alone ? NULL : &parameters,
        .classic = flags_alone,
    };
    return controller_enable(&e);
}

ULONG autologger_start(struct directory *d, const struct autologger *a, const char *folder, uint32_t *counter)
{
    struct trace_settings settings;
    struct directory_session session;
    ULONG code = autologger_settings(a, folder, &settings, counter);
    if (code != ERROR_SUCCESS)
        return code;
    code = session_start(d, &settings, &session);
    trace_settings_free(&settings);
    if (code != ERROR_SUCCESS)
        return code;
    for (size_t i = 0; i < a->provider_count; i++) {
        if (number_or(&a->providers[i].enabled, 0) == 0)
            continue;
        const ULONG enabled = enable(&a->providers[i], directory_handle(&session));
        code = code == ERROR_SUCCESS ? enabled : code; /* the others are enabled all the same */
    }
    directory_session_free(&session);
    return code;
}
