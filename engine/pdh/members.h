/* SPDX-License-Identifier: MIT */
/* What MS-PCQ calls an object and its counters. An object is known there by a GUID and its counters by numbers; those
   of Perflib V2 countersets have their own, all others get them from their names, so that they are the same on each
   computer and in each version. What PDH keeps beside a counter's value - a base, a time, its frequency, a divisor - is
   a counter of its own there, which is not shown. */
#ifndef OPENPLA_PCQ_MEMBERS_H
#define OPENPLA_PCQ_MEMBERS_H

#include "engine/pdh/core/counter_object.h"

/* Which of a counter's values it is. */
enum pcq_part { PCQ_PART_VALUE, PCQ_PART_BASE, PCQ_PART_TIME, PCQ_PART_FREQUENCY, PCQ_PART_DIVISOR, PCQ_PARTS };

struct pcq_member {
    uint32_t id;
    uint32_t counter; /* position among the object's counters */
    enum pcq_part part;
    uint32_t type; /* PERF_* */
};
/* Zero-initialise. */
struct pcq_members {
    struct pcq_member *items; /* a counter's parts stand behind it */
    size_t count, capacity;
    uint64_t present; /* the object's, of which they were made */
};

/* The GUID of an object. */
void pcq_guid(const struct provider *p, GUID *out);
/* The id of a part of an object's counter, whether or not it has that part. */
uint32_t pcq_id(const struct provider *p, uint32_t counter, enum pcq_part part);
/* The type of a part; PCQ_NO_PART: the counter has no such one. */
#define PCQ_NO_PART 0xFFFFFFFFu
uint32_t pcq_part_type(const struct counter_schema *c, enum pcq_part part);

/* The counters that have a source here; nothing is done where *m has them already. E_OUTOFMEMORY: as before. */
HRESULT pcq_members_of(struct pcq_members *m, const struct counter_object *o);
/* NULL: there is none of that id. */
const struct pcq_member *pcq_member_find(const struct pcq_members *m, uint32_t id);
void pcq_members_free(struct pcq_members *m);

/* Its value in a row of the last sample; false: there is none. */
bool pcq_member_value(const struct counter_object *o, size_t row, const struct pcq_member *member, uint64_t *out);
/* An instance's number: the same for as long as it is the same thing, never PCQ_ANY. */
uint32_t pcq_instance_id(const struct instance *instance);

#endif
