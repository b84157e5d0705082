/* SPDX-License-Identifier: MIT */
/* The parameters of StartTrace: validation of EVENT_TRACE_PROPERTIES in Windows' order, the resulting settings of the
   session with defaults and limits, and the group masks that select kernel events. Makes no system calls. */
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

/* A call of StartTrace. */
struct trace_call {
    const EVENT_TRACE_PROPERTIES *properties; /* a block of Wnode.BufferSize bytes */
    const void *name; /* name of the session: WCHARs if `wide` is true, otherwise bytes in the ANSI code page */
    bool wide;        /* `name` and the names in the block are WCHARs; false: they are in the ANSI code page */
    bool autologger;  /* the settings come from the registry instead of a program */
};

/* The requested settings; after the second step, the session's actual settings. */
struct trace_settings {
    GUID guid;          /* zero: a GUID must be generated */
    bool kernel;        /* the NT Kernel Logger, or the Circular Kernel Context Logger */
    uint32_t clock;     /* ETL_CLOCK_* */
    uint32_t mode;      /* LogFileMode, including unknown bits */
    uint32_t buffer_kb; /* size of a buffer */
    uint32_t minimum_buffers, maximum_buffers;
    uint32_t maximum_file; /* maximum file size in MB or KB, depending on the mode; 0: unlimited */
    uint64_t maximum_bytes;
    uint32_t flush_ms; /* 0: only full buffers are flushed */
    uint32_t flush_timer;
    uint32_t enable_flags[8]; /* group masks; the first is EnableFlags */
    bool numbered;            /* CONTROLLER_NUMBERED */
    char *name, *file;        /* UTF-8, from memory_alloc; file NULL: no file */
};
/* First step: validates the call itself. Returns a Windows error code with an error text that names the member; on
   ERROR_SUCCESS, the caller must free *out with trace_settings_free. */
ULONG trace_properties_check(const struct trace_call *call, struct trace_settings *out);
void trace_settings_free(struct trace_settings *s);
/* Handles the names of the kernel loggers: a session with such a name gets the logger's GUID. Returns 87 if the session
   has the GUID of a kernel logger but another name. */
ULONG trace_settings_reserved(struct trace_settings *s);

/* The functions below perform parts of the first step. Functions that concern an existing session call them, too. */
/* Returns ERROR_BAD_LENGTH (24) if the block is too small for its version of the structure, and ERROR_INVALID_PARAMETER
   (87) if an offset does not lead to a place in the block after the structure. */
ULONG trace_block_check(const EVENT_TRACE_PROPERTIES *p);
/* Reads the name of a session. If the name is empty or too long, *out is NULL. Errors: ERROR_NOT_ENOUGH_MEMORY. */
ULONG trace_name_read(const void *name, bool wide, char **out);
/* Reads the log file's name from a checked block. If the block has no name, *out is NULL. Returns ERROR_BAD_LENGTH if
   the name has no NUL within the block. */
ULONG trace_file_read(const EVENT_TRACE_PROPERTIES *p, bool wide, char **out);
/* Reads EnableFlags, or the eight group masks of its extension in the block. Returns 87 if the extension is outside the
   block. */
ULONG trace_masks_read(const EVENT_TRACE_PROPERTIES *p, uint32_t masks[8]);
/* Converts the FlushTimer of a session of this mode to ms. */
uint32_t trace_flush_ms(uint32_t mode, uint32_t flush_timer);
/* Returns whether the name is a pattern for EVENT_TRACE_FILE_MODE_NEWFILE. */
bool trace_file_is_pattern(const char *file);

struct trace_machine {
    uint32_t processors;
    uint64_t memory; /* size of the computer's memory in bytes */
};
/* Second step: the session manager's checks, defaults and limits. Returns ERROR_INVALID_PARAMETER, with an error text,
   if a check fails. */
ULONG trace_settings_complete(struct trace_settings *s, bool autologger, const struct trace_machine *machine);
/* Computes the buffers of the session. *keep: for a session in memory, how many buffers are kept
   (session_drain_options); otherwise 0. */
void trace_settings_shape(const struct trace_settings *s, uint32_t processors, struct session_shape *shape,
                          uint32_t *keep);

/* PERFINFO_GROUPMASK: eight masks of 29 bits that select kernel events. The first is EnableFlags, except for eight
   flags that belong to other masks. */
enum { GROUP_MASKS = 8 };
/* Adds a PERF_ constant (MS-PLA note 2): its top three bits select the mask. */
void group_masks_add(uint32_t masks[GROUP_MASKS], uint32_t constant);
/* Returns the closest equivalent EnableFlags. */
uint32_t group_masks_flags(const uint32_t masks[GROUP_MASKS]);
/* Moves each flag in the first mask to the mask to which it belongs. */
void group_masks_place(uint32_t masks[GROUP_MASKS]);
/* Returns whether EnableFlags cannot express the masks. */
bool group_masks_beyond_flags(const uint32_t masks[GROUP_MASKS]);

#endif
