/* SPDX-License-Identifier: MIT */
/* Perflib V2 countersets in the registry, and the lists of strings (REG_MULTI_SZ) that they and extension DLLs are
   registered with. */
#ifndef OPENPLA_PDH_COUNTERSET_REGISTRATION_H
#define OPENPLA_PDH_COUNTERSET_REGISTRATION_H

#include "engine/base/registry.h"
#include "engine/base/text.h"

/* Lists of texts as the registry's values hold them (REG_MULTI_SZ). Perflib's have pairs: a number, then what it
   stands for. */

/* Adds the value's texts to *out. S_FALSE: there is no such value. ERROR_INVALID_DATA's HRESULT, naming the value: it
   is no list of texts. */
HRESULT registry_read_texts(struct registry_key *key, const char *name, struct texts *out);
/* Removes the value where the list is empty. E_INVALIDARG, naming the value: one of the texts is empty, which would end
   the list. */
HRESULT registry_write_texts(struct registry_key *key, const char *name, const struct texts *texts);

/* Providers of countersets (Perflib V2) as they are registered on this computer: below HKEY_LOCAL_MACHINE,
   SOFTWARE\Microsoft\Windows NT\CurrentVersion\Perflib\_V2Providers\{provider}\{counterset}. Windows keeps texts as
   numbers of resources there; ours are texts, which need no program that has them.

   Of a provider: ProviderName and ApplicationIdentity (texts), ProviderType (0 kernel, 1 user), and OpenPLAManifest,
   the manifest, which says that it is ours to replace and to remove. Of a counterset: Name, Help (texts), InstanceType,
   and lists (REG_MULTI_SZ) with the id of a counter before what is said of it: Counters (its name), Counters Help,
   Counters Definition ("TYPE DETAIL SCALE AGGREGATE ATTRIBUTES BASE"). Name and Counters alone are enough. */

/* Numbers of perflib.h. */
enum counter_aggregate {
    COUNTER_AGGREGATE_UNDEFINED,
    COUNTER_AGGREGATE_SUM,
    COUNTER_AGGREGATE_AVERAGE,
    COUNTER_AGGREGATE_MINIMUM,
    COUNTER_AGGREGATE_MAXIMUM
};
enum {
    COUNTER_BY_REFERENCE = 1,
    COUNTER_NOT_SHOWN = 2,
    COUNTER_NO_DIGIT_GROUPS = 4,
    COUNTER_AS_REAL = 8,
    COUNTER_AS_HEX = 16
};
enum { COUNTERSET_MULTIPLE = 2, COUNTERSET_AGGREGATE = 4, COUNTERSET_HISTORY = 8, COUNTERSET_BY_INSTANCE = 16 };

enum { REGISTERED_MOST_COUNTERS = 4095 /* of a counterset */, REGISTERED_MOST_SETS = 1000 /* of a provider */ };

struct registered_counter {
    uint32_t id, type, detail; /* PERF_DETAIL_ */
    int32_t scale;             /* power of ten */
    uint32_t aggregate;        /* enum counter_aggregate */
    uint32_t attributes;       /* COUNTER_BY_REFERENCE ... */
    uint32_t base;             /* id of its divisor, MAX: it says none */
    char *name, *help;         /* the latter may be NULL */
};
#define COUNTER_NO_ID UINT32_MAX

struct registered_set {
    GUID guid;
    char *name, *help;  /* the latter may be NULL */
    uint32_t instances; /* COUNTERSET_MULTIPLE ... */
    bool is_defined;    /* its counters have types; false: there are names alone */
    struct registered_counter *counters;
    size_t count, capacity;
};

struct registered_provider {
    GUID guid;
    char *name, *application; /* the latter may be NULL */
    bool is_kernel;
    char *manifest; /* NULL: not ours */
    struct registered_set *sets;
    size_t count, capacity;
};
struct registered_countersets {
    struct registered_provider *items;
    size_t count, capacity;
};

/* One more, all zero but its GUID; NULL when out of memory. */
struct registered_provider *registered_add_provider(struct registered_countersets *list, const GUID *guid);
struct registered_set *registered_add_set(struct registered_provider *p, const GUID *guid);
/* One more with that id, without a base; NULL when out of memory. */
struct registered_counter *registered_add_counter(struct registered_set *s, uint32_t id);
/* NULL: it has none. */
const struct registered_counter *registered_counter_of(const struct registered_set *s, uint32_t id);
void registered_provider_clear(struct registered_provider *p); /* all that it has */
void registered_countersets_free(struct registered_countersets *list);

/* All that is registered; what is damaged is left out. *out is empty on failure. */
HRESULT registered_countersets_read(struct registered_countersets *out);
/* One provider alone, in a list of one; S_FALSE with an empty list: it is not registered. */
HRESULT registered_provider_read(const GUID *guid, struct registered_countersets *out);
/* All of the list, or nothing: when it fails, what was registered before is so again. One of ours is replaced.
   ERROR_ALREADY_EXISTS's HRESULT: another program has registered a provider, or another provider a counterset, of the
   same GUID; `force` replaces the provider. */
HRESULT registered_countersets_write(const struct registered_countersets *list, bool force);
/* S_FALSE: it is not registered. ERROR_ACCESS_DENIED's HRESULT: another program has registered it, unless `force`. */
HRESULT registered_provider_remove(const GUID *guid, bool force);

#endif
