/* SPDX-License-Identifier: MIT */
/* Runs a single source of a configuration collector and reads its document. */
#ifndef OPENPLA_CONFIGURATION_FIXTURE_H
#define OPENPLA_CONFIGURATION_FIXTURE_H

#include "engine/pla/collect/configuration_source.h"
#include "tests/unit/collect/xml_path.h"
#include "tests/unit/schema_check.h"
#include "tests/unit/scratch_folder.h"

struct collected {
    struct configuration_request request; /* filled by the test */
    atomic_bool stop;
    HRESULT hr;    /* result of the source */
    xmlDocPtr doc; /* the document that it wrote */
};

/* Runs the source and reads its document. The folder is named after the test program, because process ids are not
   unique: a process in another Wine prefix may have the same id. */
static inline void collect_source(struct collected *c, HRESULT (*source)(const struct configuration_source_context *))
{
    char *folder = scratch_create(path_name(__BASE_FILE__));
    char *path = path_join(folder, "a.xml"), *text;
    struct configuration_document *d;
    struct file *file;
    size_t size;
    c->doc = NULL;
    assert_int_equal(file_open(path, FILE_CREATE_NEW, &file), S_OK);
    assert_int_equal(configuration_document_begin(file, &d), S_OK);
    const struct configuration_source_context context = {
        .request = &c->request, .document = d, .output_base = folder, .output_folder = folder, .stop = &c->stop};
    c->hr = source(&context);
    configuration_document_end(d, true);
    file_close(file);
    assert_int_equal(file_load(path, 1 << 28, &text, &size), S_OK);
    c->doc = xmlReadMemory(text, (int)size, NULL, NULL, XML_PARSE_NONET | XML_PARSE_HUGE);
    assert_non_null(c->doc);
    assert_is_report(c->doc);
    memory_free(text);
    memory_free(path);
    scratch_remove(folder);
    memory_free(folder);
}

static inline void collected_end(struct collected *c)
{
    texts_free(&c->request.registry_keys);
    texts_free(&c->request.files);
    texts_free(&c->request.queries);
    xmlFreeDoc(c->doc);
    *c = (struct collected){.hr = S_OK};
}

/* Fails each allocation of the source in turn. The source must report the error or continue without the memory, and its
   document must still be complete at the end. Returns the number of allocations. */
static inline uint64_t collect_without_memory(HRESULT (*source)(const struct configuration_source_context *),
                                              void (*ask_all)(struct collected *c))
{
    uint64_t n = 1;
    for (bool failed = true; failed; n++) {
        struct collected c = {.hr = S_OK};
        ask_all(&c);
        char *folder = scratch_create(path_name(__BASE_FILE__)), *path = path_join(folder, "a.xml");
        struct configuration_document *d;
        struct file *file;
        assert_int_equal(file_open(path, FILE_CREATE_NEW, &file), S_OK);
        assert_int_equal(configuration_document_begin(file, &d), S_OK);
        const struct configuration_source_context context = {.request = &c.request, .document = d, .stop = &c.stop};
        memory_fail_at(n);
        HRESULT hr = source(&context);
        failed = memory_count() >= n;
        memory_fail_at(0);
        assert_true(hr == E_OUTOFMEMORY || hr == S_OK);
        assert_true(failed || hr == S_OK);
        configuration_document_end(d, true);
        file_close(file);
        memory_free(path);
        scratch_remove(folder);
        memory_free(folder);
        collected_end(&c);
    }
    return n;
}

#endif
