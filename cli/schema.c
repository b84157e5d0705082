/* SPDX-License-Identifier: MIT */
/* openpla schema: prints the XML Schemas of the documents that OpenPLA reads and writes. */
#include "cli/cli.h"
#include "cli/schemas/schemas.h"
#include "engine/base/memory.h"

#define VERB "schema"

static void list_schemas(void)
{
    for (size_t i = 0; i < xml_schemas_count; i++)
        printf("%-14s %s\n", xml_schemas[i].name, xml_schemas[i].what);
}

static int print_schema(const char *name)
{
    struct text_buffer b = {0};
    const struct xml_schema *schema = xml_schema_find(name);
    if (!schema)
        return cli_usage(VERB, "unknown schema '%s': expected set, report, report-schema or rules", name);
    HRESULT hr = schema->make(&b);
    char *text = text_buffer_take(&b);
    if (SUCCEEDED(hr) && !text)
        hr = E_OUTOFMEMORY;
    if (SUCCEEDED(hr))
        fputs(text, stdout);
    memory_free(text);
    return FAILED(hr) ? cli_error(VERB, hr) : CLI_DONE;
}

static int schema_run(int argc, char **argv)
{
    struct texts names = {0};
    int result = options_parse(VERB, argc, argv, NULL, 0, &names);
    if (result == CLI_DONE && names.count > 1)
        result = cli_usage(VERB, "only one schema can be printed at a time");
    else if (result == CLI_DONE && names.count == 1)
        result = print_schema(names.items[0]);
    else if (result == CLI_DONE)
        list_schemas();
    texts_free(&names);
    return result;
}

const struct verb verb_schema = {
    .name = VERB,
    .summary = "prints the XML Schemas of sets, reports and rules",
    .help =
        "openpla schema [set | report | report-schema | rules]\n"
        "\n"
        "Prints the XML Schema of these documents, for editors and validators. Without a name it lists the schemas.\n"
        "\n"
        "Example:\n"
        "  openpla schema set > set.xsd\n",
    .run = schema_run,
};
