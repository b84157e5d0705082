/* SPDX-License-Identifier: MIT */
/* Fills in the structures that consumers receive. */
#include "engine/etw/consumer/event_view.h"

#include "engine/etw/tmf.h"
#include "engine/logs/little_endian.h"

enum {
    FLAGS_AT = 4, /* offset in an EVENT_HEADER as stored in files */
    PROPERTY_AT = 6,
    PMC_AT = 0x10, /* after PERFINFO_TRACE_HEADER */
    ITEM_HEAD = 8,
    MESSAGE_SEQUENCE = 1, /* TRACE_MESSAGE_SEQUENCE: the sequence number is the first part of the header */
    MESSAGE_SEQUENCE_AT = 8,
    ALIGNMENT = 8, /* ETW_BUFFER_CONTEXT.Alignment for buffers with an 8-bit processor number, as before Windows 8 */
};
#define NO_PROCESS            UINT32_MAX /* process id and thread id of an event that has none */
#define FLAG_PRIVATE_SESSION  0x0002
#define EXT_TYPE_PMC_COUNTERS 0x0008

static ETW_BUFFER_CONTEXT buffer_context(const struct etl_record *e)
{
    ETW_BUFFER_CONTEXT context = {.LoggerId = 0};
    context.ProcessorIndex = e->processor;
    if (!e->buffer)
        return context;
    context.ProcessorIndex = e->buffer->processor;
    context.LoggerId = e->buffer->logger;
    if ((e->buffer->flags & ETL_FLAG_PROCESSOR_INDEX) == 0)
        context.Alignment = ALIGNMENT;
    return context;
}

static void add_item(struct event_view *view, uint16_t type, const void *data, uint16_t size)
{
    EVENT_RECORD *r = &view->record;
    EVENT_HEADER_EXTENDED_DATA_ITEM *item = &view->item[r->ExtendedDataCount];
    *item = (EVENT_HEADER_EXTENDED_DATA_ITEM){.ExtType = type, .DataSize = size, .DataPtr = (uintptr_t)data};
    if (r->ExtendedDataCount != 0)
        item[-1].Linkage = 1;
    r->ExtendedDataCount++;
    r->ExtendedData = view->item;
    r->EventHeader.Flags |= EVENT_HEADER_FLAG_EXTENDED_INFO;
}

/* The items follow one another. Each item begins with four numbers of 16 bits: its length rounded up to a multiple of
   8, its type, a flag that is set if another item follows, and the size of its data. */
static void add_items(const struct etl_record *e, struct event_view *view)
{
    uint32_t done = 0;
    while (e->extended_size - done >= ITEM_HEAD) {
        const uint8_t *at = e->extended + done;
        const uint32_t total = get_u16(at), size = get_u16(at + 6);
        if (total < ITEM_HEAD || total > e->extended_size - done || size > total - ITEM_HEAD)
            return;
        add_item(view, get_u16(at + 2), at + ITEM_HEAD, (uint16_t)size);
        done += total;
    }
}

static void of_manifest(const struct etl_record *e, struct event_view *view)
{
    EVENT_HEADER *h = &view->record.EventHeader;
    h->Flags |= get_u16(e->event + FLAGS_AT) & ~EVENT_HEADER_FLAG_EXTENDED_INFO;
    h->EventProperty = get_u16(e->event + PROPERTY_AT);
    h->EventDescriptor.Channel = e->channel;
    h->EventDescriptor.Task = e->task;
    h->EventDescriptor.Keyword = e->keyword;
    h->EventDescriptor.Id = e->id;
    h->ActivityId = e->activity;
    if (e->extended)
        add_items(e, view);
}

void event_view_record(const struct etl_record *e, int64_t time, uint32_t pointer_size, bool in_process,
                       struct event_view *view)
{
    EVENT_RECORD *r = &view->record;
    EVENT_HEADER *h = &r->EventHeader;
    const uint32_t width = e->pointer_size != 0 ? e->pointer_size : pointer_size;
    *h = (EVENT_HEADER){.Size = (uint16_t)e->size,
                        .Flags = width == 4 ? EVENT_HEADER_FLAG_32_BIT_HEADER : EVENT_HEADER_FLAG_64_BIT_HEADER,
                        .ThreadId = e->thread,
                        .ProcessId = e->process,
                        .ProviderId = *etl_record_provider(e),
                        .EventDescriptor = {.Version = (uint8_t)e->version, .Level = e->level, .Opcode = e->opcode}};
    h->TimeStamp.QuadPart = time;
    h->KernelTime = e->kernel_time;
    h->UserTime = e->user_time;
    r->BufferContext = buffer_context(e);
    r->ExtendedDataCount = 0;
    r->ExtendedData = NULL;
    if (e->buffer && (e->buffer->flags & ETL_FLAG_PROCESSOR_INDEX) != 0)
        h->Flags |= EVENT_HEADER_FLAG_PROCESSOR_INDEX;
    if (in_process)
        h->Flags |= FLAG_PRIVATE_SESSION;
    switch (e->kind) {
    case ETL_RECORD_MANIFEST:
        of_manifest(e, view);
        break;
    case ETL_RECORD_MESSAGE:
        h->Flags |= EVENT_HEADER_FLAG_TRACE_MESSAGE;
        h->EventDescriptor = (EVENT_DESCRIPTOR){.Id = e->id};
        if ((e->version & MESSAGE_SEQUENCE) != 0 && e->data - e->event >= MESSAGE_SEQUENCE_AT + 4)
            add_item(view, TMF_ITEM_SEQUENCE, e->event + MESSAGE_SEQUENCE_AT, 4);
        break;
    case ETL_RECORD_PERFORMANCE:
        h->Flags |= EVENT_HEADER_FLAG_CLASSIC_HEADER;
        h->ThreadId = h->ProcessId = NO_PROCESS;
        if (e->data - e->event > PMC_AT)
            add_item(view, EXT_TYPE_PMC_COUNTERS, e->event + PMC_AT, (uint16_t)(e->data - e->event - PMC_AT));
        break;
    case ETL_RECORD_INSTANCE:
        h->Flags |= EVENT_HEADER_FLAG_CLASSIC_HEADER;
        view->instance = (EVENT_EXTENDED_ITEM_INSTANCE){e->instance, e->parent_instance, e->activity};
        add_item(view, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO, &view->instance, sizeof view->instance);
        break;
    default:
        h->Flags |= EVENT_HEADER_FLAG_CLASSIC_HEADER;
        break;
    }
    r->UserData = (void *)(uintptr_t)e->data;
    r->UserDataLength = (uint16_t)e->data_size;
}

void event_view_trace(const struct etl_record *e, int64_t time, struct event_view *view)
{
    EVENT_TRACE *t = &view->trace;
    *t = (EVENT_TRACE){.InstanceId = e->instance, .ParentInstanceId = e->parent_instance, .MofLength = e->data_size};
    t->Header.Size = (uint16_t)e->size;
    t->Header.HeaderType = e->event[2];
    t->Header.MarkerFlags = e->event[3];
    t->Header.Class.Type = e->opcode;
    t->Header.Class.Level = e->level;
    t->Header.Class.Version = e->kind == ETL_RECORD_MANIFEST || e->kind == ETL_RECORD_MESSAGE ? e->id : e->version;
    t->Header.ThreadId = e->kind == ETL_RECORD_PERFORMANCE ? NO_PROCESS : e->thread;
    t->Header.ProcessId = e->kind == ETL_RECORD_PERFORMANCE ? NO_PROCESS : e->process;
    t->Header.TimeStamp.QuadPart = time;
    t->Header.Guid = *etl_record_provider(e);
    t->Header.KernelTime = e->kernel_time;
    t->Header.UserTime = e->user_time;
    if (e->kind == ETL_RECORD_INSTANCE)
        t->ParentGuid = e->activity;
    t->MofData = (void *)(uintptr_t)e->data;
    t->BufferContext = buffer_context(e);
}
