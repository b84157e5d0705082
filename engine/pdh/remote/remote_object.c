/* SPDX-License-Identifier: MIT */
/* Countersets of a remote computer, and the counter objects that are built from its answers. */
#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/pdh/formula.h"
#include "engine/pdh/remote/blocks.h"
#include "engine/pdh/remote/remote_computer.h"

#include <string.h>

/* Maximum per counterset; greater than the maximum of a Perflib manifest. */
#define MOST_COUNTERS 4096u
#define ENGLISH       0x409u
/* The bits of a PERF_* type that select the kind of calculation. */
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

/* Requests names in English, or in the remote computer's language if the computer does not support English (older
   Windows versions do not). */
static HRESULT ask_names(struct link *l, const char *machine, const GUID *guid, uint32_t english, uint32_t local,
                         struct link_answer *answer)
{
    HRESULT hr = ask(l, machine, guid, english, 0, answer);
    if (SUCCEEDED(hr) && answer->decoded.status)
        hr = ask(l, machine, guid, local, ENGLISH, answer);
    if (SUCCEEDED(hr) && answer->decoded.status)
        hr = ask(l, machine, guid, local, 0, answer);
    return hr;
}

/* Copies the string of the answer; S_FALSE if it is missing or empty. */
static HRESULT one_text(const struct link_answer *answer, char **out)
{
    struct answer_text text;
    *out = NULL;
    if (answer->decoded.status || !answer_one_text(answer->decoded.data, answer->decoded.size, &text) || !text.units)
        return S_FALSE;
    return answer_text_copy(text, out);
}

/* Returns true if a path can contain the name. */
static bool may_be_in_path(const char *name)
{
    return !strchr(name, '\\');
}

HRESULT remote_set_create(struct link *l, const char *machine, const GUID *guid, struct remote_set **out)
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
    struct remote_set *s = hr == S_OK ? memory_zero(1, sizeof *s) : NULL;
    if (!s) {
        memory_free(name);
        return hr == S_OK ? E_OUTOFMEMORY : hr;
    }
    s->guid = *guid;
    s->name = name;
    *out = s;
    return S_OK;
}

static void set_free_description(struct remote_set *s)
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

void remote_set_free(struct remote_set *s)
{
    if (!s)
        return;
    set_free_description(s);
    memory_free(s->name);
    memory_free(s);
}

uint32_t remote_set_column(const struct remote_set *s, uint32_t id, uint32_t hint)
{
    for (uint32_t i = 0; id != PCQ_ANY && i < s->count; i++) {
        uint32_t at = (hint % s->count + i) % s->count;
        if (s->ids[at] == id)
            return at;
    }
    return REMOTE_NO_COLUMN;
}

/* Copies the string of the counter from the answer to PCQ_COUNTER_NAMES or PCQ_COUNTER_HELPS. The answer usually has
   the strings in the order of the counters, so the search begins at `hint`. S_FALSE if the string does not exist. */
static HRESULT text_of(const struct link_answer *answer, uint32_t id, size_t hint, char **out)
{
    struct answer_text text;
    *out = NULL;
    if (answer->decoded.status || !answer_text_of(answer->decoded.data, answer->decoded.size, id, hint, &text) ||
        !text.units)
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

/* Adds a visible counter without its columns. S_FALSE if the counter has no usable name. */
static HRESULT add_shown(struct remote_set *s, const struct description *d, const struct pcq_counter_info *c, size_t at)
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

static HRESULT add_counters(struct remote_set *s, const struct description *d, bool shown)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; SUCCEEDED(hr) && i < d->head.counters; i++) {
        struct pcq_counter_info c;
        answer_counter(d->info.decoded.data, i, &c);
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

/* Finds the columns from which each visible counter is computed. A fraction without a base becomes a plain number,
   because PDH would otherwise divide it by a different counter. */
static void find_columns(struct remote_set *s, const struct description *d)
{
    for (size_t i = 0; i < d->head.counters; i++) {
        struct pcq_counter_info c;
        answer_counter(d->info.decoded.data, i, &c);
        uint32_t at = remote_set_column(s, c.id, (uint32_t)i);
        if (at >= s->shown)
            continue;
        uint32_t base = remote_set_column(s, c.base, at + 1);
        s->columns[at] = (struct remote_columns){remote_set_column(s, c.time, at), remote_set_column(s, c.freq, at),
                                                 remote_set_column(s, c.multi, at)};
        s->schemas[at].base = base;
        if (formula_is_fraction(c.type) && base == REMOTE_NO_COLUMN)
            s->schemas[at].type = c.type & PERF_SIZE_LARGE ? PERF_COUNTER_LARGE_RAWCOUNT : PERF_COUNTER_RAWCOUNT;
    }
}

static HRESULT set_create_description(struct remote_set *s, const struct description *d, char *help)
{
    struct remote_set made = {.guid = s->guid, .name = s->name, .help = help};
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
        made.help = NULL; /* owned by the caller */
        set_free_description(&made);
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

HRESULT remote_set_describe(struct remote_set *s, struct link *l, const char *machine, bool *link_failed)
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
    if (SUCCEEDED(hr) && (!answer_set(d.info.decoded.data, d.info.decoded.size, &d.head) ||
                          d.head.counters > MOST_COUNTERS || !d.head.counters))
        hr = not_valid();
    if (SUCCEEDED(hr))
        hr = one_text(&help, &text);
    if (hr == S_FALSE) {
        text = text_copy("");
        hr = text ? S_OK : E_OUTOFMEMORY;
    }
    if (SUCCEEDED(hr))
        hr = set_create_description(s, &d, text);
    if (FAILED(hr))
        memory_free(text);
    link_answer_free(&d.info);
    link_answer_free(&d.names);
    link_answer_free(&d.helps);
    link_answer_free(&help);
    return hr;
}

/* ---- objects ---- */

/* Values are stored as they were received. Rates use the remote clock, but the time of a sample is this computer's
   time, as for all objects in a log. */

/* Maximum numbers per object. If a computer exceeds one of these limits, only that computer's counters are lost. */
#define MOST_INSTANCES 32768u
#define MOST_IDS       8192u
#define MOST_VALUES    (4u << 20) /* total of all instances */

/* A remote computer, as used by one catalogue. */
struct machine {
    struct remote_query *query;
    size_t known; /* number of the computer's countersets that already became objects or cannot become objects */
};

struct remote_object {
    struct counter_object_type type; /* must be the first member */
    struct remote_query *query;
    struct remote_set *set;
};

struct remote_objects {
    struct machine *machines;
    size_t count, capacity;
    struct remote_object **objects;
    size_t object_count, object_capacity;
};

/* The state of an object between samples. */
struct remote_sample {
    bool open;
    int64_t ticks, utc;                /* the remote computer's time */
    struct answer_instance *instances; /* the names are borrowed from the answer */
    uint32_t *places;                  /* for each value: the index of its column in the answer's rows */
    size_t instance_capacity, place_capacity;
    uint64_t names; /* hash of the instances' names */
};

static void close_sample(struct counter_object *o)
{
    struct remote_sample *s = o->state;
    memory_free(s->instances);
    memory_free(s->places);
}

/* Replaces characters that would end the instance in a path. "/" is kept, because a name may be "parent/name". */
static void make_safe(char *name)
{
    if (strpbrk(name, "()\\"))
        instance_name_make_safe(name);
}

static HRESULT make_list(struct counter_object *o, size_t count)
{
    const struct remote_sample *s = o->state;
    char **names = memory_zero(count, sizeof *names);
    uint64_t *keys = memory_zero(count, sizeof *keys);
    HRESULT hr = names && keys ? S_OK : E_OUTOFMEMORY;
    for (size_t i = 0; SUCCEEDED(hr) && i < count; i++) {
        hr = answer_text_copy(s->instances[i].name, &names[i]);
        keys[i] = s->instances[i].id;
        if (SUCCEEDED(hr))
            make_safe(names[i]);
    }
    struct instance_list *list =
        SUCCEEDED(hr) ? instance_list_create_ready(count, (const char *const *)names, keys) : NULL;
    if (list)
        counter_object_set_instances(o, list);
    else if (SUCCEEDED(hr))
        hr = E_OUTOFMEMORY;
    for (size_t i = 0; names && i < count; i++)
        memory_free(names[i]);
    memory_free(names);
    memory_free(keys);
    return hr;
}

/* Creates a new list only if the instances have changed, so that cached positions stay valid. */
static HRESULT name_instances(struct counter_object *o, size_t count)
{
    struct remote_sample *s = o->state;
    uint64_t names = HASH_START;
    for (size_t i = 0; i < count; i++) {
        const struct answer_text name = s->instances[i].name;
        names = hash_number(hash_bytes(names, name.at, name.units * 2), s->instances[i].id);
    }
    if (o->instances && names == s->names)
        return S_OK;
    HRESULT hr = make_list(o, count);
    s->names = SUCCEEDED(hr) ? names : 0;
    return hr;
}

static bool room_for_instance(struct remote_sample *s, size_t count)
{
    void *instances = s->instances;
    bool room = memory_grow(&instances, &s->instance_capacity, count, sizeof *s->instances);
    s->instances = instances;
    return room;
}

/* Opens the object with its instances but without values. Listing the instances costs the remote computer less than
   taking a sample. Most objects are opened only for a list or an expansion and are closed without a sample. */
static HRESULT open_object(struct counter_object *o, struct remote_object *object)
{
    struct remote_sample *s = o->state;
    struct answer_place place = {0};
    struct remote_set *set = object->set;
    HRESULT hr = remote_query_describe(object->query, set, &place);
    if (FAILED(hr))
        return hr;
    object->type.help = set->help;
    object->type.has_instances = set->has_instances;
    object->type.counters = set->schemas;
    object->type.counter_count = set->shown;
    object->type.value_count = set->count;
    size_t count = 0;
    struct answer_instance instance;
    while (set->has_instances && count < MOST_INSTANCES && place.at && answer_next_instance(&place, &instance)) {
        if (!room_for_instance(s, count + 1))
            return E_OUTOFMEMORY;
        s->instances[count++] = instance;
    }
    hr = set->has_instances ? name_instances(o, count) : S_OK;
    s->open = SUCCEEDED(hr);
    return hr; /* the object has no rows until it has values */
}

static HRESULT find_places(struct remote_sample *s, const struct remote_set *set, const struct answer_block *b)
{
    void *places = s->places;
    if (!b->ids || b->counters > MOST_IDS)
        return not_valid();
    bool room = memory_grow(&places, &s->place_capacity, b->counters, sizeof *s->places);
    s->places = places;
    for (size_t i = 0; room && i < b->counters; i++)
        s->places[i] = remote_set_column(set, answer_block_id(b, i), (uint32_t)i);
    return room ? S_OK : E_OUTOFMEMORY;
}

static int64_t combine_values(int64_t sum, int64_t value, uint32_t function)
{
    if (sum == VALUE_ABSENT)
        return value;
    if (function == AGGREGATE_MINIMUM)
        return value < sum ? value : sum;
    if (function == AGGREGATE_MAXIMUM)
        return value > sum ? value : sum;
    return (int64_t)((uint64_t)sum + (uint64_t)value);
}

/* Copies one row of the answer. False if the answer ends within the row. */
static bool read_row(const struct remote_sample *s, const struct remote_set *set, struct answer_block *b, int64_t *row)
{
    for (size_t i = 0; i < b->counters; i++) {
        struct answer_value v;
        if (!answer_next_value(&b->values, &v))
            return false;
        uint32_t at = s->places[i];
        if (v.present && at != REMOTE_NO_COLUMN)
            row[at] = set->is_aggregate ? combine_values(row[at], v.value, set->functions[at]) : v.value;
    }
    return true;
}

static HRESULT read_rows(struct counter_object *o, const struct remote_set *set, struct answer_block *b)
{
    struct remote_sample *s = o->state;
    size_t rows = b->rows < MOST_INSTANCES ? b->rows : MOST_INSTANCES, count = 0;
    if (rows > MOST_VALUES / set->count || (set->has_instances && !b->named))
        return not_valid();
    HRESULT hr = counter_object_set_rows(o, set->has_instances ? rows : 1);
    for (; SUCCEEDED(hr) && count < rows; count++) {
        if (!room_for_instance(s, count + 1))
            return E_OUTOFMEMORY;
        if (b->named && !answer_next_instance(&b->values, &s->instances[count]))
            return not_valid();
        if (!read_row(s, set, b, counter_object_row(o, set->has_instances ? count : 0)))
            return not_valid();
        if (!set->has_instances && !set->is_aggregate)
            break;
    }
    for (uint32_t i = 0; SUCCEEDED(hr) && set->is_aggregate && count && i < set->count; i++)
        if (set->functions[i] == AGGREGATE_AVERAGE && *(counter_object_row(o, 0) + i) != VALUE_ABSENT)
            *(counter_object_row(o, 0) + i) /= (int64_t)count;
    return SUCCEEDED(hr) && set->has_instances ? name_instances(o, count) : hr;
}

/* Converts an error of a remote computer to the PDH status that the missing values get: access denied, or no such
   computer. Returns a success code, E_OUTOFMEMORY and the error for an invalid answer unchanged. */
static HRESULT status_for_user(HRESULT hr)
{
    const HRESULT denied = HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED);
    if (SUCCEEDED(hr) || hr == E_OUTOFMEMORY || hr == not_valid())
        return hr;
    return hr == denied ? (HRESULT)PDH_ACCESS_DENIED : (HRESULT)PDH_CSTATUS_NO_MACHINE;
}

static HRESULT remote_object_sample(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)source;
    (void)wanted;
    struct remote_object *object = (struct remote_object *)o->type;
    struct remote_sample *s = o->state;
    struct pcq_data head;
    struct answer_block block;
    o->present = UINT64_MAX;
    o->time = (struct source_time){clock_utc(), clock_ticks()};
    if (!s->open)
        return status_for_user(open_object(o, object));
    HRESULT hr = remote_query_values(object->query, object->set, &head, &block);
    o->time = (struct source_time){clock_utc(), clock_ticks()};
    if (SUCCEEDED(hr))
        hr = find_places(s, object->set, &block);
    if (SUCCEEDED(hr))
        hr = read_rows(o, object->set, &block);
    if (SUCCEEDED(hr)) {
        s->ticks = (int64_t)head.ticks;
        s->utc = (int64_t)head.utc;
    }
    return status_for_user(hr);
}

static int64_t value_at(const int64_t *row, uint32_t column, int64_t otherwise)
{
    return column == REMOTE_NO_COLUMN || row[column] == VALUE_ABSENT ? otherwise : row[column];
}

static bool is_in_units(DWORD type)
{
    return (type & (PERF_TIMER_100NS | PERF_OBJECT_TIMER)) != 0;
}

#define UNITS 10000000 /* units of 100 ns per second */

static int64_t in_units(int64_t ticks, int64_t frequency)
{
    return (int64_t)((double)ticks / (double)frequency * UNITS);
}

static void remote_object_raw(const struct counter_object *o, size_t row, uint32_t counter, PDH_RAW_COUNTER *out)
{
    const struct remote_sample *s = o->state;
    const struct remote_set *set = ((const struct remote_object *)o->type)->set;
    const struct counter_schema *c = &set->schemas[counter];
    const struct remote_columns *columns = &set->columns[counter];
    const int64_t *values = o->values + row * set->count;
    if (values[counter] == VALUE_ABSENT)
        return;
    out->CStatus = PDH_CSTATUS_VALID_DATA;
    out->FirstValue = values[counter];
    out->MultiCount = (DWORD)value_at(values, columns->multi, 1);
    if (formula_is_fraction(c->type))
        out->SecondValue = value_at(values, c->base, 0);
    else if (c->type & PERF_TYPE_COUNTER)
        out->SecondValue = value_at(values, columns->time, is_in_units(c->type) ? s->utc : s->ticks);
    /* The counter has its own clock: convert both times to the ticks that PDH assumes for such a counter. */
    int64_t frequency = value_at(values, columns->frequency, 0);
    if (frequency > 0 && frequency != UNITS && c->type & PERF_OBJECT_TIMER) {
        out->FirstValue = in_units(out->FirstValue, frequency);
        out->SecondValue = in_units(out->SecondValue, frequency);
    }
}

static int64_t time_base(const struct counter_object *o, uint32_t counter)
{
    const struct remote_object *object = (const struct remote_object *)o->type;
    const DWORD type = object->set->schemas[counter].type;
    const int64_t host = remote_query_frequency(object->query);
    return host > 0 && !is_in_units(type) ? host : formula_time_base(type);
}

static void free_objects(struct remote_objects *all)
{
    for (size_t i = 0; i < all->object_count; i++)
        memory_free(all->objects[i]);
    for (size_t i = 0; i < all->count; i++)
        remote_query_close(all->machines[i].query);
    memory_free(all->objects);
    memory_free(all->machines);
    memory_free(all);
}

static HRESULT add_object(struct remote_objects *all, struct machine *m, struct remote_set *set, struct catalogue *c)
{
    struct remote_object *object = memory_zero(1, sizeof *object);
    void *objects = all->objects;
    bool room = memory_grow(&objects, &all->object_capacity, all->object_count + 1, sizeof *all->objects);
    all->objects = objects;
    if (!object || !room) {
        memory_free(object);
        return E_OUTOFMEMORY;
    }
    object->query = m->query;
    object->set = set;
    object->type = (struct counter_object_type){.name = set->name,
                                                .help = "",
                                                .machine = remote_computer_name(remote_query_computer(m->query)),
                                                .at_once = true,
                                                .sample = remote_object_sample,
                                                .raw = remote_object_raw,
                                                .time_base = time_base,
                                                .state_size = sizeof(struct remote_sample),
                                                .close = close_sample};
    if (!catalogue_add(c, &object->type)) {
        memory_free(object);
        return E_OUTOFMEMORY;
    }
    all->objects[all->object_count++] = object;
    return S_OK;
}

static struct machine *find_machine(struct remote_objects *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (text_equal_nocase(remote_computer_name(remote_query_computer(all->machines[i].query)), name))
            return &all->machines[i];
    return NULL;
}

static HRESULT add_machine(struct remote_objects *all, const char *name, struct machine **out)
{
    void *machines = all->machines;
    bool room = memory_grow(&machines, &all->capacity, all->count + 1, sizeof *all->machines);
    all->machines = machines;
    struct machine m = {0};
    HRESULT hr = room ? remote_query_open(name, &m.query) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr)) {
        all->machines[all->count] = m;
        *out = &all->machines[all->count++];
    }
    return hr;
}

/* Adds the computer's new objects. Requests the list only if this catalogue has no objects of the computer yet or if
   `search_again` is set. */
static PDH_STATUS remote_objects_connect(struct remote_objects **all, const char *machine, bool search_again,
                                         struct catalogue *c)
{
    if (!*all)
        *all = memory_zero(1, sizeof **all);
    if (!*all)
        return PDH_MEMORY_ALLOCATION_FAILURE;
    struct machine *m = find_machine(*all, machine);
    HRESULT hr = S_OK;
    if (!m)
        hr = add_machine(*all, machine, &m);
    if (SUCCEEDED(hr) && (search_again || !m->known))
        hr = remote_query_list(m->query);
    struct remote_set *set;
    while (SUCCEEDED(hr) && (set = remote_computer_set(remote_query_computer(m->query), m->known))) {
        hr = add_object(*all, m, set, c);
        m->known += SUCCEEDED(hr);
    }
    if (hr == HRESULT_FROM_WIN32(ERROR_ACCESS_DENIED))
        return PDH_ACCESS_DENIED;
    return pdh_status_of(hr, PDH_CSTATUS_NO_MACHINE);
}

/* Sends the requests to all computers before it waits for the first answer. */
static void begin(struct remote_objects *all)
{
    for (size_t i = 0; i < all->count; i++)
        remote_query_begin(all->machines[i].query);
}

const struct catalogue_remote remote_catalogue_functions = {
    .connect = remote_objects_connect, .begin = begin, .close = free_objects};
