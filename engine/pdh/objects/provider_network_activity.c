/* SPDX-License-Identifier: MIT */
/* The object Per Processor Network Interface Card Activity: the interrupts of network cards, from /proc/interrupts.
   Which are a card's its device tells, or of virtio, and of drivers of older buses, the name under which they were
   asked for. */
#include "engine/base/kernel_number.h"
#include "engine/pdh/core/kept_files.h"
#include "engine/pdh/objects/providers.h"

#include <stdio.h>

#define OBJECT network_activity
#define ROWS   "engine/pdh/objects/network_activity_counters.def"
#include "engine/pdh/core/counter_rows.inc"

/* Room for a card's name (IFNAMSIZ is 16) and for that of a virtio device. */
#define NAME_SIZE 64

struct card {
    char user[NAME_SIZE]; /* whose interrupts are the card's where no numbers are told */
    uint32_t *numbers;    /* of its interrupts */
    size_t number_count;
    uint64_t *counts; /* per column of the table, in this sample */
    size_t count_capacity;
    bool counted; /* in this sample */
};

struct network_activity_state {
    struct table_state table;
    struct kept_folder names; /* of the network interfaces */
    uint64_t looked;          /* that folder's, when the cards were found */
    struct card *cards;       /* beside the names */
    size_t card_count;
    struct kernel_counts columns;
};

static void forget(struct network_activity_state *s)
{
    for (size_t i = 0; i < s->card_count; i++) {
        memory_free(s->cards[i].numbers);
        memory_free(s->cards[i].counts);
    }
    memory_free(s->cards);
    s->cards = NULL;
    s->card_count = 0;
    s->looked = 0;
}

static void close_state(void *state)
{
    struct network_activity_state *s = state;
    forget(s);
    kept_folder_close(&s->names);
    kernel_counts_free(&s->columns);
}

/* Names the interrupts of cards on the virtio bus, which are called as their device is: "virtio2-input.0". */
static HRESULT name_virtio(struct network_activity_state *s, const char *root)
{
    char path[512];
    struct texts devices = {0}, cards = {0};
    snprintf(path, sizeof path, "%s/sys/bus/virtio/devices", root);
    HRESULT hr = kernel_folder_names(path, &devices);
    for (size_t i = 0; SUCCEEDED(hr) && i < devices.count; i++) {
        if ((size_t)snprintf(path, sizeof path, "%s/sys/bus/virtio/devices/%s/net", root, devices.items[i]) >=
            sizeof path)
            continue;
        hr = kernel_folder_names(path, &cards);
        for (size_t n = 0; SUCCEEDED(hr) && n < cards.count; n++)
            for (size_t c = 0; c < s->card_count; c++)
                if (!strcmp(cards.items[n], s->names.names.items[c]))
                    snprintf(s->cards[c].user, NAME_SIZE, "%.*s", NAME_SIZE - 1, devices.items[i]);
        texts_free(&cards);
        hr = hr == E_OUTOFMEMORY ? hr : S_OK; /* another kind of device */
    }
    texts_free(&devices);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* Finds the cards and their interrupts, which change when a card is set up anew, as often as its names are looked
   for. */
static HRESULT follow(struct network_activity_state *s, const char *root)
{
    char path[512];
    snprintf(path, sizeof path, "%s/sys/class/net", root);
    HRESULT hr = kept_folder_follow(&s->names, path, "");
    if (FAILED(hr) || s->looked == s->names.looked)
        return hr;
    forget(s);
    if (!s->names.names.count)
        return S_OK;
    s->cards = memory_zero(s->names.names.count, sizeof *s->cards);
    if (!s->cards)
        return E_OUTOFMEMORY;
    s->card_count = s->names.names.count;
    for (size_t i = 0; i < s->card_count && hr != E_OUTOFMEMORY; i++) {
        const char *name = s->names.names.items[i];
        snprintf(s->cards[i].user, NAME_SIZE, "%.*s", NAME_SIZE - 1, name);
        if ((size_t)snprintf(path, sizeof path, "%s/sys/class/net/%s/device/msi_irqs", root, name) < sizeof path)
            hr = kernel_folder_numbers(path, &s->cards[i].numbers, &s->cards[i].number_count);
    }
    if (hr != E_OUTOFMEMORY)
        hr = name_virtio(s, root);
    if (hr == E_OUTOFMEMORY)
        forget(s);
    else
        s->looked = s->names.looked;
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

static bool is_of(const struct card *c, const struct kernel_interrupt *interrupt)
{
    for (size_t i = 0; i < c->number_count; i++)
        if (c->numbers[i] == interrupt->number)
            return true;
    /* "eth0", "eth0-TxRx-3": not those of eth01. */
    const size_t length = strlen(c->user);
    return !c->number_count && interrupt->user_length >= length && !memcmp(interrupt->user, c->user, length) &&
           (interrupt->user_length == length || strchr("-:.@", interrupt->user[length]));
}

static HRESULT count(struct card *c, const struct kernel_interrupt *interrupt, size_t columns)
{
    if (!c->counted) {
        if (!memory_grow((void **)&c->counts, &c->count_capacity, columns, sizeof *c->counts))
            return E_OUTOFMEMORY;
        memset(c->counts, 0, columns * sizeof *c->counts);
        c->counted = true;
    }
    const char *p = interrupt->counts;
    uint64_t value;
    for (size_t i = 0; i < columns && (p = kernel_number(p, interrupt->end, &value)); i++)
        c->counts[i] += value;
    return S_OK;
}

static HRESULT add_rows(struct network_activity_state *s)
{
    for (size_t i = 0; i < s->columns.count; i++) {
        for (size_t n = 0; n < s->card_count; n++) {
            char name[NAME_SIZE + 16];
            if (!s->cards[n].counted)
                continue;
            const int length = snprintf(name, sizeof name, "%u, %.*s", (unsigned)s->columns.counts[i].cpu, NAME_SIZE,
                                        s->names.names.items[n]);
            int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, name, (size_t)length, 0);
            if (!cells)
                return E_OUTOFMEMORY;
            cells[CARD_INTERRUPTS] = (int64_t)s->cards[n].counts[i];
        }
    }
    return s->table.row_count ? S_OK
                              : error_set(HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
                                          "/proc/interrupts: no interrupt is a network card's");
}

static HRESULT gather(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct network_activity_state *s = o->state;
    const char *text;
    size_t size;
    struct kernel_interrupt interrupt;
    HRESULT hr = follow(s, source_root(source));
    if (SUCCEEDED(hr))
        hr = source_text(source, &o->hold, SOURCE_INTERRUPTS, &text, &size, &o->time);
    if (SUCCEEDED(hr))
        hr = kernel_columns_parse(text, size, &s->columns);
    if (FAILED(hr))
        return hr;
    for (size_t i = 0; i < s->card_count; i++)
        s->cards[i].counted = false;
    for (const char *at = text; kernel_interrupt_next(&at, text + size, &interrupt);)
        for (size_t i = 0; SUCCEEDED(hr) && i < s->card_count; i++)
            if (is_of(&s->cards[i], &interrupt))
                hr = count(&s->cards[i], &interrupt, s->columns.count);
    return SUCCEEDED(hr) ? add_rows(s) : hr;
}

const struct provider pdh_network_activity = {
    .name = "Per Processor Network Interface Card Activity",
    .help = "What each processor does for each network card: \"processor, card\".",
    .has_instances = true,
    TABLE_PROVIDER(network_activity, ALL_OF, struct network_activity_state, gather, close_state,
                   "/proc/interrupts, the processor's column, summed over the lines whose numbers are in "
                   "/sys/class/net/CARD/device/msi_irqs, else whose names begin with the device of "
                   "/sys/bus/virtio/devices/DEVICE/net/CARD, else with the card's own name")};
