/* SPDX-License-Identifier: MIT */
#include "com/server/dcom_journal.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/logs/journal.h"

#include <stdio.h>
#include <inttypes.h>

static const struct {
    enum dcom_event id;
    enum journal_level level;
    const char *message;
} rows[] = {
    {DCOM_OPENED, JOURNAL_INFORMATION, "Remote clients can connect"},
    {DCOM_NOT_OPENED, JOURNAL_ERROR, "Remote clients cannot connect"},
    {DCOM_LOGON, JOURNAL_INFORMATION, "A remote client logged on"},
    {DCOM_LOGON_FAILED, JOURNAL_WARNING, "The logon of a remote client failed"},
    {DCOM_REFUSED, JOURNAL_WARNING, "A remote connection was refused or ended"},
    {DCOM_CREATED, JOURNAL_INFORMATION, "A remote client created an object"},
};

static void field_add(struct journal_entry *e, const char *name, const char *value)
{
    if (value && *value)
        e->fields[e->count++] = (struct journal_field){name, value};
}

void dcom_event_write(enum dcom_event id, const struct dcom_event_facts *f)
{
    char error[16] = "", count[24] = "";
    struct journal_entry entry = {.utc = clock_utc(), .id = id};
    char *folder = journal_folder();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].id == id) {
            entry.level = rows[i].level;
            entry.message = rows[i].message;
        }
    if (FAILED(f->error))
        snprintf(error, sizeof error, "0x%08X", (unsigned)f->error);
    if (f->count)
        snprintf(count, sizeof count, "%" PRIu64, f->count);
    field_add(&entry, "User", f->user);
    field_add(&entry, "Address", f->address);
    field_add(&entry, "Class", f->class_name);
    field_add(&entry, "Error", error);
    field_add(&entry, "Reason", f->reason ? f->reason : *error ? error_text(f->error) : NULL);
    field_add(&entry, "Count", count);
    if (folder)
        (void)journal_append(folder, &entry);
    memory_free(folder);
}
