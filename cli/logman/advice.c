/* SPDX-License-Identifier: MIT */
#include "cli/logman/advice.h"

#include "cli/logman/sets.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/pla/definition.h"

#include <string.h>

static bool has_extension(const char *path, const char *const *extensions)
{
    const size_t length = strlen(path);
    for (; *extensions; extensions++)
        if (length > strlen(*extensions) && text_equal_nocase(path + length - strlen(*extensions), *extensions))
            return true;
    return false;
}

static const char *const logs[] = {".blg", ".csv", ".tsv", ".etl", NULL};

const char *logman_advice(const struct logman_line *line, HRESULT hr)
{
    static const struct {
        unsigned verbs; /* 1 << enum logman_verb */
        int session;    /* -1: with -ets and without */
        uint32_t code;
        const char *text;
    } advice[] = {
        {1u << LOGMAN_CREATE, 0, 0x80300109, "update changes it, delete makes place for another one"},
        {1u << LOGMAN_IMPORT, -1, 0x803000B7, "delete it first, or give another name by -n"},
        {1u << LOGMAN_CREATE | 1u << LOGMAN_START, 1, 0x803000B7,
         "stop with -ets ends it, update with -ets changes it"},
        {1u << LOGMAN_DELETE, -1, 0x803000AA, "stop it first"},
        {1u << LOGMAN_START, 0, 0x80070050,
         "of the set, -ow lets it overwrite a log, -a append, -v give each log another name"},
        {1u << LOGMAN_START, 0, 0x800700B7,
         "of the set, -ow lets it overwrite a log, -a append, -v give each log another name"},
        {0xFF, -1, 0x80070005,
         "administrators may do this; Performance Log Users may too for sets that run as somebody: -u"},
    };
    const int session = logman_is_given(line, LOGMAN_SESSION);
    const struct logman_option *xml = logman_option(line, LOGMAN_XML);
    if (hr == E_ACCESSDENIED && xml && folder_exists(xml->words.items[0]))
        return NULL; /* no right is lacking */
    if (line->verb == LOGMAN_EXPORT && line->name && has_extension(line->name, logs))
        return "this is a log's name: openpla relog converts logs, export writes the definitions of sets";
    if (definition_is_damaged(hr) && hr != E_ACCESSDENIED && line->verb != LOGMAN_IMPORT && line->name)
        return "openpla store check says what is wrong with the files of sets; delete makes place for another set";
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (advice[i].code == (uint32_t)hr && (advice[i].verbs & 1u << line->verb) != 0 &&
            (advice[i].session < 0 || advice[i].session == session))
            return advice[i].text;
    return NULL;
}

/* ---- what is done, and is not what was meant ---- */

static bool is_set(struct object *o, const char *property)
{
    struct value v;
    if (FAILED(object_get(o, class_property(o->class, property), &v)))
        return false;
    return v.kind == PROPERTY_BOOL ? v.boolean : v.u32 != 0;
}

static uint32_t number_of(struct object *o, const char *property)
{
    struct value v;
    return SUCCEEDED(object_get(o, class_property(o->class, property), &v)) ? v.u32 : 0;
}

static HRESULT say(struct texts *remarks, char *text)
{
    return text ? texts_give(remarks, text) : E_OUTOFMEMORY;
}

/* "00:05" was meant as five minutes by who thinks of a clock. */
static HRESULT warn_of_times(const struct logman_line *line, struct texts *remarks)
{
    static const enum logman_use times[] = {LOGMAN_INTERVAL, LOGMAN_RUN_FOR, LOGMAN_NEW_FILES, LOGMAN_FLUSH_TIMER};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < sizeof times / sizeof *times && SUCCEEDED(hr); i++) {
        const struct logman_option *o = logman_option(line, times[i]);
        const char *word = o && !o->negated && o->words.count ? o->words.items[0] : "";
        const size_t zeros = strspn(word, "0");
        const char *seconds = zeros && word[zeros] == ':' ? word + zeros + 1 : "";
        seconds += strspn(seconds, "0");
        if (*seconds && !strchr(seconds, ':'))
            hr = say(remarks, text_format("-%s: \"%s\" is minutes and seconds: %s s; \"%s:00\" is hours and minutes",
                                          logman_rows[times[i]].name, word, seconds, word));
    }
    return hr;
}

/* A day is month/day/year, but where there is no such month. */
static HRESULT warn_of_days(const struct logman_line *line, struct texts *remarks)
{
    static const enum logman_use moments[] = {LOGMAN_BEGIN, LOGMAN_END};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < sizeof moments / sizeof *moments && SUCCEEDED(hr); i++) {
        const struct logman_option *o = logman_option(line, moments[i]);
        const char *word = o && o->words.count ? o->words.items[0] : "";
        const size_t digits = strspn(word, "0123456789");
        if (digits == 2 && word[2] == '/' && strncmp(word, "12", 2) > 0)
            hr = say(remarks, text_format("-%s: \"%s\" is taken for day/month/year: there is no month %.2s",
                                          logman_rows[moments[i]].name, word, word));
    }
    return hr;
}

/* What becomes of the log is not what its options seem to say. */
static HRESULT warn_of_log(const struct logman_line *line, struct object *set, struct object *collector,
                           struct texts *remarks)
{
    const bool circular = is_set(collector, "LogCircular"), limited = is_set(set, "SegmentMaxSize");
    const bool stored = !logman_is_given(line, LOGMAN_SESSION);
    const uint32_t interval =
        logman_adverb_of(collector) & (LOGMAN_COUNTER | LOGMAN_ALERT) ? number_of(collector, "SampleInterval") : 0;
    const struct logman_option *output = logman_option(line, LOGMAN_OUTPUT);
    HRESULT hr = S_OK;
    if (logman_is_given(line, LOGMAN_NEW_FILES) && !is_set(set, "SegmentMaxDuration") && !limited)
        hr = texts_add(remarks, "-cnf: without a time, and without -max, no other file is begun");
    if (SUCCEEDED(hr) && logman_is_given(line, LOGMAN_NEW_FILES) && circular)
        hr = texts_add(remarks,
                       "-cnf: a circular log goes on in its own file at its size; only a time begins another one");
    if (SUCCEEDED(hr) && circular && !limited)
        hr = texts_add(remarks, "-f bincirc: without -max the log has no size at which it begins anew");
    if (SUCCEEDED(hr) && stored && logman_is_given(line, LOGMAN_MOST) && limited && !circular &&
        !is_set(set, "Segment"))
        hr = texts_add(remarks, "-max: the set ends when its log has this size; with -cnf it goes on in another file, "
                                "with -f bincirc in the same");
    if (SUCCEEDED(hr) && stored && line->verb == LOGMAN_CREATE && output && !logman_option(line, LOGMAN_VERSION) &&
        has_extension(output->words.items[0], logs))
        hr = texts_add(remarks, "-o: the name of the file gets the number of the run, _000001; --v leaves it as it is");
    if (SUCCEEDED(hr) && (logman_is_given(line, LOGMAN_RUN_FOR) || logman_is_given(line, LOGMAN_INTERVAL)) &&
        number_of(set, "Duration") && interval > number_of(set, "Duration"))
        hr = texts_add(remarks, "-rf: the set ends before its second sample (-si)");
    return hr;
}

HRESULT logman_warn(const struct logman_line *line, struct object *set, struct object *collector, struct texts *remarks)
{
    static const char *const programs[] = {".exe", ".cmd", ".bat", ".com", ".ps1", ".vbs", ".js", NULL};
    static const enum logman_use tasks[] = {LOGMAN_TASK_OF_RUN, LOGMAN_TASK};
    HRESULT hr = warn_of_log(line, set, collector, remarks);
    if (SUCCEEDED(hr))
        hr = warn_of_times(line, remarks);
    if (SUCCEEDED(hr))
        hr = warn_of_days(line, remarks);
    const struct logman_option *output = logman_option(line, LOGMAN_OUTPUT), *user = logman_option(line, LOGMAN_USER);
    if (SUCCEEDED(hr) && output && !logman_option(line, LOGMAN_SERVER) && folder_exists(output->words.items[0]) &&
        !strchr("\\/", output->words.items[0][strlen(output->words.items[0]) - 1])) {
        hr = say(remarks,
                 text_format("-o: \"%s\" is a folder that is there, and the log's file gets that name beside it; "
                             "with \\ at the end it is the folder of the log",
                             output->words.items[0]));
    }
    if (SUCCEEDED(hr) && user && user->words.count > 1 && strcmp(user->words.items[1], "*") != 0)
        hr = texts_add(remarks, "-u: others of this computer can read a password on a command line; * asks for it");
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks && SUCCEEDED(hr); i++) {
        const struct logman_option *o = logman_option(line, tasks[i]);
        if (o && !o->negated && has_extension(o->words.items[0], programs)) {
            hr = say(remarks,
                     text_format("-%s: \"%s\" is taken for a task's name: no program is started by it, but by a task "
                                 "that was added (openpla task add)",
                                 logman_rows[tasks[i]].name, o->words.items[0]));
        }
    }
    return hr;
}
