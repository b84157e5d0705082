/* SPDX-License-Identifier: MIT */
/* Runs the command lines of logman_lines.txt, which administrators use in scripts and documentation: each must exit
   with the given code and leave the set in the given state. The test first creates a line's preconditions: the set or
   session that it starts, changes or deletes, and the event providers and files that it names. A set that the line
   creates must not exist before. OPENPLA_LINES_OUT=FILE writes all results to FILE. */
#include "cli/logman/line.h"
#include "engine/base/clock.h"
#include "tests/unit/cli/logman_fixture.h"

#include <stdlib.h>

static char *here;

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

/* ---- preconditions of a line ---- */

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
    /* An event provider that the line removes must exist. */
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

/* ---- result of a line ---- */

/* Appends each value without the padding after its label, and skips values that differ between runs. */
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

/* Replaces "=m/d/yyyy;" with "=TODAY;" if it is today's date. Midnight may have passed during the test, so the date of
   one minute ago is replaced, too. */
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

/* Replaces the digits of timestamps with "_MMDDHHMM". */
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
    const bool sound = SUCCEEDED(logman_line_read(&(struct texts){0}, (int)words.count, words.items, &line));
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

/* ---- event providers that lines name ---- */

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
        (void)logman_line_read(&(struct texts){0}, (int)words.count, words.items, &line);
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
        assert_int_equal(texts_add_owned(lines, line), S_OK);
        text += length + (text[length] == '\n');
    }
}

/* Lines that exit with an error code need a reason in logman_unserved.txt, and the number of lines that the host OS
   cannot serve must not grow. */
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
    fail_msg("%s: %s, but logman_unserved.txt has no reason for it", line, result);
}

static void unserved_end(struct unserved *u)
{
    size_t rows = 0;
    for (size_t i = 0; i < u->lines.count; i++)
        rows += *u->lines.items[i] != '#';
    assert_int_equal(u->met, rows); /* lines that succeed now must be removed from the file */
    assert_true(u->hosts <= MOST_OF_THE_HOST);
    texts_free(&u->lines);
}

static void each_line_has_its_recorded_result(void **state)
{
    char *text, *out = NULL;
    size_t size, count = 0;
    struct texts lines = {0}, written = {0};
    struct unserved unserved = {{0}, 0, 0};
    (void)state;
    assert_int_equal(file_load(LOGMAN_LINES, 1 << 20, &text, &size), S_OK);
    split_lines(text, &lines);
    memory_free(text);
    assert_non_null(freopen("/dev/null", "r", stdin)); /* stdin is empty: nobody types a password */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_has_its_recorded_result),
    };
    logman_own_sessions();
    return cmocka_run_group_tests_name("test_logman_lines", tests, with_traces, fixture_teardown);
}
