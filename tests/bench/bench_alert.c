/* SPDX-License-Identifier: MIT */
/* bench_alert: measures the cost of thresholds. Prints the ratio of two times: a sample of an alert collector with
   10,000 thresholds, none of which is crossed, and a sample of the same counters without thresholds. It does so for
   Windows' rule (an alert for each sample beyond the threshold), and for the rule that raises an alert only on a
   crossing. */
#include "engine/base/memory.h"
#include "engine/pdh/counter_paths.h"
#include "engine/pdh/counter_query.h"
#include "engine/pla/collect/alert_watch.h"
#include "engine/pla/collect/collect.h"
#include "engine/pla/model.h"

#include <stdio.h>
#include <time.h>

#define THRESHOLDS 10000
#define ROUNDS     10

static struct alert_rules rules;

static void note(void *user, HRESULT reason, const char *subject, const char *text)
{
    (void)user;
    (void)reason;
    (void)subject;
    (void)text;
}

static char *alert(void *user, const struct crossing *crossing)
{
    (void)user;
    (void)crossing;
    return NULL;
}

static void alert_rules(void *user, struct alert_rules *out)
{
    (void)user;
    *out = rules;
}

static int list_counters(const struct pdh_api *pdh, struct texts *paths)
{
    static const char *const objects[] = {
        "Process",           "Processor", "Memory", "System", "PhysicalDisk", "TCPv4",
        "Network Interface", "Cache",     "UDPv4",  "IPv4",   "ICMP",         "Thread"};
    struct texts all = {0};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < sizeof objects / sizeof objects[0] && all.count < THRESHOLDS; i++)
        (void)counter_paths_list(pdh, NULL, objects[i], true, &all);
    for (size_t i = 0; SUCCEEDED(hr) && i < all.count && i < THRESHOLDS; i++)
        hr = texts_add(paths, all.items[i]);
    texts_free(&all);
    return SUCCEEDED(hr) && paths->count;
}

/* Creates THRESHOLDS thresholds; if there are fewer counters, each has several. */
static HRESULT make_thresholds(const struct texts *paths, struct texts *out)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < THRESHOLDS; i++) {
        char *text = text_format("%s>%llu", paths->items[i % paths->count], 1000000000000000000ull + i);
        hr = text ? texts_add_owned(out, text) : E_OUTOFMEMORY;
    }
    return hr;
}

/* Returns us: the processor time of the whole process, because other threads read counters too. On Windows, clock() is
   wall time. */
static double now(void)
{
    return (double)clock() * 1e6 / CLOCKS_PER_SEC;
}

static double sample_alone(struct counter_query *query)
{
    const struct log_cell *cells;
    int64_t utc;
    double from = now();
    for (int i = 0; i < 3; i++)
        (void)counter_query_sample(query, &utc, &cells);
    return (now() - from) / 3;
}

static double sample_alert(struct collector *c)
{
    double from = now();
    for (int i = 0; i < 3; i++)
        (void)collector_sample(c);
    return (now() - from) / 3;
}

int main(void)
{
    struct texts paths = {0};
    struct object *model;
    struct counter_query *query;
    struct collector *c;
    struct counter_query_request request = {.paths = &paths, .values = true};
    const struct collect_context context = {.output_path = "",
                                            .output_base = "",
                                            .description = "",
                                            .note = note,
                                            .alert = alert,
                                            .alert_rules = alert_rules};
    if (FAILED(host_pdh(&request.pdh)) || !list_counters(request.pdh, &paths) ||
        FAILED(object_create(&alert_collector_class, NULL, &model)) ||
        FAILED(make_thresholds(&paths, &((struct alert_collector *)model)->AlertThresholds)) ||
        FAILED(counter_query_open(&request, &query)) || FAILED(collector_open(model, &context, &c))) {
        fprintf(stderr, "no counters\n");
        return 1;
    }
    size_t columns;
    counter_query_columns(query, &columns);
    for (int looks_back = 0; looks_back < 2; looks_back++) {
        double alone = 0, with = 0;
        rules.on_crossing = looks_back;
        (void)sample_alone(query);
        (void)sample_alert(c);
        for (int i = 0; i < ROUNDS; i++) { /* alternately, so that other load affects both */
            alone += sample_alone(query) / ROUNDS;
            with += sample_alert(c) / ROUNDS;
        }
        printf("%d thresholds of %u counters, %s: %.0f us a sample, the counters alone %.0f us: ratio %.2f\n",
               THRESHOLDS, (unsigned)columns, looks_back ? "on crossing" : "each sample", with, alone, with / alone);
    }
    (void)collector_close(c);
    counter_query_close(query);
    object_release(model);
    texts_free(&paths);
    return 0;
}
