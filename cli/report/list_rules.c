/* SPDX-License-Identifier: MIT */
/* openpla rules -list: lists the rules with their limits and publishers. */
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/report/report.h"
#include "engine/base/memory.h"
#include "engine/report/rules.h"

#include <stdio.h>
#include <string.h>

struct rules_listing {
    struct json *json; /* NULL means that text is printed */
    char *pack;        /* pack of the last rule that was printed */
    size_t count;
};

static void shown_add(const char *blanks, const char *text, const char *end)
{
    printf("%s", blanks);
    print_shown(text);
    printf("%s", end);
}

static void list_text(struct rules_listing *l, const struct rules_listed *one)
{
    if (!l->pack || strcmp(l->pack, one->pack) != 0)
        shown_add(l->pack ? "\n" : "", one->pack, "\n");
    shown_add("  ", one->rule, one->enabled ? "\n" : " (disabled)\n");
    if (*one->limits)
        shown_add("      ", one->limits, "\n");
    shown_add("      ", one->severity, *one->source ? "; " : "\n");
    if (*one->source)
        shown_add("", one->source, "\n");
}

static void list_json(struct json *j, const struct rules_listed *one)
{
    json_begin(j, NULL, '{');
    json_text(j, "pack", one->pack);
    json_text(j, "group", one->group);
    json_text(j, "rule", one->rule);
    json_text(j, "tag", one->tag);
    json_text(j, "severity", one->severity);
    json_text(j, "limits", one->limits);
    json_text(j, "source", one->source);
    json_bool(j, "enabled", one->enabled);
    json_end(j, '}');
}

static HRESULT list_one(void *context, const struct rules_listed *one)
{
    struct rules_listing *l = context;
    if (l->json)
        list_json(l->json, one);
    else
        list_text(l, one);
    char *pack = text_copy(one->pack);
    memory_free(l->pack);
    l->pack = pack;
    l->count++;
    return pack ? S_OK : E_OUTOFMEMORY;
}

HRESULT rules_print_list(const struct rules *rules, const char *language, bool as_json)
{
    struct json j = {.out = stdout};
    struct rules_listing l = {.json = as_json ? &j : NULL};
    if (as_json) {
        json_begin(&j, NULL, '{');
        json_begin(&j, "rules", '[');
    }
    HRESULT hr = rules_list(rules, language, list_one, &l);
    if (as_json) {
        json_end(&j, ']');
        json_end(&j, '}');
    } else {
        printf("%s%u rule%s\n", l.count ? "\n" : "", (unsigned)l.count, l.count == 1 ? "" : "s");
    }
    memory_free(l.pack);
    return hr;
}
