/* SPDX-License-Identifier: MIT */
/* Compiled manifests. A manifest that is compiled into a resource reads back unchanged; so does a manifest that is
   written from such a resource. Corrupt or hostile resources are rejected without harm. */
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/decode/manifest/manifest_document.h"
#include "engine/etw/decode/manifest/message_tables.h"
#include "engine/etw/decode/manifest/wevt_template.h"
#include "engine/logs/little_endian.h"
#include "tests/unit/decode/manifest_text.h"
#include "tests/unit/scratch_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <string.h>

static struct provider_manifests read_xml(void)
{
    static const char xml[] = WHOLE_MANIFEST;
    struct provider_manifests list;
    assert_int_equal(manifest_xml_read(xml, sizeof xml - 1, NULL, &list), S_OK);
    return list;
}

static void same_text(const char *a, const char *b)
{
    if ((!a != !b) || (a && strcmp(a, b) != 0))
        fail_msg("\"%s\" is not \"%s\"", a ? a : "(none)", b ? b : "(none)");
}

static void same_schema(const struct event_schema *a, const struct event_schema *b)
{
    same_text(a->level_name, b->level_name);
    same_text(a->channel_name, b->channel_name);
    same_text(a->task_name, b->task_name);
    same_text(a->opcode_name, b->opcode_name);
    same_text(a->event_message, b->event_message);
    same_text(a->provider_message, b->provider_message);
    same_text(a->user_data, b->user_data);
    assert_memory_equal(&a->event, &b->event, sizeof a->event);
    assert_int_equal(a->keyword_count, b->keyword_count);
    for (size_t i = 0; i < a->keyword_count; i++)
        same_text(a->keyword_names[i], b->keyword_names[i]);
    assert_int_equal(a->template_flags, b->template_flags);
    assert_int_equal(a->property_count, b->property_count);
    assert_int_equal(a->top_level, b->top_level);
    for (size_t i = 0; i < a->property_count; i++) {
        const struct event_property *x = &a->properties[i], *y = &b->properties[i];
        same_text(x->name, y->name);
        same_text(x->map, y->map);
        assert_int_equal(x->flags, y->flags);
        assert_int_equal(x->in_type, y->in_type);
        assert_int_equal(x->out_type, y->out_type);
        assert_int_equal(x->first_member, y->first_member);
        assert_int_equal(x->members, y->members);
        assert_int_equal(x->count, y->count);
        assert_int_equal(x->length, y->length);
    }
    assert_int_equal(a->map_count, b->map_count);
    for (size_t i = 0; i < a->map_count; i++) {
        same_text(a->maps[i].name, b->maps[i].name);
        assert_int_equal(a->maps[i].flag, b->maps[i].flag);
        assert_int_equal(a->maps[i].count, b->maps[i].count);
        for (size_t k = 0; k < a->maps[i].count; k++) {
            assert_int_equal(a->maps[i].entries[k].value, b->maps[i].entries[k].value);
            same_text(a->maps[i].entries[k].text, b->maps[i].entries[k].text);
        }
    }
}

static void same_manifest(const struct provider_manifest *a, const struct provider_manifest *b, const char *languages)
{
    assert_memory_equal(&a->guid, &b->guid, sizeof a->guid);
    assert_int_equal(a->event_count, b->event_count);
    for (size_t i = 0; i < a->event_count; i++) {
        struct event_schema *x, *y;
        assert_memory_equal(&a->events[i].descriptor, &b->events[i].descriptor, sizeof(EVENT_DESCRIPTOR));
        assert_int_equal(provider_manifest_schema(a, &a->events[i].descriptor, languages, &x), S_OK);
        assert_int_equal(provider_manifest_schema(b, &b->events[i].descriptor, languages, &y), S_OK);
        same_schema(x, y);
        event_schema_free(x);
        event_schema_free(y);
    }
    for (int kind = 0; kind < MANIFEST_KINDS; kind++) {
        assert_int_equal(a->fields[kind].count, b->fields[kind].count);
        for (size_t i = 0; i < a->fields[kind].count; i++) {
            same_text(a->fields[kind].items[i].name, b->fields[kind].items[i].name);
            assert_true(a->fields[kind].items[i].value == b->fields[kind].items[i].value);
            assert_int_equal(a->fields[kind].items[i].task, b->fields[kind].items[i].task);
        }
    }
}

/* Writes a file that contains the same resources as a DLL with the output of mc: a template, and the messages of each
   language. */
static void link_file(const char *path, const struct provider_manifests *list)
{
    struct pe_resource resources[3] = {{.type_name = "WEVT_TEMPLATE"}};
    uint8_t *parts[3], *file;
    size_t size;
    assert_int_equal(wevt_template_write(list, &parts[0], &resources[0].size), S_OK);
    for (size_t i = 0; i < 2; i++) {
        const struct message_language *l = &list->items[0]->messages.items[i];
        resources[1 + i].type_number = 11;
        resources[1 + i].language = strcmp(l->name, "de-DE") == 0 ? 0x407 : 0x409;
        assert_int_equal(message_table_write(l, &parts[1 + i], &resources[1 + i].size), S_OK);
    }
    for (size_t i = 0; i < 3; i++)
        resources[i].bytes = parts[i];
    assert_int_equal(pe_resources_write(resources, 3, &file, &size), S_OK);
    assert_int_equal(file_store(path, file, size), S_OK);
    for (size_t i = 0; i < 3; i++)
        memory_free(parts[i]);
    memory_free(file);
}

static void a_compiled_manifest_reads_back(void **state)
{
    char *path = path_join(*state, "provider.dll");
    struct provider_manifests list = read_xml(), again;
    link_file(path, &list);
    assert_int_equal(wevt_template_load(path, &again), S_OK);
    assert_int_equal(again.count, 1);
    memory_free(again.items[0]->name);
    again.items[0]->name = text_copy("Test-Provider");
    same_manifest(list.items[0], again.items[0], NULL);
    same_manifest(list.items[0], again.items[0], "de-DE");
    provider_manifests_free(&again);
    provider_manifests_free(&list);
    memory_free(path);
}

static void two_providers_share_a_resource(void **state)
{
    (void)state;
    struct provider_manifests a = read_xml(), b = read_xml(), again;
    struct provider_manifest *both[2] = {a.items[0], b.items[0]};
    const struct provider_manifests list = {.items = both, .count = 2};
    uint8_t *bytes;
    size_t size;
    both[1]->guid.Data1++;
    assert_int_equal(wevt_template_write(&list, &bytes, &size), S_OK);
    assert_int_equal(wevt_template_read(bytes, size, &again), S_OK);
    assert_int_equal(again.count, 2);
    assert_int_equal(again.items[1]->guid.Data1, both[1]->guid.Data1);
    assert_int_equal(again.items[1]->event_count, 4);
    memory_free(bytes);
    provider_manifests_free(&again);
    provider_manifests_free(&a);
    provider_manifests_free(&b);
}

/* If the resource is truncated or any byte is changed, it is either read, or rejected with an error message. */
static void corrupt_resources_are_rejected(void **state)
{
    (void)state;
    struct provider_manifests list = read_xml(), again;
    uint8_t *bytes;
    size_t size;
    assert_int_equal(wevt_template_write(&list, &bytes, &size), S_OK);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *shorter = malloc(cut + 1);
        memcpy(shorter, bytes, cut);
        HRESULT hr = wevt_template_read(shorter, cut, &again);
        if (FAILED(hr)) {
            assert_int_equal(hr, HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
            assert_true(strlen(error_text(hr)) > 10);
        }
        provider_manifests_free(&again);
        free(shorter);
    }
    for (size_t at = 0; at < size; at++)
        for (unsigned value = 0; value < 4; value++) {
            const uint8_t was = bytes[at], others[] = {0, 0xFF, (uint8_t)(was + 1), (uint8_t)(was ^ 0x80)};
            bytes[at] = others[value];
            (void)wevt_template_read(bytes, size, &again);
            for (size_t i = 0; i < again.count; i++)
                for (size_t k = 0; k < again.items[i]->event_count; k++) {
                    struct event_schema *s;
                    assert_int_equal(
                        provider_manifest_schema(again.items[i], &again.items[i]->events[k].descriptor, NULL, &s),
                        S_OK);
                    event_schema_free(s);
                }
            for (size_t i = 0; at % 64 == 0 && i < again.count; i++) {
                struct manifest_document d = {0};
                struct texts warnings = {0};
                assert_true(SUCCEEDED(manifest_document_add(&d, again.items[i], NULL, &warnings)));
                manifest_document_free(&d);
                texts_free(&warnings);
            }
            provider_manifests_free(&again);
            bytes[at] = was;
        }
    memory_free(bytes);
    provider_manifests_free(&list);
}

/* References to shared bytes would multiply the memory for a small file beyond any reasonable limit. */
static void shared_data_are_limited(void **state)
{
    enum { PROVIDERS = 32, FIELDS = 4096, WEVT = 16 + 20 * PROVIDERS, FIELD_BLOCK = WEVT + 28 };
    enum { BLOCKS = 1200, ENTRY = 60000, TABLE = 4 + 12 * BLOCKS + ENTRY };
    const size_t size = FIELD_BLOCK + 12 + 16 * FIELDS;
    struct provider_manifests again;
    struct message_tables tables = {0};
    (void)state;
    uint8_t *bytes = memory_zero(size, 1), *table = memory_zero(TABLE, 1);
    assert_true(bytes && table);
    memcpy(bytes, "CRIM", 4);
    put_u16(bytes + 8, 3);
    put_u32(bytes + 12, PROVIDERS);
    for (size_t i = 0; i < PROVIDERS; i++)
        put_u32(bytes + 16 + 20 * i + 16, WEVT);
    memcpy(bytes + WEVT, "WEVT", 4);
    put_u32(bytes + WEVT + 12, 1);
    put_u32(bytes + WEVT + 20, FIELD_BLOCK);
    memcpy(bytes + FIELD_BLOCK, "KEYW", 4);
    put_u32(bytes + FIELD_BLOCK + 8, FIELDS);
    assert_int_equal(wevt_template_read(bytes, size, &again), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    put_u32(bytes + 12, 2);
    assert_int_equal(wevt_template_read(bytes, size, &again), S_OK);
    provider_manifests_free(&again);

    put_u32(table, BLOCKS);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        put_u32(table + 4 + 12 * i, i);
        put_u32(table + 8 + 12 * i, i);
        put_u32(table + 12 + 12 * i, 4 + 12 * BLOCKS);
    }
    memset(table + TABLE - ENTRY, 'x', ENTRY);
    put_u16(table + TABLE - ENTRY, ENTRY);
    put_u16(table + TABLE - ENTRY + 2, 0);
    assert_int_equal(message_table_read(table, TABLE, "en-US", &tables), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    message_tables_free(&tables);
    memory_free(table);
    memory_free(bytes);
}

static HRESULT look(void *about, uint16_t language, const uint8_t *bytes, size_t size)
{
    (void)about, (void)language;
    return size && bytes[0] == 1 && bytes[size - 1] == 1 ? S_FALSE : S_OK; /* both ends of the resource are readable */
}

static void files_without_templates_are_reported(void **state)
{
    char *path = path_join(*state, "other.dll");
    struct provider_manifests list;
    uint8_t *file;
    size_t size;
    const uint8_t text[] = "text";
    const struct pe_resource other = {.type_number = 10, .bytes = text, .size = sizeof text};
    assert_int_equal(wevt_template_load(path, &list), HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
    assert_int_equal(file_store(path, "MZ is not enough", 16), S_OK);
    assert_int_equal(wevt_template_load(path, &list), HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT));
    assert_non_null(strstr(error_text(HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT)), "other.dll"));
    assert_int_equal(pe_resources_write(&other, 1, &file, &size), S_OK);
    assert_int_equal(file_store(path, file, size), S_OK);
    assert_int_equal(wevt_template_load(path, &list), S_FALSE);
    struct message_tables tables = {0};
    assert_int_equal(message_tables_load(path, &tables), S_FALSE);
    for (size_t at = 0; at < size; at++) { /* invalid headers and directories */
        struct pe_resources r;
        const uint8_t was = file[at];
        file[at] ^= 0xFF;
        if (pe_resources_read(file, size, &r) == S_OK)
            (void)pe_resources_each(&r, NULL, 10, look, NULL);
        pe_resources_free(&r);
        file[at] = was;
    }
    memory_free(file);
    memory_free(path);
}

static void inserts_replace_placeholders_in_messages(void **state)
{
    (void)state;
    static const char *const inserts[] = {"one", NULL, "%%5 and %%6"};
    static const char *const texts[][2] = {
        {"%1", "one"},
        {"%1!s! and %1!S!.", "one and one."},
        {"%2 stays, %9 too", "%2 stays, %9 too"},
        {"%1!d! is no form", "%1!d! is no form"},
        {"100%%", "100%"},
        {"a%nb%tc%bd%.e%!f%rg", "a\r\nb\tc d.e!f\rg"},
        {"cut%0 here", "cut"},
        {"%%5 %3", "five five and %%6"},
        {"%", "%"},
        {"%z", "%z"},
        {"%1!", "one!"},
    };
    struct message_tables parameters = {0};
    assert_int_equal(message_tables_add(&parameters, "", 5, "five"), S_OK);
    message_tables_sort(&parameters);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct text_buffer b = {0};
        message_text_add(&b, texts[i][0], inserts, 3, &parameters, NULL);
        if (strcmp(b.text, texts[i][1]) != 0)
            fail_msg("%s: %s", texts[i][0], b.text);
        text_buffer_free(&b);
    }
    message_tables_free(&parameters);
}

static void out_of_memory_is_reported_when_reading(void **state)
{
    (void)state;
    struct provider_manifests list = read_xml(), again = {0};
    for (uint64_t n = 1;; n++) {
        uint8_t *bytes = NULL;
        size_t size;
        memory_fail_at(n);
        HRESULT hr = wevt_template_write(&list, &bytes, &size);
        if (SUCCEEDED(hr))
            hr = wevt_template_read(bytes, size, &again);
        memory_fail_at(0);
        memory_free(bytes);
        provider_manifests_free(&again);
        if (SUCCEEDED(hr))
            break;
        assert_int_equal(hr, E_OUTOFMEMORY);
    }
    provider_manifests_free(&list);
}

/* ---- written as a manifest again ---- */

static struct provider_manifests written(const struct provider_manifest *m, const bool *wanted, struct texts *warnings)
{
    struct manifest_document d = {0};
    struct provider_manifests list;
    struct text_buffer text = {0};
    assert_int_equal(manifest_document_add(&d, m, wanted, warnings), S_OK);
    assert_int_equal(manifest_document_text(&d, &text), S_OK);
    HRESULT hr = manifest_xml_read(text.text, text.length, NULL, &list);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    text_buffer_free(&text);
    manifest_document_free(&d);
    return list;
}

static void a_rewritten_manifest_reads_back(void **state)
{
    char *path = path_join(*state, "again.dll");
    struct provider_manifests list = read_xml(), compiled;
    struct texts warnings = {0};
    struct provider_manifests again = written(list.items[0], NULL, &warnings);
    same_manifest(list.items[0], again.items[0], NULL);
    same_manifest(list.items[0], again.items[0], "de-DE");
    same_text(again.items[0]->resource_file, "test.dll");
    const struct manifest_channel *channel = again.items[0]->fields[MANIFEST_CHANNELS].items[1].channel;
    assert_true(channel->enabled && channel->type == 1 && channel->isolation == 1 && channel->max_size == 1048576 &&
                channel->keywords == 16 && channel->clock_type == 1 && channel->latency == MANIFEST_UNSAID);
    same_text(channel->access, "O:BAG:SYD:(A;;0x1;;;SY)");
    assert_int_equal(again.items[0]->filter_count, 1);
    same_text(again.items[0]->events[0].symbol, "ReadDone");
    assert_true(again.items[0]->events[1].not_logged);
    provider_manifests_free(&again);
    /* Compiled templates have no names, and neither does this event provider. */
    link_file(path, &list);
    assert_int_equal(wevt_template_load(path, &compiled), S_OK);
    again = written(compiled.items[0], NULL, &warnings);
    same_text(again.items[0]->name, PROVIDER_GUID_TEXT_UPPER);
    same_manifest(compiled.items[0], again.items[0], NULL);
    same_manifest(compiled.items[0], again.items[0], "de-DE");
    assert_int_equal(warnings.count, 0);
    provider_manifests_free(&again);
    provider_manifests_free(&compiled);
    provider_manifests_free(&list);
    memory_free(path);
}

static void only_selected_events_are_written(void **state)
{
    (void)state;
    struct provider_manifests list = read_xml();
    const bool wanted[4] = {[2] = true};
    struct texts warnings = {0};
    struct provider_manifests again = written(list.items[0], wanted, &warnings);
    const struct provider_manifest *m = again.items[0];
    assert_int_equal(m->event_count, 1);
    assert_int_equal(m->events[0].descriptor.Id, list.items[0]->events[2].descriptor.Id);
    assert_int_equal(m->layout_count, 2); /* including the filter's layout */
    assert_int_equal(m->map_count, 2);
    provider_manifests_free(&again);
    provider_manifests_free(&list);
}

static struct manifest_field *add_field(struct provider_manifest *m, enum manifest_kind kind, uint64_t value,
                                        const char *name)
{
    struct manifest_field *f = manifest_add_field(m, kind);
    f->value = value;
    f->name = name ? text_copy(name) : NULL;
    return f;
}

/* A resource can contain what a manifest cannot; the events still decode as before. */
static void impossible_names_become_strings(void **state)
{
    (void)state;
    static const GUID guid = {1, 2, 3, {4}};
    struct provider_manifest *m = provider_manifest_create(&guid);
    struct texts warnings = {0};
    struct event_schema *s;
    m->name = text_copy("Odd");
    add_field(m, MANIFEST_LEVELS, 16, "my:level of mine");
    add_field(m, MANIFEST_TASKS, 5, NULL);
    add_field(m, MANIFEST_TASKS, 6, "Same");
    add_field(m, MANIFEST_TASKS, 7, "Same");
    add_field(m, MANIFEST_OPCODES, 20, "Of a missing task")->task = 9;
    add_field(m, MANIFEST_KEYWORDS, 2, "two words");
    add_field(m, MANIFEST_OPCODES, 1, "win:Start");
    struct manifest_map *map = manifest_add_map(m);
    map->name = text_copy("a:map");
    map->bits = true;
    manifest_add_map_entry(map)->value = 3;
    struct manifest_map_entry *entry = manifest_add_map_entry(map);
    entry->value = 4;
    entry->message = 44;
    assert_int_equal(message_tables_add(&m->messages, "", 44, "<four> & \"more\"\r\n"), S_OK);
    assert_int_equal(message_tables_add(&m->messages, "", 45, "%1 of $(string.none)"), S_OK);
    struct manifest_template *t = manifest_add_template(m);
    t->properties = memory_zero(1, sizeof *t->properties);
    t->properties[0] = (struct event_property){
        .name = text_copy(""), .map = text_copy("a:map"), .in_type = 8, .count = 1, .length = 4};
    t->property_count = t->top_level = 1;
    static const EVENT_DESCRIPTOR events[] = {
        {.Id = 1, .Level = 16, .Task = 5, .Opcode = 1, .Keyword = 2},
        {.Id = 2, .Level = 17, .Task = 7, .Opcode = 33, .Keyword = UINT64_C(1) << 63 | 0x40},
        {.Id = 3, .Version = 1, .Task = 9, .Opcode = 20, .Channel = 11},
    };
    for (size_t i = 0; i < 3; i++) {
        struct manifest_event *e = manifest_add_event(m);
        e->descriptor = events[i];
        if (i == 0) {
            e->layout = 0;
            e->message = 45;
        }
    }
    provider_manifest_finish(m);
    struct provider_manifests again = written(m, NULL, &warnings);
    const struct provider_manifest *n = again.items[0];
    assert_int_equal(n->event_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(&n->events[i].descriptor, &events[i], sizeof events[i]);
    assert_int_equal(provider_manifest_schema(n, &events[0], NULL, &s), S_OK);
    same_text(s->level_name, "my:level of mine");
    same_text(s->task_name, "5");
    same_text(s->opcode_name, "Start");
    same_text(s->keyword_names[0], "two words");
    same_text(s->event_message, "%1 of $(string.none)");
    same_text(s->maps[0].entries[0].text, "<four> & \"more\"\r\n");
    event_schema_free(s);
    assert_int_equal(provider_manifest_schema(n, &events[1], NULL, &s), S_OK);
    same_text(s->level_name, "17");
    same_text(s->task_name, "Same");
    same_text(s->opcode_name, "33");
    event_schema_free(s);
    assert_int_equal(provider_manifest_schema(n, &events[2], NULL, &s), S_OK);
    same_text(s->opcode_name, "Of a missing task");
    event_schema_free(s);
    assert_int_equal(warnings.count, 1);
    assert_string_equal(
        warnings.items[0],
        "Odd: map 'a:map': skipped the value 0x3, which has several bits: a manifest allows only one bit per value");
    /* An event provider that a manifest cannot express is skipped. */
    struct manifest_document d = {0};
    t = &m->layouts[0];
    t->properties[0].in_type = 99;
    assert_int_equal(manifest_document_add(&d, m, NULL, &warnings), S_FALSE);
    assert_int_equal(d.provider_count, 0);
    assert_non_null(strstr(warnings.items[2], "Odd: skipped"));
    assert_non_null(strstr(warnings.items[2], "inType=\"win:99\": unknown type"));
    manifest_document_free(&d);
    provider_manifests_free(&again);
    texts_free(&warnings);
    provider_manifest_free(m);
}

/* Expects that nothing of the event provider is added to the document; returns the warnings. */
static char *skipped_with_warning(struct manifest_document *d, const struct provider_manifest *m)
{
    struct texts warnings = {0};
    const size_t before = d->provider_count;
    assert_int_equal(manifest_document_add(d, m, NULL, &warnings), S_FALSE);
    assert_int_equal(d->provider_count, before);
    assert_int_equal(warnings.count, 1);
    char *why = text_copy(warnings.items[0]);
    assert_non_null(why);
    texts_free(&warnings);
    return why;
}

/* A hostile resource could require an unlimited number of comparisons. */
static void endless_comparisons_are_skipped(void **state)
{
    enum { FIELDS = 50000 };
    (void)state;
    struct manifest_document d = {0};
    struct provider_manifest *m = provider_manifest_create(&(GUID){1, 2, 3, {4}});
    for (uint32_t i = 0; i < FIELDS; i++)
        add_field(m, MANIFEST_TASKS, i, NULL);
    char *why = skipped_with_warning(&d, m);
    same_text(why, "a provider: skipped: too large: 50000 fields and 0 events would take too long to compare");
    memory_free(why);
    provider_manifest_free(m);
}

/* Structs can share members, so a hostile resource could also require a string that is larger than the memory. */
static void oversized_providers_are_skipped(void **state)
{
    enum { STRUCTS = 2000, LINE = 200 };
    (void)state;
    struct manifest_document d = {0};
    struct provider_manifest *m = provider_manifest_create(&(GUID){1, 2, 3, {4}});
    struct manifest_template *t = manifest_add_template(m);
    t->properties = memory_zero(2 * STRUCTS, sizeof *t->properties);
    t->property_count = 2 * STRUCTS;
    t->top_level = STRUCTS;
    for (unsigned i = 0; i < 2 * STRUCTS; i++)
        t->properties[i] = i < STRUCTS ? (struct event_property){.name = text_copy("S"),
                                                                 .flags = PROPERTY_STRUCT,
                                                                 .count = 1,
                                                                 .first_member = STRUCTS,
                                                                 .members = STRUCTS}
                                       : (struct event_property){.name = text_copy("M"), .in_type = 8, .count = 1};
    manifest_add_event(m)->layout = 0;
    char *why = skipped_with_warning(&d, m);
    const char *size = strstr(why, "manifest too large: ");
    assert_non_null(size);
    assert_in_range(strtoul(size + strlen("manifest too large: "), NULL, 10), MANIFEST_MOST_BYTES,
                    MANIFEST_MOST_BYTES + STRUCTS * LINE);
    memory_free(why);
    provider_manifest_free(m);
}

/* A manifest with more event providers could not be read by our own reader. */
static void the_number_of_providers_is_limited(void **state)
{
    (void)state;
    struct manifest_document d = {0};
    struct text_buffer text = {0};
    struct texts warnings = {0};
    struct provider_manifests again;
    char *why = NULL;
    for (uint32_t i = 0; i <= MANIFEST_MOST_PROVIDERS; i++) {
        struct provider_manifest *m = provider_manifest_create(&(GUID){i, 2, 3, {4}});
        manifest_add_event(m)->descriptor.Id = 1;
        if (i < MANIFEST_MOST_PROVIDERS)
            assert_int_equal(manifest_document_add(&d, m, NULL, &warnings), S_OK);
        else
            why = skipped_with_warning(&d, m);
        provider_manifest_free(m);
    }
    same_text(why, "a provider: skipped: a manifest has at most 256 providers and 16777216 bytes");
    memory_free(why);
    assert_int_equal(manifest_document_text(&d, &text), S_OK);
    assert_int_equal(manifest_xml_read(text.text, text.length, NULL, &again), S_OK);
    assert_int_equal(again.count, MANIFEST_MOST_PROVIDERS);
    provider_manifests_free(&again);
    text_buffer_free(&text);
    manifest_document_free(&d);
}

static void out_of_memory_is_reported_when_writing(void **state)
{
    (void)state;
    struct provider_manifests list = read_xml();
    uint64_t n = 1;
    for (unsigned whole = 0; whole < 3;) { /* messages are sorted even if no memory is available */
        struct manifest_document d = {0};
        struct text_buffer text = {0};
        struct texts warnings = {0};
        memory_fail_at(n++);
        HRESULT hr = manifest_document_add(&d, list.items[0], NULL, &warnings);
        if (hr == S_OK)
            hr = manifest_document_text(&d, &text);
        memory_fail_at(0);
        assert_true(hr == S_OK || hr == E_OUTOFMEMORY);
        whole = hr == S_OK ? whole + 1 : 0;
        assert_int_equal(warnings.count, 0);
        text_buffer_free(&text);
        manifest_document_free(&d);
        texts_free(&warnings);
    }
    assert_in_range(n, 100, UINT32_MAX);
    provider_manifests_free(&list);
}

static int begin(void **state)
{
    *state = scratch_create("wevt_template");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compiled_manifest_reads_back),
        cmocka_unit_test(two_providers_share_a_resource),
        cmocka_unit_test(corrupt_resources_are_rejected),
        cmocka_unit_test(shared_data_are_limited),
        cmocka_unit_test(files_without_templates_are_reported),
        cmocka_unit_test(inserts_replace_placeholders_in_messages),
        cmocka_unit_test(out_of_memory_is_reported_when_reading),
        cmocka_unit_test(a_rewritten_manifest_reads_back),
        cmocka_unit_test(only_selected_events_are_written),
        cmocka_unit_test(impossible_names_become_strings),
        cmocka_unit_test(endless_comparisons_are_skipped),
        cmocka_unit_test(oversized_providers_are_skipped),
        cmocka_unit_test(the_number_of_providers_is_limited),
        cmocka_unit_test(out_of_memory_is_reported_when_writing),
    };
    return cmocka_run_group_tests(tests, begin, scratch_end);
}
