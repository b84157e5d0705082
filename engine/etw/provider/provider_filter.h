/* SPDX-License-Identifier: MIT */
/* The filters of one session's enable of a provider (EVENT_FILTER_DESCRIPTOR): which kinds there are, and those of
   an enable taken apart once: which processes have the provider enabled at all, which of their events the session
   gets, and which of these carry a stack. */
#ifndef OPENPLA_PROVIDER_FILTER_H
#define OPENPLA_PROVIDER_FILTER_H

#include "engine/base/text.h"
#include "engine/etw/directory.h"
#include "engine/etw/etw_types.h"

/* ---- kinds, as EnableTraceEx2 takes them and autologgers have them below theirs ---- */

struct filter_kind {
    uint32_t type, least, most;                        /* EVENT_FILTER_TYPE_*; bytes of data */
    bool (*check)(const uint8_t *data, uint32_t size); /* may be NULL */
    const char *name;                                  /* that of evntprov.h */
};
/* From 0 on; NULL: there are no more. */
const struct filter_kind *filter_kind_at(size_t index);
const struct filter_kind *filter_kind_of(uint32_t type); /* NULL: no such kind is known */

/* ---- the filters of an enable ---- */

/* Of this process, as scope filters know it. */
struct provider_scope {
    struct directory_process process;
    const char *program; /* its file's name without a path, UTF-8 */
};
/* Whether the enable is for this process. What cannot be read, and packages, of which there are none here, are for
   none. */
bool provider_filter_admits(const struct directory_enable *e, const struct provider_scope *own);

/* What filters look at in an event. */
struct filter_event {
    const EVENT_DESCRIPTOR *descriptor;
    const char *name; /* of a TraceLogging event, not terminated; NULL: it is none */
    size_t name_bytes;
    /* All of its data in one piece, for filters that look at them; asked for once, and only by these. NULL: they cannot
       be had, and the event passes. */
    const uint8_t *(*data)(void *context, size_t *size);
    void *context;
};
struct provider_filter;
/* *out NULL: the enable has no filter but for processes. ERROR_INVALID_DATA's HRESULT for what is malformed. */
HRESULT provider_filter_create(const struct directory_enable *e, struct provider_filter **out);
/* Counted under the caller's lock. NULL is allowed. */
struct provider_filter *provider_filter_refer(struct provider_filter *f);
void provider_filter_free(struct provider_filter *f);

/* NULL stands for no filter in all of these. */
bool provider_filter_passes(const struct provider_filter *f, const struct filter_event *event);
/* Of a session that asked for stacks. */
bool provider_filter_wants_stack(const struct provider_filter *f, const struct filter_event *event);
/* Whether one of the two above may say no. */
bool provider_filter_selects(const struct provider_filter *f);
/* What the provider's callback gets (EVENT_FILTER_TYPE_SCHEMATIZED). NULL: nothing. */
const uint8_t *provider_filter_schematized(const struct provider_filter *f, uint32_t *size);

/* The name in the metadata of a TraceLogging event; false: it has none that ends in these bytes. */
bool trace_logging_name(const uint8_t *metadata, size_t bytes, struct filter_event *out);

#endif
