/* SPDX-License-Identifier: MIT */
/* make_corpus FOLDER: writes the initial inputs of the decoders' fuzzers: a folder per fuzzer with valid samples of
   some hundred bytes, and FOLDER/TARGET.seeds, the list of them for libFuzzer's -seed_inputs. */
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/etw/decode/manifest/wevt_template.h"
#include "engine/etw/decode/tdh/tdh.h"
#include "engine/etw/event_values.h"
#include "engine/logs/little_endian.h"
#include "tests/fuzz/decode/corpus_texts.h"
#include "tests/unit/mof_examples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 8192 };

static const char *top;

static void must(HRESULT hr, const char *what)
{
    if (SUCCEEDED(hr))
        return;
    fprintf(stderr, "make_corpus: %s: %s\n", what, error_text(hr));
    exit(1);
}

/* ---- samples of a target ---- */

static struct text_buffer seeds;
static char *folder;
static unsigned samples;

static void begin(const char *target)
{
    folder = path_join(top, target);
    samples = 0;
    must(folder ? folder_create(folder) : E_OUTOFMEMORY, target);
}

static void add(const void *bytes, size_t size)
{
    char name[16];
    snprintf(name, sizeof name, "%u", samples++);
    char *path = path_join(folder, name);
    must(path ? file_store(path, bytes, size) : E_OUTOFMEMORY, folder);
    text_buffer_add(&seeds, seeds.length != 0 ? "," : "");
    text_buffer_add(&seeds, path);
    memory_free(path);
}

static void end(void)
{
    char *path = text_format("%s.seeds", folder);
    must(path && !seeds.failed ? file_store(path, seeds.text, seeds.length) : E_OUTOFMEMORY, folder);
    memory_free(path);
    memory_free(folder);
    text_buffer_free(&seeds);
}

/* ---- an event ---- */

static uint8_t sample[SAMPLE];
static size_t used;

static void put(const void *bytes, size_t size)
{
    if (size > sizeof sample - used)
        exit(1);
    memcpy(sample + used, bytes, size);
    used += size;
}

/* Adds a value of the type as in event data, after its length if the type has one. */
static void put_value(uint16_t in)
{
    static const uint8_t text[] = "a\0\xE4\0\0\0", counted[] = "\x02\0b\0", sid[] = "\1\1\0\0\0\0\0\5\x12\0\0\0",
                         time[] = "\xE8\x07\x02\0\x04\0\x1D\0\x17\0\x3B\0\x3A\0\x7B\0",
                         wbem_sid[] = "\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\1\0\0\0\0\0\5\x12\0\0\0";
    static const uint8_t number[16] = {1, 2, 3, 4, 5, 6, 7, 1, 0x11, 0x22};
    static const uint8_t sizes[] = {0, 0, 0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 4, 0, 16, 8, 8, 0, 0, 4, 8};
    if (in == IN_TYPE_UNICODESTRING || in == IN_TYPE_NONNULLTERMINATEDSTRING)
        put(text, 6);
    else if (in == IN_TYPE_ANSISTRING || in == IN_TYPE_NONNULLTERMINATEDANSISTRING)
        put("plain", 6);
    else if (in == IN_TYPE_SYSTEMTIME)
        put(time, 16);
    else if (in == IN_TYPE_SID)
        put(sid, 12);
    else if (in == IN_TYPE_WBEMSID)
        put(wbem_sid, 28);
    else if (in == IN_TYPE_REVERSEDCOUNTEDSTRING || in == IN_TYPE_REVERSEDCOUNTEDANSISTRING)
        put("\0\2b", 4);
    else if (in == IN_TYPE_HEXDUMP)
        put("\2\0\0\0\xAB\xCD", 6);
    else if (in == IN_TYPE_SIZET)
        put(number, 8);
    else if (in == IN_TYPE_UNICODECHAR || in == IN_TYPE_ANSICHAR)
        put(number, in == IN_TYPE_ANSICHAR ? 1 : 2);
    else if (in == IN_TYPE_BINARY || in >= IN_TYPE_MANIFEST_COUNTEDSTRING)
        put(counted, 4);
    else
        put(number, sizes[in]);
}

/* ---- events that describe themselves ---- */

static void field(uint8_t in, uint8_t out)
{
    const uint8_t types[] = {(uint8_t)(in | (out ? 0x80 : 0)), out};
    put("f", 2);
    put(types, out ? 2 : 1);
}

static void begin_event(void)
{
    used = 2; /* the size of the metadata, twice: for the fuzzer, and as their first field */
    put("\0\0\0Event", 9);
}

static void end_metadata(void)
{
    put_u16(sample, (uint16_t)(used - 2));
    put_u16(sample + 2, (uint16_t)(used - 2));
}

static void trace_logging(void)
{
    static const uint8_t outs[] = {0, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 35, 36, 38};
    begin("trace_logging");
    for (uint8_t chain = 0; chain < 0x60; chain += 0x20)
        for (uint8_t from = 1; from < 26; from += 8) {
            begin_event();
            for (uint8_t in = from; in < from + 8 && in < 26; in++)
                if (in != IN_TYPE_STRUCT) {
                    field(in | chain, outs[(in * 7u + chain) % sizeof outs]);
                    put("\2", chain == 0x20 ? 2 : 0);
                }
            end_metadata();
            for (uint8_t in = from; in < from + 8 && in < 26; in++)
                for (int i = 0; in != IN_TYPE_STRUCT && i < (chain ? 2 : 1); i++) {
                    put("\2", chain == 0x40 && i == 0 ? 2 : 0);
                    put_value(in);
                }
            add(sample, used);
        }
    begin_event(); /* structs, arrays in them, tags, a custom field */
    static const char nested[] = "s\0\xB8\x02\x02\0k\0\x04v\0\x44t\0\x98\x81\x05u\0\x08\x63\0\x63\x03\0abc";
    put(nested, sizeof nested - 1);
    end_metadata();
    put("\x01\x02\0\x0A\x0B\x02\x01\0\x0C\x2A\0\0\0\x02\0xy", 17);
    add(sample, used);
    begin_event(); /* the bytes after the metadata are also read as traits */
    field(IN_TYPE_UINT32, 0);
    end_metadata();
    put("\x1D\0Name\0\x13\0\1ABCDEFGHIJKLMNOP\x05\0\x80z", 30);
    add(sample, used);
    end();
}

/* ---- schemas and data ---- */

static void property(uint8_t flags, uint8_t in, uint8_t out, uint8_t map, uint16_t count, uint16_t length)
{
    uint8_t row[8] = {flags, in, out, map};
    put_u16(row + 4, count);
    put_u16(row + 6, length);
    put(row, sizeof row);
}

static void event_values(void)
{
    enum { LENGTH = 2, COUNT = 4, FIXED_COUNT = 0x20, EIGHT = 8 };
    begin("event_values");
    for (uint8_t from = 0; from < 26; from += EIGHT) {
        used = 0;
        put((uint8_t[]){EIGHT, EIGHT}, 2);
        for (unsigned in = from; in < from + EIGHT; in++)
            property(0, in % 24, (uint8_t)in, in % 3 ? 0 : 0x80, 1, 0);
        for (unsigned in = from; in < from + EIGHT; in++)
            put_value(in % 24);
        add(sample, used);
    }
    used = 0; /* the types of MOF begin at 300 */
    put((uint8_t[]){11, 11 | 0x80}, 2);
    for (uint8_t in = 0; in < 11; in++) {
        uint8_t number = 0x80;
        while (number % 12 != in)
            number++;
        property(0, number, 0, 0, 1, 0);
    }
    for (unsigned in = IN_TYPE_COUNTEDSTRING; in <= IN_TYPE_WBEMSID; in++)
        put_value((uint16_t)in);
    add(sample, used);
    used = 0; /* a length, a count, a struct of two members, an array */
    put((uint8_t[]){7, 5}, 2);
    property(0, IN_TYPE_UINT8, 0, 0, 1, 0);
    property(LENGTH, IN_TYPE_UNICODESTRING, 0, 0, 1, 0);
    property(COUNT, IN_TYPE_UINT32, OUT_TYPE_IPV4, 0, 0, 0);
    property(1 | COUNT, 5, 0, 2, 0, 0);
    property(FIXED_COUNT, IN_TYPE_GUID, 0, 0, 2, 0);
    property(0, IN_TYPE_UINT16, OUT_TYPE_PORT, 0x80, 1, 0);
    property(LENGTH, IN_TYPE_BINARY, OUT_TYPE_SOCKETADDRESS, 0, 1, 0);
    put("\2a\0b\0\x01\0\0\x7F\x02\0\0\x7F\0\x50\xAB\xCD\0\x51\xAB\xCD", 21);
    put_value(IN_TYPE_GUID);
    put_value(IN_TYPE_GUID);
    add(sample, used);
    end();
}

/* ---- files ---- */

static void texts(const char *target, const char *const *list, size_t count)
{
    begin(target);
    for (size_t i = 0; i < count; i++)
        add(list[i], strlen(list[i]));
    end();
}

/* Adds the strings, each followed by data. A fuzzer creates the events that a string describes from this data. */
static void texts_with_data(const char *target, const char *const *list, size_t count)
{
    static const uint8_t data[] = "\0\1\0\0\0\2\0a\0b\0\0\0plain\0\3\0\0\0\4\5\6\7\1\1\0\0\0\0\0\5\x12\0\0\0";
    begin(target);
    for (size_t i = 0; i < count; i++) {
        used = 0;
        put(list[i], strlen(list[i]));
        put(data, sizeof data - 1);
        add(sample, used);
    }
    end();
}

static void wevt_template(void)
{
    begin("wevt_template");
    for (size_t i = 0; i < sizeof corpus_manifests / sizeof corpus_manifests[0]; i++) {
        struct provider_manifests list;
        struct pe_resource resources[2] = {{.type_name = "WEVT_TEMPLATE"}, {.type_number = 11, .language = 0x409}};
        uint8_t *template, *messages = NULL, *file;
        size_t size;
        must(manifest_xml_read(corpus_manifests[i], strlen(corpus_manifests[i]), NULL, &list), corpus_manifests[i]);
        must(wevt_template_write(&list, &template, &resources[0].size), "template");
        add(template, resources[0].size);
        const struct message_tables *tables = &list.items[0]->messages;
        if (tables->count != 0) {
            must(message_table_write(&tables->items[0], &messages, &resources[1].size), "messages");
            add(messages, resources[1].size);
        }
        resources[0].bytes = template;
        resources[1].bytes = messages;
        must(pe_resources_write(resources, messages ? 2 : 1, &file, &size), "file");
        add(file, size);
        memory_free(template);
        memory_free(messages);
        memory_free(file);
        provider_manifests_free(&list);
    }
    end();
}

/* ---- definitions in merged traces ---- */

static void metadata_row(uint8_t type, const void *guid, const void *bytes, size_t size)
{
    uint8_t head[4] = {type, 8};
    put_u16(head + 2, (uint16_t)(size + (guid ? 16 : 0)));
    put(head, sizeof head);
    put(guid ? guid : "", guid ? 16 : 0);
    put(bytes, size);
}

static void trace_metadata(void)
{
    static const char data[] = "\1\0\0\0\2\0a\0b\0\0\0plain\0\3\0\0\0\4\5\6\7\1\1\0\0\0\0\0\5\x12\0\0\0";
    begin("trace_metadata");
    for (size_t i = 0; i < sizeof corpus_manifests / sizeof corpus_manifests[0]; i++) {
        struct provider_manifests list;
        must(manifest_xml_read(corpus_manifests[i], strlen(corpus_manifests[i]), NULL, &list), corpus_manifests[i]);
        for (size_t k = 0; k < list.items[0]->event_count; k++) {
            struct event_schema *schema;
            struct tdh_block block;
            must(provider_manifest_schema(list.items[0], &list.items[0]->events[k].descriptor, NULL, &schema), "event");
            must(tdh_block_event(schema, 8, &block), "definition");
            used = 0;
            metadata_row(32, NULL, block.bytes, block.size);
            tdh_block_free(&block);
            for (size_t n = 0; n < schema->map_count; n++) {
                must(tdh_block_map(&schema->maps[n], &block), "map");
                metadata_row(33, &list.items[0]->guid, block.bytes, block.size);
                tdh_block_free(&block);
            }
            metadata_row(0, NULL, data, sizeof data - 1);
            add(sample, used);
            event_schema_free(schema);
        }
        provider_manifests_free(&list);
    }
    end();
}

int main(int argc, char **argv)
{
    static const char *const mofs[] = {mof_example, corpus_mof_types, corpus_mof_maps, corpus_mof_language};
    if (argc != 2) {
        fprintf(stderr, "make_corpus FOLDER\n");
        return 2;
    }
    top = argv[1];
    must(folder_create(top), top);
    trace_logging();
    event_values();
    texts_with_data("mof", mofs, sizeof mofs / sizeof mofs[0]);
    texts_with_data("tmf", corpus_tmfs, sizeof corpus_tmfs / sizeof corpus_tmfs[0]);
    texts("manifest_xml", corpus_manifests, sizeof corpus_manifests / sizeof corpus_manifests[0]);
    wevt_template();
    trace_metadata();
    return 0;
}
