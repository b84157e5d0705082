/* SPDX-License-Identifier: MIT */
/* openpla doctor: checks this installation and explains how to repair it. */
#include "cli/doctor/doctor.h"

#include "cli/cli.h"
#include "cli/output.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define VERB     "doctor"
#define MEGABYTE (UINT64_C(1) << 20)

static const struct doctor_kind {
    enum doctor_severity severity;
    const char *id, *why, *remedy;
} kinds[] = {
#define FINDING(name, severity, id, why, remedy) {DOCTOR_##severity, id, why, remedy},
#include "cli/doctor/doctor.def"
#undef FINDING
};
static const char *const severities[] = {"note", "warning", "error"};

/* ---- findings ---- */

/* Returns the remedy with the placeholders of doctor.def replaced. Returns NULL if memory runs out. */
static char *fill_in(const struct doctor *d, const char *remedy, const char *about)
{
    struct text_buffer b = {0};
    char *own = d->folder ? NULL : os_module_folder();
    const char *folder = d->folder ? d->folder : own ? own : "";
    for (; *remedy; remedy++) {
        if (strncmp(remedy, "{}", 2) == 0) {
            text_buffer_add(&b, about ? about : "NAME");
            remedy += 1;
        } else if (strncmp(remedy, "{folder}", 8) == 0) {
            text_buffer_add(&b, folder);
            remedy += 7;
        } else {
            text_buffer_add_n(&b, remedy, 1);
        }
    }
    memory_free(own);
    return text_buffer_take(&b);
}

HRESULT doctor_find(struct doctor *d, enum doctor_id id, const char *about, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    struct doctor_finding f = {id, length < 0 ? NULL : memory_alloc((size_t)length + 1),
                               fill_in(d, kinds[id].remedy, about)};
    va_start(arguments, format);
    if (f.what)
        vsnprintf(f.what, (size_t)length + 1, format, arguments);
    va_end(arguments);
    if (f.what && f.remedy && memory_grow((void **)&d->items, &d->capacity, d->count + 1, sizeof *d->items)) {
        d->items[d->count++] = f;
        return S_OK;
    }
    memory_free(f.what);
    memory_free(f.remedy);
    return E_OUTOFMEMORY;
}

static void doctor_free(struct doctor *d)
{
    for (size_t i = 0; i < d->count; i++) {
        memory_free(d->items[i].what);
        memory_free(d->items[i].remedy);
    }
    memory_free(d->items);
    memory_free(d->folder);
}

static HRESULT find_file_time(void *user, const struct file_entry *file)
{
    struct {
        const char *name;
        int64_t written;
    } *wanted = user;
    if (text_equal_nocase(file->name, wanted->name))
        wanted->written = file->written;
    return S_OK;
}

int64_t doctor_file_written(const char *path)
{
    struct {
        const char *name;
        int64_t written;
    } wanted = {path_name(path), 0};
    char *folder = path_folder(path);
    if (folder && FAILED(folder_each_file(folder, find_file_time, &wanted)))
        wanted.written = 0;
    memory_free(folder);
    error_clear();
    return wanted.written;
}

/* ---- output ---- */

static void kind_json(struct json *j, const struct doctor_kind *k)
{
    json_text(j, "id", k->id);
    json_text(j, "severity", severities[k->severity]);
}

/* Lists all findings that the checks can report. */
static int findings_list(bool as_json)
{
    struct json j = {.out = stdout};
    if (as_json)
        json_begin(&j, NULL, '[');
    for (size_t i = 0; i < DOCTOR_IDS; i++) {
        if (!as_json) {
            printf("%s: %s\n  why: %s\n  do:  %s\n", kinds[i].id, severities[kinds[i].severity], kinds[i].why,
                   kinds[i].remedy);
            continue;
        }
        json_begin(&j, NULL, '{');
        kind_json(&j, &kinds[i]);
        json_text(&j, "why", kinds[i].why);
        json_text(&j, "do", kinds[i].remedy);
        json_end(&j, '}');
    }
    if (as_json)
        json_end(&j, ']');
    return CLI_DONE;
}

static void show_json(const struct doctor *d)
{
    struct json j = {.out = stdout};
    json_begin(&j, NULL, '[');
    for (size_t i = 0; i < d->count; i++) {
        json_begin(&j, NULL, '{');
        kind_json(&j, &kinds[d->items[i].id]);
        json_text(&j, "what", d->items[i].what);
        json_text(&j, "why", kinds[d->items[i].id].why);
        json_text(&j, "do", d->items[i].remedy);
        json_end(&j, '}');
    }
    json_end(&j, ']');
}

/* Prints the findings, the most severe first. */
static void show_text(const struct doctor *d)
{
    for (int severity = DOCTOR_ERROR; severity >= DOCTOR_NOTE; severity--)
        for (size_t i = 0; i < d->count; i++) {
            const struct doctor_finding *f = &d->items[i];
            if ((int)kinds[f->id].severity != severity)
                continue;
            printf("%s: %s: ", severities[severity], kinds[f->id].id);
            print_shown(f->what);
            printf("\n  why: %s\n  do:  ", kinds[f->id].why);
            print_shown(f->remedy);
            printf("\n");
        }
    if (!d->count)
        printf("No problems found.\n");
}

static int findings_exit_code(const struct doctor *d)
{
    int severity = DOCTOR_NOTE;
    for (size_t i = 0; i < d->count; i++)
        if ((int)kinds[d->items[i].id].severity > severity)
            severity = kinds[d->items[i].id].severity;
    return severity == DOCTOR_ERROR ? CLI_FAILED : severity == DOCTOR_WARNING ? CLI_REMARKS : CLI_DONE;
}

static int doctor_examine(struct doctor *d, bool as_json)
{
    HRESULT(*const checks[])
    (struct doctor * d) = {
#ifdef _WIN32
        doctor_check_registration, doctor_check_service, doctor_check_server,
        doctor_check_ports,        doctor_check_dcom,    doctor_check_wine,
#endif
        doctor_check_host,         doctor_check_store,   doctor_check_sessions,
    };
    HRESULT hr = S_OK;
    for (size_t i = 0; i < sizeof checks / sizeof *checks && SUCCEEDED(hr); i++)
        hr = checks[i](d);
    if (FAILED(hr))
        return cli_error(VERB, hr);
    if (as_json)
        show_json(d);
    else
        show_text(d);
    return findings_exit_code(d);
}

static int doctor_run(int argc, char **argv)
{
    struct doctor d = {.wait_ms = 10000};
    bool as_json = false, all = false;
    uint32_t room = 500, wait = 10;
    const struct option options[] = {{"json", OPTION_FLAG, &as_json},
                                     {"list", OPTION_FLAG, &all},
                                     {"disk", OPTION_COUNT, &room},
                                     {"wait", OPTION_COUNT, &wait}};
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, NULL);
    if (result == CLI_DONE && wait > 600)
        result = cli_usage(VERB, "-wait: invalid value %u: the maximum is 600 seconds", (unsigned)wait);
    if (result != CLI_DONE)
        return result;
    d.room = room * MEGABYTE;
    d.wait_ms = wait * 1000;
    result = all ? findings_list(as_json) : doctor_examine(&d, as_json);
    doctor_free(&d);
    return result;
}

const struct verb verb_doctor = {
    .name = VERB,
    .summary = "checks this installation and says how to repair it",
    .help =
        "openpla doctor [-disk MB] [-wait SECONDS] [--json]\n"
        "openpla doctor -list [--json]\n"
        "\n"
        "Checks the registration, the service and its server, the files of the sets, their runs, the trace sessions\n"
        "and what OpenPLA needs from the host OS. For each problem it prints what is wrong, why it matters and what\n"
        "to do. It changes nothing.\n"
        "\n"
        "  -disk MB       a disk that sets write to counts as nearly full below this free space (default 500), and\n"
        "                 as full below a tenth of this value\n"
        "  -wait SECONDS  how long to wait for the server's answer (default 10)\n"
        "  -list          list all findings, with why they matter and what to do\n"
        "  --json         print an array of objects: id, severity, what, why, do\n"
        "\n"
        "Exit codes: 0 no problems, or only notes; 3 warnings but no errors; 1 at least one error, or the check\n"
        "failed; 2 wrong command line.\n",
    .run = doctor_run,
};
