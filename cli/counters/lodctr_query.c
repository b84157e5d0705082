/* SPDX-License-Identifier: MIT */
#include "cli/counters/lodctr_query.h"

#include "cli/json.h"
#include "cli/shown_text.h"

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

void lodctr_query_text(const struct registered_extensions *list)
{
    printf("Performance Counter ID Queries [PERFLIB]:\n");
    print_number("Base Index", COUNTERS_OF_SYSTEM + 1);
    print_number("Last Counter Text ID", list->last_counter);
    print_number("Last Help Text ID", list->last_help);
    for (size_t i = 0; i < list->count; i++)
        print_extension(&list->items[i]);
}

void lodctr_query_json(const struct registered_extensions *list)
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
