/* SPDX-License-Identifier: MIT */
/* openpla store: the files in which sets are kept. */
#include "engine/pla/store.h"

#include "cli/cli.h"
#include "cli/output.h"
#include "engine/base/memory.h"

#include <stdio.h>

#define VERB "store"

struct shown {
    bool json;
    struct json writer;
    unsigned left, mended; /* how many are wrong still, and how many no more */
};

static HRESULT show_json(struct shown *s, const struct store_finding *f)
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

static HRESULT show(void *user, const struct store_finding *f)
{
    struct shown *s = user;
    if (f->repaired == S_OK)
        s->mended++;
    else
        s->left++;
    if (s->json)
        return show_json(s, f);
    printf("%s: %s: %s", f->path, store_fault_word(f->fault), store_fault_text(f->fault));
    if (*f->detail)
        printf(" (%s)", f->detail);
    if (f->repaired == S_OK)
        printf(*f->to ? "; mended: now %s" : "; mended", f->to);
    else if (FAILED(f->repaired))
        printf("; not mended: %s (0x%08X)", error_text(f->repaired), (unsigned)f->repaired);
    printf("\n");
    return S_OK;
}

static int check(bool mend, bool json)
{
    struct shown s = {.json = json, .writer = {.out = stdout}};
    if (json)
        json_begin(&s.writer, NULL, '[');
    HRESULT hr = store_check(mend, show, &s);
    if (json)
        json_end(&s.writer, ']');
    if (FAILED(hr))
        return cli_error(VERB, hr);
    if (!json && !s.left && !s.mended)
        printf("Nothing is wrong.\n");
    return s.left ? CLI_REMARKS : CLI_DONE;
}

static int run_check(int argc, char **argv)
{
    bool mend = false, json = false;
    const struct option options[] = {{"mend", OPTION_FLAG, &mend}, {"json", OPTION_FLAG, &json}};
    const int result = options_parse(VERB, argc, argv, options, sizeof options / sizeof *options, NULL);
    return result == CLI_DONE ? check(mend, json) : result;
}

static int run(int argc, char **argv)
{
    static const struct sub_verb verbs[] = {{"check", run_check}};
    return cli_sub_verb(VERB, verbs, sizeof verbs / sizeof *verbs, argc, argv);
}

const struct verb verb_store = {
    .name = VERB,
    .summary = "tells what is wrong with the files in which sets are kept, and mends it",
    .help =
        "openpla store check [-mend] [-json]\n"
        "\n"
        "Looks at each file of the store (OPENPLA_DATA, else %ProgramData%\\OpenPLA) and says what is wrong, a line\n"
        "each: definitions that cannot be used or are not found by their names, files that writers left or that\n"
        "belong to no set, links, and what is another account's.\n"
        "\n"
        "  -mend   mends what can be mended without losing anything: what cannot be read or belongs to no set goes\n"
        "          to the folder \"aside\" of the store, a definition in a wrong place to its own; what an\n"
        "          interrupted writer left is deleted, and passwords of no set; a definition never. The record of\n"
        "          the runs of a missing set stays: it has the number of the next run\n"
        "  -json   an array of objects\n"
        "\n"
        "Exit codes: 0 nothing is wrong any more, 1 failed, 2 wrong command line, 3 something is wrong.\n",
    .run = run,
};
