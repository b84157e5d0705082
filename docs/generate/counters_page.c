/* SPDX-License-Identifier: MIT */
/* Writes the page of this computer's counters from their tables. */
#include "docs/generate/counters_page.h"

#include "engine/pdh/core/table.h"
#include "engine/pdh/counter_facts.h"
#include "engine/pdh/counter_types.h"
#include "engine/pdh/remote/pcq_internal.h"

#include <string.h>

static HRESULT add_counter(const struct counter_object_type *p, const struct counter_schema *c, struct text_buffer *b)
{
    const char *type = counter_type_name(c->type);
    if (!type)
        return error_set(E_UNEXPECTED, "%s\\%s: the page does not know the name of its type", p->name, c->name);
    text_buffer_format(b, "| %s | `%s", c->name, c->source);
    if (c->base)
        text_buffer_format(b, "` over `%s", p->counters[c->base].source);
    text_buffer_format(b, "` | %s | %d | ", type, (int)c->scale);
    if (c->index)
        text_buffer_format(b, "%u", (unsigned)c->index);
    text_buffer_format(b, " | %u | %s |\n", (unsigned)pcq_id(p, (uint32_t)(c - p->counters), PCQ_PART_VALUE), c->help);
    return S_OK;
}

static HRESULT add_object(const struct counter_object_type *p, struct text_buffer *b)
{
    HRESULT hr = S_OK;
    text_buffer_format(b, "\n## %s\n\n%s", p->name, p->help);
    if (p->index)
        text_buffer_format(b, " Index %u.", (unsigned)p->index);
    GUID guid;
    pcq_guid(p, &guid);
    text_buffer_add(b, p->has_instances ? "" : " It has no instances.");
    text_buffer_add(b, " GUID `");
    text_buffer_add_guid(b, &guid);
    text_buffer_add(b, "`.\n");
    if (p->table->origin)
        text_buffer_format(b, "\nColumns: %s.\n", p->table->origin);
    text_buffer_add(b,
                    "\n| counter | source | type | scale | index | id | what it is |\n|---|---|---|---|---|---|---|\n");
    for (uint32_t i = 0; i < p->counter_count && SUCCEEDED(hr); i++)
        hr = add_counter(p, &p->counters[i], b);
    return hr;
}

/* One row per reason; counters with the same reason share it. */
static void add_absent(struct text_buffer *b)
{
    static const struct {
        const char *object, *counters, *reason;
    } rows[] = {
#define ABSENT(object, counters, reason) {object, counters, reason},
#include "engine/pdh/absent_counters.def"
#undef ABSENT
    };
    text_buffer_add(
        b, "\n"
           "## Unsupported counters\n"
           "\n"
           "Windows' counters that have no reliable source on this host OS, with the reason. A counter that is neither "
           "listed above\n"
           "nor in this table belongs to a program, such as a database, and exists if that program provides it: see\n"
           "[Counters of your own](../user/counters.md#counters-of-your-own). `*` stands for all counters of the "
           "object.\n"
           "\n"
           "| object | counters | why |\n"
           "|---|---|---|\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *parts[] = {rows[i].object, rows[i].counters};
        for (size_t k = 0; k < 2; k++) {
            text_buffer_add(b, "| ");
            for (const char *p = parts[k], *bar; *p; p = bar) {
                bar = strstr(p, " | ");
                size_t length = bar ? (size_t)(bar - p) : strlen(p);
                text_buffer_format(b, "%.*s%s", (int)length, p, bar ? ", " : " ");
                bar = bar ? bar + 3 : p + length;
            }
        }
        text_buffer_format(b, "| %s |\n", rows[i].reason);
    }
}

static void add_functions(struct text_buffer *b)
{
    static const struct {
        const char *names, *reason;
    } rows[] = {
        {"PdhBrowseCounters, PdhBrowseCountersH, PdhSelectDataSource, PdhVbCreateCounterPathList, "
         "PdhVbGetCounterPathFromList, PdhVbGetOneCounterPath",
         "They show dialogs, or use the results of dialogs."},
        {"PdhRelog", "No header declares its structure; use `openpla relog`."},
        {"PdhPla..., PdhiPla..., PlaTimeInfoToMilliSeconds",
         "Windows XP's interface to sets, which no header declares; replaced by "
         "[IDataCollectorSet](IDataCollectorSet.md)."},
        {"PdhLogServiceCommand, PdhLogServiceControl", "They control a service of Windows 2000."},
        {"PdhVbOpenLog, PdhVbUpdateLog, PdhVbGetLogFileSize", "The order of their parameters is not documented."},
    };
    text_buffer_add(b,
                    "\n## Unsupported functions\n\n`openpdh.dll` exports these functions of `pdh.dll`, but they return "
                    "`PDH_NOT_IMPLEMENTED`. Functions with strings\nexist in both forms, A and W.\n\n| functions | why "
                    "|\n|---|---|\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        text_buffer_format(b, "| %s | %s |\n", rows[i].names, rows[i].reason);
}

HRESULT counters_page(const char *origin, struct text_buffer *b)
{
    size_t counters = 0;
    HRESULT hr = S_OK;
    for (size_t i = 0; i < counter_object_type_count; i++)
        counters += counter_object_types[i]->counter_count;
    text_buffer_format(b, "<!-- %s -->\n# Counters\n\n", origin);
    text_buffer_format(b,
                       "`openpdh.dll` provides these counters if the host OS has no PDH: %u objects with %u counters "
                       "under Windows' English\n"
                       "names, and Pressure and Control Group, which Windows does not have. The source of a counter "
                       "shows how its value is\n"
                       "computed, from columns of the object's table or from numbers in kernel files: "
                       "`meminfo.MemFree` is the line MemFree of\n"
                       "/proc/meminfo, and `net/snmp.Tcp.InSegs` the column InSegs of the lines Tcp of /proc/net/snmp. "
                       "`time` is the time at\n"
                       "which the source is read, in units of 100 ns. A counter whose source does not exist is absent, "
                       "never zero. The index is\n"
                       "the name's number on Windows, if that number is known. Other computers request an object by "
                       "its GUID and a counter\n"
                       "by its id, see [Remote counters](../user/remote-counters.md).\n"
                       "\n"
                       "A file is read once per sample, regardless of the number of counters that use it. If reading "
                       "an object takes longer than\n"
                       "two seconds (`OPENPLA_SAMPLE_LIMIT`: another number of milliseconds, 0 for no limit), the "
                       "object has no values in that\n"
                       "sample, nor in the following samples until it has been read. The other objects are sampled "
                       "without it.\n"
                       "\n"
                       "The counters of Process and Thread, and the numbers of processes and threads, cover the Wine "
                       "prefix. With the environment\n"
                       "variable `OPENPLA_PROCESSES=host`, or the string value `Processes` = `host` under "
                       "`HKLM\\Software\\OpenPLA`, they cover\n"
                       "the host OS.\n",
                       (unsigned)counter_object_type_count, (unsigned)counters);
    for (size_t i = 0; i < counter_object_type_count && SUCCEEDED(hr); i++)
        hr = add_object(counter_object_types[i], b);
    add_absent(b);
    add_functions(b);
    return hr;
}
