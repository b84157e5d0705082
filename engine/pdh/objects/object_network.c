/* SPDX-License-Identifier: MIT */
/* The objects Network Interface and Network Adapter, from /proc/net/dev and /sys/class/net, and Per Processor Network
   Interface Card Activity, from /proc/interrupts. As on Windows there is neither a loopback instance nor _Total. */
#include "engine/base/kernel_file.h"
#include "engine/base/memory.h"
#include "engine/pdh/core/source.h"
#include "engine/pdh/core/table.h"

#include <stdio.h>
#include <string.h>

/* All columns except the last one are columns of /proc/net/dev. */
#define NETWORK_INTERFACE_ROWS                                                                                         \
    COLUMN(RX_BYTES, "rx_bytes")                                                                                       \
    COLUMN(RX_PACKETS, "rx_packets")                                                                                   \
    COLUMN(RX_ERRS, "rx_errs")                                                                                         \
    COLUMN(RX_DROP, "rx_drop")                                                                                         \
    COLUMN(RX_FIFO, "rx_fifo")                                                                                         \
    COLUMN(RX_FRAME, "rx_frame")                                                                                       \
    COLUMN(RX_COMPRESSED, "rx_compressed")                                                                             \
    COLUMN(RX_MULTICAST, "rx_multicast")                                                                               \
    COLUMN(TX_BYTES, "tx_bytes")                                                                                       \
    COLUMN(TX_PACKETS, "tx_packets")                                                                                   \
    COLUMN(TX_ERRS, "tx_errs")                                                                                         \
    COLUMN(TX_DROP, "tx_drop")                                                                                         \
    COLUMN(TX_FIFO, "tx_fifo")                                                                                         \
    COLUMN(TX_COLLS, "tx_colls")                                                                                       \
    COLUMN(TX_CARRIER, "tx_carrier")                                                                                   \
    COLUMN(TX_COMPRESSED, "tx_compressed")                                                                             \
    COLUMN(SPEED, "speed")                                                                                             \
    COUNTER("Bytes Total/sec", PERF_COUNTER_BULK_COUNT, 388, -4, SUM, "rx_bytes + tx_bytes",                           \
            "Bytes received and sent, including framing.")                                                             \
    COUNTER("Packets/sec", PERF_COUNTER_COUNTER, 400, 0, SUM, "rx_packets + tx_packets", "Packets received and sent.") \
    COUNTER("Packets Received/sec", PERF_COUNTER_COUNTER, 266, 0, SUM, "rx_packets", "Packets received.")              \
    COUNTER("Packets Sent/sec", PERF_COUNTER_COUNTER, 452, 0, SUM, "tx_packets", "Packets sent.")                      \
    COUNTER("Current Bandwidth", PERF_COUNTER_LARGE_RAWCOUNT, 520, -6, SUM, "speed * 1000000",                         \
            "Speed of the interface in bits per second, if its driver reports it.")                                    \
    COUNTER("Bytes Received/sec", PERF_COUNTER_BULK_COUNT, 264, -4, SUM, "rx_bytes",                                   \
            "Bytes received, including framing.")                                                                      \
    COUNTER("Packets Received Discarded", PERF_COUNTER_RAWCOUNT, 526, 0, SUM, "rx_drop",                               \
            "Error-free packets that were discarded on receipt, since the interface started.")                         \
    COUNTER("Packets Received Errors", PERF_COUNTER_RAWCOUNT, 528, 0, SUM, "rx_errs",                                  \
            "Packets received with errors, since the interface started.")                                              \
    COUNTER("Bytes Sent/sec", PERF_COUNTER_BULK_COUNT, 506, -4, SUM, "tx_bytes", "Bytes sent, including framing.")     \
    COUNTER("Packets Outbound Discarded", PERF_COUNTER_RAWCOUNT, 536, 0, SUM, "tx_drop",                               \
            "Error-free outgoing packets that were discarded, since the interface started.")                           \
    COUNTER("Packets Outbound Errors", PERF_COUNTER_RAWCOUNT, 538, 0, SUM, "tx_errs",                                  \
            "Packets that could not be sent because of errors since the interface started.")

#define OBJECT network_interface
#define ROWS   NETWORK_INTERFACE_ROWS
#include "engine/pdh/core/counter_rows.inc"
#define BIT(column) (1ull << (column))

/* Files with the speeds of the interfaces. The files are in the order of `names`, the instances of the last sample that
   needed speeds. */
struct interface_state {
    struct table_state table;
    struct instance_list *names;
    struct kernel_file **speeds; /* NULL for an interface without a speed */
};

static void interface_files_close(struct interface_state *s)
{
    for (size_t i = 0; s->speeds && s->names && i < s->names->count; i++)
        kernel_file_close(s->speeds[i]);
    memory_free(s->speeds);
    instance_list_release(s->names);
    s->names = NULL;
    s->speeds = NULL;
}

static void interface_close_state(void *state)
{
    interface_files_close(state);
}

/* Returns the speed file for a row. Takes the file from `speeds` if it is already open, otherwise opens it. */
static struct kernel_file *interface_take_file(struct interface_state *s, const char *root, const char *name)
{
    size_t place = instance_list_find(s->names, name);
    struct kernel_file *file = NULL;
    char path[512];
    if (place != SIZE_MAX && s->speeds[place]) {
        file = s->speeds[place];
        s->speeds[place] = NULL;
        return file;
    }
    snprintf(path, sizeof path, "%s/sys/class/net/%s/speed", root, name);
    kernel_file_open(path, &file);
    return file;
}

/* Opens and closes files until they match the rows. */
static HRESULT interface_follow_rows(struct interface_state *s, const char *root)
{
    const struct table_state *t = &s->table;
    struct instance_list *list;
    HRESULT hr = table_instances(t, s->names, &list);
    if (hr != S_OK)
        return hr;
    struct kernel_file **speeds = memory_zero(t->row_count, sizeof *speeds);
    if (!speeds) {
        instance_list_release(list);
        return E_OUTOFMEMORY;
    }
    for (size_t i = 0; i < t->row_count; i++)
        speeds[i] = interface_take_file(s, root, t->names + t->rows[i].name);
    interface_files_close(s);
    s->names = list;
    s->speeds = speeds;
    return S_OK;
}

/* Reads the speeds. Interfaces without a link or a speed yield an error or -1. */
static HRESULT interface_add_speeds(struct interface_state *s, const char *root)
{
    HRESULT hr = interface_follow_rows(s, root);
    for (size_t i = 0; SUCCEEDED(hr) && i < s->table.row_count; i++) {
        const char *text;
        size_t size;
        uint64_t value;
        if (s->speeds[i] && SUCCEEDED(kernel_file_read(s->speeds[i], &text, &size)) && text_to_u64(text, &value))
            s->table.cells[i * s->table.column_count + SPEED] = (int64_t)value;
    }
    return hr;
}

static HRESULT interface_gather(struct counter_object *o, struct source *source, uint64_t wanted)
{
    struct interface_state *s = o->state;
    const char *text;
    size_t size;
    if ((wanted & BIT(SPEED)) && !source_may_wait(&o->hold)) /* drivers may be slow */
        return E_PENDING;
    HRESULT hr = source_text(source, &o->hold, SOURCE_NET_DEV, &text, &size, &o->time);
    struct kernel_row row;
    if (FAILED(hr))
        return hr;
    table_know_columns(&s->table, (1ull << (SPEED + 1)) - 1);
    for (const char *at = text; kernel_interface_next(&at, text + size, &row);) {
        if (row.length == 2 && !memcmp(row.name, "lo", 2))
            continue;
        int64_t *cells = table_add(&s->table, ROW_PLAIN, NULL, row.name, row.length, 0);
        if (!cells)
            return E_OUTOFMEMORY;
        for (size_t i = 0; i < row.count && i < SPEED; i++)
            cells[i] = (int64_t)row.values[i];
    }
    return wanted & BIT(SPEED) ? interface_add_speeds(s, source_root(source)) : S_OK;
}

#define ORIGIN "the 16 columns of /proc/net/dev; speed is from /sys/class/net/NAME/speed, in Mbit/s"
const struct counter_object_type pdh_network_adapter = {
    .name = "Network Adapter",
    .help = "The network adapters of this computer. They are the same as in the object Network Interface, because "
            "every adapter can carry IP.",
    .has_instances = true,
    .tries_at_once = true,
    TABLE_OBJECT(network_interface, ALL_OF, struct interface_state, interface_gather, interface_close_state, ORIGIN)};
const struct counter_object_type pdh_network_interface = {
    .name = "Network Interface",
    .index = 510,
    .help = "The network interfaces of this computer, under their Linux names.",
    .has_instances = true,
    .tries_at_once = true,
    TABLE_OBJECT(network_interface, ALL_OF, struct interface_state, interface_gather, interface_close_state, ORIGIN)};

/* ---- Per Processor Network Interface Card Activity ---- */

/* The folder /sys/class/net/CARD/device/msi_irqs lists the numbers of a card's interrupts. For virtio, and for drivers
   of older buses, the kernel does not list these numbers. The interrupts of such a card are those whose names begin
   with the name of the card or of the virtio device. */

#define NETWORK_ACTIVITY_ROWS                                                                                          \
    COLUMN(CARD_INTERRUPTS, "interrupts")                                                                              \
    COUNTER("Interrupts/sec", PERF_COUNTER_COUNTER, 148, -2, SUM, "interrupts",                                        \
            "Network card interrupts that this processor handled. Each port of a device shows the interrupts "         \
            "of the whole device.")

#define OBJECT network_activity
#define ROWS   NETWORK_ACTIVITY_ROWS
#include "engine/pdh/core/counter_rows.inc"

/* Room for a card's name (IFNAMSIZ is 16) or a virtio device's name. */
#define NAME_SIZE 64

struct card {
    char user[NAME_SIZE]; /* name of the card's interrupts, if its device does not list their numbers */
    uint32_t *numbers;    /* numbers of the card's interrupts */
    size_t number_count;
    uint64_t *counts; /* counts in this sample, one for each column of /proc/interrupts */
    size_t count_capacity;
    bool counted; /* the card has counts in this sample */
};

struct network_activity_state {
    struct table_state table;
    struct kept_folder names; /* the network interfaces */
    uint64_t found_at;        /* listed_at of the folder when the cards were found */
    struct card *cards;       /* one for each name in `names` */
    size_t card_count;
    struct kernel_counts columns;
};

static void card_interrupts_forget(struct network_activity_state *s)
{
    for (size_t i = 0; i < s->card_count; i++) {
        memory_free(s->cards[i].numbers);
        memory_free(s->cards[i].counts);
    }
    memory_free(s->cards);
    s->cards = NULL;
    s->card_count = 0;
    s->found_at = 0;
}

static void card_interrupts_close(void *state)
{
    struct network_activity_state *s = state;
    card_interrupts_forget(s);
    kept_folder_close(&s->names);
    kernel_counts_free(&s->columns);
}

/* Finds the names of interrupts on the virtio bus. The name of an interrupt on this bus contains the name of the
   device: "virtio2-input.0". */
static HRESULT card_name_virtio(struct network_activity_state *s, const char *root)
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
        hr = hr == E_OUTOFMEMORY ? hr : S_OK; /* not a virtio device */
    }
    texts_free(&devices);
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

/* Finds the cards and their interrupts whenever the names have been listed again, because interrupts change when a card
   is reconfigured. */
static HRESULT card_interrupts_follow(struct network_activity_state *s, const char *root)
{
    char path[512];
    snprintf(path, sizeof path, "%s/sys/class/net", root);
    HRESULT hr = kept_folder_follow(&s->names, path, "");
    if (FAILED(hr) || s->found_at == s->names.listed_at)
        return hr;
    card_interrupts_forget(s);
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
        hr = card_name_virtio(s, root);
    if (hr == E_OUTOFMEMORY)
        card_interrupts_forget(s);
    else
        s->found_at = s->names.listed_at;
    return hr == E_OUTOFMEMORY ? hr : S_OK;
}

static bool card_has_interrupt(const struct card *c, const struct kernel_interrupt *interrupt)
{
    for (size_t i = 0; i < c->number_count; i++)
        if (c->numbers[i] == interrupt->number)
            return true;
    /* "eth0" and "eth0-TxRx-3" match, but not the interrupts of eth01 */
    const size_t length = strlen(c->user);
    return !c->number_count && interrupt->user_length >= length && !memcmp(interrupt->user, c->user, length) &&
           (interrupt->user_length == length || strchr("-:.@", interrupt->user[length]));
}

static HRESULT card_count_interrupt(struct card *c, const struct kernel_interrupt *interrupt, size_t columns)
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

static HRESULT card_interrupts_add_rows(struct network_activity_state *s)
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
                                          "/proc/interrupts: no interrupt belongs to a network card");
}

static HRESULT card_interrupts_gather(struct counter_object *o, struct source *source, uint64_t wanted)
{
    (void)wanted;
    struct network_activity_state *s = o->state;
    const char *text;
    size_t size;
    struct kernel_interrupt interrupt;
    HRESULT hr = card_interrupts_follow(s, source_root(source));
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
            if (card_has_interrupt(&s->cards[i], &interrupt))
                hr = card_count_interrupt(&s->cards[i], &interrupt, s->columns.count);
    return SUCCEEDED(hr) ? card_interrupts_add_rows(s) : hr;
}

const struct counter_object_type pdh_network_activity = {
    .name = "Per Processor Network Interface Card Activity",
    .help = "The work of each processor for each network card, as \"processor, card\".",
    .has_instances = true,
    TABLE_OBJECT(network_activity, ALL_OF, struct network_activity_state, card_interrupts_gather, card_interrupts_close,
                 "the sum of the processor's column in /proc/interrupts over the card's lines. The numbers of these "
                 "lines are in the folder /sys/class/net/CARD/device/msi_irqs. If that folder has no numbers, the "
                 "names of these lines begin with the DEVICE in /sys/bus/virtio/devices/DEVICE/net/CARD or, if the "
                 "card is not a virtio device, with the card's name")};
