/* SPDX-License-Identifier: MIT */
/* A query's task on the computer's thread, and its handle on the remote computer (MS-PCQ 3.1.4.1.4 to 3.1.4.1.8). */
#include "engine/base/debug_trace.h"
#include "engine/base/memory.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/remote/remote_computer.h"

#include <string.h>

enum what { ASK_LIST, ASK_SET, ASK_VALUES, ASK_NOTHING };

/* A counterset whose values are requested. */
struct remote_use {
    const struct remote_set *set;
    bool sampled;   /* the counterset was sampled since remote_query_begin */
    HRESULT result; /* result of adding the counterset to the remote query */
    uint32_t index; /* index of the counterset's block in the data */
};

struct remote_uses {
    struct remote_use *items;
    size_t count, capacity;
};

/* The query's thread changes these members, except `sampled`, only while the task does not run. */
struct remote_query {
    struct remote_task task; /* must be the first member */
    struct remote_computer *computer;
    enum what what;
    struct remote_set *set; /* for ASK_SET */
    struct remote_uses uses;
    bool changed; /* `uses` no longer matches the countersets of the remote handle */
    bool fresh;   /* the values have not been used yet */
    bool waited;  /* a wait timed out in this sample, or the last request failed: do not wait again */
    struct link_answer answer;
    int64_t frequency;
    /* State on the remote computer: */
    bool has_handle;
    uint8_t handle[NDR_HANDLE_BYTES];
    uint64_t epoch; /* epoch of the link to which the handle belongs */
};

static HRESULT method_result(HRESULT hr, const struct link_answer *answer, bool *link_failed)
{
    *link_failed = FAILED(hr) && hr != E_OUTOFMEMORY;
    return FAILED(hr) ? hr : link_answer_result(answer);
}

static struct answer_place place_of(const struct link_answer *answer)
{
    const uint8_t *at = answer->decoded.data;
    return (struct answer_place){at, at ? at + answer->decoded.size : NULL};
}

static HRESULT ask_on_handle(struct remote_query *q, struct link *l, enum pcq_method method, struct link_answer *answer,
                             bool *link_failed)
{
    struct ndr_call call = {.method = method};
    memcpy(call.handle, q->handle, sizeof call.handle);
    return method_result(link_ask(l, &call, answer), answer, link_failed);
}

static void close_handle(struct remote_query *q, struct link *l, uint64_t epoch, bool *link_failed)
{
    struct link_answer answer = {0};
    if (q->has_handle && q->epoch == epoch)
        ask_on_handle(q, l, PCQ_CLOSE_QUERY, &answer, link_failed);
    link_answer_free(&answer);
    q->has_handle = false;
}

static HRESULT open_handle(struct remote_query *q, struct link *l, uint64_t epoch, bool *link_failed)
{
    struct link_answer answer = {0};
    struct ndr_call call = {.method = PCQ_OPEN_QUERY, .machine = remote_computer_name(q->computer)};
    HRESULT hr = method_result(link_ask(l, &call, &answer), &answer, link_failed);
    if (SUCCEEDED(hr)) {
        memcpy(q->handle, answer.decoded.handle, sizeof q->handle);
        q->has_handle = true;
        q->epoch = epoch;
    }
    link_answer_free(&answer);
    return hr;
}

/* Size of an identifier for all counters of a counterset in all instances: the header, then L"*" or L"", and zeros up
   to a multiple of 8 bytes. */
#define IDENTIFIER_BYTES (sizeof(struct pcq_identifier) + 8)

static void put_identifier(uint8_t *at, const struct remote_set *s)
{
    const struct pcq_identifier head = {
        .guid = s->guid, .size = IDENTIFIER_BYTES, .counter = PCQ_ANY, .instance = PCQ_ANY};
    memset(at, 0, IDENTIFIER_BYTES);
    memcpy(at, &head, sizeof head);
    put_u16(at + sizeof head, s->has_instances || s->is_aggregate ? '*' : 0);
}

/* Stores the result of adding each counterset to the remote query. The n-th identifier of the answer has the status of
   the n-th use. */
static void note_added(struct remote_uses *uses, const struct link_answer *answer)
{
    struct answer_place place = place_of(answer);
    for (size_t i = 0; i < uses->count; i++) {
        struct answer_identifier id;
        uses->items[i].result = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
        if (answer_next_identifier(&place, &id))
            uses->items[i].result = id.head.status ? HRESULT_FROM_WIN32(id.head.status) : S_OK;
    }
}

/* Finds the positions of the added countersets' blocks in the data. */
static HRESULT find_blocks(struct remote_query *q, struct remote_uses *uses, struct link *l, bool *link_failed)
{
    struct link_answer answer = {0};
    HRESULT hr = ask_on_handle(q, l, PCQ_QUERY_INFO, &answer, link_failed);
    for (size_t i = 0; SUCCEEDED(hr) && i < uses->count; i++) {
        struct answer_place place = place_of(&answer);
        struct remote_use *u = &uses->items[i];
        struct answer_identifier id;
        bool found = false;
        while (!found && answer_next_identifier(&place, &id))
            found = guid_equal(&id.head.guid, &u->set->guid);
        if (found)
            u->index = id.head.index;
        else if (SUCCEEDED(u->result))
            u->result = HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    }
    link_answer_free(&answer);
    return hr;
}

static HRESULT add_sets(struct remote_query *q, struct remote_uses *uses, struct link *l, bool *link_failed)
{
    const size_t size = uses->count * IDENTIFIER_BYTES;
    uint8_t *identifiers = memory_alloc(size);
    struct link_answer answer = {0};
    if (!identifiers)
        return E_OUTOFMEMORY;
    for (size_t i = 0; i < uses->count; i++)
        put_identifier(identifiers + i * IDENTIFIER_BYTES, uses->items[i].set);
    struct ndr_call call = {.method = PCQ_VALIDATE_COUNTERS, .data = identifiers, .size = (uint32_t)size, .add = true};
    memcpy(call.handle, q->handle, sizeof call.handle);
    HRESULT hr = method_result(link_ask(l, &call, &answer), &answer, link_failed);
    if (SUCCEEDED(hr))
        note_added(uses, &answer);
    link_answer_free(&answer);
    memory_free(identifiers);
    return SUCCEEDED(hr) ? find_blocks(q, uses, l, link_failed) : hr;
}

static HRESULT ask_values(struct remote_query *q, struct remote_uses *uses, struct link *l, uint64_t epoch,
                          bool *link_failed)
{
    HRESULT hr = S_OK;
    if (q->changed || q->epoch != epoch)
        close_handle(q, l, epoch, link_failed);
    if (!*link_failed && !q->has_handle) {
        hr = open_handle(q, l, epoch, link_failed);
        if (SUCCEEDED(hr))
            hr = add_sets(q, uses, l, link_failed);
        if (FAILED(hr) && !*link_failed)
            close_handle(q, l, epoch, link_failed);
        q->changed = FAILED(hr);
    }
    if (SUCCEEDED(hr) && !*link_failed)
        hr = ask_on_handle(q, l, PCQ_QUERY_DATA, &q->answer, link_failed);
    struct answer_data data;
    if (SUCCEEDED(hr) && !*link_failed && answer_data(q->answer.decoded.data, q->answer.decoded.size, &data))
        q->frequency = (int64_t)data.head.frequency;
    return *link_failed && SUCCEEDED(hr) ? E_FAIL : hr;
}

/* Rates use the ticks of the remote clock, but only a sample contains the ticks per second. Therefore a first sample is
   taken immediately after a counterset is described. */
static HRESULT find_frequency(struct remote_query *q, struct link *l, uint64_t epoch, bool *link_failed)
{
    struct remote_use use = {.set = q->set};
    q->changed = true;
    HRESULT hr = ask_values(q, &(struct remote_uses){&use, 1, 1}, l, epoch, link_failed);
    q->changed = true;
    return *link_failed || hr == E_OUTOFMEMORY ? hr : S_OK; /* a counterset without values has no rates */
}

static HRESULT ask_set(struct remote_query *q, struct link *l, uint64_t epoch, bool *link_failed)
{
    const char *machine = remote_computer_name(q->computer);
    HRESULT hr = q->set->described ? S_OK : remote_set_describe(q->set, l, machine, link_failed);
    if (SUCCEEDED(hr) && !q->frequency)
        hr = find_frequency(q, l, epoch, link_failed);
    link_answer_free(&q->answer);
    if (FAILED(hr) || !q->set->has_instances)
        return hr;
    struct ndr_call call = {.method = PCQ_ENUMERATE_INSTANCES, .machine = machine, .set = q->set->guid};
    hr = link_ask(l, &call, &q->answer);
    *link_failed = FAILED(hr) && hr != E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && q->answer.decoded.status) /* no instances at this time */
        link_answer_free(&q->answer);
    return hr;
}

static HRESULT query_run_task(struct remote_task *t, struct link *l, uint64_t epoch, bool *link_failed)
{
    struct remote_query *q = (struct remote_query *)t;
    HRESULT hr = S_OK;
    if (t->ending || q->what == ASK_NOTHING)
        close_handle(q, l, epoch, link_failed);
    else if (q->what == ASK_LIST)
        hr = remote_computer_list(q->computer, l, link_failed);
    else if (q->what == ASK_SET)
        hr = ask_set(q, l, epoch, link_failed);
    else
        hr = ask_values(q, &q->uses, l, epoch, link_failed);
    TRACE_STEP(rpc, "request %d to another computer: 0x%08X", (int)q->what, (unsigned)hr);
    if (FAILED(hr))
        link_answer_free(&q->answer);
    q->fresh = SUCCEEDED(hr) && q->what == ASK_VALUES;
    return hr;
}

static void free_query(struct remote_task *t)
{
    struct remote_query *q = (struct remote_query *)t;
    link_answer_free(&q->answer);
    memory_free(q->uses.items);
    memory_free(q);
}

HRESULT remote_query_open(const char *machine, struct remote_query **out)
{
    struct remote_query *q = memory_zero(1, sizeof *q);
    *out = NULL;
    if (!q)
        return E_OUTOFMEMORY;
    q->task.run = query_run_task;
    q->task.free = free_query;
    HRESULT hr = remote_computer_open(machine, &q->computer);
    if (FAILED(hr)) {
        free_query(&q->task);
        return hr;
    }
    *out = q;
    return S_OK;
}

/* Closes the query. The computer's thread also closes the remote handle, if the link still works, possibly after this
   function has returned. */
void remote_query_close(struct remote_query *q)
{
    if (!q)
        return;
    struct remote_computer *c = q->computer;
    if (remote_task_wait(c, &q->task, 0) && q->has_handle) {
        q->what = ASK_NOTHING;
        remote_task_post(c, &q->task);
    }
    remote_task_release(c, &q->task);
    remote_computer_close(c);
}

struct remote_computer *remote_query_computer(const struct remote_query *q)
{
    return q->computer;
}

int64_t remote_query_frequency(const struct remote_query *q)
{
    return q->frequency;
}

static HRESULT timed_out(void)
{
    return HRESULT_FROM_WIN32(ERROR_TIMEOUT);
}

static HRESULT query_ask(struct remote_query *q, enum what what, uint32_t limit)
{
    if (!remote_task_wait(q->computer, &q->task, 0))
        return timed_out(); /* the previous request has not been answered */
    q->what = what;
    remote_task_post(q->computer, &q->task);
    return remote_task_wait(q->computer, &q->task, limit) ? q->task.result : timed_out();
}

HRESULT remote_query_list(struct remote_query *q)
{
    return query_ask(q, ASK_LIST, REMOTE_START_MS);
}

HRESULT remote_query_describe(struct remote_query *q, struct remote_set *s, struct answer_place *instances)
{
    if (remote_task_wait(q->computer, &q->task, 0))
        q->set = s;
    HRESULT hr = query_ask(q, ASK_SET, REMOTE_START_MS);
    if (SUCCEEDED(hr) && instances)
        *instances = place_of(&q->answer);
    return hr;
}

/* Removes the countersets that were not sampled since the last call, because no counter uses them any more. */
static void forget_unused(struct remote_query *q)
{
    size_t kept = 0;
    for (size_t i = 0; i < q->uses.count; i++) {
        if (!q->uses.items[i].sampled)
            continue;
        q->uses.items[kept] = q->uses.items[i];
        q->uses.items[kept++].sampled = false;
    }
    q->changed = q->changed || kept < q->uses.count;
    q->uses.count = kept;
}

void remote_query_begin(struct remote_query *q)
{
    q->waited = false;
    if (!remote_task_wait(q->computer, &q->task, 0))
        return;
    if (q->fresh && q->what == ASK_VALUES)
        return; /* an answer that was too late for the last sample is used for this sample */
    forget_unused(q);
    q->waited = FAILED(q->task.result);
    if (q->uses.count) {
        q->what = ASK_VALUES;
        remote_task_post(q->computer, &q->task);
    }
}

static HRESULT get_values(struct remote_query *q)
{
    const uint32_t limit = q->waited ? 0 : source_limit() ? source_limit() : UINT32_MAX;
    bool ended = remote_task_wait(q->computer, &q->task, limit);
    q->waited = !ended;
    return !ended ? timed_out() : q->task.result;
}

static struct remote_use *find_use(struct remote_query *q, const struct remote_set *s)
{
    for (size_t i = 0; i < q->uses.count; i++)
        if (q->uses.items[i].set == s)
            return &q->uses.items[i];
    return NULL;
}

static HRESULT query_use_set(struct remote_query *q, const struct remote_set *s)
{
    void *uses = q->uses.items;
    bool room = memory_grow(&uses, &q->uses.capacity, q->uses.count + 1, sizeof *q->uses.items);
    q->uses.items = uses;
    if (!room)
        return E_OUTOFMEMORY;
    q->uses.items[q->uses.count++] = (struct remote_use){.set = s};
    q->changed = true;
    q->what = ASK_VALUES;
    remote_task_post(q->computer, &q->task);
    return get_values(q);
}

static HRESULT find_block(const struct remote_query *q, const struct remote_use *u, struct pcq_data *head,
                          struct answer_block *out)
{
    struct answer_data data;
    if (FAILED(u->result))
        return u->result;
    if (q->what != ASK_VALUES || !answer_data(q->answer.decoded.data, q->answer.decoded.size, &data))
        return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
    *head = data.head;
    for (uint32_t i = 0; answer_next_block(&data.blocks, out); i++)
        if (i == u->index)
            return out->kind == PCQ_ERROR ? HRESULT_FROM_WIN32(out->status) : S_OK;
    return HRESULT_FROM_WIN32(ERROR_INVALID_DATA);
}

HRESULT remote_query_values(struct remote_query *q, const struct remote_set *s, struct pcq_data *head,
                            struct answer_block *out)
{
    struct remote_use *u = find_use(q, s);
    if (u)
        u->sampled = true;
    HRESULT hr = get_values(q);
    if (!u && remote_task_wait(q->computer, &q->task, 0)) {
        hr = query_use_set(q, s);
        u = find_use(q, s);
        if (u)
            u->sampled = true;
    }
    if (SUCCEEDED(hr)) {
        q->fresh = false;
        hr = u ? find_block(q, u, head, out) : timed_out();
    }
    return hr;
}
