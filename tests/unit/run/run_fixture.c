/* SPDX-License-Identifier: MIT */
/* The fixture of the run tests. */
#include "run_fixture.h"

#include "engine/base/clock.h"
#include "engine/base/os.h"
#include "engine/logs/journal.h"
#include "tests/unit/scratch_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <inttypes.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#define PROGRAM_SUFFIX ".exe"
#define TEMP           "%TEMP%"
#else
#include <signal.h>
#define PROGRAM_SUFFIX ""
#define TEMP           "/tmp"
#endif

static char *data;

int fixture_setup(void **state)
{
    (void)state;
    char *temp = os_expand_environment(TEMP);
    char *name = text_format("openpla-run-test-%u-%" PRId64, (unsigned)process_own_id(), clock_utc());
    data = path_join(temp, name);
    memory_free(temp);
    memory_free(name);
    if (!data || FAILED(folder_create(data)))
        return -1;
    char *folder = os_module_folder();
    char *program = path_join(folder, "run_test_host" PROGRAM_SUFFIX);
    scratch_environment("OPENPLA_DATA", data);
    scratch_environment("OPENPLA_HOST", program);
    memory_free(folder);
    memory_free(program);
    return 0;
}

int fixture_teardown(void **state)
{
    (void)state;
    scratch_remove(data);
    /* A program that a run has started has a folder of the run as its current folder until it exits. A set host process
       does not. */
    for (int i = 0; i < PATIENCE_MS / 100 && folder_exists(data); i++) {
        fixture_sleep(100);
        scratch_remove(data);
    }
    bool gone = !folder_exists(data); /* if not, a run still has something open */
    memory_free(data);
    return gone ? 0 : -1;
}

char *fixture_folder(const char *name)
{
    char *folder = path_join(data, name);
    assert_non_null(folder);
    assert_int_equal(folder_create(folder), S_OK);
    return folder;
}

void fixture_commit(const char *name, const char *root, const char *set_xml, const char *collector_xml)
{
    char *xml =
        text_format("<DataCollectorSet><RootPath>%s</RootPath>%s%s%s%s</DataCollectorSet>", root, set_xml,
                    collector_xml ? "<PerformanceCounterDataCollector><Name>c</Name>" : "",
                    collector_xml ? collector_xml : "", collector_xml ? "</PerformanceCounterDataCollector>" : "");
    assert_non_null(xml);
    assert_int_equal(store_save(&caller_self, SPACE, name, STORE_CREATE_OR_MODIFY, xml, strlen(xml), NULL, NULL), S_OK);
    memory_free(xml);
}

void fixture_sleep(uint32_t ms)
{
    struct signal *e;
    char *name = text_format("openpla-test-sleep-%u", (unsigned)process_own_id());
    assert_int_equal(signal_open(&(struct shared){.name = name, .create = true}, &e), S_OK);
    memory_free(name);
    signal_wait(e, ms);
    signal_close(e);
}

struct run_state fixture_await(const char *name, enum run_status status, uint32_t ms)
{
    struct run_state state;
    uint64_t limit = clock_monotonic_ms() + ms;
    do {
        assert_int_equal(run_query(SPACE, name, &state), S_OK);
        if (state.status == status)
            return state;
        fixture_sleep(20);
    } while (clock_monotonic_ms() < limit);
    fail_msg("set %s has status %d, not %d, after %u ms", name, (int)state.status, (int)status, (unsigned)ms);
    return state;
}

char *fixture_read(const char *folder, const char *file)
{
    char *path = path_join(folder, file), *text = NULL;
    size_t size;
    HRESULT hr = file_load(path, 1 << 24, &text, &size);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    memory_free(path);
    return text;
}

size_t fixture_lines(const char *folder, const char *file)
{
    char *text = fixture_read(folder, file);
    size_t lines = 0, length = strlen(text);
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    assert_true(length && text[length - 1] == '\n');
    memory_free(text);
    return lines;
}

struct run_record fixture_record(const char *name)
{
    struct run_record record;
    assert_int_equal(store_load_run(SPACE, name, &record), S_OK);
    assert_true(record.known);
    return record;
}

struct run_state fixture_progress(const char *name, uint32_t serial_number, uint64_t samples)
{
    struct run_state s;
    uint64_t limit = clock_monotonic_ms() + PATIENCE_MS;
    do {
        s = fixture_await(name, RUN_RUNNING, PATIENCE_MS);
        if (s.serial_number >= serial_number && s.samples >= samples)
            return s;
        fixture_sleep(20);
    } while (clock_monotonic_ms() < limit);
    fail_msg("set %s: serial number %u, %u samples after %u ms", name, (unsigned)s.serial_number, (unsigned)s.samples,
             PATIENCE_MS);
    return s;
}

static const char late[] = " samples lost: their time passed while an earlier sample was taken\n";

size_t fixture_late(const char *name)
{
    struct run_record record = fixture_record(name);
    const char *end = strstr(record.last_message, late), *at = end;
    while (at && at > record.last_message && at[-1] >= '0' && at[-1] <= '9')
        at--;
    size_t count = at ? strtoul(at, NULL, 10) : 0;
    run_record_free(&record);
    return count;
}

bool fixture_only_stopped(const char *message)
{
    size_t digits = strspn(message, "0123456789"), length = sizeof late - 1;
    if (digits && !strncmp(message + digits, late, length))
        message += digits + length;
    return !strcmp(message, "the run ended because it was stopped\n");
}

void fixture_kill(uint32_t process_id)
{
#ifdef _WIN32
    HANDLE process = OpenProcess(PROCESS_TERMINATE, FALSE, process_id);
    assert_non_null(process);
    assert_true(TerminateProcess(process, 9));
    CloseHandle(process);
#else
    assert_int_equal(kill((pid_t)process_id, SIGKILL), 0);
#endif
}

char fixture_reason[1024], fixture_user[512];

size_t fixture_events(uint32_t id, const char *name)
{
    struct journal_reader *r;
    struct journal_entry e;
    char *folder = journal_folder();
    size_t count = 0;
    assert_int_equal(journal_reader_open(folder, &r), S_OK);
    while (journal_reader_next(r, &e) == S_OK) {
        if (e.id != id || !e.count || strcmp(e.fields[0].value, name) != 0)
            continue;
        count++;
        fixture_reason[0] = fixture_user[0] = 0;
        for (size_t i = 0; i < e.count; i++)
            if (!strcmp(e.fields[i].name, "Reason"))
                snprintf(fixture_reason, sizeof fixture_reason, "%s", e.fields[i].value);
            else if (!strcmp(e.fields[i].name, "User"))
                snprintf(fixture_user, sizeof fixture_user, "%s", e.fields[i].value);
    }
    journal_reader_close(r);
    memory_free(folder);
    return count;
}

void fixture_await_event(uint32_t id, const char *name)
{
    for (int i = 0; i < PATIENCE_MS / 20 && !fixture_events(id, name); i++)
        fixture_sleep(20);
    assert_int_equal(fixture_events(id, name), 1);
}

uint64_t fixture_figure(const char *name, const char *collector, const char *figure)
{
    char *text = run_figures_text(SPACE, name), *head = text_format("%s: ", collector),
         *tail = text_format("%s ", figure);
    assert_true(text && head && tail);
    char *line = strstr(text, head), *end = line ? strchr(line, '\n') : NULL;
    const char *at = line ? strstr(line, tail) : NULL;
    const uint64_t number = at && at < end ? strtoull(at + strlen(tail), NULL, 10) : 0;
    memory_free(text);
    memory_free(head);
    memory_free(tail);
    return number;
}
