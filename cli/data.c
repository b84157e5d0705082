/* SPDX-License-Identifier: MIT */
/* openpla data: shows the folders of a set's runs and what the set's data manager would do with these folders. */
#include "cli/cli.h"
#include "cli/output.h"
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/pla/model.h"
#include "engine/pla/retention.h"
#include "engine/pla/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERB "data"

/* A set whose runs write below the requested folder. */
struct looked {
    const char *space;
    const char *name;
    const struct data_collector_set *set;
    char *root;
    unsigned parts;
    struct retention_policy policy;
    struct run_record record;
    struct texts others; /* folders that do not belong to the set */
    struct scanned scanned;
    struct retention_plan plan;
    int64_t now;
};

struct showing {
    const char *folder; /* the requested folder */
    struct folder_identity identity;
    bool is_there;
    bool dry_run, as_json;
    struct json json;
    unsigned sets, failures;
};

static void ignore_report(void *user, const struct retention_event *reported)
{
    (void)user;
    (void)reported;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static HRESULT add_first_name(struct texts *own, const char *name)
{
    char *first = text_copy_n(name, strcspn(name, "\\/"));
    return first ? texts_add_owned(own, first) : E_OUTOFMEMORY;
}

/* Finds the folders that do not belong to the set. Uses a sorted list of the set's folders, because there may be
   thousands of folders. Unreadable folders of the set are not listed as foreign. */
static HRESULT find_others(struct looked *l)
{
    struct texts all = {0}, own = {0};
    HRESULT hr = folder_list(l->root, true, &all);
    for (size_t i = 0; SUCCEEDED(hr) && i < l->scanned.count; i++)
        hr = add_first_name(&own, l->scanned.folders[i].name);
    for (size_t i = 0; SUCCEEDED(hr) && i < l->scanned.failure_count; i++)
        hr = add_first_name(&own, l->scanned.failures[i].name);
    if (own.count)
        qsort(own.items, own.count, sizeof *own.items, by_text);
    for (size_t i = 0; SUCCEEDED(hr) && i < all.count; i++)
        if (!own.count || !bsearch(&all.items[i], own.items, own.count, sizeof *own.items, by_text))
            hr = texts_add(&l->others, all.items[i]);
    texts_free(&all);
    texts_free(&own);
    return hr;
}

static HRESULT set_inspect(struct looked *l)
{
    l->parts = set_retention_parts(l->set);
    l->now = clock_utc();
    HRESULT hr = set_retention_policy(l->set, &l->policy);
    if (SUCCEEDED(hr))
        hr = store_load_run(l->space, l->name, &l->record);
    const struct retention_pass pass = {
        .scan = {.space = l->space,
                 .set = l->name,
                 .root = l->root,
                 .names = set_content_names(l->set),
                 .running = l->record.running ? l->record.latest_location : NULL},
        .policy = &l->policy,
        .parts = l->parts,
        .now = l->now,
        .report = ignore_report,
    };
    if (SUCCEEDED(hr))
        hr = retention_pass_plan(&pass, &l->scanned, &l->plan);
    return SUCCEEDED(hr) ? find_others(l) : hr;
}

static void looked_free(struct looked *l)
{
    retention_policy_free(&l->policy);
    run_record_free(&l->record);
    texts_free(&l->others);
    scanned_free(&l->scanned);
    retention_plan_free(&l->plan);
}

/* ---- as text ---- */

static double megabytes(uint64_t bytes)
{
    return (double)bytes / (1 << 20);
}

static const char *state_of(const struct retained_folder *f)
{
    return f->running ? "running" : f->going ? "being deleted" : f->latest ? "newest" : "";
}

static void show_folder(const struct retained_folder *f, int64_t now)
{
    printf("%s%*s %5u d %10.1f MB  %-4s %-6s %-7s %s", f->name, shown_room(f->name, 32), "",
           (unsigned)retained_age(f, now), megabytes(retained_bytes(f)), f->data_files ? "data" : "",
           f->report_files ? "report" : "", f->packed ? "cabinet" : "", state_of(f));
    if (f->others)
        printf("%s%zu foreign file%s, kept", *state_of(f) ? ", " : "", f->others, f->others == 1 ? "" : "s");
    printf("\n");
}

static void show_step(const struct looked *l, const struct retention_step *step)
{
    const char *name = l->scanned.folders[step->folder].name;
    printf("%s%*s %-15s %10.1f MB  ", name, shown_room(name, 32), "", retention_what_text(step->what),
           megabytes(step->bytes));
    if (step->why == RETENTION_BY_ACTION) {
        const struct retention_action *a = &l->policy.actions[step->action];
        printf("action %zu (age %u d, size %u MB)", step->action + 1, (unsigned)a->age, (unsigned)a->size);
    } else {
        printf("%s", retention_why_text(step->why));
    }
    printf("%s\n", step->what == RETENTION_DELETE_DATA && step->packed ? "; the cabinet contains the data" : "");
}

static void show_plan(const struct looked *l)
{
    if (!set_has_run_folders(l->set))
        printf("All runs share one folder, which is never deleted (set Subdirectory to give each run a folder).\n");
    else if (!l->parts)
        printf("The data manager is disabled or has neither folder actions nor limits, so nothing would be done.\n");
    else if (!l->plan.count)
        printf("The next pass would do nothing.\n");
    else
        printf("The next pass would:\n");
    for (size_t i = 0; i < l->plan.count; i++)
        show_step(l, &l->plan.steps[i]);
    for (size_t i = 0; i < sizeof l->plan.over / sizeof *l->plan.over; i++)
        if (l->plan.over[i])
            printf("the limit %s would still be exceeded.\n",
                   retention_why_text((enum retention_why)(RETENTION_FOLDERS + i)));
}

static void show_text(const struct showing *s, const struct looked *l)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < l->scanned.count; i++)
        bytes += retained_bytes(&l->scanned.folders[i]);
    printf("%s%s: %zu folders of its runs, %.1f MB, in %s\n", s->sets ? "\n" : "", l->name, l->scanned.count,
           megabytes(bytes), l->root);
    for (size_t i = 0; !s->dry_run && i < l->scanned.count; i++)
        show_folder(&l->scanned.folders[i], l->now);
    if (l->others.count && !s->dry_run)
        printf("Folders that no run of the set created (kept unchanged): %zu\n", l->others.count);
    for (size_t i = 0; !s->dry_run && i < l->others.count; i++)
        printf("%s\n", l->others.items[i]);
    show_plan(l);
    fflush(stdout);
    for (size_t i = 0; i < l->scanned.failure_count; i++)
        fprintf(stderr, "openpla " VERB ": cannot read '%s' (it is kept): %s\n", l->scanned.failures[i].name,
                l->scanned.failures[i].reason);
}

/* ---- as JSON ---- */

static void json_folder(struct json *j, const struct retained_folder *f, int64_t now)
{
    json_begin(j, NULL, '{');
    json_text(j, "folder", f->name);
    json_integer(j, "serialNumber", f->serial);
    json_integer(j, "ageDays", retained_age(f, now));
    json_integer(j, "bytes", (int64_t)retained_bytes(f));
    json_integer(j, "dataBytes", (int64_t)f->data_bytes);
    json_integer(j, "reportBytes", (int64_t)f->report_bytes);
    json_integer(j, "cabinetBytes", (int64_t)f->cabinet_bytes);
    json_integer(j, "others", (int64_t)f->others);
    json_bool(j, "cabinet", f->packed);
    json_bool(j, "sent", f->sent != 0);
    json_bool(j, "newest", f->latest);
    json_bool(j, "running", f->running);
    json_end(j, '}');
}

static void json_step(struct json *j, const struct looked *l, const struct retention_step *step)
{
    json_begin(j, NULL, '{');
    json_text(j, "folder", l->scanned.folders[step->folder].name);
    json_text(j, "step", retention_what_text(step->what));
    json_text(j, "why", retention_why_text(step->why));
    if (step->why == RETENTION_BY_ACTION)
        json_integer(j, "action", (int64_t)step->action + 1);
    json_integer(j, "bytes", (int64_t)step->bytes);
    json_end(j, '}');
}

static void show_json(struct showing *s, const struct looked *l)
{
    struct json *j = &s->json;
    json_begin(j, NULL, '{');
    json_text(j, "set", l->name);
    json_text(j, "rootPath", l->root);
    json_bool(j, "managed", l->parts != 0);
    json_begin(j, "folders", '[');
    for (size_t i = 0; i < l->scanned.count; i++)
        json_folder(j, &l->scanned.folders[i], l->now);
    json_end(j, ']');
    json_begin(j, "others", '[');
    for (size_t i = 0; i < l->others.count; i++)
        json_text(j, NULL, l->others.items[i]);
    json_end(j, ']');
    json_begin(j, "nextPass", '[');
    for (size_t i = 0; i < l->plan.count; i++)
        json_step(j, l, &l->plan.steps[i]);
    json_end(j, ']');
    json_begin(j, "failures", '[');
    for (size_t i = 0; i < l->scanned.failure_count; i++) {
        json_begin(j, NULL, '{');
        json_text(j, "folder", l->scanned.failures[i].name);
        json_text(j, "reason", l->scanned.failures[i].reason);
        json_end(j, '}');
    }
    json_end(j, ']');
    json_end(j, '}');
}

/* ---- selection of sets ---- */

static HRESULT show_set(struct showing *s, const char *space, const char *name, const struct data_collector_set *set,
                        char *root)
{
    struct looked l = {.space = space, .name = name, .set = set, .root = root};
    HRESULT hr = set_inspect(&l);
    if (SUCCEEDED(hr)) {
        if (s->as_json)
            show_json(s, &l);
        else
            show_text(s, &l);
        s->sets++;
        s->failures += l.scanned.failure_count > 0;
    }
    looked_free(&l);
    return hr;
}

/* Returns true if `root` is the requested folder. The user may have written the folder with a separator at its end, as
   a relative path, or through a link. */
static bool is_asked_for(const struct showing *s, const char *root)
{
    struct folder_identity identity;
    if (!s->is_there)
        return file_is_same(root, s->folder);
    if (SUCCEEDED(folder_identify(root, &identity)))
        return memcmp(&identity, &s->identity, sizeof identity) == 0;
    error_clear();
    return false;
}

/* Shows the set if it writes to the requested folder. The folder is unknown if the definition cannot be read. */
static HRESULT try_set(struct showing *s, const char *space, const char *name, const char *xml, size_t size)
{
    char *root = NULL;
    struct object *set = NULL;
    HRESULT hr = set_create_from_xml(xml, size, &set);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    root = os_expand_environment(set_root(set_of(set)));
    hr = root ? S_OK : E_OUTOFMEMORY;
    if (root && is_asked_for(s, root))
        hr = show_set(s, space, name, set_of(set), root);
    memory_free(root);
    object_release(set);
    return hr;
}

static HRESULT try_stored(struct showing *s, const char *space, const char *name)
{
    char *xml;
    size_t size;
    HRESULT hr = store_load(&caller_self, space, name, &xml, &size);
    if (FAILED(hr))
        return hr == E_OUTOFMEMORY ? hr : S_OK;
    hr = try_set(s, space, name, xml, size);
    memory_free(xml);
    return hr;
}

static HRESULT show_sets(struct showing *s)
{
    HRESULT hr = S_OK;
    s->is_there = SUCCEEDED(folder_identify(s->folder, &s->identity));
    if (!s->is_there)
        error_clear();
    for (const char *const *space = store_namespaces(); SUCCEEDED(hr) && *space; space++) {
        struct texts names = {0};
        hr = store_list(&caller_self, *space, &names);
        for (size_t i = 0; SUCCEEDED(hr) && i < names.count; i++)
            hr = try_stored(s, *space, names.items[i]);
        texts_free(&names);
    }
    for (const struct system_set *set = system_sets; SUCCEEDED(hr) && set->name; set++)
        hr = try_set(s, SYSTEM_SPACE, set->name, set->xml, strlen(set->xml));
    if (SUCCEEDED(hr) && !s->sets)
        hr = error_set(PLA_E_DCS_NOT_FOUND, "no set has the RootPath '%s'%s", s->folder,
                       s->is_there ? "" : ", and no folder has this path");
    return hr;
}

static int data_run(int argc, char **argv)
{
    struct texts folders = {0};
    struct showing s = {.json = {.out = stdout}};
    const struct option options[] = {{"dry-run", OPTION_FLAG, &s.dry_run}, {"json", OPTION_FLAG, &s.as_json}};
    int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, &folders);
    if (result == CLI_DONE && folders.count != 1)
        result = cli_usage(VERB, folders.count ? "expected one folder" : "missing folder");
    if (result == CLI_DONE) {
        s.folder = folders.items[0];
        if (s.as_json)
            json_begin(&s.json, NULL, '[');
        HRESULT hr = show_sets(&s);
        const struct error_kept why = error_keep(hr);
        if (s.as_json)
            json_end(&s.json, ']');
        result = FAILED(hr) ? cli_error(VERB, error_restore(&why)) : s.failures ? CLI_REMARKS : CLI_DONE;
    }
    texts_free(&folders);
    return result;
}

const struct verb verb_data = {
    .name = VERB,
    .summary = "shows the folders of a set's runs and what the set's data manager would do with these folders",
    .help = "openpla data FOLDER [--dry-run] [--json]\n"
            "\n"
            "FOLDER is the RootPath of a set. Shows the folders that its runs created, with age, size and contents.\n"
            "Also shows foreign folders, and what the next pass of the set's data manager would do, with the action\n"
            "or limit that causes it.\n"
            "A cabinet that would be created is counted with the size of its contents. Nothing is changed.\n"
            "\n"
            "  --dry-run   show only the steps of the next pass\n"
            "  --json      print an array with an object for each set that has this RootPath\n"
            "\n"
            "Exit codes: 0 done, 1 failed, 2 wrong command line, 3 some folders could not be read.\n",
    .run = data_run,
};
