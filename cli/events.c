/* SPDX-License-Identifier: MIT */
/* openpla events: shows the journal of the sets. */
#include "cli/cli.h"
#include "cli/output.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/folder.h"
#include "engine/base/memory.h"
#include "engine/logs/journal.h"

#include <stdio.h>
#include <string.h>

#define VERB    "events"
#define LOOK_MS 1000 /* polling interval for -follow, in case the folder watch reports no change */

struct choice {
    const char *set, *level;
    uint32_t id, last, max;
    bool follow, json;
    enum journal_level worst; /* show events of this level and of more severe levels */
};

static const struct {
    const char *name;
    enum journal_level level;
} levels[] = {{"error", JOURNAL_ERROR}, {"warning", JOURNAL_WARNING}, {"information", JOURNAL_INFORMATION}};

static const char *level_name(enum journal_level level)
{
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (levels[i].level == level)
            return levels[i].name;
    return "";
}

/* Returns the name of the event's set, which is in the field DataCollecotrSet (as Windows spells it), or else in Name.
   Returns "" for events without a set. */
static const char *set_of(const struct journal_entry *e)
{
    for (size_t i = 0; i < e->count; i++)
        if (text_equal_nocase(e->fields[i].name, "DataCollecotrSet"))
            return e->fields[i].value;
    for (size_t i = 0; i < e->count; i++)
        if (text_equal_nocase(e->fields[i].name, "Name"))
            return e->fields[i].value;
    return "";
}

static bool is_chosen(const struct choice *c, const struct journal_entry *e)
{
    return (c->id == 0 || e->id == c->id) && e->level <= c->worst && (!c->set || text_matches(c->set, set_of(e)));
}

/* Returns true for fields that are always numbers. The name of the field decides, because all fields of the journal are
   strings. A string that looks like a number, such as "7", may be the name of a set or file. */
static bool is_number_field(const char *name)
{
    static const char *const names[] = {"Buffers", "BuffersLost", "Bytes",   "Count",     "Events", "Files",
                                        "Process", "Quota",       "Remarks", "Threshold", "Value"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void print_json(const struct journal_entry *e)
{
    struct json j = {.out = stdout, .compact = true};
    char *time = format_iso_time(e->utc);
    json_begin(&j, NULL, '{');
    json_text(&j, "time", time);
    json_integer(&j, "id", (int64_t)e->id);
    json_text(&j, "level", level_name(e->level));
    json_text(&j, "message", e->message);
    json_begin(&j, "fields", '{');
    for (size_t i = 0; i < e->count; i++)
        if (is_number_field(e->fields[i].name))
            json_number_text(&j, e->fields[i].name, e->fields[i].value);
        else
            json_text(&j, e->fields[i].name, e->fields[i].value);
    json_end(&j, '}');
    json_end(&j, '}');
    memory_free(time);
}

static void print_text(const struct journal_entry *e)
{
    struct calendar_time t = clock_calendar(clock_utc_to_local(e->utc));
    printf("%04d-%02d-%02d %02d:%02d:%02d.%03d  %u %s  %s:", t.year, t.month, t.day, t.hour, t.minute, t.second,
           t.millisecond, (unsigned)e->id, level_name(e->level), e->message);
    for (size_t i = 0; i < e->count; i++)
        if (e->fields[i].value[0])
            printf("%s %s=%s", i > 0 ? "," : "", e->fields[i].name, e->fields[i].value);
    printf("\n");
}

/* Skips the first `skipped` selected events and shows the following ones. *seen is the number of selected events. */
static HRESULT event_show(struct journal_reader *r, const struct choice *c, uint64_t skipped, uint64_t *shown,
                          uint64_t *seen)
{
    struct journal_entry e;
    HRESULT hr = S_OK;
    *seen = 0;
    while ((c->max == 0 || *shown < c->max) && (hr = journal_reader_next(r, &e)) == S_OK) {
        if (!is_chosen(c, &e) || (*seen)++ < skipped)
            continue;
        if (c->json)
            print_json(&e);
        else
            print_text(&e);
        (*shown)++;
    }
    return hr;
}

static HRESULT events_count(const char *folder, const struct choice *c, uint64_t *all)
{
    struct journal_reader *r;
    struct journal_entry e;
    HRESULT hr = journal_reader_open(folder, &r);
    *all = 0;
    if (FAILED(hr))
        return hr;
    while ((hr = journal_reader_next(r, &e)) == S_OK)
        *all += is_chosen(c, &e);
    journal_reader_close(r);
    return hr;
}

static HRESULT events_follow(struct journal_reader *r, const char *folder, const struct choice *c, uint64_t *shown)
{
    struct folder_watch *watch = NULL;
    uint64_t seen;
    HRESULT hr = folder_create_protected(folder, PROTECTION_JOURNAL);
    if (SUCCEEDED(hr))
        hr = folder_watch_open(folder, &watch);
    while (SUCCEEDED(hr) && (c->max == 0 || *shown < c->max)) {
        hr = event_show(r, c, 0, shown, &seen);
        if (fflush(stdout) != 0)
            break; /* main reports the error */
        if (SUCCEEDED(hr) && (c->max == 0 || *shown < c->max))
            hr = folder_watch_wait(watch, LOOK_MS);
    }
    folder_watch_close(watch);
    return hr;
}

static HRESULT show_events(const struct choice *c)
{
    struct journal_reader *r = NULL;
    uint64_t all = 0, shown = 0, seen;
    char *folder = journal_folder();
    HRESULT hr = folder ? S_OK : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && c->last > 0)
        hr = events_count(folder, c, &all);
    if (SUCCEEDED(hr))
        hr = journal_reader_open(folder, &r);
    if (SUCCEEDED(hr))
        hr = event_show(r, c, c->last > 0 && all > c->last ? all - c->last : 0, &shown, &seen);
    if (SUCCEEDED(hr) && c->follow)
        hr = events_follow(r, folder, c, &shown);
    journal_reader_close(r);
    memory_free(folder);
    return hr;
}

static int events_run(int argc, char **argv)
{
    struct choice c = {.worst = JOURNAL_INFORMATION};
    const struct option options[] = {
        {"set", OPTION_TEXT, &c.set},    {"id", OPTION_COUNT, &c.id},   {"level", OPTION_TEXT, &c.level},
        {"last", OPTION_COUNT, &c.last}, {"max", OPTION_COUNT, &c.max}, {"follow", OPTION_FLAG, &c.follow},
        {"json", OPTION_FLAG, &c.json},
    };
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof options[0], NULL);
    if (result != CLI_DONE)
        return result;
    if (c.level) {
        c.worst = 0;
        for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
            if (text_equal_nocase(levels[i].name, c.level))
                c.worst = levels[i].level;
        if (c.worst == 0)
            return cli_usage(VERB, "-level: unknown level '%s': expected error, warning or information", c.level);
    }
    HRESULT hr = show_events(&c);
    return FAILED(hr) ? cli_error(VERB, hr) : CLI_DONE;
}

const struct verb verb_events = {
    .name = "events",
    .summary = "shows what happened to the sets: starts, stops, segments, losses, failures",
    .help = "openpla events [-set NAME] [-id ID] [-level LEVEL] [-last N] [-max N] [-follow] [-json]\n"
            "\n"
            "Shows the events of this computer's data collector sets, oldest first. About 2 MiB of events are kept. "
            "Ids below\n"
            "9000 are those of Windows' event provider Microsoft-Windows-Diagnosis-PLA.\n"
            "\n"
            "  -set NAME     only events of this set; * and ? are wildcards\n"
            "  -id ID        only events with this id\n"
            "  -level LEVEL  error: only errors; warning: errors and warnings; information: all\n"
            "  -last N       only the last N events\n"
            "  -max N        exit after N events\n"
            "  -follow       keep running and show new events\n"
            "  -json         print one JSON object per line\n",
    .run = events_run,
};
