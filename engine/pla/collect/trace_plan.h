/* SPDX-License-Identifier: MIT */
/* What a trace collector asks of ETW: EVENT_TRACE_PROPERTIES and EnableTraceEx2's arguments in UTF-8, by the mapping of
   behaviour 10. Nothing here asks the host. */
#ifndef OPENPLA_TRACE_PLAN_H
#define OPENPLA_TRACE_PLAN_H

#include "engine/etw/group_masks.h"
#include "engine/etw/trace_properties.h"
#include "engine/pla/kernel_provider.h"
#include "engine/pla/model.h"

/* One provider of a session. */
struct trace_enable {
    GUID guid;
    char *name; /* for people: DisplayName, else the GUID; NULL: of a live session, nobody has looked it up */
    uint8_t level;
    uint64_t any, all;   /* KeywordsAny 0: all, which a live session reads as UINT64_MAX */
    uint32_t properties; /* EVENT_ENABLE_PROPERTY_ */
    bool filtered;
    uint32_t filter_type; /* EVENT_FILTER_TYPE_ */
    struct bytes filter;  /* as ETW takes it; of a live session it is not known */
};
struct trace_plan {
    char *session;                             /* its name */
    char *file;                                /* NULL: it writes none */
    GUID guid;                                 /* zero: one is to be made */
    uint32_t clock;                            /* Wnode.ClientContext: 0 (as 1), 1 QPC, 2 system time, 3 cycles */
    uint32_t mode;                             /* LogFileMode: TRACE_MODE_ bits, unknown ones too */
    uint32_t buffer_kb;                        /* 0: as ETW thinks right, as all that follow */
    uint32_t minimum_buffers, maximum_buffers; /* suggestions, MS-PLA notes 28 to 31 */
    uint32_t maximum_file;                     /* MB, or KB with TRACE_MODE_USE_KBYTES; 0: none */
    uint32_t flush_timer;                      /* s; ms with TRACE_MODE_USE_MS_FLUSH_TIMER */
    const struct kernel_provider *kernel;      /* whose events it takes beside others'; NULL: none of the kernel's */
    uint32_t masks[GROUP_MASKS];               /* of these, each flag in its place */
    struct trace_enable *enables;              /* the kernel's among them, which says nothing by itself */
    size_t count;
};

/* The modes that a property of a trace collector stands for; all others are its ExtendedModes (engine/pla/collect/
   trace_plan_modes.def). */
#define TRACE_PLAN_MODE(property, bits) TRACE_PLAN_OF_##property = (bits),
enum trace_plan_mode {
#include "engine/pla/collect/trace_plan_modes.def"
};

/* Whether the kernel's events are all that the session's name and GUID stand for: what ETW asks of each session of them
   but system loggers, which have both for themselves. */
bool trace_plan_is_reserved(const struct trace_plan *plan);

/* The bits of StreamMode. */
enum { TRACE_STREAM_FILE = 1, TRACE_STREAM_REAL_TIME = 2, TRACE_STREAM_BUFFERING = 4 };

/* What the set says of a collector's file. */
struct trace_output {
    const char *file;    /* full path; not used by a collector without a file */
    uint32_t maximum_mb; /* SegmentMaxSize, 0: none */
    bool segmented;      /* a full file is followed by another one: by UPDATE, so no mode tells of its end */
};
/* E_INVALIDARG (ERROR_INVALID_PARAMETER's HRESULT) with the property's name for what no session can be: ProcessMode
   without a provider or with one of the kernel's, two of these, a level above 255, a GUID of zeros, a filter above 1024
   bytes; PLA_E_INVALID_SESSION_NAME. The name of a session of the kernel's is the kernel's, whatever was put. */
HRESULT trace_plan_make(struct object *collector, const struct trace_output *output, struct trace_plan *out);
void trace_plan_free(struct trace_plan *plan); /* leaves it zero, and allows that */
/* Whether the collector writes a file: StreamMode says so. */
bool trace_plan_writes_file(const struct object *collector);
/* Whether both ask the same of the provider. */
bool trace_enable_same(const struct trace_enable *a, const struct trace_enable *b);
bool trace_plan_same_file(const struct trace_plan *a, const struct trace_plan *b);
/* Whether a session of the one can become one of the other without being stopped (trace_session_update). */
bool trace_plan_can_become(const struct trace_plan *from, const struct trace_plan *to);
/* Adds a provider; takes nothing over. */
HRESULT trace_plan_add(struct trace_plan *plan, const struct trace_enable *enable);

#endif
