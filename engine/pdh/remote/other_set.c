/* SPDX-License-Identifier: MIT */
/* Countersets by PerflibV2QueryCounterSetRegistrationInfo (MS-PCQ 3.1.4.1.2). */
#include "engine/pdh/remote/other_set.h"

#include "engine/base/memory.h"
#include "engine/pdh/formula.h"
#include "engine/pdh/remote/answer_walk.h"

#include <string.h>

/* Of one set; more than a provider's manifest may have. */
#define MOST_COUNTERS 4096u
#define ENGLISH       0x409u
/* PERF_*: which kind of calculation it is. */
#define CALCULATION   0x00070000u

static HRESULT not_valid(void)
{
    return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
}

static HRESULT ask(struct link *l, const char *machine, const GUID *guid, uint32_t code, uint32_t language,
                   struct link_answer *answer)
{
    struct ndr_call call = {
        .method = PCQ_REGISTRATION_INFO, .machine = machine, .set = *guid, .code = code, .language = language};
    return link_ask(l, &call, answer);
}

/* In English, where the host knows that question; else in its own language. Older Windows does not. */
static HRESULT ask_names(struct link *l, const char *machine, const GUID *guid, uint32_t english, uint32_t local,
                         struct link_answer *answer)
{
    HRESULT hr = ask(l, machine, guid, english, 0, answer);
    if (SUCCEEDED(hr) && answer->said.status)
        hr = ask(l, machine, guid, local, ENGLISH, answer);
    if (SUCCEEDED(hr) && answer->said.status)
        hr = ask(l, machine, guid, local, 0, answer);
    return hr;
}

/* What the answer has as a text; S_FALSE: it has none, or an empty one. */
static HRESULT one_text(const struct link_answer *answer, char **out)
{
    struct answer_text text;
    *out = NULL;
    if (answer->said.status || !answer_one_text(answer->said.data, answer->said.size, &text) || !text.units)
        return S_FALSE;
    return answer_text_copy(text, out);
}

/* A path takes a name apart at these. */
static bool may_be_in_path(const char *name)
{
    return !strchr(name, '\\');
}

HRESULT other_set_create(struct link *l, const char *machine, const GUID *guid, struct other_set **out)
{
    struct link_answer answer = {0};
    char *name = NULL;
    *out = NULL;
    HRESULT hr = ask_names(l, machine, guid, PCQ_SET_NAME_ENGLISH, PCQ_SET_NAME, &answer);
    if (SUCCEEDED(hr))
        hr = one_text(&answer, &name);
    link_answer_free(&answer);
    if (hr == S_OK && !may_be_in_path(name))
        hr = S_FALSE;
    struct other_set *s = hr == S_OK ? memory_zero(1, sizeof *s) : NULL;
    if (!s) {
        memory_free(name);
        return hr == S_OK ? E_OUTOFMEMORY : hr;
    }
    s->guid = *guid;
    s->name = name;
    *out = s;
    return S_OK;
}

static void forget(struct other_set *s)
{
    for (uint32_t i = 0; s->schemas && i < s->shown; i++) {
        memory_free((char *)s->schemas[i].name);
        memory_free((char *)s->schemas[i].help);
    }
    memory_free(s->help);
    memory_free(s->schemas);
    memory_free(s->columns);
    memory_free(s->ids);
    memory_free(s->functions);
}

void other_set_free(struct other_set *s)
{
    if (!s)
        return;
    forget(s);
    memory_free(s->name);
    memory_free(s);
}

uint32_t other_set_column(const struct other_set *s, uint32_t id, uint32_t hint)
{
    for (uint32_t i = 0; id != PCQ_ANY && i < s->count; i++) {
        uint32_t at = (hint % s->count + i) % s->count;
        if (s->ids[at] == id)
            return at;
    }
    return OTHER_NO_COLUMN;
}

/* The text of the counter out of the answer to PCQ_COUNTER_NAMES or PCQ_COUNTER_HELPS; the hosts' order is mostly that
   of the counters. S_FALSE: there is none. */
static HRESULT text_of(const struct link_answer *answer, uint32_t id, size_t hint, char **out)
{
    struct answer_text text;
    *out = NULL;
    if (answer->said.status || !answer_text_of(answer->said.data, answer->said.size, id, hint, &text) || !text.units)
        return S_FALSE;
    return answer_text_copy(text, out);
}

struct description {
    struct link_answer info, names, helps;
    struct pcq_set_info head;
};

static bool is_shown(const struct pcq_counter_info *c)
{
    return !(c->attributes & PCQ_NO_DISPLAY) && (c->type & CALCULATION) != PERF_COUNTER_BASE;
}

/* A counter that is shown, without what it is calculated with. S_FALSE: it has no name to be asked for by. */
static HRESULT add_shown(struct other_set *s, const struct description *d, const struct pcq_counter_info *c, size_t at)
{
    char *name, *help;
    HRESULT hr = text_of(&d->names, c->id, at, &name);
    if (hr != S_OK || !may_be_in_path(name)) {
        memory_free(name);
        return FAILED(hr) ? hr : S_FALSE;
    }
    hr = text_of(&d->helps, c->id, at, &help);
    if (hr == S_FALSE) {
        help = text_copy("");
        hr = help ? S_OK : E_OUTOFMEMORY;
    }
    if (FAILED(hr)) {
        memory_free(name);
        return hr;
    }
    s->schemas[s->shown] = (struct counter_schema){
        .name = name, .help = help, .type = c->type, .detail = c->detail, .scale = (LONG)c->scale, .source = NULL};
    s->ids[s->shown] = c->id;
    s->functions[s->shown++] = c->function;
    return S_OK;
}

static HRESULT add_counters(struct other_set *s, const struct description *d, bool shown)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < d->head.counters; i++) {
        struct pcq_counter_info c;
        answer_counter(d->info.said.data, i, &c);
        if (is_shown(&c) && shown) {
            hr = add_shown(s, d, &c, i);
            s->count = s->shown;
        } else if (!is_shown(&c) && !shown) {
            s->ids[s->count] = c.id;
            s->functions[s->count++] = c.function;
        }
    }
    return hr;
}

/* Which columns each counter that is shown is calculated with. A fraction without its base would divide by another
   counter: then it is what it counts, without a calculation. */
static void find_columns(struct other_set *s, const struct description *d)
{
    for (size_t i = 0; i < d->head.counters; i++) {
        struct pcq_counter_info c;
        answer_counter(d->info.said.data, i, &c);
        uint32_t at = other_set_column(s, c.id, (uint32_t)i);
        if (at >= s->shown)
            continue;
        uint32_t base = other_set_column(s, c.base, at + 1);
        s->columns[at] = (struct other_columns){other_set_column(s, c.time, at), other_set_column(s, c.freq, at),
                                                other_set_column(s, c.multi, at)};
        s->schemas[at].base = base;
        if (formula_is_fraction(c.type) && base == OTHER_NO_COLUMN)
            s->schemas[at].type = c.type & PERF_SIZE_LARGE ? PERF_COUNTER_LARGE_RAWCOUNT : PERF_COUNTER_RAWCOUNT;
    }
}

static HRESULT make(struct other_set *s, const struct description *d, char *help)
{
    struct other_set made = {.guid = s->guid, .name = s->name, .help = help};
    const size_t count = d->head.counters;
    made.schemas = memory_zero(count, sizeof *made.schemas);
    made.columns = memory_zero(count, sizeof *made.columns);
    made.ids = memory_zero(count, sizeof *made.ids);
    made.functions = memory_zero(count, sizeof *made.functions);
    bool room = made.schemas && made.columns && made.ids && made.functions;
    HRESULT hr = room ? add_counters(&made, d, true) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = add_counters(&made, d, false);
    if (SUCCEEDED(hr) && !made.shown)
        hr = not_valid();
    if (FAILED(hr)) {
        made.help = NULL; /* the caller's */
        forget(&made);
        return hr;
    }
    find_columns(&made, d);
    made.is_aggregate =
        (d->head.instance_type & 6) == 4; /* MS-PCQ 2.2.4.1: global aggregate, with and without history */
    made.has_instances = (d->head.instance_type & PCQ_MULTI_INSTANCE) != 0;
    made.described = true;
    *s = made;
    return S_OK;
}

HRESULT other_set_describe(struct other_set *s, struct link *l, const char *machine, bool *link_failed)
{
    struct description d = {0};
    struct link_answer help = {0};
    char *text = NULL;
    HRESULT hr = ask(l, machine, &s->guid, PCQ_SET_INFO, 0, &d.info);
    if (SUCCEEDED(hr) && SUCCEEDED(link_answer_result(&d.info)))
        hr = ask_names(l, machine, &s->guid, PCQ_COUNTER_NAMES_ENGLISH, PCQ_COUNTER_NAMES, &d.names);
    if (SUCCEEDED(hr) && SUCCEEDED(link_answer_result(&d.info)))
        hr = ask(l, machine, &s->guid, PCQ_COUNTER_HELPS, 0, &d.helps);
    if (SUCCEEDED(hr) && SUCCEEDED(link_answer_result(&d.info)))
        hr = ask(l, machine, &s->guid, PCQ_SET_HELP, 0, &help);
    *link_failed = FAILED(hr) && hr != E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = link_answer_result(&d.info);
    if (SUCCEEDED(hr) && (!answer_set(d.info.said.data, d.info.said.size, &d.head) || d.head.counters > MOST_COUNTERS ||
                          !d.head.counters))
        hr = not_valid();
    if (SUCCEEDED(hr))
        hr = one_text(&help, &text);
    if (hr == S_FALSE) {
        text = text_copy("");
        hr = text ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = make(s, &d, text);
    if (FAILED(hr))
        memory_free(text);
    link_answer_free(&d.info);
    link_answer_free(&d.names);
    link_answer_free(&d.helps);
    link_answer_free(&help);
    return hr;
}
