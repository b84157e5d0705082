/* SPDX-License-Identifier: MIT */
/* The filters with which a session enables an event provider (EVENT_FILTER_DESCRIPTOR): the known types, and a set of
   filters in a form that is fast to evaluate. The filters decide in which processes the provider is enabled, which
   events the session gets, and which of these events carry a stack. In this folder, an "enable" (struct
   directory_enable) holds the settings with which one session enables one provider. */
#ifndef OPENPLA_PROVIDER_FILTER_H
#define OPENPLA_PROVIDER_FILTER_H

#include "engine/base/text.h"
#include "engine/etw/directory.h"
#include "engine/etw/etw_types.h"

/* ---- kinds, in the form that EnableTraceEx2 accepts and that autologgers store below their key ---- */

struct filter_kind {
    uint32_t type, least, most;                        /* EVENT_FILTER_TYPE_*; limits of the data's size in bytes */
    bool (*check)(const uint8_t *data, uint32_t size); /* may be NULL */
    const char *name;                                  /* name of the type in evntprov.h */
};
/* Returns the types by index from 0; NULL at the end. */
const struct filter_kind *filter_kind_at(size_t index);
const struct filter_kind *filter_kind_of(uint32_t type); /* NULL: unknown type */

/* ---- the filters of one enable setting ---- */

/* This process, for filters that select processes. */
struct provider_scope {
    struct directory_process process;
    const char *program; /* file name of the program without a path, UTF-8 */
};
/* Returns whether this enable setting applies to this process. Malformed filters apply to no process. Filters for
   packages apply to no process, either, because packages do not exist here. */
bool provider_filter_admits(const struct directory_enable *e, const struct provider_scope *own);

/* The properties of an event that filters use. */
struct filter_event {
    const EVENT_DESCRIPTOR *descriptor;
    const char *name; /* name of a TraceLogging event, without a NUL; NULL: another kind of event */
    size_t name_bytes;
    /* Returns all data of the event in one piece. Only a filter that reads the data calls this function, and only once.
       If the function returns NULL, the data are not available, and the event passes. */
    const uint8_t *(*data)(void *context, size_t *size);
    void *context;
};
struct provider_filter;
/* Creates the event filters of an enable setting; *out is NULL if the setting has no event filters. Returns
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) if a filter is malformed. */
HRESULT provider_filter_create(const struct directory_enable *e, struct provider_filter **out);
/* References are counted under the caller's lock. NULL is allowed. */
struct provider_filter *provider_filter_refer(struct provider_filter *f);
void provider_filter_free(struct provider_filter *f);

/* In all of these functions, NULL means that there is no filter. */
bool provider_filter_passes(const struct provider_filter *f, const struct filter_event *event);
/* Returns whether a session that requests stacks gets a stack for this event. */
bool provider_filter_wants_stack(const struct provider_filter *f, const struct filter_event *event);
/* Returns whether one of the two functions above may return false. */
bool provider_filter_selects(const struct provider_filter *f);
/* Returns the filter for the provider's callback (EVENT_FILTER_TYPE_SCHEMATIZED); NULL if the settings have no such
   filter. */
const uint8_t *provider_filter_schematized(const struct provider_filter *f, uint32_t *size);

/* Reads the name in the metadata of a TraceLogging event. Returns false if the metadata contain no name that ends
   within `bytes`. */
bool trace_logging_name(const uint8_t *metadata, size_t bytes, struct filter_event *out);

#endif
