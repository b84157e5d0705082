/* SPDX-License-Identifier: MIT */
/* Any bytes as each of the kernel's files: the first byte selects the file. -DPARSER=n fixes the selection. */
#include "engine/base/kernel_file.h"
#include "engine/logs/little_endian.h"
#include "engine/pdh/core/kernel_text.h"
#include "engine/pdh/objects/parsers.h"

#include <stdlib.h>
#include <string.h>

static void check_row(const struct kernel_row *row, const char *text, size_t size)
{
    if (row->count > KERNEL_ROW_VALUES || (row->name && (row->name < text || row->name + row->length > text + size)))
        abort();
}

static void keys(const char *text, size_t size)
{
    static const char *const names[] = {"pgfault", "MemFree", "ctxt", "Tcp.InSegs", "Tcp.a", "Ip6InReceives", "a", "b"};
    struct kernel_keys k = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t slot;
        kernel_keys_add(&k, names[i], strlen(names[i]), &slot);
    }
    kernel_keys_parse(text, size, &k);
    kernel_keys_parse(text, size / 2, &k);
    kernel_keys_free(&k);
}

static void rows(const char *text, size_t size, bool (*next)(const char **at, const char *end, struct kernel_row *row))
{
    struct kernel_row row;
    for (const char *at = text; next(&at, text + size, &row);)
        check_row(&row, text, size);
}

static void cpus(const char *text, size_t size)
{
    struct kernel_cpus c = {0};
    kernel_cpus_parse(text, size, &c);
    kernel_cpus_free(&c);
}

static void counts(const char *text, size_t size)
{
    struct kernel_counts c = {0};
    kernel_counts_parse(text, size, &c);
    kernel_counts_free(&c);
}

static void interrupts(const char *text, size_t size)
{
    struct kernel_interrupt i;
    struct kernel_counts c = {0};
    kernel_columns_parse(text, size, &c);
    kernel_counts_free(&c);
    for (const char *at = text; kernel_interrupt_next(&at, text + size, &i);)
        if (i.counts > i.end || i.end > text + size || (i.user_length && i.user + i.user_length > i.end))
            abort();
}

/* Checks the bytes as records after a valid header. */
static void samba(const char *text, size_t size)
{
    enum { HEAD = 168 + 4 };
    struct samba_file f;
    struct samba_record record;
    struct samba_connection connection;
    if (samba_file_begin(&f, text, size))
        while (samba_file_next(&f, &record))
            ;
    uint8_t *file = calloc(1, HEAD + size);
    if (!file)
        return;
    memcpy(file, "TDB file\n", 9);
    put_u32(file + 32, 0x2601196D);
    memcpy(file + HEAD, text, size);
    for (bool more = samba_file_begin(&f, file, HEAD + size); more && samba_file_next(&f, &record);)
        if (record.data + record.size > file + HEAD + size ||
            (samba_connection_read(&record, &connection) &&
             (const uint8_t *)connection.share + connection.length >= record.data + record.size))
            abort();
    free(file);
}

static void process(const char *text, size_t size)
{
    struct process_stat stat;
    struct process_status status;
    struct process_io io;
    if (process_stat_parse(text, size, &stat) && stat.name + stat.name_length > text + size)
        abort();
    process_status_parse(text, size, &status);
    process_io_parse(text, size, &io);
}

static void shares(const char *text, size_t size)
{
    struct cifs_part part;
    for (const char *at = text; cifs_next(&at, text + size, &part);)
        if (at > text + size || (part.length && (part.name < text || part.name + part.length > text + size)))
            abort();
}

static void card(const char *text, size_t size)
{
    struct drm_file f;
    drm_file_parse(text, size, &f);
    if (f.engine_count > DRM_ENGINES)
        abort();
    for (size_t i = 0; i < f.engine_count; i++)
        if (!memchr(f.engines[i].name, 0, DRM_ENGINE_NAME) || !drm_engine_type(f.engines[i].name))
            abort();
}

#ifndef PARSER
#define PARSER data[0]
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kernel_connections connections = {0};
    if (size == 0)
        return 0;
    /* A copy of exactly this size, so that the sanitizer detects reads beyond its end. */
    char *text = malloc(size > 1 ? size - 1 : 1);
    if (!text)
        return 0;
    memcpy(text, data + 1, --size);
    switch (PARSER % 15) {
    case 0:
        keys(text, size);
        break;
    case 1:
        cpus(text, size);
        break;
    case 2:
        counts(text, size);
        break;
    case 3:
        rows(text, size, kernel_disk_next);
        break;
    case 4:
        rows(text, size, kernel_interface_next);
        break;
    case 5:
        rows(text, size, kernel_swap_next);
        break;
    case 6:
        rows(text, size, kernel_cpuinfo_next);
        break;
    case 7:
        rows(text, size, kernel_mount_next);
        break;
    case 8:
        kernel_connections_add(text, size, &connections);
        break;
    case 9:
        kernel_list_has(text, size, 5);
        break;
    case 10:
        shares(text, size);
        break;
    case 11:
        card(text, size);
        break;
    case 12:
        interrupts(text, size);
        break;
    case 13:
        samba(text, size);
        break;
    default:
        process(text, size);
    }
    free(text);
    return 0;
}
