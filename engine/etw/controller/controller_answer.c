/* SPDX-License-Identifier: MIT */
/* What controllers are answered with: EVENT_TRACE_PROPERTIES of a session as it is now. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text_ansi.h"
#include "engine/etw/controller/controller.h"
#include "engine/etw/session/session_buffers.h"
#include "engine/etw/trace_properties.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

ULONG controller_refuse(ULONG code, const char *format, ...)
{
    char text[ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)error_set(HRESULT_FROM_WIN32((LONG)code), "%s", text);
    return code;
}

void controller_view_open(const struct directory_session *s, struct controller_view *out)
{
    const struct shared what = {.name = s->section, .lasting = true};
    *out = (struct controller_view){.section = NULL};
    if (FAILED(section_open(&what, (size_t)s->section_size, &out->section))) {
        out->section = NULL;
        return;
    }
    if (FAILED(session_buffers_map(section_memory(out->section), (size_t)s->section_size, &out->buffers)))
        controller_view_close(out);
}

void controller_view_close(struct controller_view *v)
{
    section_close(v->section);
    v->section = NULL;
}

/* ---- names ---- */

static size_t unit_of(bool wide)
{
    return wide ? sizeof(WCHAR) : 1;
}

/* Bytes at `offset` before the other name, or the end. */
static size_t room_at(const EVENT_TRACE_PROPERTIES *p, ULONG offset, ULONG other)
{
    const ULONG end = other > offset && other < p->Wnode.BufferSize ? other : p->Wnode.BufferSize;
    return end - offset;
}

ULONG controller_check_block(bool wide, const EVENT_TRACE_PROPERTIES *p)
{
    const ULONG status = trace_block_check(p);
    const ULONG offsets[] = {p->LoggerNameOffset, p->LogFileNameOffset};
    for (size_t i = 0; status == ERROR_SUCCESS && i < 2; i++)
        if (offsets[i] != 0 && room_at(p, offsets[i], offsets[1 - i]) < unit_of(wide))
            return controller_refuse(ERROR_BAD_LENGTH, "Wnode.BufferSize: %u bytes have no room for a name at %u",
                                     (unsigned)p->Wnode.BufferSize, (unsigned)offsets[i]);
    return status;
}

/* As much of the text as there is room for. */
static ULONG put_name(bool wide, EVENT_TRACE_PROPERTIES *p, ULONG offset, ULONG other, const char *text)
{
    if (offset == 0)
        return ERROR_SUCCESS;
    WCHAR *units = NULL;
    char *bytes = NULL;
    size_t length = 0;
    const HRESULT hr =
        wide ? text_to_utf16(text ? text : "", &units, &length) : text_to_ansi(text ? text : "", &bytes, &length);
    if (FAILED(hr))
        return controller_refuse(ERROR_NOT_ENOUGH_MEMORY, "out of memory for a session's names");
    const size_t unit = unit_of(wide), room = room_at(p, offset, other) / unit;
    const size_t fits = length < room ? length : room != 0 ? room - 1 : 0;
    char *at = (char *)p + offset;
    memcpy(at, wide ? (const void *)units : bytes, fits * unit);
    if (room != 0)
        memset(at + fits * unit, 0, unit);
    memory_free(units);
    memory_free(bytes);
    if (fits == length && room != 0)
        return ERROR_SUCCESS;
    return controller_refuse(ERROR_MORE_DATA, "Wnode.BufferSize: %u bytes are too few for '%.200s'",
                             (unsigned)p->Wnode.BufferSize, text);
}

/* ---- figures ---- */

static uint32_t narrow(uint64_t value)
{
    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

void controller_figures_add(const struct controller_view *v, struct controller_figures *f)
{
    struct session_statistics one;
    if (!v->section)
        return;
    session_statistics_read(&v->buffers, &one);
    f->all.allocated += one.allocated;
    f->all.free += one.free;
    f->all.events_lost += one.events_lost;
    f->all.buffers_written += one.buffers_written;
    f->all.buffers_lost += one.buffers_lost;
    f->realtime_lost += atomic_load_explicit(&v->buffers.shared->figures.realtime_lost, memory_order_relaxed);
}

static void put_figures(const struct controller_figures *f, EVENT_TRACE_PROPERTIES *p)
{
    p->NumberOfBuffers = f->all.allocated;
    p->FreeBuffers = f->all.free;
    p->EventsLost = narrow(f->all.events_lost);
    p->BuffersWritten = narrow(f->all.buffers_written);
    p->LogBuffersLost = narrow(f->all.buffers_lost);
    p->RealTimeBuffersLost = narrow(f->realtime_lost);
}

ULONG controller_answer_view(bool wide, const struct directory_session *s, const struct controller_view *v,
                             EVENT_TRACE_PROPERTIES *p)
{
    struct controller_figures figures = {.thread = s->thread};
    controller_figures_add(v, &figures);
    return controller_answer(wide, s, &figures, p);
}

ULONG controller_answer(bool wide, const struct directory_session *s, const struct controller_figures *f,
                        EVENT_TRACE_PROPERTIES *p)
{
    const int64_t now = clock_utc();
    const uint64_t handle = directory_handle(s);
    p->Wnode.Guid = s->guid;
    p->Wnode.ClientContext = s->clock;
    memcpy(&p->Wnode.HistoricalContext, &handle, sizeof handle);
    memcpy(&p->Wnode.TimeStamp, &now, sizeof now);
    p->BufferSize = s->buffer_kb;
    p->MinimumBuffers = s->minimum_buffers;
    p->MaximumBuffers = s->maximum_buffers;
    p->MaximumFileSize = s->maximum_file;
    p->LogFileMode = s->mode;
    p->FlushTimer = s->flush_timer;
    p->EnableFlags = s->enable_flags[0];
    p->AgeLimit = 0;
    put_figures(f, p);
    memset(&p->LoggerThreadId, 0, sizeof p->LoggerThreadId);
    memcpy(&p->LoggerThreadId, &f->thread, sizeof p->LoggerThreadId);
    const ULONG named = put_name(wide, p, p->LoggerNameOffset, p->LogFileNameOffset, s->name);
    const ULONG filed = put_name(wide, p, p->LogFileNameOffset, p->LoggerNameOffset, s->file);
    return named != ERROR_SUCCESS ? named : filed;
}
