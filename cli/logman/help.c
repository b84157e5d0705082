/* SPDX-License-Identifier: MIT */
/* Prints logman's help, reports its options for completion, and gives advice if a command line does not do what users
   expect. */
#include "cli/cli.h"
#include "cli/logman/logman.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/logs/log.h"
#include "engine/pla/definition.h"

#include <stdio.h>
#include <string.h>

/* `use` is the text after `openpla logman`, and `text` is the description of the verb. */
struct topic {
    const char *use, *text, *examples;
};

static const struct topic verb_topics[] = {
    [LOGMAN_QUERY] = {"query [NAME] [-ets]\nquery providers [NAME|GUID] [-pid NUMBER]",
                      "Shows all sets, one set, or the event providers. With -ets: trace sessions. query * shows all "
                      "sets in detail.",
                      "openpla logman query Base\nopenpla logman query -ets\n"
                      "openpla logman query providers \"Windows Kernel Trace\"\n"},
    [LOGMAN_CREATE] =
        {"create counter|trace|alert|cfg|api NAME [OPTIONS]",
         "Creates a set with one collector of the same name. With -ets: creates and starts a trace session.",
         "openpla logman create counter Base -c \"\\Memory\\*\" -si 15 -o C:\\PerfLogs\\base\n"},
    [LOGMAN_START] = {"start NAME [-as]\nstart NAME -p PROVIDER -o FILE -ets [OPTIONS]",
                      "Starts a set. With -ets: creates and starts a trace session. Trace options require -ets.",
                      "openpla logman start Base\n"
                      "openpla logman start Net -p \"Windows Kernel Trace\" (process,net) -o net.etl -ets\n"},
    [LOGMAN_STOP] = {"stop NAME [-as]\nstop NAME -ets", "Stops a set. With -ets: stops a trace session.",
                     "openpla logman stop Base\nopenpla logman stop Net -ets\n"},
    [LOGMAN_DELETE] = {"delete NAME", "Deletes a set that is not running. With -ets: the same as stop.",
                       "openpla logman delete Base\n"},
    [LOGMAN_UPDATE] =
        {"update [counter|trace|alert|cfg|api] NAME[\\COLLECTOR] [OPTIONS]\nupdate NAME -fd -ets",
         "Changes properties of a set or a session, even while it runs. A list replaces the existing list.",
         "openpla logman update Base -si 5\n"},
    [LOGMAN_IMPORT] = {"import NAME -xml FILE",
                       "Creates a set from an XML definition, such as a template of Performance Monitor.",
                       "openpla logman import Base -xml base.xml\n"},
    [LOGMAN_EXPORT] = {"export NAME -xml FILE", "Writes the definition of a set to a file. With -ets: of a session.",
                       "openpla logman export Base -xml base.xml\n"},
};

static const struct {
    unsigned adverb;
    const char *text, *example;
} adverb_topics[] = {
    {LOGMAN_COUNTER, "writes samples of counters to a log",
     "NAME -c \"\\Processor(_Total)\\% Processor Time\" -si 15 -f csv -o C:\\PerfLogs\\base\n"},
    {LOGMAN_TRACE, "writes the events of event providers to a log",
     "NAME -p \"Windows Kernel Trace\" (process,disk) -o x.etl\n"},
    {LOGMAN_ALERT, "acts when a counter crosses a threshold", "NAME -th \"\\Memory\\Available MBytes<100\" -el\n"},
    {LOGMAN_CFG, "records the configuration of the computer",
     "NAME -ni -reg \"HKEY_LOCAL_MACHINE\\Software\\X\\\\\"\n"},
    {LOGMAN_API, "logs a program's calls to Windows' functions", "NAME -exe C:\\x.exe -o x.etl\n"},
    {LOGMAN_PROVIDERS, "shows the event providers", NULL},
};

static const char times_text[] =
    "A TIME is seconds, mm:ss or hh:mm:ss. Where -[-]x is shown, --x undoes -x. Options may begin with /.\n"
    "The exit code is 0 or the HRESULT.\n";

/* Returns true if the help of the verb and adverb lists the option. `adverb` is 0 if there is no adverb. */
static bool is_shown(const struct logman_row *row, unsigned verbs, unsigned adverb)
{
    const bool starts = verbs == 1u << LOGMAN_START;
    if ((row->verbs & verbs) == 0)
        return false;
    if (adverb == 0)
        return !starts || (row->adverbs & LOGMAN_TRACE) != 0;
    return (row->adverbs & adverb) != 0 || row->verbs == 0xFF;
}

static HRESULT show_option(const struct logman_row *row)
{
    const char *form = logman_form(row);
    char *left = text_format("%s%s%s%s%s", row->negatable ? "-[-]" : "-", row->name, row->alias ? ", -" : "",
                             row->alias ? row->alias : "", form ? " " : "");
    char *all = left ? text_format("%s%s", left, form ? form : "") : NULL;
    if (all)
        printf(strlen(all) < 26 ? "  %-26s%s\n" : "  %s\n                            %s\n", all, row->text);
    memory_free(left);
    memory_free(all);
    return all ? S_OK : E_OUTOFMEMORY;
}

static HRESULT show_options(unsigned verbs, unsigned adverb)
{
    HRESULT hr = S_OK;
    for (size_t i = 0; i < LOGMAN_OPTIONS && SUCCEEDED(hr); i++)
        if (is_shown(&logman_rows[i], verbs, adverb))
            hr = show_option(&logman_rows[i]);
    printf("  %-26s%s\n  %-26s%s\n", "-config FILE", "read more of the command line from this file", "-?", "this help");
    return hr;
}

/* Prints each line of `use` after the program's name. */
static void show_use(const char *use)
{
    while (*use) {
        const size_t length = strcspn(use, "\n");
        printf("openpla logman %.*s\n", (int)length, use);
        use += length + (use[length] == '\n');
    }
}

static HRESULT show_verb(const struct logman_line *line)
{
    const struct topic *topic = &verb_topics[line->verb];
    const char *verb = "", *adverb = "", *text = NULL, *example = NULL;
    for (const struct logman_word *w = logman_verbs; w->name; w++)
        verb = w->value == (unsigned)line->verb ? w->name : verb;
    for (const struct logman_word *w = logman_adverbs; w->name; w++)
        adverb = w->value == line->adverb ? w->name : adverb;
    for (size_t i = 0; i < sizeof adverb_topics / sizeof *adverb_topics; i++)
        if (adverb_topics[i].adverb == line->adverb) {
            text = adverb_topics[i].text;
            example = adverb_topics[i].example;
        }
    if (text && line->verb != LOGMAN_QUERY) {
        printf("openpla logman %s %s NAME [OPTIONS]\n\n%s\nThe collector %s.\n\n", verb, adverb, topic->text, text);
    } else {
        show_use(topic->use);
        printf("\n%s\n\n", topic->text);
    }
    const HRESULT hr = show_options(1u << line->verb, line->adverb);
    if (example && line->verb == LOGMAN_CREATE)
        printf("\nFor example:\nopenpla logman create %s %s", adverb, example);
    else
        printf("\nFor example:\n%s", topic->examples);
    printf("\n%s", times_text);
    return hr;
}

static HRESULT show_all(void)
{
    printf("openpla logman [VERB] [NAME] [OPTIONS]\n\n"
           "Creates, starts, stops, shows and changes sets, and with -ets trace sessions. The default verb is query.\n"
           "openpla logman VERB -? describes a verb, openpla logman create counter -? a collector type.\n\n");
    for (const struct logman_word *w = logman_verbs; w->name; w++)
        printf("  %-10s%s\n", w->name, verb_topics[w->value].text);
    printf("\n");
    for (size_t i = 0; i < sizeof adverb_topics / sizeof *adverb_topics; i++)
        for (const struct logman_word *w = logman_adverbs; w->name; w++)
            if (w->value == adverb_topics[i].adverb)
                printf("  %-10s%s\n", w->name, adverb_topics[i].text);
    printf("\n");
    const HRESULT hr = show_options(0xFF, 0);
    printf("\n%s", times_text);
    return hr;
}

HRESULT logman_show_help(const struct logman_line *line)
{
    return line->verb_given ? show_verb(line) : show_all();
}

static void options_report_verb(const char *sub, unsigned verbs, unsigned adverb)
{
    struct option options[LOGMAN_OPTIONS + 2];
    size_t count = 0;
    for (size_t i = 0; i < LOGMAN_OPTIONS; i++) {
        const struct logman_row *row = &logman_rows[i];
        const char *form = logman_form(row);
        if (is_shown(row, verbs, adverb))
            options[count++] = (struct option){row->name, form ? OPTION_FORM : OPTION_FLAG, (void *)(uintptr_t)form};
        if (is_shown(row, verbs, adverb) && row->alias)
            options[count++] = (struct option){row->alias, OPTION_TEXT, NULL};
    }
    options[count++] = (struct option){"config", OPTION_TEXT, NULL};
    (void)options_report(sub, options, count);
}

bool logman_report_options(void)
{
    if (!options_are_asked())
        return false;
    options_report_verb("", 0xFF, 0);
    for (const struct logman_word *v = logman_verbs; v->name; v++) {
        options_report_verb(v->name, 1u << v->value, 0);
        for (const struct logman_word *a = logman_adverbs; a->name; a++) {
            char sub[32];
            const bool fits = a->value == LOGMAN_PROVIDERS ? v->value == LOGMAN_QUERY
                                                           : v->value == LOGMAN_CREATE || v->value == LOGMAN_UPDATE;
            snprintf(sub, sizeof sub, "%s %s", v->name, a->name);
            if (fits)
                options_report_verb(sub, 1u << v->value, a->value);
        }
    }
    return true;
}

static bool has_extension(const char *path, const char *const *extensions)
{
    const size_t length = strlen(path);
    for (; *extensions; extensions++)
        if (length > strlen(*extensions) && text_equal_nocase(path + length - strlen(*extensions), *extensions))
            return true;
    return false;
}

const char *logman_advice(const struct logman_line *line, HRESULT hr)
{
    static const struct {
        unsigned verbs; /* 1 << enum logman_verb */
        int session;    /* 1: only with -ets; 0: only without -ets; -1: in both cases */
        uint32_t code;
        const char *text;
    } advice[] = {
        {1u << LOGMAN_CREATE, 0, 0x80300109, "change it with update, or delete it first"},
        {1u << LOGMAN_IMPORT, -1, 0x803000B7, "delete it first, or choose another name with -n"},
        {1u << LOGMAN_CREATE | 1u << LOGMAN_START, 1, 0x803000B7,
         "stop it with stop -ets, or change it with update -ets"},
        {1u << LOGMAN_DELETE, -1, 0x803000AA, "stop it first"},
        {1u << LOGMAN_START, 0, 0x80070050,
         "update the set with -ow to overwrite a log, with -a to append to it, or with -v to give each log another "
         "name"},
        {1u << LOGMAN_START, 0, 0x800700B7,
         "update the set with -ow to overwrite a log, with -a to append to it, or with -v to give each log another "
         "name"},
        {0xFF, -1, 0x80070005,
         "only administrators may do this; Performance Log Users may do it for sets with an account (-u)"},
    };
    const int session = logman_is_given(line, LOGMAN_SESSION);
    const struct logman_option *xml = logman_option(line, LOGMAN_XML);
    if (hr == E_ACCESSDENIED && xml && folder_exists(xml->words.items[0]))
        return NULL; /* access is denied because the output is a folder, not because the user lacks a right */
    if (hr == E_ACCESSDENIED && logman_is_given(line, LOGMAN_SERVER))
        return NULL; /* the message names the account */
    if (line->verb == LOGMAN_EXPORT && line->name && log_is_log_name(line->name))
        return "this is the name of a log, but the verb export writes definitions of sets (use openpla relog to "
               "convert a log)";
    if (definition_is_damaged(hr) && hr != E_ACCESSDENIED && line->verb != LOGMAN_IMPORT && line->name)
        return "find the problem with openpla store check, or delete the set";
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        if (advice[i].code == (uint32_t)hr && (advice[i].verbs & 1u << line->verb) != 0 &&
            (advice[i].session < 0 || advice[i].session == session))
            return advice[i].text;
    return NULL;
}

/* ---- warnings about command lines that do something unexpected ---- */

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

static HRESULT say(struct texts *warnings, char *text)
{
    return text ? texts_add_owned(warnings, text) : E_OUTOFMEMORY;
}

/* Warns about times such as "00:05", which may be meant as five minutes. */
static HRESULT warn_of_times(const struct logman_line *line, struct texts *warnings)
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
            hr = say(warnings,
                     text_format("-%s: '%s' means minutes and seconds (%s s); for hours and minutes use '%s:00'",
                                 logman_rows[times[i]].name, word, seconds, word));
    }
    return hr;
}

/* Warns about ambiguous dates. A date is month/day/year, but if the month would be greater than 12, it is
   day/month/year. */
static HRESULT warn_of_days(const struct logman_line *line, struct texts *warnings)
{
    static const enum logman_use moments[] = {LOGMAN_BEGIN, LOGMAN_END};
    HRESULT hr = S_OK;
    for (size_t i = 0; i < sizeof moments / sizeof *moments && SUCCEEDED(hr); i++) {
        const struct logman_option *o = logman_option(line, moments[i]);
        const char *word = o && o->words.count ? o->words.items[0] : "";
        const size_t digits = strspn(word, "0123456789");
        if (digits == 2 && word[2] == '/' && strncmp(word, "12", 2) > 0)
            hr = say(warnings, text_format("-%s: '%s' is treated as day/month/year, because %.2s is not a month",
                                           logman_rows[moments[i]].name, word, word));
    }
    return hr;
}

/* Adds warnings about logs that will differ from what the options suggest. */
static HRESULT warn_of_log(const struct logman_line *line, struct object *set, struct object *collector,
                           struct texts *warnings)
{
    const bool circular = is_set(collector, "LogCircular"), limited = is_set(set, "SegmentMaxSize");
    const bool stored = !logman_is_given(line, LOGMAN_SESSION);
    const uint32_t interval =
        logman_adverb_of(collector) & (LOGMAN_COUNTER | LOGMAN_ALERT) ? number_of(collector, "SampleInterval") : 0;
    const struct logman_option *output = logman_option(line, LOGMAN_OUTPUT);
    HRESULT hr = S_OK;
    if (logman_is_given(line, LOGMAN_NEW_FILES) && !is_set(set, "SegmentMaxDuration") && !limited)
        hr = texts_add(warnings, "-cnf: without a time and without -max, no new file is started");
    if (SUCCEEDED(hr) && logman_is_given(line, LOGMAN_NEW_FILES) && circular)
        hr = texts_add(
            warnings, "-cnf: a circular log starts a new file only after a time, not when it reaches its maximum size");
    if (SUCCEEDED(hr) && circular && !limited)
        hr = texts_add(warnings, "-f bincirc: without -max the log has no maximum size at which it wraps");
    if (SUCCEEDED(hr) && stored && logman_is_given(line, LOGMAN_MOST) && limited && !circular &&
        !is_set(set, "Segment"))
        hr = texts_add(warnings, "-max: the set stops when its log reaches this size; with -cnf, the set continues in "
                                 "a new file; with -f bincirc, the set continues in the same file");
    const bool api = logman_adverb_of(collector) == LOGMAN_API;
    if (SUCCEEDED(hr) && api &&
        (logman_option(line, LOGMAN_VERSION) || logman_is_given(line, LOGMAN_OVERWRITE) ||
         logman_is_given(line, LOGMAN_APPEND)))
        hr = texts_add(
            warnings,
            "-v, -ow and -a have no effect on an API trace (if the log exists, the name of the new log gets a number)");
    if (SUCCEEDED(hr) && !api && stored && line->verb == LOGMAN_CREATE && output &&
        !logman_option(line, LOGMAN_VERSION) && log_is_log_name(output->words.items[0]))
        hr = texts_add(warnings,
                       "-o: the run number is appended to the file name (_000001); use --v to keep the name unchanged");
    if (SUCCEEDED(hr) && (logman_is_given(line, LOGMAN_RUN_FOR) || logman_is_given(line, LOGMAN_INTERVAL)) &&
        number_of(set, "Duration") && interval > number_of(set, "Duration"))
        hr = texts_add(warnings, "-rf: the set stops before it takes its second sample (-si)");
    return hr;
}

HRESULT logman_warn(const struct logman_line *line, struct object *set, struct object *collector,
                    struct texts *warnings)
{
    static const char *const programs[] = {".exe", ".cmd", ".bat", ".com", ".ps1", ".vbs", ".js", NULL};
    static const enum logman_use tasks[] = {LOGMAN_TASK_OF_RUN, LOGMAN_TASK};
    HRESULT hr = warn_of_log(line, set, collector, warnings);
    if (SUCCEEDED(hr))
        hr = warn_of_times(line, warnings);
    if (SUCCEEDED(hr))
        hr = warn_of_days(line, warnings);
    const struct logman_option *output = logman_option(line, LOGMAN_OUTPUT), *user = logman_option(line, LOGMAN_USER);
    if (SUCCEEDED(hr) && output && !logman_option(line, LOGMAN_SERVER) && folder_exists(output->words.items[0]) &&
        !strchr("\\/", output->words.items[0][strlen(output->words.items[0]) - 1])) {
        hr = say(warnings, text_format("-o: '%s' is an existing folder; the log is created beside the folder, with the "
                                       "folder's name (add \\ at the end to create the log in the folder)",
                                       output->words.items[0]));
    }
    if (SUCCEEDED(hr) && user && user->words.count > 1 && strcmp(user->words.items[1], "*") != 0)
        hr = texts_add(
            warnings,
            "-u: other users of this computer can read a password on a command line (use * to be asked for it)");
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks && SUCCEEDED(hr); i++) {
        const struct logman_option *o = logman_option(line, tasks[i]);
        if (o && !o->negated && has_extension(o->words.items[0], programs)) {
            hr = say(
                warnings,
                text_format(
                    "-%s: '%s' is treated as the name of a task, not of a program (create tasks with openpla task add)",
                    logman_rows[tasks[i]].name, o->words.items[0]));
        }
    }
    return hr;
}
