/* SPDX-License-Identifier: MIT */
#include "engine/report/events/event_join.h"

#include "engine/base/memory.h"
#include "engine/report/make/row_sort.h"

#include <string.h>

struct event_join {
    struct row_sort *sort; /* by value and side */
    size_t memory;
    uint64_t most, pairs;
    struct text_buffer key;
    struct text_buffer value; /* of the events of side 0 in `bodies`, each with its size before it */
    struct text_buffer bodies;
    uint64_t kept; /* events in `bodies` */
};

HRESULT event_join_create(size_t memory, uint64_t most, struct event_join **out)
{
    struct event_join *j = memory_zero(1, sizeof *j);
    *out = NULL;
    if (j)
        j->sort = row_sort_create(memory);
    if (!j || !j->sort) {
        memory_free(j);
        return E_OUTOFMEMORY;
    }
    j->memory = memory;
    j->most = most;
    *out = j;
    return S_OK;
}

void event_join_free(struct event_join *j)
{
    if (!j)
        return;
    row_sort_free(j->sort);
    text_buffer_free(&j->key);
    text_buffer_free(&j->value);
    text_buffer_free(&j->bodies);
    memory_free(j);
}

HRESULT event_join_add(struct event_join *j, unsigned side, const struct event_cell *value, const char *body,
                       size_t size)
{
    struct event_cell plain = *value;
    const char which = (char)side;
    if (value->kind == CELL_EMPTY)
        return S_OK;
    if (event_cell_is_number(value)) { /* the one may show it as an address, the other as digits */
        plain.text = NULL;
        plain.length = 0;
    }
    j->key.length = 0;
    event_cell_pack(&plain, &j->key);
    text_buffer_add_n(&j->key, &which, 1);
    return j->key.failed ? E_OUTOFMEMORY : row_sort_add(j->sort, j->key.text, j->key.length, body, size);
}

static bool has_value(const struct event_join *j, const struct sorted_row *row)
{
    return j->value.length == row->key_size - 1 && memcmp(j->value.text, row->key, j->value.length) == 0;
}

/* False: there is no room for it. */
static bool keep(struct event_join *j, const struct sorted_row *row)
{
    const size_t size = row->body_size;
    if (!has_value(j, row)) {
        j->value.length = j->bodies.length = 0;
        j->kept = 0;
        text_buffer_add_n(&j->value, row->key, row->key_size - 1);
    }
    if (j->bodies.length && j->bodies.length + size + sizeof size > j->memory)
        return false;
    text_buffer_add_n(&j->bodies, (const char *)&size, sizeof size);
    text_buffer_add_n(&j->bodies, row->body, size);
    j->kept++;
    return true;
}

/* An event of side 1 with each of side 0 that has its value. Those past the most are counted, not gone through: two
   sorts that have one value in common in all events would else take for ever. */
static HRESULT give(struct event_join *j, const struct sorted_row *row, event_join_take *take, void *context,
                    uint64_t *left_out)
{
    const uint64_t room = j->most - j->pairs, given = j->kept < room ? j->kept : room;
    const char *at = j->bodies.text;
    HRESULT hr = S_OK;
    for (uint64_t i = 0; i < given && SUCCEEDED(hr); i++) {
        size_t size;
        memcpy(&size, at, sizeof size);
        at += sizeof size;
        hr = take(context, (const char *const[2]){at, row->body});
        at += size;
    }
    j->pairs += given;
    *left_out += j->kept - given;
    return hr;
}

HRESULT event_join_pairs(struct event_join *j, event_join_take *take, HRESULT (*go_on)(void *context), void *context,
                         uint64_t *left_out)
{
    struct sorted_row row;
    HRESULT hr = row_sort_finish(j->sort);
    *left_out = 0;
    j->value.length = j->bodies.length = 0;
    j->kept = 0;
    text_buffer_add(&j->value, "");
    while (SUCCEEDED(hr) && SUCCEEDED(hr = go_on(context)) && (hr = row_sort_next(j->sort, &row)) == S_OK) {
        if (row.key[row.key_size - 1] == 0)
            *left_out += !keep(j, &row);
        else if (has_value(j, &row))
            hr = give(j, &row, take, context, left_out);
        if (SUCCEEDED(hr) && (j->value.failed || j->bodies.failed))
            hr = E_OUTOFMEMORY;
    }
    return FAILED(hr) ? hr : S_OK;
}
