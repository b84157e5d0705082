/* SPDX-License-Identifier: MIT */
/* The pages that are lists: the index with all members, the error codes, the enumerations. */
#include "docs/generate/reference.h"
#include "engine/pla/settings.h"

#include <ctype.h>
#include <string.h>

static const char *const marks[MARK_COUNT] = {[MARK_ROW] = "property row",
                                              [MARK_CODE] = "property without a row",
                                              [MARK_METHOD] = "method",
                                              [MARK_RESERVED] = "reserved, not on the wire"};

/* ---- the index ---- */

static void add_counts(struct text_buffer *b, const size_t counts[MARK_COUNT])
{
    for (int mark = 0; mark < MARK_COUNT; mark++)
        text_buffer_format(b, " | %u", (unsigned)counts[mark]);
}

static void add_interfaces(const struct idl *idl, struct text_buffer *b)
{
    size_t all[MARK_COUNT] = {0}, total = 0;
    text_buffer_add(b, "| interface | what it is | members");
    for (int mark = 0; mark < MARK_COUNT; mark++)
        text_buffer_format(b, " | %s", marks[mark]);
    text_buffer_add(b, " |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < idl->count; i++) {
        const struct idl_interface *face = &idl->interfaces[i];
        size_t counts[MARK_COUNT] = {0};
        for (size_t k = 0; k < face->count; k++)
            counts[member_mark(face, &face->members[k])]++;
        text_buffer_format(b, "| [%s](%s.md) | ", face->name, face->name);
        add_escaped(b, face->help);
        text_buffer_format(b, " | %u", (unsigned)face->count);
        add_counts(b, counts);
        text_buffer_add(b, " |\n");
        for (int mark = 0; mark < MARK_COUNT; mark++)
            all[mark] += counts[mark];
        total += face->count;
    }
    text_buffer_format(b, "| all | | %u", (unsigned)total);
    add_counts(b, all);
    text_buffer_add(b, " |\n\n");
}

/* A heading's name in a link: GitHub makes it of the lower-case letters, digits and underscores. */
void add_anchor(struct text_buffer *b, const char *heading)
{
    for (; *heading; heading++) {
        char c = (char)tolower((unsigned char)*heading);
        text_buffer_add_n(b, &c, 1);
    }
}

static size_t add_member_lines(const struct idl_interface *i, struct text_buffer *b)
{
    static const char *const calls[] = {[IDL_GET] = "get ", [IDL_PUT] = "put ", [IDL_METHOD] = ""};
    for (size_t k = 0; k < i->count; k++) {
        const struct idl_member *m = &i->members[k];
        text_buffer_format(b, "| %s | %u | ", i->name, m->opnum);
        if (m->reserved) {
            text_buffer_format(b, "[%s](%s.md#the-reserved-opnums)", m->name, i->name);
        } else {
            text_buffer_format(b, "[%s%s](%s.md#", calls[m->call], m->name, i->name);
            add_anchor(b, m->name);
            text_buffer_add(b, ")");
        }
        text_buffer_format(b, " | %s |\n", marks[member_mark(i, m)]);
    }
    return i->count;
}

void index_page(const struct sources *s, struct text_buffer *b)
{
    struct text_buffer lines = {0};
    size_t written = 0, members = 0;
    for (size_t i = 0; i < s->idl.count; i++) {
        members += s->idl.interfaces[i].count;
        written += add_member_lines(&s->idl.interfaces[i], &lines);
    }
    text_buffer_format(b, "<!-- %s -->\n# Reference\n\n", REFERENCE_ORIGIN);
    text_buffer_add(
        b,
        "These pages describe every member of the interfaces of Performance Logs and Alerts, as OpenPLA implements it. "
        "Types are\n"
        "the IDL's types; in scripts, a `VARIANT_BOOL` is True or False and a `SAFEARRAY` is an array. Section numbers "
        "refer to\n"
        "MS-PLA v20130722.\n"
        "\n"
        "- [errors.md](errors.md): the results and their meanings\n"
        "- [enumerations.md](enumerations.md): the names and values of the enumerations\n"
        "- [settings.md](settings.md): the keys of SetValue and GetValue that OpenPLA uses\n"
        "- [counters.md](counters.md): the performance counters of this computer and their sources\n"
        "- [rules.md](rules.md): the built-in rules, their limits and sources\n"
        "\n"
        "`openpla schema` prints the XML Schemas of the documents that OpenPLA reads and writes:\n"
        "\n"
        "- `openpla schema set`: the XML of a set or of a collector. OpenPLA writes the elements in the order of the\n"
        "  properties on these pages, and reads them in any order. A number is decimal or hexadecimal (`0x1F`). A "
        "Boolean is\n"
        "  `true`, `false` or a number (0 is False). An empty element means the default.\n"
        "- `openpla schema report`: the XML of reports, and of the documents of configuration collectors\n"
        "- `openpla schema report-schema`: the XML of report schemas, which define the tables of a report\n"
        "- `openpla schema rules`: the XML of rules that check reports\n"
        "\n"
        "## Interfaces\n"
        "\n");
    add_interfaces(&s->idl, b);
    text_buffer_format(b,
                       "## Members\n"
                       "\n"
                       "%u of %u members are described on these pages. The same code stores, checks and\n"
                       "writes the values of all property rows; every other member has separate code.\n"
                       "\n"
                       "| interface | opnum | member | implemented as |\n"
                       "|---|---|---|---|\n",
                       (unsigned)written, (unsigned)members);
    text_buffer_add(b, lines.text ? lines.text : "");
    b->failed |= lines.failed;
    text_buffer_free(&lines);
}

/* ---- error codes ---- */

static void add_code_table(const struct codes *codes, const char *const *prefixes, struct text_buffer *b)
{
    text_buffer_add(b, "| name | number | meaning |\n|---|---|---|\n");
    for (size_t i = 0; i < codes->count; i++) {
        bool wanted = false;
        for (const char *const *p = prefixes; *p; p++)
            wanted |= !strncmp(codes->items[i].name, *p, strlen(*p));
        if (!wanted)
            continue;
        text_buffer_format(b, "| `%s` | 0x%08X | ", codes->items[i].name, (unsigned)codes->items[i].hr);
        add_escaped(b, error_standard_text(codes->items[i].hr));
        text_buffer_add(b, " |\n");
    }
    text_buffer_add(b, "\n");
}

void errors_page(const struct sources *s, struct text_buffer *b)
{
    static const char *const pla[] = {"PLA_", NULL}, *const ours[] = {"OPENPLA_", NULL};
    static const char *const general[] = {"S_", "E_", "DISP_", NULL};
    text_buffer_format(b, "<!-- %s -->\n# Results\n\n", REFERENCE_ORIGIN);
    text_buffer_add(b, "A call that fails returns one of these numbers (`Err.Number` in VBScript, `e.number` in "
                       "JScript), and a message that\n"
                       "names the property or file and the value (`Err.Description`). If no details are known, the "
                       "message is the meaning in the\n"
                       "tables below. Errors of the file system are 0x8007xxxx, where xxxx is Windows' error number. "
                       "The map that `Commit` and\n"
                       "`SetXml` return also contains results; `PLA_S_PROPERTY_IGNORED` in this map is not an error.\n"
                       "\n"
                       "## Results of Performance Logs and Alerts\n"
                       "\n");
    add_code_table(&s->codes, pla, b);
    text_buffer_add(b, "## Results of OpenPLA\n"
                       "\n");
    add_code_table(&s->codes, ours, b);
    text_buffer_add(b, "## Results of COM\n"
                       "\n");
    add_code_table(&s->codes, general, b);
    if (!b->failed)
        b->text[--b->length] = 0; /* one line end at the end */
}

/* ---- enumerations ---- */

static const struct enumeration *const enumerations[] = {
#define ENUMERATION(Name, ...) &enumeration_##Name,
#include "engine/pla/enumerations.def"
#undef ENUMERATION
};

void enumerations_page(struct text_buffer *b)
{
    text_buffer_format(b, "<!-- %s -->\n# Enumerations\n\n", REFERENCE_ORIGIN);
    text_buffer_add(b, "MS-PLA 2.2.2. Scripts that do not load the type library use the numbers.\n");
    for (size_t i = 0; i < sizeof enumerations / sizeof enumerations[0]; i++) {
        const struct enumeration *e = enumerations[i];
        text_buffer_format(b, "\n## %s\n\n| name | number | hexadecimal |\n|---|---|---|\n", e->name);
        for (size_t k = 0; k < e->count; k++)
            text_buffer_format(b, "| `%s` | %u | 0x%X |\n", e->items[k].name, (unsigned)e->items[k].value,
                               (unsigned)e->items[k].value);
    }
}

/* ---- our settings ---- */

static void add_setting_values(const struct setting *s, struct text_buffer *b)
{
    if (s->of_run)
        text_buffer_add(b, "read only");
    else if (s->unit)
        text_buffer_format(b, "0 to 4294967295 %s", s->unit);
    else if (s->distance)
        text_buffer_add(b, "`12.5`, `10%`");
    else if (s->text)
        text_buffer_add(b, "text");
    for (size_t i = 0; s->words && s->words[i]; i++)
        text_buffer_format(b, "%s`%s`", i ? ", " : "", s->words[i]);
    if (!s->of_run)
        text_buffer_format(b, " | %s%s%s | ", s->text ? "" : "`",
                           s->words  ? s->words[0]
                           : s->text ? ""
                                     : "0",
                           s->text ? "" : "`");
    else
        text_buffer_add(b, " | | ");
}

void settings_page(struct text_buffer *b)
{
    text_buffer_format(b, "<!-- %s -->\n# Settings\n\n", REFERENCE_ORIGIN);
    text_buffer_add(
        b, "OpenPLA uses these keys of `SetValue` and `GetValue` ([IDataCollectorSet](IDataCollectorSet.md)). The "
           "set's XML\n"
           "stores them as `<Value name=\"OpenPLA.Restart\">boot</Value>`, which Windows keeps and ignores. `Commit` "
           "reports an unknown\n"
           "word and uses the default; it rejects an invalid number. Case does not matter. Read-only settings describe "
           "runs.\n"
           "Settings that begin with `OpenPLA.Alert` apply to all alert collectors of the set, or to one of them:\n"
           "`OpenPLA.AlertOn[My alert]`.\n"
           "\n"
           "| key | values | default | purpose |\n"
           "|---|---|---|---|\n");
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        text_buffer_format(b, "| `%s` | ", settings[i].key);
        add_setting_values(&settings[i], b);
        add_escaped(b, settings[i].doc);
        text_buffer_add(b, " |\n");
    }
}
