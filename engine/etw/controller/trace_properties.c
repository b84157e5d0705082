/* SPDX-License-Identifier: MIT */
/* Prepares the settings of a session: checks EVENT_TRACE_PROPERTIES and kernel flags, fills in defaults, and handles
   group masks. The checks are in Windows' order, so that a program with two mistakes gets the same error code. */
#include "engine/etw/trace_properties.h"

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/etw/etw_types.h"
#include "engine/logs/etl_record.h"

#include <stddef.h>
#include <string.h>

enum { MOST_NAME = 1024, MOST_FILE_NAME = 65536 }; /* in characters */
enum { SECOND = 1000 };                            /* ms */
#define FLAG_EXTENSION 0x80000000u                 /* EVENT_TRACE_FLAG_EXTENSION */

#define M(name)        TRACE_MODE_##name
enum {
    NEEDS_MAXIMUM = 1,
    NEEDS_FILE = 2,
    NEEDS_NO_FILE = 4,
    NEEDS_PRIVATE = 8,
    NEEDS_GUID = 0x10,
    NEEDS_AUTOLOGGER = 0x20,
    NEEDS_NO_END = 0x40,          /* requires a mode in which a full file does not end the session */
    NEEDS_MAXIMUM_AT_ONCE = 0x80, /* requires a maximum size and a file; checked before the session manager's checks */
    NO_KERNEL = 0x100,
    NO_AUTOLOGGER = 0x200,
    KERNEL_NEEDS_BUFFERING = 0x400,
};
static const struct mode_row {
    uint32_t bit;
    const char *name;
    uint32_t user, manager, needs;
} modes[] = {
#define MODE(name, bit, documented, user, manager, needs) {bit, documented, user, manager, needs},
#include "engine/etw/controller/trace_modes.def"
};
enum { MODES = sizeof modes / sizeof *modes };

static const char *mode_name(uint32_t bit)
{
    for (size_t i = 0; i < MODES; i++)
        if (modes[i].bit == bit)
            return modes[i].name;
    return "?";
}

static ULONG refuse(ULONG code, const char *what)
{
    (void)error_set(HRESULT_FROM_WIN32((LONG)code), "%s", what);
    return code;
}

static ULONG refuse_mode(const struct mode_row *row, const char *why)
{
    (void)error_set(HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER), "invalid LogFileMode: %s %s", row->name, why);
    return ERROR_INVALID_PARAMETER;
}

/* ---- the block ---- */

/* Counts the characters at `at` before the NUL, within `room` bytes. Returns false if there is no NUL. */
static bool text_length(const void *at, size_t room, bool wide, size_t *length)
{
    const size_t unit = wide ? sizeof(WCHAR) : 1;
    for (*length = 0; (*length + 1) * unit <= room; (*length)++) {
        WCHAR c = 0;
        memcpy(&c, (const char *)at + *length * unit, unit);
        if (!c)
            return true;
    }
    return false;
}

static ULONG copy_text(const void *at, size_t length, bool wide, char **out)
{
    HRESULT hr;
    if (wide) {
        WCHAR *aligned = memory_copy(at, (length + 1) * sizeof(WCHAR)); /* names in a block need not be aligned */
        hr = aligned ? text_from_utf16(aligned, length, true, out) : E_OUTOFMEMORY;
        memory_free(aligned);
    } else {
        hr = text_from_ansi(at, length, true, out);
    }
    return SUCCEEDED(hr) ? ERROR_SUCCESS : refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for a session's names");
}

static size_t size_of(const EVENT_TRACE_PROPERTIES *p)
{
    return (p->Wnode.Flags & CONTROLLER_VERSIONED) != 0 ? sizeof(EVENT_TRACE_PROPERTIES_V2) : sizeof *p;
}

static bool is_offset(const EVENT_TRACE_PROPERTIES *p, ULONG offset)
{
    return offset == 0 || (offset >= size_of(p) && offset < p->Wnode.BufferSize);
}

ULONG trace_settings_reserved(struct trace_settings *s)
{
    static const struct {
        const char *name;
        const GUID *guid;
    } reserved[] = {{TRACE_KERNEL_LOGGER, &trace_kernel_guid}, {TRACE_CONTEXT_LOGGER, &trace_context_guid}};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        const bool named = s->name && !text_compare_nocase(s->name, reserved[i].name);
        if (!named && guid_equal(&s->guid, reserved[i].guid))
            return refuse(ERROR_INVALID_PARAMETER,
                          "invalid Wnode.Guid: belongs to a kernel logger of a different name");
        if (named) {
            s->guid = *reserved[i].guid;
            s->kernel = true;
        }
    }
    return ERROR_SUCCESS;
}

ULONG trace_file_read(const EVENT_TRACE_PROPERTIES *p, bool wide, char **out)
{
    size_t length;
    *out = NULL;
    if (p->LogFileNameOffset == 0)
        return ERROR_SUCCESS;
    const char *at = (const char *)p + p->LogFileNameOffset;
    if (!text_length(at, p->Wnode.BufferSize - p->LogFileNameOffset, wide, &length))
        return refuse(ERROR_BAD_LENGTH, "invalid Wnode.BufferSize: the log file name extends beyond the block");
    if (length == 0 || length > MOST_FILE_NAME)
        return ERROR_SUCCESS; /* an empty or too long name is treated as no name */
    return copy_text(at, length, wide, out);
}

/* Reads a session name; *out is NULL if it is invalid. */
static ULONG read_name(const void *name, bool wide, char **out, size_t *length)
{
    const size_t unit = wide ? sizeof(WCHAR) : 1;
    const bool ends = text_length(name, (MOST_NAME + 1) * unit, wide, length);
    *out = NULL;
    return ends && *length != 0 ? copy_text(name, *length, wide, out) : ERROR_SUCCESS;
}

ULONG trace_name_read(const void *name, bool wide, char **out)
{
    size_t length;
    return read_name(name, wide, out, &length);
}

static ULONG check_name(const struct trace_call *call, const struct trace_settings *s, size_t length)
{
    const EVENT_TRACE_PROPERTIES *p = call->properties;
    const size_t unit = call->wide ? sizeof(WCHAR) : 1;
    if (p->LoggerNameOffset != 0 && (length + 1) * unit > p->Wnode.BufferSize - p->LoggerNameOffset)
        return refuse(ERROR_BAD_LENGTH, "invalid Wnode.BufferSize: the session name does not fit at LoggerNameOffset");
    return s->name ? ERROR_SUCCESS : refuse(ERROR_INVALID_NAME, "invalid InstanceName: expected 1 to 1024 characters");
}

/* With the extension flag, EnableFlags consists of a 16-bit offset in bytes and an 8-bit length in dwords. Length 255
   means that a header at the offset contains the length. Only eight dwords without a header are group masks; items of
   other lengths are checked, but not read. */
ULONG trace_masks_read(const EVENT_TRACE_PROPERTIES *p, uint32_t masks[8])
{
    enum { MASKS = 8 };
    memset(masks, 0, MASKS * sizeof *masks);
    if ((p->EnableFlags & FLAG_EXTENSION) == 0) {
        masks[0] = p->EnableFlags;
        return ERROR_SUCCESS;
    }
    const ULONG offset = p->EnableFlags & 0xFFFF, total = p->Wnode.BufferSize;
    ULONG words = p->EnableFlags >> 16 & 0xFF;
    if (words == 0xFF && offset >= sizeof *p && offset <= total && total - offset >= 4) {
        uint16_t length;
        memcpy(&length, (const char *)p + offset, sizeof length);
        words = length;
    }
    if (words == 0 || offset < sizeof *p || offset > total || words > (total - offset) / 4)
        return refuse(ERROR_INVALID_PARAMETER, "invalid EnableFlags: the extension lies outside the block");
    if ((p->EnableFlags >> 16 & 0xFF) == MASKS)
        memcpy(masks, (const char *)p + offset, MASKS * sizeof *masks);
    return ERROR_SUCCESS;
}

/* ---- modes ---- */

/* Returns the name of a mode that is set in both `mode` and `mask`; NULL: no such mode. */
static const char *set_too(uint32_t mode, uint32_t mask)
{
    const uint32_t both = mode & mask;
    return both ? mode_name(both & (0u - both)) : NULL;
}

static ULONG check_pairs(uint32_t mode, bool manager)
{
    for (size_t i = 0; i < MODES; i++) {
        const char *other =
            (mode & modes[i].bit) != 0 ? set_too(mode, manager ? modes[i].manager : modes[i].user) : NULL;
        if (other) {
            (void)error_set(HRESULT_FROM_WIN32(ERROR_INVALID_PARAMETER),
                            "invalid LogFileMode: %s and %s cannot be combined", modes[i].name, other);
            return ERROR_INVALID_PARAMETER;
        }
    }
    return ERROR_SUCCESS;
}

/* Performs the checks that precede the checks of the session manager. */
static ULONG check_user_modes(const struct trace_settings *s, bool autologger)
{
    for (size_t i = 0; i < MODES; i++) {
        const struct mode_row *row = &modes[i];
        if ((s->mode & row->bit) == 0)
            continue;
        if ((row->needs & NEEDS_AUTOLOGGER) != 0 && !autologger)
            return refuse_mode(row, "requires an autologger");
        if ((row->needs & NEEDS_MAXIMUM_AT_ONCE) != 0 && (s->maximum_file == 0 || !s->file))
            return refuse_mode(row, "requires MaximumFileSize and a log file name");
    }
    return check_pairs(s->mode, false);
}

static ULONG check_row(const struct mode_row *row, const struct trace_settings *s, bool autologger)
{
    static const GUID none;
    const uint32_t mode = s->mode, needs = row->needs;
    const bool kernel = s->kernel || (mode & M(SYSTEM_LOGGER)) != 0;
    const bool no_end = (mode & (M(CIRCULAR) | M(BUFFERING))) != 0 || ((mode & M(REAL_TIME)) != 0 && !s->file);
    if ((needs & NEEDS_MAXIMUM) != 0 && s->maximum_file == 0)
        return refuse_mode(row, "requires MaximumFileSize");
    if ((needs & NEEDS_FILE) != 0 && !s->file)
        return refuse_mode(row, "requires a log file name");
    if ((needs & NEEDS_NO_FILE) != 0 && s->file)
        return refuse_mode(row, "does not allow a log file name");
    if ((needs & NEEDS_PRIVATE) != 0 && (mode & M(PRIVATE_LOGGER)) == 0)
        return refuse_mode(row, "requires EVENT_TRACE_PRIVATE_LOGGER_MODE");
    if ((needs & NEEDS_GUID) != 0 && guid_equal(&s->guid, &none))
        return refuse_mode(row, "requires a provider GUID in Wnode.Guid");
    if ((needs & NEEDS_NO_END) != 0 && !no_end)
        return refuse_mode(row, "requires a session that does not end when a file is full");
    if ((needs & NO_KERNEL) != 0 && kernel)
        return refuse_mode(row, "does not allow a kernel session");
    if ((needs & NO_AUTOLOGGER) != 0 && autologger)
        return refuse_mode(row, "does not allow an autologger");
    if ((needs & KERNEL_NEEDS_BUFFERING) != 0 && kernel && (mode & M(BUFFERING)) == 0)
        return refuse_mode(row, "requires EVENT_TRACE_BUFFERING_MODE in a kernel session");
    return ERROR_SUCCESS;
}

/* Returns whether there is exactly one % and it is followed by d. */
bool trace_file_is_pattern(const char *file)
{
    const char *at = file ? strchr(file, '%') : NULL;
    return at && at[1] == 'd' && !strchr(at + 1, '%');
}

/* ---- checking and completing the settings ---- */

ULONG trace_block_check(const EVENT_TRACE_PROPERTIES *p)
{
    if (p->Wnode.BufferSize < sizeof *p || p->Wnode.BufferSize < size_of(p))
        return refuse(ERROR_BAD_LENGTH, "invalid Wnode.BufferSize: smaller than EVENT_TRACE_PROPERTIES");
    if (!is_offset(p, p->LogFileNameOffset))
        return refuse(ERROR_INVALID_PARAMETER, "invalid LogFileNameOffset: outside the block after the properties");
    if (!is_offset(p, p->LoggerNameOffset))
        return refuse(ERROR_INVALID_PARAMETER, "invalid LoggerNameOffset: outside the block after the properties");
    return ERROR_SUCCESS;
}

static ULONG check_call(const struct trace_call *call, struct trace_settings *s)
{
    const EVENT_TRACE_PROPERTIES *p = call->properties;
    size_t length = 0;
    ULONG status = trace_block_check(p);
    if (!status)
        status = read_name(call->name, call->wide, &s->name, &length);
    if (!status)
        status = trace_settings_reserved(s);
    if (!status)
        status = trace_file_read(p, call->wide, &s->file);
    if (!status)
        status = check_name(call, s, length);
    if (!status && !s->file && (s->mode & (M(REAL_TIME) | M(BUFFERING))) == 0)
        status = refuse(ERROR_BAD_PATHNAME, "invalid LogFileNameOffset: LogFileMode requires a log file name");
    if (!status)
        status = check_user_modes(s, call->autologger);
    if (!status && (s->mode & M(NEWFILE)) != 0 && s->file && !trace_file_is_pattern(s->file))
        status = refuse(ERROR_INVALID_NAME, "invalid log file name: EVENT_TRACE_FILE_MODE_NEWFILE requires one %d");
    /* WNODE_FLAG_TRACED_GUID is not required in Wnode.Flags, because many programs leave the flags 0 (behaviour 22). */
    if (!status)
        status = trace_masks_read(p, s->enable_flags);
    return status;
}

ULONG trace_properties_check(const struct trace_call *call, struct trace_settings *out)
{
    const EVENT_TRACE_PROPERTIES *p = call->properties;
    *out = (struct trace_settings){.clock = ETL_CLOCK_TICKS};
    if (!p)
        return refuse(ERROR_INVALID_PARAMETER, "invalid Properties: must not be NULL");
    if (!call->name)
        return refuse(ERROR_INVALID_NAME, "invalid InstanceName: must not be NULL");
    if (p->Wnode.BufferSize >= sizeof *p) {
        *out = (struct trace_settings){
            .guid = p->Wnode.Guid,
            .clock = p->Wnode.ClientContext,
            .mode = p->LogFileMode,
            .numbered = (p->Wnode.Flags & CONTROLLER_NUMBERED) != 0,
            .buffer_kb = p->BufferSize,
            .minimum_buffers = p->MinimumBuffers,
            .maximum_buffers = p->MaximumBuffers,
            .maximum_file = p->MaximumFileSize,
            .flush_timer = p->FlushTimer,
        };
    }
    const ULONG status = check_call(call, out);
    if (status)
        trace_settings_free(out);
    return status;
}

void trace_settings_free(struct trace_settings *s)
{
    memory_free(s->name);
    memory_free(s->file);
    s->name = s->file = NULL;
}

static uint32_t within(uint32_t value, uint64_t least, uint64_t most)
{
    const uint64_t raised = value < least ? least : value;
    return (uint32_t)(raised > most ? most : raised);
}

static void complete_buffers(struct trace_settings *s, const struct trace_machine *machine)
{
    enum { KB = 1024, LARGE_KB = 64, SMALL_KB = 8, PARTS_OF_MEMORY = 10, MORE_THAN_MINIMUM = 20 };
    const bool one_stream = (s->mode & M(NO_PER_PROCESSOR)) != 0;
    const uint64_t streams = one_stream ? 1 : machine->processors;
    if (s->buffer_kb == 0)
        s->buffer_kb = machine->memory >= UINT64_C(1) << 30 ? LARGE_KB : SMALL_KB;
    s->buffer_kb = within(s->buffer_kb, ETL_SMALLEST_BUFFER / KB, ETL_LARGEST_BUFFER / KB);
    s->minimum_buffers = within(s->minimum_buffers, 2 * streams, SESSION_MOST_BUFFERS);
    if (s->maximum_buffers == 0)
        s->maximum_buffers = s->minimum_buffers + MORE_THAN_MINIMUM;
    const uint64_t room = machine->memory / PARTS_OF_MEMORY / KB / s->buffer_kb;
    const uint64_t most = room < SESSION_MOST_BUFFERS ? room : SESSION_MOST_BUFFERS;
    s->maximum_buffers = within(s->maximum_buffers, 0, most);
    if (s->maximum_buffers < s->minimum_buffers || (s->mode & M(BUFFERING)) != 0)
        s->maximum_buffers = s->minimum_buffers;
}

uint32_t trace_flush_ms(uint32_t mode, uint32_t flush_timer)
{
    const uint64_t ms = (uint64_t)flush_timer * ((mode & M(USE_MS_FLUSH_TIMER)) != 0 ? 1 : SECOND);
    return ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
}

static void complete_times(struct trace_settings *s)
{
    const bool ms = (s->mode & M(USE_MS_FLUSH_TIMER)) != 0;
    s->flush_ms = trace_flush_ms(s->mode, s->flush_timer);
    if ((s->mode & M(BUFFERING)) != 0) {
        s->flush_ms = 0;
    } else if (s->flush_timer == 0 && (s->mode & M(REAL_TIME)) != 0) {
        s->flush_timer = ms ? SECOND : 1;
        s->flush_ms = SECOND;
    }
}

ULONG trace_settings_complete(struct trace_settings *s, bool autologger, const struct trace_machine *machine)
{
    if ((s->mode & M(BUFFERING)) != 0)
        s->mode &= ~(uint32_t)M(REAL_TIME); /* not an error: BUFFERING takes precedence */
    ULONG status = check_pairs(s->mode, true);
    for (size_t i = 0; !status && i < MODES; i++)
        if ((s->mode & modes[i].bit) != 0)
            status = check_row(&modes[i], s, autologger);
    if (!status && s->clock > ETL_CLOCK_CYCLES)
        status = refuse(ERROR_INVALID_PARAMETER, "invalid Wnode.ClientContext: expected a clock from 0 to 3");
    if (status)
        return status;
    if (s->clock == 0)
        s->clock = ETL_CLOCK_TICKS;
    if ((s->mode & M(PRIVATE_LOGGER)) != 0)
        s->mode &= ~(uint32_t)M(PAGED);
    s->maximum_bytes = (uint64_t)s->maximum_file << ((s->mode & M(USE_KBYTES)) != 0 ? 10 : 20);
    complete_buffers(s, machine);
    complete_times(s);
    return ERROR_SUCCESS;
}

void trace_settings_shape(const struct trace_settings *s, uint32_t processors, struct session_shape *shape,
                          uint32_t *keep)
{
    enum { WAKE_PARTS = 4, SPARE_PARTS = 8 };
    const bool stays = (s->mode & M(BUFFERING)) != 0;
    const uint32_t streams = (s->mode & M(NO_PER_PROCESSOR)) != 0 ? 1 : within(processors, 1, SESSION_MOST_PROCESSORS);
    /* The session needs these buffers in addition to the buffers whose events are kept. Each stream fills one of them.
       The others are free, for use while the oldest kept buffer is being emptied. */
    const uint32_t spare = stays ? streams + 2 + s->minimum_buffers / SPARE_PARTS : 0;
    *shape = (struct session_shape){
        .buffers = within(s->maximum_buffers + spare, 1, SESSION_MOST_BUFFERS),
        .minimum = within(s->minimum_buffers + spare, 1, SESSION_MOST_BUFFERS),
        .buffer_size = s->buffer_kb * ETL_BUFFER_UNIT,
        .processors = streams,
        .source = session_source_for(s->clock),
    };
    *keep = stays ? shape->minimum - spare : 0;
    shape->wake_at = stays ? *keep + 1 : within(shape->minimum / WAKE_PARTS, 1, shape->buffers);
}

/* ---- group masks: which mask contains which kernel flag ---- */

static const struct {
    uint32_t flag, mask, bit;
} moved[] = {
    {0x00000010, 1, 0x0004}, /* CSWITCH */
    {0x00000020, 1, 0x0080}, /* DPC */
    {0x00000040, 1, 0x4000}, /* INTERRUPT */
    {0x00000080, 2, 0x0040}, /* SYSTEMCALL */
    {0x00000800, 1, 0x0200}, /* DISPATCHER */
    {0x00004000, 1, 0x8000}, /* VIRTUAL_ALLOC */
    {0x00800000, 1, 0x0010}, /* DRIVER */
    {0x01000000, 1, 0x0002}, /* PROFILE */
};
enum { MOVED = sizeof moved / sizeof *moved };

void group_masks_add(uint32_t masks[GROUP_MASKS], uint32_t constant)
{
    enum { MASK_SHIFT = 29 };
    masks[constant >> MASK_SHIFT] |= constant & ((UINT32_C(1) << MASK_SHIFT) - 1);
}

uint32_t group_masks_flags(const uint32_t masks[GROUP_MASKS])
{
    uint32_t flags = masks[0];
    for (size_t i = 0; i < MOVED; i++)
        flags |= (masks[moved[i].mask] & moved[i].bit) != 0 ? moved[i].flag : 0;
    return flags;
}

void group_masks_place(uint32_t masks[GROUP_MASKS])
{
    for (size_t i = 0; i < MOVED; i++)
        if ((masks[0] & moved[i].flag) != 0) {
            masks[0] &= ~moved[i].flag;
            masks[moved[i].mask] |= moved[i].bit;
        }
}

bool group_masks_beyond_flags(const uint32_t masks[GROUP_MASKS])
{
    uint32_t rest[GROUP_MASKS], any = 0;
    memcpy(rest, masks, sizeof rest);
    for (size_t i = 0; i < MOVED; i++)
        rest[moved[i].mask] &= ~moved[i].bit;
    for (size_t i = 1; i < GROUP_MASKS; i++)
        any |= rest[i];
    return any != 0;
}

/* ---- the GUIDs of the kernel's sessions ---- */

const GUID trace_kernel_guid = {0x9E814AAD, 0x3204, 0x11D2, {0x9A, 0x82, 0x00, 0x60, 0x08, 0xA8, 0x69, 0x39}};
const GUID trace_context_guid = {0x54DEA73A, 0xED1F, 0x42A4, {0xAF, 0x71, 0x3E, 0x63, 0xD0, 0x56, 0xF1, 0x74}};
