/* SPDX-License-Identifier: MIT */
/* The registration of Perflib V2 countersets in the registry, and the string lists (REG_MULTI_SZ) that the
   registrations of countersets and of extension DLLs contain. */
#ifndef OPENPLA_PDH_COUNTERSET_REGISTRATION_H
#define OPENPLA_PDH_COUNTERSET_REGISTRATION_H

#include "engine/base/registry.h"
#include "engine/base/text.h"

/* String lists in registry values (REG_MULTI_SZ). Perflib's lists are pairs of a number and its string. */

/* Adds the value's strings to *out. S_FALSE if the value does not exist. If the value is not a string list, fails with
   HRESULT_FROM_WIN32(ERROR_INVALID_DATA) and a message that names the value. */
HRESULT registry_read_texts(struct registry_key *key, const char *name, struct texts *out);
/* Writes the list, or removes the value if the list is empty. If a string is empty, fails with E_INVALIDARG and a
   message that names the value, because an empty string would end the list. */
HRESULT registry_write_texts(struct registry_key *key, const char *name, const struct texts *texts);

/* The Perflib V2 providers that are registered on this computer, below HKEY_LOCAL_MACHINE in the keys
   SOFTWARE\Microsoft\Windows NT\CurrentVersion\Perflib\_V2Providers\{provider}\{counterset}. Windows stores resource
   numbers instead of strings in the keys of the providers. OpenPLA stores the strings, so no program with resources is
   needed. A provider has the values ProviderName and ApplicationIdentity (strings), ProviderType (0 kernel, 1 user),
   and OpenPLAManifest (the manifest). OpenPLAManifest marks the provider as registered by OpenPLA, so that OpenPLA may
   replace or remove it. A counterset has Name and Help (strings), InstanceType, and lists (REG_MULTI_SZ) of pairs, each
   a counter's id and a string. The lists are Counters (names), Counters Help, and Counters Definition ("TYPE DETAIL
   SCALE AGGREGATE ATTRIBUTES BASE"). Only Name and Counters are required. */

/* The numbers that perflib.h defines. */
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

enum { REGISTERED_MOST_COUNTERS = 4095 /* per counterset */, REGISTERED_MOST_SETS = 1000 /* per provider */ };

struct registered_counter {
    uint32_t id, type, detail; /* detail: PERF_DETAIL_* */
    int32_t scale;             /* power of ten */
    uint32_t aggregate;        /* enum counter_aggregate */
    uint32_t attributes;       /* COUNTER_BY_REFERENCE ... */
    uint32_t base;             /* id of the divisor; UINT32_MAX: not specified */
    char *name, *help;         /* help may be NULL */
};
#define COUNTER_NO_ID UINT32_MAX

struct registered_set {
    GUID guid;
    char *name, *help;  /* help may be NULL */
    uint32_t instances; /* COUNTERSET_MULTIPLE ... */
    bool is_defined;    /* the counters have types; false: only their names are known */
    struct registered_counter *counters;
    size_t count, capacity;
};

struct registered_provider {
    GUID guid;
    char *name, *application; /* application may be NULL */
    bool is_kernel;
    char *manifest; /* NULL: not registered by OpenPLA */
    struct registered_set *sets;
    size_t count, capacity;
};
struct registered_countersets {
    struct registered_provider *items;
    size_t count, capacity;
};

/* Appends a provider with the GUID and all other members zero; NULL if memory runs out. */
struct registered_provider *registered_add_provider(struct registered_countersets *list, const GUID *guid);
struct registered_set *registered_add_set(struct registered_provider *p, const GUID *guid);
/* Appends a counter with the id and no base; NULL if memory runs out. */
struct registered_counter *registered_add_counter(struct registered_set *s, uint32_t id);
/* Finds the counter with the id; NULL if it does not exist. */
const struct registered_counter *registered_counter_of(const struct registered_set *s, uint32_t id);
void registered_provider_clear(struct registered_provider *p); /* frees the members */
void registered_countersets_free(struct registered_countersets *list);

/* Reads all registered providers and ignores corrupt entries. *out is empty on failure. */
HRESULT registered_countersets_read(struct registered_countersets *out);
/* Reads one provider; the result is a list with one element, or S_FALSE and an empty list if the provider is not
   registered. */
HRESULT registered_provider_read(const GUID *guid, struct registered_countersets *out);
/* Registers all providers of the list or none: on failure the previous registration is restored. Replaces providers
   that OpenPLA registered. Fails with HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS) in two cases: `force` is not set and
   another program registered a provider with the same GUID; or a different provider has a counterset with the same
   GUID. */
HRESULT registered_countersets_write(const struct registered_countersets *list, bool force);
/* Removes a provider. S_FALSE if the provider is not registered. Fails with HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED) if
   another program registered the provider and `force` is not set. */
HRESULT registered_provider_remove(const GUID *guid, bool force);

#endif
