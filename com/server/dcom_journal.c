/* SPDX-License-Identifier: MIT */
/* Writes events about remote clients to the journal, and limits how many of them are written. */
#include "com/server/dcom_journal.h"

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/thread.h"
#include "engine/logs/journal.h"

#include <stdio.h>
#include <inttypes.h>

enum { REPORT_KINDS = 4, REPORTS_A_MINUTE = 20, MINUTE_MS = 60000 };

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
    struct journal_entry entry = {.id = id};
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
    field_add(&entry, "Service", f->service);
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

static bool report_is_due(enum rpc_port_event_kind kind, uint64_t *skipped)
{
    static struct {
        uint64_t begun_ms, skipped;
        unsigned count;
    } rates[REPORT_KINDS];
    static struct lock lock = LOCK_INIT;
    const uint64_t now = clock_monotonic_ms();
    lock_enter(&lock);
    if (now - rates[kind].begun_ms > MINUTE_MS) {
        rates[kind].begun_ms = now;
        rates[kind].count = 0;
    }
    const bool is_due = rates[kind].count < REPORTS_A_MINUTE;
    *skipped = is_due ? rates[kind].skipped : 0;
    rates[kind].count += is_due;
    rates[kind].skipped = is_due ? 0 : rates[kind].skipped + 1;
    lock_leave(&lock);
    return is_due;
}

void dcom_event_report(const char *service, const struct rpc_port_event *e)
{
    static const enum dcom_event ids[REPORT_KINDS] = {[RPC_PORT_REFUSED] = DCOM_REFUSED,
                                                      [RPC_PORT_LOGON_FAILED] = DCOM_LOGON_FAILED,
                                                      [RPC_PORT_LOGGED_ON] = DCOM_LOGON,
                                                      [RPC_PORT_FAILED] = DCOM_REFUSED};
    struct dcom_event_facts facts = {
        .service = service, .user = e->account, .address = e->address, .reason = e->reason};
    if (report_is_due(e->kind, &facts.count))
        dcom_event_write(ids[e->kind], &facts);
}
