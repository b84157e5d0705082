/* SPDX-License-Identifier: MIT */
/* What StartTrace is asked for: the checks of EVENT_TRACE_PROPERTIES in Windows' order, what a session becomes of it,
   with defaults and limits, and the group masks that say which events the kernel writes. Nothing here asks the system.
 */
#ifndef OPENPLA_TRACE_PROPERTIES_H
#define OPENPLA_TRACE_PROPERTIES_H

#include "engine/base/text.h"
#include "engine/etw/etw_types.h"
#include "engine/etw/session/session_buffers.h"

#include <stdbool.h>
#include <stdint.h>

enum trace_mode {
#define MODE(name, bit, documented, user, manager, needs) TRACE_MODE_##name = bit,
#include "engine/etw/controller/trace_modes.def"
};

extern const GUID trace_kernel_guid;  /* SystemTraceControlGuid: the NT Kernel Logger */
extern const GUID trace_context_guid; /* the Circular Kernel Context Logger */
#define TRACE_KERNEL_LOGGER  "NT Kernel Logger"
#define TRACE_CONTEXT_LOGGER "Circular Kernel Context Logger"

/* The call, beside the properties themselves. */
struct trace_call {
    const EVENT_TRACE_PROPERTIES *properties; /* a block of Wnode.BufferSize bytes */
    const void *name;                         /* of the session: WCHARs when `wide`, else of the ANSI code page */
    bool wide;                                /* and so are the names in the block */
    bool autologger;                          /* from the registry, not from a program */
};

/* What it asks for; from the second step on as the session has it. */
struct trace_settings {
    GUID guid;          /* zero: one is to be made */
    bool kernel;        /* the NT Kernel Logger, or the Circular Kernel Context Logger */
    uint32_t clock;     /* ETL_CLOCK_* */
    uint32_t mode;      /* LogFileMode, unknown bits too */
    uint32_t buffer_kb; /* of each buffer */
    uint32_t minimum_buffers, maximum_buffers;
    uint32_t maximum_file; /* in MB, or KB by the mode; 0: none */
    uint64_t maximum_bytes;
    uint32_t flush_ms; /* 0: only full buffers */
    uint32_t flush_timer;
    uint32_t enable_flags[8]; /* group masks; the first are EnableFlags */
    bool numbered;            /* CONTROLLER_NUMBERED */
    char *name, *file;        /* UTF-8, from memory_alloc; file NULL: none */
};
/* The first step: what is wrong with the call by itself. An error code of Windows, with a text that names the member;
   ERROR_SUCCESS: *out is to be freed with trace_settings_free. */
ULONG trace_properties_check(const struct trace_call *call, struct trace_settings *out);
void trace_settings_free(struct trace_settings *s);
/* A session with the name of one of the kernel's loggers is that: its GUID is set. 87: it has the GUID of one, and
   another name. */
ULONG trace_settings_reserved(struct trace_settings *s);

/* Parts of it, for functions that are called for a session that there is. */
/* Properties has the size of its kind (24), and its offsets lie in the block, behind it (87). */
ULONG trace_block_check(const EVENT_TRACE_PROPERTIES *p);
/* The name of a session; *out NULL: it is empty or too long. ERROR_NOT_ENOUGH_MEMORY. */
ULONG trace_name_read(const void *name, bool wide, char **out);
/* The log file's name in a block that was checked; *out NULL: there is none. ERROR_BAD_LENGTH: it does not end there.
 */
ULONG trace_file_read(const EVENT_TRACE_PROPERTIES *p, bool wide, char **out);
/* EnableFlags, or the eight group masks that its extension in the block has. 87: it does not lie there. */
ULONG trace_masks_read(const EVENT_TRACE_PROPERTIES *p, uint32_t masks[8]);
/* FlushTimer of such a session in ms. */
uint32_t trace_flush_ms(uint32_t mode, uint32_t flush_timer);
/* Whether it is one for EVENT_TRACE_FILE_MODE_NEWFILE. */
bool trace_file_is_pattern(const char *file);

struct trace_machine {
    uint32_t processors;
    uint64_t memory; /* bytes */
};
/* The second step: the session manager's checks, defaults and bounds. ERROR_INVALID_PARAMETER with a text. */
ULONG trace_settings_complete(struct trace_settings *s, bool autologger, const struct trace_machine *machine);
/* The buffers of such a session. *keep: of a session in memory alone, how many stay (session_drain_options); else 0. */
void trace_settings_shape(const struct trace_settings *s, uint32_t processors, struct session_shape *shape,
                          uint32_t *keep);

/* PERFINFO_GROUPMASK: eight masks of 29 bits that say which events the kernel writes. The first is EnableFlags, but for
   eight of these, whose place is in others. */
enum { GROUP_MASKS = 8 };
/* Adds a PERF_ constant, as MS-PLA note 2 lists them: its top three bits pick the mask. */
void group_masks_add(uint32_t masks[GROUP_MASKS], uint32_t constant);
/* The EnableFlags that ask for the same, as far as such can. */
uint32_t group_masks_flags(const uint32_t masks[GROUP_MASKS]);
/* Moves each flag of the first mask to its place. */
void group_masks_place(uint32_t masks[GROUP_MASKS]);
/* Whether EnableFlags cannot say all of it. */
bool group_masks_beyond_flags(const uint32_t masks[GROUP_MASKS]);

#endif
