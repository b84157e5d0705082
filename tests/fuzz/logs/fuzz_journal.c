/* SPDX-License-Identifier: MIT */
/* Any bytes as an event file: entries that were read, written and read again are the same. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_written(const char *folder, const struct journal_entry *e)
{
    struct journal_reader *r;
    struct journal_entry back;
    if (FAILED(journal_append(folder, e)) || FAILED(journal_reader_open(folder, &r)))
        abort();
    if (journal_reader_next(r, &back) != S_OK || back.id != e->id || back.utc != e->utc || back.level != e->level ||
        back.count != e->count || strcmp(back.message, e->message) != 0)
        abort();
    for (size_t i = 0; i < e->count; i++)
        if (strcmp(back.fields[i].name, e->fields[i].name) != 0 ||
            strcmp(back.fields[i].value, e->fields[i].value) != 0)
            abort();
    journal_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char read[64], written[64], first[96], again[96];
    if (!read[0]) {
        snprintf(read, sizeof read, "fuzz-events-%d", (int)getpid());
        snprintf(written, sizeof written, "%s-back", read);
        snprintf(first, sizeof first, "%s/events-0000000001.log", read);
        snprintf(again, sizeof again, "%s/events-0000000001.log", written);
        if (FAILED(folder_create(read)))
            abort();
    }
    struct journal_reader *r;
    struct journal_entry e;
    struct file *f;
    if (FAILED(file_open(first, FILE_REPLACE, &f)) || FAILED(file_write(f, data, size)))
        abort();
    file_close(f);
    if (FAILED(journal_reader_open(read, &r)))
        abort();
    while (journal_reader_next(r, &e) == S_OK) {
        check_written(written, &e);
        file_delete(again);
    }
    journal_reader_close(r);
    file_delete(first);
    return 0;
}
