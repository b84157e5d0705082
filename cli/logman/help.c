/* SPDX-License-Identifier: MIT */
#include "cli/logman/help.h"

#include "cli/cli.h"
#include "cli/verbs.h"
#include "engine/base/memory.h"

#include <stdio.h>
#include <string.h>

/* What stands behind `name` in a line of the verb, what the verb does, and lines that show it. */
struct topic {
    const char *use, *text, *examples;
};

static const struct topic verb_topics[] = {
    [LOGMAN_QUERY] =
        {"query [NAME] [-ets]\nquery providers [NAME|GUID] [-pid NUMBER]",
         "Shows all sets, one of them, or the providers of events. With -ets the sessions; * is each of all.",
         "openpla logman query Base\nopenpla logman query -ets\n"
         "openpla logman query providers \"Windows Kernel Trace\"\n"},
    [LOGMAN_CREATE] = {"create counter|trace|alert|cfg|api NAME [OPTIONS]",
                       "Makes a set with one collector of its name. With -ets a trace session, which is started.",
                       "openpla logman create counter Base -c \"\\Memory\\*\" -si 15 -o C:\\PerfLogs\\base\n"},
    [LOGMAN_START] =
        {"start NAME [-as]\nstart NAME -p PROVIDER -o FILE -ets [OPTIONS]",
         "Starts a set, or with -ets makes a trace session and starts it. The options of traces are for -ets.",
         "openpla logman start Base\n"
         "openpla logman start Net -p \"Windows Kernel Trace\" (process,net) -o net.etl -ets\n"},
    [LOGMAN_STOP] = {"stop NAME [-as]\nstop NAME -ets", "Stops a set, or with -ets a trace session.",
                     "openpla logman stop Base\nopenpla logman stop Net -ets\n"},
    [LOGMAN_DELETE] = {"delete NAME", "Deletes a set that does not run. With -ets it is stop.",
                       "openpla logman delete Base\n"},
    [LOGMAN_UPDATE] =
        {"update [counter|trace|alert|cfg|api] NAME[\\COLLECTOR] [OPTIONS]\nupdate NAME -fd -ets",
         "Changes what the options name, of a set or session that runs too. Lists take the place of lists.",
         "openpla logman update Base -si 5\n"},
    [LOGMAN_IMPORT] = {"import NAME -xml FILE", "Makes a set of a definition in XML, such as perfmon's templates.",
                       "openpla logman import Base -xml base.xml\n"},
    [LOGMAN_EXPORT] = {"export NAME -xml FILE",
                       "Writes the definition of a set into a file, or with -ets of a session.",
                       "openpla logman export Base -xml base.xml\n"},
};

static const struct {
    unsigned adverb;
    const char *text, *example;
} adverb_topics[] = {
    {LOGMAN_COUNTER, "samples counters into a log",
     "NAME -c \"\\Processor(_Total)\\% Processor Time\" -si 15 -f csv -o C:\\PerfLogs\\base\n"},
    {LOGMAN_TRACE, "writes events of providers into a log",
     "NAME -p \"Windows Kernel Trace\" (process,disk) -o x.etl\n"},
    {LOGMAN_ALERT, "does something when a counter passes a threshold",
     "NAME -th \"\\Memory\\Available MBytes<100\" -el\n"},
    {LOGMAN_CFG, "writes down how the computer is set up", "NAME -ni -reg \"HKEY_LOCAL_MACHINE\\Software\\X\\\\\"\n"},
    {LOGMAN_API, "logs calls of a program; such sets are kept, and cannot run here", "NAME -exe C:\\x.exe -o x.etl\n"},
    {LOGMAN_PROVIDERS, "shows the providers of events", NULL},
};

static const char times[] =
    "A TIME is seconds, mm:ss or hh:mm:ss. --x takes -x back where both are shown. Options may begin with /.\n"
    "The exit code is 0 or the HRESULT.\n";

/* Whether help of the verb and, where it has one, the adverb (else 0) shows the option. */
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
    char *left = text_format("%s%s%s%s%s", row->negatable ? "-[-]" : "-", row->name, row->alias ? ", -" : "",
                             row->alias ? row->alias : "", row->form ? " " : "");
    char *all = left ? text_format("%s%s", left, row->form ? row->form : "") : NULL;
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
    printf("  %-26s%s\n  %-26s%s\n", "-config FILE", "more of the command line is in this file", "-?", "this help");
    return hr;
}

/* Each line of a topic's, behind the program's name. */
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
        printf("openpla logman %s %s NAME [OPTIONS]\n\n%s\nSuch a collector %s.\n\n", verb, adverb, topic->text, text);
    } else {
        show_use(topic->use);
        printf("\n%s\n\n", topic->text);
    }
    const HRESULT hr = show_options(1u << line->verb, line->adverb);
    if (example && line->verb == LOGMAN_CREATE)
        printf("\nFor example:\nopenpla logman create %s %s", adverb, example);
    else
        printf("\nFor example:\n%s", topic->examples);
    printf("\n%s", times);
    return hr;
}

static HRESULT show_all(void)
{
    printf("openpla logman [VERB] [NAME] [OPTIONS]\n\n"
           "Creates, starts, stops, shows and changes sets, and with -ets trace sessions. Without a verb: query.\n"
           "openpla logman VERB -? says more of each verb, openpla logman create counter -? of each sort of set.\n\n");
    for (const struct logman_word *w = logman_verbs; w->name; w++)
        printf("  %-10s%s\n", w->name, verb_topics[w->value].text);
    printf("\n");
    for (size_t i = 0; i < sizeof adverb_topics / sizeof *adverb_topics; i++)
        for (const struct logman_word *w = logman_adverbs; w->name; w++)
            if (w->value == adverb_topics[i].adverb)
                printf("  %-10s%s\n", w->name, adverb_topics[i].text);
    printf("\n");
    const HRESULT hr = show_options(0xFF, 0);
    printf("\n%s", times);
    return hr;
}

HRESULT logman_show_help(const struct logman_line *line)
{
    return line->verb_given ? show_verb(line) : show_all();
}

static void tell(const char *sub, unsigned verbs, unsigned adverb)
{
    struct option options[LOGMAN_OPTIONS + 2];
    size_t count = 0;
    for (size_t i = 0; i < LOGMAN_OPTIONS; i++) {
        const struct logman_row *row = &logman_rows[i];
        if (is_shown(row, verbs, adverb))
            options[count++] =
                (struct option){row->name, row->form ? OPTION_FORM : OPTION_FLAG, (void *)(uintptr_t)row->form};
        if (is_shown(row, verbs, adverb) && row->alias)
            options[count++] = (struct option){row->alias, OPTION_TEXT, NULL};
    }
    options[count++] = (struct option){"config", OPTION_TEXT, NULL};
    (void)options_told(sub, options, count);
}

bool logman_tell_options(void)
{
    if (!options_are_asked())
        return false;
    tell("", 0xFF, 0);
    for (const struct logman_word *v = logman_verbs; v->name; v++) {
        tell(v->name, 1u << v->value, 0);
        for (const struct logman_word *a = logman_adverbs; a->name; a++) {
            char sub[32];
            const bool fits = a->value == LOGMAN_PROVIDERS ? v->value == LOGMAN_QUERY
                                                           : v->value == LOGMAN_CREATE || v->value == LOGMAN_UPDATE;
            snprintf(sub, sizeof sub, "%s %s", v->name, a->name);
            if (fits)
                tell(sub, 1u << v->value, a->value);
        }
    }
    return true;
}
