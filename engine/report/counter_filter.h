/* SPDX-License-Identifier: MIT */
/* Counter paths with wildcards that choose counters out of a log. */
#ifndef OPENPLA_COUNTER_FILTER_H
#define OPENPLA_COUNTER_FILTER_H

#include "engine/logs/log.h"

struct filter_pattern {
    char *text;
    struct log_counters parts; /* one: the pattern's; none when it is no path and is compared as a whole */
    char *instance;            /* "parent/instance#index" with wildcards; NULL: any, and none */
    bool used;                 /* something matched */
};

/* No pattern: everything matches. Zero-initialise. */
struct filter {
    struct filter_pattern *patterns;
    size_t count, capacity;
};

/* A pattern's computer may be left out: any. So may its instance: all of them. Case does not matter. */
HRESULT filter_add(struct filter *f, const char *pattern);
/* Does the counter match? For a wildcard counter `item` is one of its instances, NULL: may some of them match? */
HRESULT filter_matches(struct filter *f, const struct log_counter *counter, const char *item, bool *matches);
void filter_free(struct filter *f);

/* "parent/instance#index" of a counter; NULL in *out when it has none. */
HRESULT counter_instance(const struct log_counter *counter, char **out);

#endif
