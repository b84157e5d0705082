/* SPDX-License-Identifier: MIT */
/* Builds the labels of an instance by the counter's label scheme. */
#include "engine/export/metrics/exporter.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 1024 };

static void add_label(struct text_buffer *b, bool *more, const char *name, const char *value)
{
    metric_add_label(b, *more, name, value);
    *more = true;
}

static void add_number(struct text_buffer *b, bool *more, const char *name, int64_t value)
{
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)value);
    add_label(b, more, name, number);
}

/* Splits an instance such as "4711_DefaultAppPool" into the labels app and pid. */
static void add_app_and_pid(struct text_buffer *b, bool *more, const char *instance)
{
    char pid[24];
    const size_t digits = strspn(instance, "0123456789");
    const bool has_pid = digits > 0 && digits < sizeof pid && instance[digits] == '_';
    text_fit(pid, has_pid ? digits + 1 : 1, instance);
    add_label(b, more, "app", has_pid ? instance + digits + 1 : instance);
    if (has_pid)
        add_label(b, more, "pid", pid);
}

static const char *last_word(const char *text)
{
    const char *blank = strrchr(text, ' ');
    return blank ? blank + 1 : text;
}

/* Returns the label's name if the scheme has one label, whose value is the unchanged instance; otherwise NULL. */
static const char *plain_label(enum label_scheme scheme)
{
    static const char *const names[] = {
        [LABELS_CORE] = "core",         [LABELS_VOLUME] = "volume",     [LABELS_NIC] = "nic",
        [LABELS_FILE] = "file",         [LABELS_SITE] = "site",         [LABELS_APP] = "app",
        [LABELS_DATABASE] = "database", [LABELS_RESOURCE] = "resource", [LABELS_VM] = "vm",
        [LABELS_VSWITCH] = "vswitch",   [LABELS_DEVICE] = "device",
    };
    return (size_t)scheme < sizeof names / sizeof *names ? names[scheme] : NULL;
}

/* The object "MSSQL$PAYROLL:Locks" belongs to SQL Server's instance PAYROLL, "SQLServer:Locks" to the default
   instance. */
static void add_sql_instance(struct text_buffer *b, bool *more, const char *object)
{
    char name[NAME_BYTES];
    if (strncmp(object, "SQLServer:", 10) == 0) {
        add_label(b, more, "mssql_instance", "MSSQLSERVER");
    } else if (strncmp(object, "MSSQL$", 6) == 0) {
        text_fit(name, sizeof name, object + 6);
        name[strcspn(name, ":")] = 0;
        add_label(b, more, "mssql_instance", name);
    }
}

void instance_add_labels(struct text_buffer *b, const struct export_object *o, const char *instance,
                         const struct log_raw *process, const struct log_raw *thread)
{
    char name[NAME_BYTES];
    bool more = false;
    if (o->is_foreign)
        add_label(b, &more, "computer", o->machine + strspn(o->machine, "\\"));
    if (o->scheme != LABELS_OWN)
        add_sql_instance(b, &more, o->name);
    if (!instance)
        return;
    text_fit(name, sizeof name, instance);
    switch (o->scheme) {
    case LABELS_OWN:
        metric_add_instance(b, more, instance, process, thread);
        break;
    case LABELS_NONE:
    case LABELS_NTDS:
        break;
    case LABELS_DISK:
        name[strcspn(name, " ")] = 0;
        add_label(b, &more, "disk", name);
        break;
    case LABELS_PROCESS:
        if (process)
            metric_cut_index(name);
        add_label(b, &more, "process", name);
        if (process)
            add_number(b, &more, "process_id", process->first);
        break;
    case LABELS_APP_PID:
        add_app_and_pid(b, &more, instance);
        break;
    case LABELS_ROOT_VP:
    case LABELS_LP:
        add_label(b, &more, "core", last_word(instance));
        break;
    case LABELS_VM_VP:
        name[strcspn(name, ":")] = 0;
        add_label(b, &more, "vm", name);
        add_label(b, &more, "core", last_word(instance));
        break;
    default:
        add_label(b, &more, plain_label(o->scheme), instance);
        break;
    }
}
