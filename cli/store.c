/* SPDX-License-Identifier: MIT */
/* openpla store: checks the files of the sets and repairs them. */
#include "engine/pla/store.h"

#include "cli/cli.h"
#include "cli/output.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#include <stdio.h>

#define VERB "store"

struct shown {
    bool json;
    struct json writer;
    unsigned left, repaired; /* `left`: number of remaining problems; `repaired`: number of repaired problems */
};

static HRESULT finding_show_json(struct shown *s, const struct store_finding *f)
{
    struct json *j = &s->writer;
    json_begin(j, NULL, '{');
    json_text(j, "fault", store_fault_word(f->fault));
    json_text(j, "path", f->path);
    json_text(j, "detail", f->detail);
    json_bool(j, "mended", f->repaired == S_OK);
    json_text(j, "to", f->repaired == S_OK && *f->to ? f->to : NULL);
    json_text(j, "error", FAILED(f->repaired) ? error_text(f->repaired) : NULL);
    json_end(j, '}');
    return S_OK;
}

static HRESULT finding_show(void *user, const struct store_finding *f)
{
    struct shown *s = user;
    if (f->repaired == S_OK)
        s->repaired++;
    else
        s->left++;
    if (s->json)
        return finding_show_json(s, f);
    printf("%s: %s: %s", f->path, store_fault_word(f->fault), store_fault_text(f->fault));
    if (*f->detail)
        printf(" (%s)", f->detail);
    if (f->repaired == S_OK)
        printf(*f->to ? "; repaired: now %s" : "; repaired", f->to);
    else if (FAILED(f->repaired))
        printf("; not repaired: %s (0x%08X)", error_text(f->repaired), (unsigned)f->repaired);
    printf("\n");
    return S_OK;
}

static int store_print_findings(bool repair, bool json)
{
    struct shown s = {.json = json, .writer = {.out = stdout}};
    if (json)
        json_begin(&s.writer, NULL, '[');
    HRESULT hr = store_check(repair, finding_show, &s);
    if (json)
        json_end(&s.writer, ']');
    if (FAILED(hr))
        return cli_error(VERB, hr);
    if (!json && !s.left && !s.repaired)
        printf("No problems found.\n");
    return s.left ? CLI_REMARKS : CLI_DONE;
}

static int run_check(int argc, char **argv)
{
    bool repair = false, json = false;
    static char repair_option[] = "-repair";
    const struct option options[] = {{"repair", OPTION_FLAG, &repair}, {"json", OPTION_FLAG, &json}};
    /* Scripts may still use the former name of the option. */
    for (int i = 0; i < argc; i++)
        if (text_equal_nocase(argv[i], "-mend") || text_equal_nocase(argv[i], "--mend") ||
            text_equal_nocase(argv[i], "/mend"))
            argv[i] = repair_option;
    const int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, NULL);
    return result == CLI_DONE ? store_print_findings(repair, json) : result;
}

static int store_run(int argc, char **argv)
{
    static const struct sub_verb verbs[] = {{"check", run_check}};
    return cli_sub_verb(VERB, verbs, sizeof verbs / sizeof *verbs, argc, argv);
}

const struct verb verb_store = {
    .name = VERB,
    .summary = "checks and repairs the files of the sets",
    .help =
        "openpla store check [-repair] [-json]\n"
        "\n"
        "Checks each file of the store (OPENPLA_DATA, or %ProgramData%\\OpenPLA) and prints one line per problem:\n"
        "definitions that are invalid or in the wrong folder, files that interrupted writers left or that belong to\n"
        "no set, links, and files of other accounts.\n"
        "\n"
        "  -repair  repairs what can be repaired without losing data. Files that cannot be read or that belong to no\n"
        "           set are moved to the store's folder \"aside\", misplaced definitions to their own folder. Files "
        "of\n"
        "           interrupted writers and orphaned passwords are deleted; definitions never are. The record of a\n"
        "           missing set's runs stays, because it contains the number of the next run\n"
        "  -json    print an array of objects\n"
        "\n"
        "Exit codes: 0 no problems left, 1 failed, 2 wrong command line, 3 problems.\n",
    .run = store_run,
};
