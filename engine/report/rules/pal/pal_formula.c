/* SPDX-License-Identifier: MIT */
/* Finds the formulas of computed counters: the arithmetic expression in the counter's code, or a known formula for the
   counter's name. PAL computes the counters for each sample. Rules compute them from the means of each slice; the
   result is the same if the values do not change within a slice. */
#include "engine/base/memory.h"
#include "engine/report/rules/pal/pal_machine.h"

#include <stdio.h>
#include <string.h>

/* Stores the expression in *out. Operands such as {palS3} are renamed to {palV0} ... in the order of their
   occurrence. */
static void formula_take(struct pal_machine *m, const struct pal_value *v, struct pal_formula *out)
{
    const char *value = v->text, *guard = v->guard ? v->guard : "";
    for (size_t i = 0; i < m->analysis->source_count; i++) {
        char from[24], to[24];
        snprintf(from, sizeof from, "{palS%u}", (unsigned)i);
        if (!strstr(value, from) && !strstr(guard, from))
            continue;
        if (out->count == PAL_OPERANDS_MAX) {
            out->why = "it is computed from too many counters";
            return;
        }
        snprintf(to, sizeof to, "{palV%u}", (unsigned)out->count);
        const char *const both[] = {value, guard};
        const char *changed[2];
        for (int k = 0; k < 2; k++) {
            struct text_buffer b = {0};
            for (const char *c = both[k]; *c;) {
                const bool here = !strncmp(c, from, strlen(from));
                text_buffer_add_n(&b, here ? to : c, here ? strlen(to) : 1);
                c += here ? strlen(from) : 1;
            }
            text_buffer_add(&b, "");
            changed[k] = pal_keep(m->pool, text_buffer_take(&b));
        }
        value = changed[0];
        guard = changed[1];
        out->operands[out->count++] = &m->analysis->sources[i];
    }
    out->value = value;
    out->guard = guard;
}

/* Returns the candidate whose text contains the texts of all other candidates; NULL if no candidate does. */
static const struct pal_value *largest(const struct pal_machine *m)
{
    for (size_t i = 0; i < m->candidate_count; i++) {
        size_t within = 0;
        for (size_t k = 0; k < m->candidate_count; k++)
            within += strstr(m->candidates[i].text, m->candidates[k].text) != NULL;
        if (within == m->candidate_count)
            return &m->candidates[i];
    }
    return NULL;
}

static const struct pal_source *counter_named(const struct pal_analysis *a, const char *pattern,
                                              const struct pal_source *except)
{
    for (size_t i = 0; i < a->source_count; i++)
        if (!a->sources[i].generated && &a->sources[i] != except && text_matches(pattern, a->sources[i].counter))
            return &a->sources[i];
    return NULL;
}

/* Recognises a computed counter by its name and its operands. If `wrong` is set, recognises only the counters whose
   code in PAL is known to be wrong; if it is not set, recognises only the other counters. */
static bool formula_known(struct pal_set *set, const struct pal_analysis *a, const struct pal_source *s, bool wrong,
                          struct pal_formula *out)
{
    static const struct {
        const char *name, *first, *second, *value, *guard;
        bool wrong;
    } all[] = {
        {"*latch wait time*", "Total Latch Wait Time*", "Latch Waits/sec", "({palV0} div {palV1})", "{palV1} > 0",
         true},
        {"*failed connections*", "*fail*", "*success*", "(100 * {palV0} div ({palV0} + {palV1}))",
         "{palV0} + {palV1} > 0", true},
        {"*lock requests to batch requests*", "Lock Requests/sec", "Batch Requests/sec", "({palV0} div {palV1})",
         "{palV1} > 0", false},
        {"*to batch requests*", "*", "Batch Requests/sec", "(100 * {palV0} div {palV1})", "{palV1} > 0", false},
        {"*plan re-use*", "Batch Requests/sec", "SQL Compilations/sec", "(100 * ({palV0} - {palV1}) div {palV0})",
         "{palV0} > 0", false},
        {"*index searches to full scans*", "Full Scans/sec", "Index Searches/sec", "(100 * {palV0} div {palV1})",
         "{palV1} > 0", false},
        {"*re-compilations to compilations*", "SQL Re-Compilations/sec", "SQL Compilations/sec",
         "(100 * {palV0} div {palV1})", "{palV1} > 0", false},
        {"*readahead*to page reads*", "Readahead pages/sec", "Page reads/sec", "(100 * {palV0} div {palV1})",
         "{palV1} > 0", false},
        {"*target and total server memory*", "Target Server Memory*", "Total Server Memory*", "({palV0} - {palV1})", "",
         false},
        {"*", "Bytes*/sec", "Current Bandwidth", "(100 * 8 * {palV0} div {palV1})", "{palV1} > 0", false},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].wrong != wrong || !text_matches(all[i].name, s->path))
            continue;
        const struct pal_source *second = counter_named(a, all[i].second, NULL);
        const struct pal_source *first = counter_named(a, all[i].first, second);
        if (!first || !second)
            continue;
        *out =
            (struct pal_formula){.operands = {first, second}, .count = 2, .value = all[i].value, .guard = all[i].guard};
        if (wrong)
            out->note = pal_format(
                &set->pool,
                "'%.100s' is computed as the counter's name says; the code in PAL's file computes the reverse",
                s->path);
        return true;
    }
    return false;
}

HRESULT pal_formula_read(struct pal_set *set, const struct pal_analysis *a, const struct pal_source *s,
                         struct pal_formula *out)
{
    struct pal_outcome ignored = {0};
    struct pal_machine m = {.set = set, .pool = &set->pool, .analysis = a, .computes = true, .out = &ignored};
    bool empty = false, old = false;
    *out = (struct pal_formula){0};
    HRESULT hr = S_OK;
    if (!formula_known(set, a, s, true, out)) {
        hr = pal_machine_run(&m, s->code, &empty, &old);
        const struct pal_value *found = largest(&m);
        if (SUCCEEDED(hr) && found)
            formula_take(&m, found, out);
        else if (!formula_known(set, a, s, false, out))
            out->why = pal_format(&set->pool, "the computation of '%.100s' is not supported", s->path);
        memory_free(m.candidates);
    }
    for (size_t i = 0; i < out->count && !out->why; i++)
        if (!out->operands[i]->rows || out->operands[i]->generated)
            out->why = !out->operands[i]->rows && out->operands[i]->why ? out->operands[i]->why
                                                                        : "it is computed from a computed counter";
    return hr;
}
