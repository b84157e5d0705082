/* SPDX-License-Identifier: MIT */
/* Reads the options of openpla serve and openpla push that select counters, and opens an exporter for these
   counters. */
#include "cli/cli.h"
#include "cli/counters/counter_list.h"
#include "cli/counters/sample_pace.h"
#include "cli/live/live.h"
#include "cli/serve/serve.h"
#include "engine/base/memory.h"
#include "engine/pdh/counter_query.h"

#include <stdio.h>

static int check_names(const char *verb, struct exporting *x)
{
    static const char *const words[] = {[NAMES_BOTH] = "both", [NAMES_NEW] = "new", [NAMES_OLD] = "old"};
    if (x->names && !x->preset)
        return cli_usage(verb, "-names requires -preset");
    for (size_t i = 0; x->names && i < sizeof words / sizeof *words; i++)
        if (text_equal_nocase(x->names, words[i])) {
            x->which_names = (enum export_names)i;
            return CLI_DONE;
        }
    return x->names ? cli_usage(verb, "-names: invalid value '%s': expected both, new or old", x->names) : CLI_DONE;
}

int exporting_check(const char *verb, struct exporting *x)
{
    if (x->preset && !text_equal_nocase(x->preset, "windows_exporter"))
        return cli_usage(verb, "-preset: unknown preset '%s': expected windows_exporter", x->preset);
    if (!x->counters.count && !x->counter_file && !x->set && !x->preset)
        return cli_usage(verb, "missing counter");
    return check_names(verb, x);
}

HRESULT exporting_find_counters(struct exporting *x)
{
    HRESULT hr = x->counter_file ? lines_read(x->counter_file, &x->counters) : S_OK;
    if (SUCCEEDED(hr) && x->set)
        hr = live_set_counters(x->set, &x->counters, &x->interval_ms);
    if (SUCCEEDED(hr) && x->counters.count == 0 && !x->preset)
        hr = error_set(E_INVALIDARG, "-cf: '%s' has no counters", x->counter_file);
    for (size_t i = 0; i < x->counters.count && SUCCEEDED(hr); i++) {
        char *path = counter_full_path(x->counters.items[i], x->machine);
        hr = path ? texts_add_owned(&x->paths, path) : E_OUTOFMEMORY;
    }
    return hr;
}

static char *explain(void *user, const char *path, HRESULT reason)
{
    return counter_nearest_text(user, path, reason);
}

HRESULT exporting_open(const char *verb, const struct exporting *x, bool values, struct exporter **out)
{
    struct counter_nearest nearest = {0};
    const struct exporter_settings settings = {.paths = &x->paths,
                                               .totals = x->totals,
                                               .preset = x->preset != NULL,
                                               .values = values,
                                               .names = x->which_names,
                                               .explain = explain,
                                               .user = &nearest};
    *out = NULL;
    HRESULT hr = host_pdh(&nearest.pdh);
    if (SUCCEEDED(hr))
        hr = exporter_open(&settings, out);
    for (size_t i = 0; SUCCEEDED(hr) && i < exporter_refused(*out)->count; i++)
        fprintf(stderr, "openpla %s: %s\n", verb, exporter_refused(*out)->items[i]);
    counter_nearest_free(&nearest);
    return hr;
}

void exporting_free(struct exporting *x)
{
    texts_free(&x->counters);
    texts_free(&x->paths);
}
