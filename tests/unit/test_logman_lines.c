/* SPDX-License-Identifier: MIT */
/* The command lines of logman_lines.txt, which administrators have in scripts and on pages: each ends with the code,
   and makes of its set what stands behind it. What a line begins with is there: a set or session of the name that it
   starts, changes or deletes, none that it creates, the providers and files that it names. To write the outcomes anew:
   OPENPLA_LINES_OUT=FILE. */
#include "cli/cli.h"
#include "cli/logman/line.h"
#include "cli/verbs.h"
#include "engine/os/clock.h"
#include "engine/os/environment.h"
#include "engine/os/file.h"
#include "engine/os/host.h"
#include "engine/os/memory.h"
#include "engine/os/process.h"
#include "tests/unit/run_fixture.h"
#include "tests/unit/scratch_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define DONE "The command completed successfully."

static char *here;

/* ---- a line's words ---- */

/* As the C run time of Windows splits it; quotes of PowerShell too. Without logman itself. */
static void split(const char *line, struct texts *words)
{
    while (*line) {
        struct text_buffer b = {0};
        char quote = 0;
        line += strspn(line, " \t");
        if (!*line)
            break;
        for (; *line && (quote || (*line != ' ' && *line != '\t')); line++)
            if (quote ? *line == quote : *line == '"' || (*line == '\'' && b.length == 0))
                quote = quote ? 0 : *line;
            else
                text_buffer_add_n(&b, line, 1);
        text_buffer_add(&b, "");
        assert_int_equal(texts_give(words, text_buffer_take(&b)), S_OK);
    }
    assert_int_equal(strncasecmp(words->items[0], "logman", 6), 0);
    memory_free(words->items[0]);
    memmove(words->items, words->items + 1, --words->count * sizeof *words->items);
}

/* What the verb wrote on both streams; from memory_alloc. Its nth allocation fails, none for 0; *failed: it came to
 * that one. */
static char *run_failing(const struct verb *verb, const struct texts *words, int *code, uint64_t n, bool *failed)
{
    char *text;
    size_t size;
    fflush(stdout);
    const int shown = dup(1), said = dup(2), out = open("out", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    assert_true(dup2(out, 1) == 1 && dup2(out, 2) == 2);
    memory_fail_at(n);
    *code = verb->run((int)words->count, words->items);
    *failed = memory_count() >= n;
    memory_fail_at(0);
    fflush(stdout);
    dup2(shown, 1);
    dup2(said, 2);
    close(shown);
    close(said);
    close(out);
    assert_int_equal(file_load("out", 1 << 20, &text, &size), S_OK);
    return text;
}

static char *run(const struct verb *verb, const struct texts *words, int *code)
{
    bool failed;
    return run_failing(verb, words, code, 0, &failed);
}

static int say(const char *format, const char *a, const char *b)
{
    struct texts words = {0};
    char line[1024];
    int code;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(line, sizeof line, format, a, b);
#pragma GCC diagnostic pop
    split(line, &words);
    memory_free(run(&verb_logman, &words, &code));
    texts_free(&words);
    return code;
}

/* ---- what a line begins with ---- */

static void put_file(const char *name, const char *text)
{
    if (file_find(name) != S_OK)
        assert_int_equal(file_store(name, text, strlen(text)), S_OK);
}

static void put_files(const struct logman_line *line)
{
    static const char set[] =
        "<DataCollectorSet><Duration>60</Duration><PerformanceCounterDataCollector><Name>c</Name>"
        "<Counter>\\System\\Threads</Counter></PerformanceCounterDataCollector></DataCollectorSet>";
    static const struct {
        enum logman_use use;
        const char *text;
    } files[] = {{LOGMAN_COUNTER_FILE, "\\Processor(*)\\% Processor Time\n\n\"\\Memory\\Available Bytes\"\n"},
                 {LOGMAN_PROVIDER_FILE, "{AFF081FE-0247-4275-9C4E-021F3DC1DA35} 0xf    5  ASP.NET Events\n"
                                        "\"Example Free\"\t0x3 4\nMicrosoft-ktlProv 1\n"},
                 {LOGMAN_XML, set}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const struct logman_option *o = logman_option(line, files[i].use);
        if (o && line->verb != LOGMAN_EXPORT)
            put_file(o->words.items[0], files[i].text);
    }
}

static bool makes(const struct logman_line *line, bool session)
{
    return line->verb == LOGMAN_CREATE || line->verb == LOGMAN_IMPORT || (line->verb == LOGMAN_START && session);
}

static void begin(const struct logman_line *line, const char *ets)
{
    static const struct {
        unsigned adverb;
        const char *line;
    } kinds[] = {{LOGMAN_COUNTER, "logman create counter -n \"%s\" -o here -ow -c \\System\\Threads"},
                 {LOGMAN_ALERT, "logman create alert -n \"%s\" -th \"\\System\\Threads>1\""},
                 {LOGMAN_CFG, "logman create cfg -n \"%s\" -ni"},
                 {LOGMAN_API, "logman create api -n \"%s\" -exe c:\\x.exe"}};
    static const char trace[] =
        "logman create trace -n \"%s\" -o here -ow -p {C0000000-0000-4000-8000-000000000001} %s";
    const char *kind = trace;
    put_files(line);
    if (!line->name || strcmp(line->name, "*") == 0 || line->adverb == LOGMAN_PROVIDERS || makes(line, *ets))
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].adverb == line->adverb)
            kind = kinds[i].line;
    if (logman_option(line, LOGMAN_INTERVAL))
        kind = kinds[0].line;
    (void)say(kind, line->name, ets);
    /* What is to go is there. */
    const struct logman_option *provider = logman_option(line, LOGMAN_PROVIDER);
    if (provider && provider->negated) {
        char *add = text_format("logman update -n \"%s\" %s -p \"%%s\"%%s", line->name, ets);
        (void)say(add, provider->words.items[0], "");
        memory_free(add);
    }
    if (line->verb == LOGMAN_STOP && !*ets)
        (void)say("logman start -n \"%s\"", line->name, "");
}

static void end(const struct logman_line *line, const char *ets)
{
    if (!line->name || line->adverb == LOGMAN_PROVIDERS)
        return;
    (void)say("logman stop -n \"%s\" %s", line->name, ets);
    if (!*ets)
        (void)say("logman delete -n \"%s\"", line->name, "");
}

/* ---- what it ends with ---- */

/* Each value without its label's blanks; not what differs from run to run. */
static void add_shown(struct text_buffer *b, char *text)
{
    static const char *const passed[] = {"Name: ", "Status:", "Run as:", "Schedules:", "Buffers ", DONE};
    bool first = true;
    text_buffer_add(b, "\n   ");
    for (char *row = strtok(text, "\n"); row; row = strtok(NULL, "\n")) {
        bool pass = false;
        for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
            pass = pass || strncmp(row, passed[i], strlen(passed[i])) == 0;
        row += strspn(row, " ");
        if (pass || !*row)
            continue;
        text_buffer_add(b, first ? "" : "; ");
        first = false;
        const size_t label = strcspn(row, ":");
        if (row[label] == ':' && row[label + 1] == ' ' && label < 22)
            text_buffer_format(b, "%.*s=%s", (int)label, row, row + label + 1 + strspn(row + label + 1, " "));
        else
            text_buffer_add(b, row);
    }
}

static char *replaced(char *text, const char *what, const char *with)
{
    struct text_buffer b = {0};
    const char *at = text, *found;
    for (; (found = strstr(at, what)) != NULL; at = found + strlen(what)) {
        text_buffer_add_n(&b, at, (size_t)(found - at));
        text_buffer_add(&b, with);
    }
    text_buffer_add(&b, at);
    memory_free(text);
    return text_buffer_take(&b);
}

/* "=m/d/yyyy;" of the day that it was or has become since. */
static char *today_replaced(char *text)
{
    for (int64_t ago = 0; ago <= 1; ago++) {
        const struct calendar_time day = clock_calendar(clock_utc_to_local(clock_utc()) - ago * INT64_C(600000000));
        char what[32];
        snprintf(what, sizeof what, "=%d/%d/%d;", day.month, day.day, day.year);
        text = replaced(text, what, "=TODAY;");
    }
    return text;
}

/* "_MMDDHHMM" */
static void hide_moments(char *text)
{
    for (char *at = text; (at = strchr(at, '_')) != NULL; at++)
        if (strspn(at + 1, "0123456789") == 8)
            memcpy(at + 1, "MMDDHHMM", 8);
}

static char *outcome(const char *text)
{
    struct text_buffer b = {0};
    struct texts words = {0};
    struct logman_line line;
    int code;
    split(text, &words);
    const bool sound = SUCCEEDED(logman_line_read((int)words.count, words.items, &line));
    const char *ets = logman_is_given(&line, LOGMAN_SESSION) ? "-ets" : "";
    if (sound)
        begin(&line, ets);
    char *written = run(&verb_logman, &words, &code), *error = strstr(written, "Error:\n");
    text_buffer_format(&b, code ? "-> 0x%08X" : "-> %u", (unsigned)code);
    if (error)
        for (char *row = strtok(error + sizeof "Error:", "\n"); row; row = strtok(NULL, "\n"))
            text_buffer_format(&b, " | %s", row);
    else
        assert_non_null(strstr(written, "\n" DONE "\n"));
    memory_free(written);
    if (sound && code == 0 && line.name && (makes(&line, *ets) || line.verb == LOGMAN_UPDATE)) {
        struct texts query = {0};
        const char *const words_of_query[] = {"query", "-n", line.name, "-ets"};
        for (size_t i = 0; i < (*ets ? 4u : 3u); i++)
            assert_int_equal(texts_add(&query, words_of_query[i]), S_OK);
        written = run(&verb_logman, &query, &code);
        assert_int_equal(code, 0);
        add_shown(&b, written);
        memory_free(written);
        texts_free(&query);
    }
    if (sound)
        end(&line, ets);
    logman_line_free(&line);
    texts_free(&words);
    char *result = today_replaced(replaced(text_buffer_take(&b), here, "HERE"));
    hide_moments(result);
    return result;
}

/* ---- the providers that lines name ---- */

static bool is_known(const char *name)
{
    return *name == '{' || strchr(name, ':') || strncmp(name, "Windows Kernel", 14) == 0 ||
           (strlen(name) == 36 && name[8] == '-');
}

static void name_provider(struct text_buffer *xml, struct texts *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (text_equal_nocase(names->items[i], name))
            return;
    if (is_known(name))
        return;
    assert_int_equal(texts_add(names, name), S_OK);
    text_buffer_format(
        xml,
        "<provider name=\"%s\" guid=\"{D0000000-0000-4000-8000-%012u}\" symbol=\"P%u\"><keywords>"
        "<keyword name=\"Default\" mask=\"0x1\"/><keyword name=\"PartialDataBusTrace\" mask=\"0x2\"/>"
        "<keyword name=\"Rundown\" mask=\"0x4\"/><keyword name=\"Power\" mask=\"0x8\"/></keywords></provider>",
        name, (unsigned)names->count, (unsigned)names->count);
}

static void know_providers(const struct texts *lines)
{
    struct text_buffer xml = {0};
    struct texts names = {0}, add = {0};
    int code;
    text_buffer_add(&xml, "<instrumentationManifest xmlns=\"http://schemas.microsoft.com/win/2004/08/events\">"
                          "<instrumentation><events>");
    name_provider(&xml, &names, "Example Free");
    name_provider(&xml, &names, "Microsoft-ktlProv");
    for (size_t i = 0; i < lines->count; i++) {
        struct texts words = {0};
        struct logman_line line;
        if (strncasecmp(lines->items[i], "logman", 6) != 0)
            continue;
        split(lines->items[i], &words);
        (void)logman_line_read((int)words.count, words.items, &line);
        if (line.adverb == LOGMAN_PROVIDERS && line.name)
            name_provider(&xml, &names, line.name);
        for (size_t j = 0; j < line.count; j++)
            if (line.options[j].use == LOGMAN_PROVIDER && line.options[j].words.count)
                name_provider(&xml, &names, line.options[j].words.items[0]);
        logman_line_free(&line);
        texts_free(&words);
    }
    text_buffer_add(&xml, "</events></instrumentation></instrumentationManifest>");
    char *text = text_buffer_take(&xml);
    put_file("known.man", text);
    memory_free(text);
    assert_int_equal(texts_add(&add, "add"), S_OK);
    assert_int_equal(texts_add(&add, "known.man"), S_OK);
    memory_free(run(&verb_manifest, &add, &code));
    assert_int_equal(code, 0);
    texts_free(&add);
    texts_free(&names);
}

/* ---- */

static void split_lines(const char *text, struct texts *lines)
{
    while (*text) {
        const size_t length = strcspn(text, "\n");
        char *line = text_copy_n(text, length);
        assert_int_equal(texts_give(lines, line), S_OK);
        text += length + (text[length] == '\n');
    }
}

/* Those that end with a code have a reason, and what this host cannot serve does not become more. */
struct unserved {
    struct texts lines;
    size_t met, hosts;
};
enum { MOST_OF_THE_HOST = 2 };

static void unserved_read(struct unserved *u)
{
    char *text;
    size_t size;
    assert_int_equal(file_load(LOGMAN_UNSERVED, 1 << 20, &text, &size), S_OK);
    split_lines(text, &u->lines);
    memory_free(text);
}

static void unserved_check(struct unserved *u, const char *line, const char *result)
{
    static const char *const hosts[] = {" => API tracing: ", " => report: ", " => absent provider: "};
    const size_t length = strlen(line);
    if (strncmp(result, "-> 0x", 5) != 0)
        return;
    for (size_t i = 0; i < u->lines.count; i++) {
        const char *reason = u->lines.items[i] + length;
        if (strncmp(u->lines.items[i], line, length) != 0 || strncmp(reason, " => ", 4) != 0)
            continue;
        bool host = false;
        for (size_t k = 0; k < sizeof hosts / sizeof *hosts; k++)
            host = host || strncmp(reason, hosts[k], strlen(hosts[k])) == 0;
        if (!host && strncmp(reason, " => refused: ", 13) != 0)
            fail_msg("no reason: %s", u->lines.items[i]);
        u->hosts += host;
        u->met++;
        return;
    }
    fail_msg("%s: %s, and logman_unserved.txt has no reason", line, result);
}

static void unserved_end(struct unserved *u)
{
    size_t rows = 0;
    for (size_t i = 0; i < u->lines.count; i++)
        rows += *u->lines.items[i] != '#';
    assert_int_equal(u->met, rows); /* one that is served now is taken off */
    assert_true(u->hosts <= MOST_OF_THE_HOST);
    texts_free(&u->lines);
}

static void each_line_does_what_it_says(void **state)
{
    char *text, *out = NULL;
    size_t size, count = 0;
    struct texts lines = {0}, written = {0};
    struct unserved unserved = {{0}, 0, 0};
    (void)state;
    assert_int_equal(file_load(LOGMAN_LINES, 1 << 20, &text, &size), S_OK);
    split_lines(text, &lines);
    memory_free(text);
    assert_non_null(freopen("/dev/null", "r", stdin)); /* nobody types a password */
    unserved_read(&unserved);
    here = fixture_folder("lines");
    assert_int_equal(chdir(here), 0);
    assert_int_equal(folder_create("Traces"), S_OK);
    know_providers(&lines);
    for (size_t i = 0; i < lines.count; i++) {
        if (strncmp(lines.items[i], "-> ", 3) == 0 || strncmp(lines.items[i], "   ", 3) == 0)
            continue;
        assert_int_equal(texts_add(&written, lines.items[i]), S_OK);
        if (strncasecmp(lines.items[i], "logman", 6) == 0) {
            char *result = outcome(lines.items[i]);
            split_lines(result, &written);
            unserved_check(&unserved, lines.items[i], result);
            memory_free(result);
            count++;
        }
    }
    unserved_end(&unserved);
    (void)environment_get("OPENPLA_LINES_OUT", &out);
    FILE *f = out && *out ? fopen(out, "w") : NULL;
    for (size_t i = 0; f && i < written.count; i++)
        fprintf(f, "%s\n", written.items[i]);
    if (f) {
        fclose(f);
    } else {
        for (size_t i = 0; i < lines.count && i < written.count; i++)
            assert_string_equal(written.items[i], lines.items[i]);
        assert_int_equal(written.count, lines.count);
    }
    memory_free(out);
    print_message("%u command lines\n", (unsigned)count);
    assert_int_equal(chdir("/"), 0);
    memory_free(here);
    texts_free(&lines);
    texts_free(&written);
}

/* What the line ends with, and a piece of what it says. */
static void expect(const char *text, uint32_t code, const char *says)
{
    struct texts words = {0};
    int result;
    split(text, &words);
    char *written = run(&verb_logman, &words, &result);
    if ((uint32_t)result != code || !strstr(written, says))
        fail_msg("%s: 0x%08X, not 0x%08X with \"%s\": %s", text, (unsigned)result, (unsigned)code, says, written);
    memory_free(written);
    texts_free(&words);
}

static void go_to(const char *name)
{
    char *folder = fixture_folder(name);
    assert_int_equal(chdir(folder), 0);
    memory_free(folder);
}

static void what_is_wrong_is_named_once(void **state)
{
    (void)state;
    go_to("wrong");
    expect("logman create counter wrong -c \\System\\Threads -si x", 0x80070057, "\n-si: \"x\" is no time");
    expect("logman -config none.txt", 0x80070002, "\nError:\nThe system cannot find the file specified.\n");
    expect("logman query providers -s elsewhere", 0x80070035, "elsewhere");
    expect("logman query providers -s localhost", 0, DONE);
    expect("logman query -config", 0x80070057, "\n-config: its value is missing");
    expect("logman create counter wrong -c \\System\\Threads -e 12/31/2299 00:00:00", 0x80070057, "\n-e: ");
}

/* "Set\Collector" is a collector to update; whoever deletes one has not said that the set is to go. */
static void a_collector_is_no_set(void **state)
{
    (void)state;
    go_to("collector");
    expect("logman create counter whole -c \\System\\Threads", 0, DONE);
    expect("logman delete whole\\whole", 0x80004002, "namespace \"whole\" is not known");
    expect("logman update whole\\whole -si 5", 0, DONE);
    expect("logman query whole", 0, "Sample Interval:      5 second(s)");
    expect("logman delete whole", 0, DONE);
}

static void a_daily_set_may_begin_earlier_in_the_day(void **state)
{
    (void)state;
    go_to("daily");
    expect("logman create counter daily -c \\System\\Threads -b 1/1/2024 23:59:59 -r", 0, DONE);
    expect("logman update daily -b 00:00:00", 0, DONE);
    expect("logman update daily --r -b 1/1/2024 00:00:00", 0x80070057, "the begin is over");
    expect("logman query daily", 0, "Start Time:           12:00:00 AM\n");
    expect("logman delete daily", 0, DONE);
}

static void what_is_mended_is_remarked(void **state)
{
    (void)state;
    go_to("mended");
    expect("logman create counter –n “two words” -c \\Network Interface(*)\\*", 0,
           "Remark: -c: \"\\Network Interface(*)\\*\" is taken for one, of words without quotes\n");
    expect("logman query two” words", 0x80070057, "belongs to no option");
    expect("logman delete “two words”", 0, "Remark: curly quotes around \"two words\" are taken for quotes\n");
}

/* Each flag is the item that is known for it, as one who chose them in a list would have it; the short words are as
 * good. */
static void the_kernels_flags_are_what_was_said(void **state)
{
    static const char flags[] =
        "KeywordsAny:          0x10003 (Process Events, Thread Events, TCP/IP Network Events)\n";
    (void)state;
    go_to("kernel");
    expect("logman create trace kernel -p \"Windows Kernel Trace\" (process,thread,net)", 0, DONE);
    expect("logman query kernel", 0, flags);
    expect("logman update kernel -p \"Windows Kernel Trace\" 0x110", 0, DONE);
    expect("logman query kernel", 0, "KeywordsAny:          0x110 (Disk I/O Events)\n");
    expect("logman update kernel -p \"Windows Kernel Trace\" \"(Thread Context Switch Events,disk)\"", 0, DONE);
    expect("logman query kernel", 0,
           "KeywordsAny:          0x100 | 0x20000004 (Disk I/O Events, Thread Context Switch Events)\n");
    expect("logman update kernel -p \"Windows Kernel Trace\" 0x10003", 0, DONE);
    expect("logman export kernel -y -xml kernel.xml", 0, DONE);
    expect("logman delete kernel", 0, DONE);
    expect("logman import kernel -xml kernel.xml", 0, DONE);
    expect("logman query kernel", 0, flags);
    expect("logman update kernel -p \"Windows Kernel Trace\" (process,nothing)", 0x80070057,
           "\n-p: the provider has no keyword \"nothing\"");
    expect("logman update kernel -p \"Windows Kernel Trace\" 0x100000000", 0x80070057, "has more");
    expect("logman query kernel", 0, flags);
    expect("logman delete kernel", 0, DONE);
}

/* What people do wrong again and again is told them with what to do. */
static void a_usual_mistake_is_answered(void **state)
{
    (void)state;
    go_to("mistakes");
    expect("logman create counter twice -c \\System\\Threads", 0, DONE);
    expect("logman create counter twice -c \\System\\Threads", 0x80300109, "\nupdate changes it");
    expect("logman import twice -xml x.xml", 0x803000B7, "\ndelete it first");
    expect("logman update twice -cnf", 0, "Remark: -cnf: without a time, and without -max");
    expect("logman update twice -cnf 1:00:00 -max 5 -f bincirc", 0, "Remark: -cnf: a circular log");
    expect("logman update twice --cnf --max", 0, "Remark: -f bincirc: without -max");
    expect("logman update twice -f bin -rc C:\\scripts\\closed.cmd", 0,
           "Remark: -rc: \"C:\\scripts\\closed.cmd\" is taken for a task's name");
    expect("logman delete twice", 0, DONE);
    expect("logman create alert never -th \\System\\Threads", 0x80070057, "> and < stand in quotes");
    expect("logman export log.blg -xml x.xml", 0x80300002, "openpla relog converts logs");
    expect("logman export twice -csv", 0x80070057, "openpla relog");
    expect("logman create session -ets -p {C0000000-0000-4000-8000-000000000001} -o session.etl", 0, DONE);
    expect("logman stop session", 0x80300002, "-ets means it");
    expect("logman create session -ets -p {C0000000-0000-4000-8000-000000000001} -o x.etl", 0x803000B7,
           "\nstop with -ets ends it");
    expect("logman stop session -ets", 0, DONE);
}

/* At once: nobody is asked who could not answer. */
static void another_computer_is_refused(void **state)
{
    static const char *const lines[] = {"query",
                                        "query other",
                                        "create counter other -c \\System\\Threads",
                                        "start other",
                                        "stop other",
                                        "delete other",
                                        "update other -si 5",
                                        "import other -xml other.xml",
                                        "export other -xml other.xml",
                                        "query -ets",
                                        "stop other -ets",
                                        "query providers"};
    (void)state;
    go_to("other");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *line = text_format("logman -s unreachable %s", lines[i]);
        expect(line, 0x80070035, "\nError:\nThe network path was not found.\n");
        expect(line, 0x80070035, "unreachable");
        memory_free(line);
    }
}

/* Not a JSON reader's judgement, which cli.logman_json has: the text is whole, whatever became of the line. */
static void is_whole(const char *line, const char *text)
{
    const size_t length = strlen(text);
    if (strncmp(text, "{\n", 2) != 0 || length < 4 || strcmp(text + length - 3, "\n}\n") != 0 ||
        !strstr(text, "\n  \"result\": \"0x"))
        fail_msg("%s: %s", line, text);
}

static void json_is_whole_when_memory_ends(void **state)
{
    static const char *const lines[] = {"logman query oom -json", "logman stop oom -json"};
    (void)state;
    go_to("oom");
    expect("logman create trace oom -p {C0000000-0000-4000-8000-000000000001} 3 4 -b 1/1/2290 10:00:00", 0, DONE);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct texts words = {0};
        split(lines[i], &words);
        bool failed = true;
        for (uint64_t n = 1; failed; n++) {
            int code;
            char *text = run_failing(&verb_logman, &words, &code, n, &failed);
            assert_true(failed || code == 0 || code == (int)0x80300104);
            is_whole(lines[i], text);
            memory_free(text);
        }
        texts_free(&words);
    }
    expect("logman delete oom", 0, DONE);
}

static int with_traces(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    char *folder = host_module_folder(), *program = path_join(folder, "trace_test_host");
    scratch_environment("OPENPLA_HOST", program);
    memory_free(folder);
    memory_free(program);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_does_what_it_says),   cmocka_unit_test(what_is_wrong_is_named_once),
        cmocka_unit_test(a_collector_is_no_set),         cmocka_unit_test(a_daily_set_may_begin_earlier_in_the_day),
        cmocka_unit_test(what_is_mended_is_remarked),    cmocka_unit_test(the_kernels_flags_are_what_was_said),
        cmocka_unit_test(a_usual_mistake_is_answered),   cmocka_unit_test(another_computer_is_refused),
        cmocka_unit_test(json_is_whole_when_memory_ends)};
    char name[32];
    snprintf(name, sizeof name, "logman%u", (unsigned)process_own_id());
    scratch_environment("OPENPLA_ETW", name);
    return cmocka_run_group_tests_name("test_logman_lines", tests, with_traces, fixture_teardown);
}
