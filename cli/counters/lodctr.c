/* SPDX-License-Identifier: MIT */
/* openpla lodctr and unlodctr: register the counters of extension DLLs and of countersets, with their names and help,
   because Wine's lodctr does nothing. The output on stdout has the form of Windows' programs. This file also implements
   openpla diskperf, an old tool that scripts still call before they log disk counters. */
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/trace/manifest.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/etw/etw_types.h"
#include "engine/etw/source_text.h"
#include "engine/pdh/extension_registration.h"

#include <stdio.h>
#include <string.h>

/* ---- /Q: lists the registrations ---- */

static void print_number(const char *what, uint32_t number)
{
    printf("    %s: 0x%08X (%u)\n", what, (unsigned)number, (unsigned)number);
}

static void print_value(const char *what, const char *text)
{
    printf("    %s: ", what);
    print_shown(text ? text : "");
    printf("\n");
}

static void print_extension(const struct registered_extension *e)
{
    printf("\n[");
    print_shown(e->service);
    printf("] Performance Counters (%s)\n", e->is_disabled ? "Disabled" : "Enabled");
    print_value("DLL Name", e->library);
    print_value("Open Procedure", e->open);
    print_value("Collect Procedure", e->collect);
    print_value("Close Procedure", e->close);
    if (!e->first_counter)
        return;
    print_number("First Counter ID", e->first_counter);
    print_number("Last Counter ID", e->last_counter);
    print_number("First Help ID", e->first_help);
    print_number("Last Help ID", e->last_help);
}

/* Prints the list in the form of Windows' lodctr. */
static void lodctr_query_text(const struct registered_extensions *list)
{
    printf("Performance Counter ID Queries [PERFLIB]:\n");
    print_number("Base Index", COUNTERS_OF_SYSTEM + 1);
    print_number("Last Counter Text ID", list->last_counter);
    print_number("Last Help Text ID", list->last_help);
    for (size_t i = 0; i < list->count; i++)
        print_extension(&list->items[i]);
}

static void lodctr_query_json(const struct registered_extensions *list)
{
    struct json j = {.out = stdout};
    json_begin(&j, NULL, '{');
    json_integer(&j, "lastCounter", list->last_counter);
    json_integer(&j, "lastHelp", list->last_help);
    json_begin(&j, "services", '[');
    for (size_t i = 0; i < list->count; i++) {
        const struct registered_extension *e = &list->items[i];
        json_begin(&j, NULL, '{');
        json_text(&j, "service", e->service);
        json_bool(&j, "enabled", !e->is_disabled);
        json_text(&j, "library", e->library);
        json_text(&j, "open", e->open);
        json_text(&j, "collect", e->collect);
        json_text(&j, "close", e->close);
        if (e->first_counter) {
            json_integer(&j, "firstCounter", e->first_counter);
            json_integer(&j, "lastCounter", e->last_counter);
            json_integer(&j, "firstHelp", e->first_help);
            json_integer(&j, "lastHelp", e->last_help);
        }
        json_end(&j, '}');
    }
    json_end(&j, ']');
    json_end(&j, '}');
}

/* ---- the command line ---- */

/* The letter of an argument such as "/M:file", and the part after the colon; the part is NULL if there is no colon. */
struct letter {
    char letter; /* lower case; 0 if the argument is an operand */
    const char *value;
};

static struct letter letter_of(const char *argument)
{
    struct letter l = {0, NULL};
    const char letter = *argument ? argument[1] : 0, after = letter ? argument[2] : 0;
    if ((*argument != '/' && *argument != '-') || !((letter | 32) >= 'a' && (letter | 32) <= 'z') ||
        (after && after != ':'))
        return l;
    l.letter = (char)(letter | 32);
    l.value = after ? argument + 3 : NULL;
    return l;
}

static HRESULT may_register(void)
{
#ifdef _WIN32
    if (!os_is_wine())
        return error_set(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                         "counters of this computer belong to Windows (use Windows' lodctr and unlodctr)");
#endif
    return S_OK;
}

/* Prints "Error: ..." in the form of Windows' program, with the reason. */
static int failed(const char *what, HRESULT hr)
{
    printf("Error: Unable to %s: %s (0x%08X)\n", what, error_text(hr), (unsigned)hr);
    return CLI_FAILED;
}

/* ---- ini files ---- */

static HRESULT load_text(const char *path, char **out)
{
    char *bytes = NULL;
    size_t size = 0;
    HRESULT hr = file_load(path, EXTENSION_MOST_BYTES, &bytes, &size);
    *out = NULL;
    if (FAILED(hr))
        return hr;
    hr = source_text_decode(bytes, size, out);
    memory_free(bytes);
    return hr;
}

/* Loads the header file `name` from the ini file's folder, or, if this folder does not contain it, from the path
   `name`. */
static HRESULT load_symbols(const char *ini_path, const char *name, char **out)
{
    char *folder = path_folder(ini_path), *beside = folder ? path_join(folder, name) : NULL;
    HRESULT hr = beside ? file_find(beside) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        hr = load_text(hr == S_OK ? beside : name, out);
    memory_free(folder);
    memory_free(beside);
    return hr;
}

static HRESULT register_ini(const char *path, char **service)
{
    struct extension_ini ini = {0};
    char *text = NULL, *symbols = NULL;
    HRESULT hr = load_text(path, &text);
    if (SUCCEEDED(hr)) {
        hr = extension_ini_begin(text, &ini);
        if (SUCCEEDED(hr))
            hr = load_symbols(path, ini.symbol_file, &symbols);
        if (SUCCEEDED(hr))
            hr = extension_ini_read(text, symbols, &ini);
        if (hr == EXTENSION_INVALID)
            hr = error_prefix(hr, "%s", path);
    }
    if (SUCCEEDED(hr))
        hr = extension_register(&ini);
    *service = SUCCEEDED(hr) ? text_copy(ini.service) : NULL;
    memory_free(text);
    memory_free(symbols);
    extension_ini_free(&ini);
    return hr;
}

static int load_ini(const char *path)
{
    char *service;
    HRESULT hr = register_ini(path, &service);
    if (FAILED(hr))
        return failed("install performance counters", hr);
    printf("Info: Successfully installed the performance counters of %s from %s\n", service ? service : "", path);
    memory_free(service);
    return CLI_DONE;
}

/* ---- manifests ---- */

/* Finds the program that applicationIdentity names: an absolute path, a file in `folder`, or a file in the manifest's
   folder. */
static HRESULT place_application(struct registered_provider *p, const char *manifest, const char *folder)
{
    char *own = NULL, *whole = NULL;
    if (!p->application || path_name(p->application) != p->application)
        return S_OK;
    if (!folder)
        folder = own = path_folder(manifest);
    if (folder)
        whole = path_join(folder, p->application);
    memory_free(own);
    if (!whole)
        return E_OUTOFMEMORY;
    memory_free(p->application);
    p->application = whole;
    return S_OK;
}

static HRESULT register_manifest(const char *path, const char *folder)
{
    struct counter_manifest m;
    struct texts warnings = {0};
    char *whole = os_full_path(path);
    HRESULT hr = whole ? manifest_counters_load(path, NULL, &warnings, &m) : E_OUTOFMEMORY;
    if (SUCCEEDED(hr) && !m.providers.count)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND), "'%s' contains no counter provider", path);
    for (size_t i = 0; SUCCEEDED(hr) && i < warnings.count; i++)
        fprintf(stderr, "openpla lodctr: %s: %s\n", path, warnings.items[i]);
    for (size_t i = 0; SUCCEEDED(hr) && i < m.providers.count; i++)
        hr = place_application(&m.providers.items[i], whole, folder);
    if (SUCCEEDED(hr))
        hr = manifest_counters_write(&m.providers, whole, false);
    if (whole)
        counter_manifest_free(&m);
    texts_free(&warnings);
    memory_free(whole);
    return hr;
}

static int load_manifest(const char *path, const char *folder)
{
    HRESULT hr = register_manifest(path, folder);
    if (FAILED(hr))
        return failed("install performance counters", hr);
    printf("Info: Successfully installed performance counters in %s\n", path);
    return CLI_DONE;
}

/* ---- lodctr ---- */

static int lodctr_query(const char *service, bool json)
{
    struct registered_extensions list;
    HRESULT hr = registered_extensions_read(service, &list);
    if (FAILED(hr))
        return failed("query the performance counters", hr);
    if (json)
        lodctr_query_json(&list);
    else
        lodctr_query_text(&list);
    registered_extensions_free(&list);
    return CLI_DONE;
}

static int lodctr_enable(const char *service, bool on)
{
    HRESULT hr = extension_enable(service, on);
    if (FAILED(hr))
        return failed(on ? "enable the performance counters" : "disable the performance counters", hr);
    printf("Info: Successfully %s the performance counters of %s\n", on ? "enabled" : "disabled", service);
    return CLI_DONE;
}

static int lodctr_rebuild(void)
{
    HRESULT hr = extension_rebuild();
    if (FAILED(hr)) {
        printf("Error: Unable to rebuild performance counter setting from system backup store, error code is %u\n",
               (unsigned)hr & 0xFFFF);
        fprintf(stderr, "openpla lodctr: %s\n", error_text(hr));
        return CLI_FAILED;
    }
    printf("Info: Successfully rebuilt performance counter setting from system backup store\n");
    return CLI_DONE;
}

/* Only checks that the service is registered. Windows records the library's time and size, and from then on refuses to
   load another version of the library. OpenPLA needs no such record, because it loads every library in a separate
   process. */
static int lodctr_trust(const char *service)
{
    struct registered_extensions list;
    HRESULT hr = registered_extensions_read(service, &list);
    if (FAILED(hr))
        return failed("trust the performance counters", hr);
    registered_extensions_free(&list);
    printf("Info: %s needs no trust: its DLL is loaded in a separate process\n", service);
    return CLI_DONE;
}

/* Explains why an option of Windows' lodctr is not supported or not needed. Returns NULL if Windows' lodctr does not
   have the option either. */
static const char *instead_of(char letter)
{
    switch (letter) {
    case 's':
    case 'r':
        return "not supported, because the file format is undocumented (-q -json lists what is registered; register "
               "those ini files and manifests again; use -r without a file to repair the numbers)";
    case 'c':
    case 'h':
        return "not needed, because names and help of the system's counters are built in";
    case 'l':
        return "not needed, because all languages of an ini file are registered";
    }
    return NULL;
}

static const struct option lodctr_options[] = {
    {"m", OPTION_TEXT, NULL}, {"q", OPTION_OPTIONAL, NULL}, {"e", OPTION_TEXT, NULL},    {"d", OPTION_TEXT, NULL},
    {"t", OPTION_TEXT, NULL}, {"r", OPTION_FLAG, NULL},     {"json", OPTION_FLAG, NULL},
};

static int lodctr_run(int argc, char **argv)
{
    bool json = false;
    if (options_report(NULL, lodctr_options, sizeof lodctr_options / sizeof *lodctr_options))
        return CLI_DONE;
    for (int i = argc; i-- > 0;)
        if (text_equal_nocase(argv[i], "-json") || text_equal_nocase(argv[i], "--json")) {
            json = true;
            for (int k = i; k + 1 < argc; k++)
                argv[k] = argv[k + 1];
            argc--;
        }
    const struct letter l = argc ? letter_of(argv[0]) : (struct letter){0, NULL};
    const char *value = l.value && *l.value ? l.value : NULL;
    if (!argc)
        return cli_usage("lodctr", "expected an ini file or an option");
    if (argc > (l.letter == 'm' ? 2 : 1))
        return cli_usage("lodctr", "unexpected argument '%s'", argv[argc - 1]);
    if (json && l.letter != 'q')
        return cli_usage("lodctr", "-json requires /Q");
    if (l.letter && instead_of(l.letter) && (l.letter != 'r' || value))
        return cli_usage("lodctr", "%s: %s", argv[0], instead_of(l.letter));
    if (l.letter && !value && !strchr("qr", l.letter))
        return cli_usage("lodctr", "%s: missing value: expected /%c:NAME", argv[0], l.letter - 32);
    HRESULT hr = may_register();
    if (FAILED(hr))
        return cli_error("lodctr", hr);
    switch (l.letter) {
    case 0:
        if (strncmp(argv[0], "\\\\", 2) == 0 && !file_exists(argv[0]))
            return cli_usage("lodctr", "cannot install counters on '%s': run lodctr on that computer", argv[0]);
        return load_ini(argv[0]);
    case 'm':
        return load_manifest(value, argc > 1 ? argv[1] : NULL);
    case 'q':
        return lodctr_query(value, json);
    case 'e':
    case 'd':
        return lodctr_enable(value, l.letter == 'e');
    case 't':
        return lodctr_trust(value);
    case 'r':
        return lodctr_rebuild();
    }
    return cli_usage("lodctr", "unknown option '%s'", argv[0]);
}

/* ---- unlodctr ---- */

static int unload_service(const char *service)
{
    HRESULT hr = extension_unregister(service);
    if (hr == S_FALSE)
        hr = error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND), "service '%s' has no registered counters", service);
    if (FAILED(hr))
        return failed("uninstall performance counters", hr);
    printf("Info: Successfully uninstalled the performance counters of %s\n", service);
    return CLI_DONE;
}

/* Removes the registrations of a manifest's providers, or of one provider by its GUID or name. */
static HRESULT providers_unregister(const char *path, const char *name)
{
    struct counter_manifest m = {.has_events = false};
    size_t removed = 0;
    HRESULT hr = path ? manifest_counters_load(path, NULL, NULL, &m) : manifest_counters_registered(name, &m.providers);
    if (SUCCEEDED(hr))
        hr = manifest_counters_remove(&m.providers, false, &removed);
    counter_manifest_free(&m);
    return SUCCEEDED(hr) && !removed ? error_set(HRESULT_FROM_WIN32(ERROR_NOT_FOUND),
                                                 "provider '%.200s' is not registered", path ? path : name)
                                     : hr;
}

static const struct option unlodctr_options[] = {
    {"m", OPTION_TEXT, NULL}, {"g", OPTION_TEXT, NULL}, {"p", OPTION_TEXT, NULL}};

static int unlodctr_run(int argc, char **argv)
{
    if (options_report(NULL, unlodctr_options, sizeof unlodctr_options / sizeof *unlodctr_options))
        return CLI_DONE;
    const struct letter l = argc ? letter_of(argv[0]) : (struct letter){0, NULL};
    if (argc != 1)
        return cli_usage("unlodctr", "expected one service or one option");
    if (l.letter && (!strchr("mgp", l.letter) || !l.value || !*l.value))
        return cli_usage("unlodctr", "invalid option '%s': expected /M:manifest, /G:{GUID} or /P:provider", argv[0]);
    HRESULT hr = may_register();
    if (FAILED(hr))
        return cli_error("unlodctr", hr);
    if (!l.letter)
        return unload_service(argv[0]);
    hr = providers_unregister(l.letter == 'm' ? l.value : NULL, l.value);
    if (FAILED(hr))
        return failed("uninstall performance counters", hr);
    printf("Info: Successfully uninstalled the performance counters of %s\n", l.value);
    return CLI_DONE;
}

const struct verb verb_lodctr = {
    .name = "lodctr",
    .summary = "registers counters of extension DLLs and counter providers, like Windows' lodctr",
    .help = "openpla lodctr INI-FILE\n"
            "openpla lodctr -m:MANIFEST [FOLDER]\n"
            "openpla lodctr -q[:SERVICE] [-json]\n"
            "openpla lodctr -e:SERVICE | -d:SERVICE | -t:SERVICE\n"
            "openpla lodctr -r\n"
            "\n"
            "Does what Windows' lodctr does; Wine's does nothing. Options may begin with / too (/M:). A copy of this "
            "program\n"
            "named lodctr.exe behaves as this verb. The ini file (UTF-16, UTF-8 or ANSI) and the header that it names, "
            "in the\n"
            "same folder, contain names and help of the counters of a performance extension DLL. The registry key\n"
            "Services\\SERVICE\\Performance must exist.\n"
            "\n"
            "  -m            register the counter providers of a manifest, all or none; FOLDER: the folder of\n"
            "                applicationIdentity (default: the manifest's folder)\n"
            "  -q            list the services with extension DLLs and their counter numbers\n"
            "  -e, -d        enable or disable loading of the service's DLL\n"
            "  -t            no effect: DLLs need no trust, because each is loaded in a separate process\n"
            "  -r            rebuild the table of counter numbers from the services' registrations\n"
            "  -json         print JSON\n"
            "\n"
            "Windows' options /S and /R:FILE are rejected, because the format of their files is undocumented. /C, /H\n"
            "and /L are rejected, because they are not needed.\n",
    .run = lodctr_run,
};

const struct verb verb_unlodctr = {
    .name = "unlodctr",
    .summary = "removes what lodctr registered",
    .help = "openpla unlodctr SERVICE\n"
            "openpla unlodctr -m:MANIFEST | -g:{GUID} | -p:PROVIDER\n"
            "\n"
            "Removes the counter numbers, names and help of a service's extension DLL, or the registration of counter "
            "providers:\n"
            "those of a manifest, or one by its GUID or name.\n",
    .run = unlodctr_run,
};

/* ---- diskperf ---- */

/* Always prints the same answer, because its switches controlled a driver of Windows 2000. */
static int diskperf_run(int argc, char **argv)
{
    if (options_report(NULL, NULL, 0))
        return CLI_DONE;
    if (argc && cli_asks_for_help(argv[0])) {
        fputs(verb_diskperf.help, stdout);
        return CLI_DONE;
    }
    puts("The counters of physical and logical disks are always on; no change is needed.");
    return CLI_DONE;
}

const struct verb verb_diskperf = {
    .name = "diskperf",
    .summary = "reports that disk counters are enabled, like Windows' diskperf",
    .help = "openpla diskperf\n"
            "\n"
            "On Windows 2000, disk counters had to be enabled first. They are now always enabled; whatever the "
            "arguments, this\n"
            "verb says so and exits with 0, so that existing scripts keep working.\n",
    .run = diskperf_run,
};
