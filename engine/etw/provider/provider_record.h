/* SPDX-License-Identifier: MIT */
/* What provider_table.c and provider_notice.c share: the part of a registration that writers do not see. All of it is
   under provider_lock. */
#ifndef OPENPLA_PROVIDER_RECORD_H
#define OPENPLA_PROVIDER_RECORD_H

#include "engine/base/thread.h"
#include "engine/etw/provider/provider_table.h"

struct registration_record {
    struct provider_options options;
    struct provider_numbers numbers;
    uint64_t turn; /* of handles */
    struct registration *next;
    struct notice *first, *last; /* callbacks to come */
    bool calling;                /* a thread is at it, whose id is `caller` */
    uint32_t caller;
    bool waits; /* the callback waits until all have applied a change: it is taken for one that has returned */
    bool begun, gone, recycle;
    bool typed, has_group, has_decode;
    GUID group, decode;
    uint32_t traits_size;
    uint8_t *traits;
};
extern struct host_lock provider_lock;
extern struct registration *provider_in_use;
struct registration *provider_find(uint64_t handle); /* NULL: none, also for 0 */
void provider_recycle(struct registration *r);

/* Same session by the same way. NULL: none. */
const struct provider_enable *provider_same_enable(const struct provider_enables *in, uint32_t logger, uint32_t turn,
                                                   bool group);
/* Notes down what a callback is to be told when `new` comes for `old` (NULL: by nobody). E_OUTOFMEMORY: nothing. */
HRESULT provider_note_changes(struct registration_record *record, const struct provider_enables *old,
                              const struct provider_enables *new);
void provider_notices_free(struct registration_record *record);
/* Waits until no other thread calls back. False: this very thread does, and recycles the registration behind it. */
bool provider_outlast_callback(struct registration_record *record);

#endif
