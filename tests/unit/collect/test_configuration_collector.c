/* SPDX-License-Identifier: MIT */
/* A configuration collector's output in its set's folder: copies of the requested files, and an XML file that reports
   each result. */
#include "engine/base/file.h"
#include "engine/base/thread.h"
#include "engine/etw/kernel/kernel_tracer.h"
#include "engine/pla/collect/collect.h"
#include "engine/pla/model.h"
#include "tests/unit/collect/xml_path.h"
#include "tests/unit/controller_fixture.h"
#include "tests/unit/scratch_link.h"

#include <stdatomic.h>

#ifndef _WIN32
#include "tests/unit/full_disk.h"

#include <sys/stat.h>
#endif

struct test {
    char *scratch, *in, *out, *path;
    struct object *object;
    struct configuration_collector *model;
    struct collect_context context;
    struct wakeup *woken;
    char note[1000];
};

static void note(void *user, HRESULT reason, const char *subject, const char *text)
{
    struct test *t = user;
    (void)reason;
    (void)subject;
    text_fit(t->note, sizeof t->note, text);
}

static void wake(void *user)
{
    wakeup_set(((struct test *)user)->woken);
}

static int setup(void **state)
{
    struct test *t = memory_zero(1, sizeof *t);
    assert_non_null(t);
    char *scratch = scratch_create("test_configuration_collector");
    t->scratch = os_full_path(scratch);
    memory_free(scratch);
    t->in = path_join(t->scratch, "in");
    t->out = path_join(t->scratch, "out");
    t->path = path_join(t->out, "c.xml");
    assert_int_equal(folder_create(t->in), S_OK);
    assert_int_equal(folder_create(t->out), S_OK);
    assert_int_equal(wakeup_create(&t->woken), S_OK);
    assert_int_equal(object_create(&configuration_collector_class, NULL, &t->object), S_OK);
    assert_int_equal(object_put_text(t->object, class_property(t->object->class, "Name"), "c"), S_OK);
    t->model = (struct configuration_collector *)t->object;
    t->context = (struct collect_context){
        .output_path = t->path, .output_base = t->scratch, .description = "", .note = note, .wake = wake, .user = t};
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct test *t = *state;
    object_release(t->object);
    scratch_remove(t->scratch);
    wakeup_free(t->woken);
    memory_free(t->scratch);
    memory_free(t->in);
    memory_free(t->out);
    memory_free(t->path);
    memory_free(t);
    return 0;
}

/* Creates a file; `name` uses '/' as separator. */
static void put(struct test *t, const char *name, const char *content)
{
    char *path = path_join(t->in, name), *folder = path_folder(path);
    struct file *f;
    assert_int_equal(folder_create(folder), S_OK);
    assert_int_equal(file_open(path, FILE_REPLACE, &f), S_OK);
    assert_int_equal(file_write(f, content, strlen(content)), S_OK);
    file_close(f);
    memory_free(path);
    memory_free(folder);
}

static void ask(struct test *t, const char *entry)
{
    char *path = text_format("%s/%s", t->in, entry);
    assert_int_equal(texts_add(&t->model->Files, path), S_OK);
    memory_free(path);
}

static struct collector *open_collector(struct test *t)
{
    struct collector *c;
    HRESULT hr = collector_open(t->object, &t->context, &c);
    if (FAILED(hr))
        fail_msg("%s", error_text(hr));
    return c;
}

/* Polls as a run does: after each wake-up, and in the interval that the collector requests. */
static enum collector_standing await(struct test *t, struct collector *c, HRESULT *reason)
{
    enum collector_standing standing = COLLECTOR_GOES_ON;
    for (int i = 0; i < 200 && standing == COLLECTOR_GOES_ON; i++) {
        uint64_t ms = collector_poll_ms(c);
        wakeup_wait(t->woken, ms ? (uint32_t)ms : 2000);
        standing = collector_poll(c, reason);
    }
    return standing;
}

static xmlDocPtr collect(struct test *t)
{
    struct collector *c = open_collector(t);
    HRESULT reason;
    assert_int_equal(collector_end(c, true), ENDS_BY_ITSELF);
    assert_int_equal(await(t, c, &reason), COLLECTOR_DONE);
    assert_int_equal(reason, S_OK);
    assert_int_equal(collector_poll_ms(c), 0);
    assert_int_equal(collector_close(c), S_OK);
    return xml_read(t->path);
}

static void check_copy(struct test *t, const char *name, const char *content)
{
    char *path = path_join(t->out, name), *text = scratch_read(path);
    assert_string_equal(text, content);
    memory_free(path);
    memory_free(text);
}

#define FILES_ITEM "/Report/Section[@name='files']/Table/Item"

static void files_of_a_folder_precede_its_subfolders(void **state)
{
    struct test *t = *state;
    put(t, "b.txt", "b");
    put(t, "A.txt", "a");
    put(t, "z.log", "no");
    put(t, "sub/A.txt", "sub a");
    put(t, "sub/deep/a.TXT", "deep a");
    put(t, "aaa/c.txt", "c");
    ask(t, "/*.txt");
    xmlDocPtr doc = collect(t);
    check_xpath(doc, "/Report/@complete", "1");
    check_xpath(doc, "/Report/Header/Data[@name='collector']", "c");
    check_xpath(doc, "count(" FILES_ITEM ")", "5");
    check_xpath(doc, FILES_ITEM "[1]/Data[@name='copy']", "A.txt");
    check_xpath(doc, FILES_ITEM "[2]/Data[@name='copy']", "b.txt");
    check_xpath(doc, FILES_ITEM "[3]/Data[@name='copy']", "c.txt");
    check_xpath(doc, FILES_ITEM "[4]/Data[@name='copy']", "A_1.txt");
    check_xpath(doc, FILES_ITEM "[5]/Data[@name='copy']", "a_2.TXT");
    check_xpath(doc, FILES_ITEM "[5]/Data[@name='size']", "6");
    check_xpath(doc, FILES_ITEM "[5]/Data[@name='changed']", "0");
    check_xpath(doc, "string(" FILES_ITEM "/Data[@name='result'][. != ''])", "");
    check_copy(t, "A.txt", "a");
    check_copy(t, "A_1.txt", "sub a");
    check_copy(t, "a_2.TXT", "deep a");
    assert_string_equal(t->note, "");
    xmlFreeDoc(doc);
}

static void entries_are_absolute_or_relative_with_wildcards_and_variables(void **state)
{
    struct test *t = *state;
    put(t, "a1.txt", "1");
    put(t, "a22.txt", "22");
    put(t, "b", "no extension");
    put(t, "sub/c.txt", "not asked for");
    ask(t, "a?.txt");
    ask(t, "*.*");
    texts_add(&t->model->Files, "in/a22.txt");
    scratch_environment("OPENPLA_TEST_FILES", t->in);
    texts_add(&t->model->Files, "%OPENPLA_TEST_FILES%/b");
    xmlDocPtr doc = collect(t);
    check_xpath(doc, "count(//Table)", "4");
    check_xpath(doc, "count((//Table)[1]/Item)", "1");
    check_xpath(doc, "count((//Table)[2]/Item)", "3");
    check_xpath(doc, "(//Table)[3]/@source", "in/a22.txt");
    check_xpath(doc, "(//Table)[3]/Item/Data[@name='copy']", "a22_1.txt");
    check_xpath(doc, "(//Table)[4]/Item/Data[@name='copy']", "b_1");
    check_copy(t, "a22_1.txt", "22");
    xmlFreeDoc(doc);
}

static void uncopyable_files_are_entries_and_the_rest_is_copied(void **state)
{
    struct test *t = *state;
    put(t, "a.txt", "a");
    put(t, "sub/b.txt", "b");
    ask(t, "missing.txt");
    ask(t, "none*.txt");
    ask(t, "sub");
    ask(t, "gone/*.txt");
    ask(t, "s*b/b.txt");
    ask(t, "a.txt");
    xmlDocPtr doc = collect(t);
    check_xpath(doc, "/Report/@complete", "1");
    check_xpath(doc, "count(//Table/Item)", "6");
    check_xpath(doc, "(//Item)[1]/Data[@name='result']", "0x80070002");
    check_xpath(doc, "contains((//Item)[1]/Data[@name='error'], 'missing.txt')", "true");
    check_xpath(doc, "(//Item)[2]/Data[@name='result']", "0x80070002");
    check_xpath(doc, "(//Item)[3]/Data[@name='result']", "0x8007010B"); /* ERROR_DIRECTORY */
    check_xpath(doc, "contains((//Item)[4]/Data[@name='error'], 'gone')", "true");
    check_xpath(doc, "(//Item)[5]/Data[@name='result']", "0x8007007B"); /* ERROR_INVALID_NAME */
    check_xpath(doc, "(//Item)[6]/Data[@name='copy']", "a.txt");
    assert_non_null(strstr(t->note, "not collected: 5 of the entries"));
    xmlFreeDoc(doc);
}

/* A copy with the name "a.txt:hidden" would be a stream of the copy a.txt. Folder listings do not show streams, and
   archives do not include them. */
static void streams_are_reported_and_not_copied(void **state)
{
    struct test *t = *state;
    put(t, "a.txt", "a");
#ifndef _WIN32
    put(t, "a.txt:hidden", "secret"); /* this host OS treats it as an ordinary file name */
#endif
    ask(t, "a.txt:hidden");
    ask(t, "a.txt::$DATA");
    ask(t, "sub:hidden/*.txt");
    ask(t, "*:hidden");
    assert_int_equal(texts_add(&t->model->Files, "C:a.txt"), S_OK);
    ask(t, "a.txt");
    xmlDocPtr doc = collect(t);
    check_xpath(doc, "count(//Table/Item)", "6");
    check_xpath(doc, "count(//Item[Data[@name='result']='0x8007007B'])", "5"); /* ERROR_INVALID_NAME */
    check_xpath(doc, "contains((//Item)[1]/Data[@name='error'], 'a.txt:hidden')", "true");
    check_xpath(doc, "contains((//Item)[1]/Data[@name='error'], 'stream')", "true");
    check_xpath(doc, "count(//Item/Data[@name='copy'][string()])", "1");
    check_copy(t, "a.txt", "a");
    xmlFreeDoc(doc);
}

/* In a single folder, each copy with the same name would take longer than the one before. */
static void many_copies_use_several_folders(void **state)
{
    struct test *t = *state;
    put(t, "a.txt", "a");
    for (int i = 0; i < 1003; i++)
        ask(t, "a.txt");
    xmlDocPtr doc = collect(t);
    check_xpath(doc, "count(//Data[@name='copy'][. != ''])", "1003");
    check_xpath(doc, "(//Item)[1000]/Data[@name='copy']", "a_999.txt");
    check_xpath(doc, "translate((//Item)[1003]/Data[@name='copy'], '\\', '/')", "Files_0001/a_1002.txt");
    check_copy(t, "Files_0001/a_1002.txt", "a");
    xmlFreeDoc(doc);
}

static void limits_end_copying_and_are_reported(void **state)
{
    struct test *t = *state;
    for (int i = 0; i < 5; i++) {
        char name[] = "d/d/f0.txt";
        name[5] = (char)('0' + i);
        put(t, i < 3 ? name + 4 : name, "x");
    }
    char *large = memory_alloc(800001);
    memset(large, 'x', 800000);
    large[800000] = 0;
    put(t, "large1.bin", large);
    put(t, "large2.bin", large);
    memory_free(large);
    t->model->FileMaxCount = 2;
    ask(t, "f*.txt");
    ask(t, "large*.bin");
    xmlDocPtr doc = collect(t);
    check_xpath(doc, "count(//Data[@name='copy'][. != ''])", "2");
    check_xpath(doc, "contains((//Table)[1]/Item[3]/Data[@name='error'], 'FileMaxCount: the limit of 2')", "true");
    check_xpath(doc, "contains((//Table)[2]/Item/Data[@name='error'], 'FileMaxCount')", "true");
    xmlFreeDoc(doc);
    t->model->FileMaxCount = 0;
    t->model->FileMaxTotalSize = 1;
    t->model->LogOverwrite = true;
    doc = collect(t);
    check_xpath(doc, "count((//Table)[1]/Item/Data[@name='copy'][. != ''])", "3");
    check_xpath(doc, "(//Table)[2]/Item[1]/Data[@name='copy']", "large1.bin");
    check_xpath(doc, "starts-with((//Table)[2]/Item[2]/Data[@name='error'], 'FileMaxTotalSize')", "true");
    xmlFreeDoc(doc);
    t->model->FileMaxRecursiveDepth = 1;
    ask(t, "/f*.txt");
    doc = collect(t);
    check_xpath(doc, "count((//Table)[3]/Item/Data[@name='copy'][. != ''])", "3");
    check_xpath(doc, "contains((//Table)[3]/Item[4]/Data[@name='error'], 'FileMaxRecursiveDepth')", "true");
    xmlFreeDoc(doc);
}

/* An error entry or a message of the run would make people search for missing data. */
static void limit_that_omits_nothing_is_not_reported(void **state)
{
    struct test *t = *state;
    put(t, "a.txt", "a");
    put(t, "sub/b.txt", "b");
    put(t, "sub/c.log", "not asked for");
    t->model->FileMaxCount = 2;
    ask(t, "/*.txt");
    xmlDocPtr doc = collect(t);
    check_xpath(doc, "count(//Data[@name='copy'][. != ''])", "2");
    check_xpath(doc, "count(//Item)", "2");
    assert_string_equal(t->note, "");
    xmlFreeDoc(doc);
}

static void links_are_copied_and_cycles_are_reported(void **state)
{
    struct test *t = *state;
    put(t, "a.txt", "a");
    put(t, "sub/b.txt", "b");
    scratch_link(t->in, "sub/back", "..", false);
    scratch_link(t->in, "other", "sub", false);
    scratch_link(t->in, "dead.txt", "nowhere", false);
    scratch_link(t->in, "to.txt", "a.txt", false);
    ask(t, "/*.txt");
    xmlDocPtr doc = collect(t);
    scratch_unlink(t->in, "sub/back");
    scratch_unlink(t->in, "other");
    scratch_unlink(t->in, "dead.txt");
    scratch_unlink(t->in, "to.txt");
    /* a.txt, to.txt, and b.txt, which is copied once although two paths lead to it */
    check_xpath(doc, "count(//Data[@name='copy'][. != ''])", "3");
    /* Wine does not list links without a target. */
    check_xpath(doc, "count(//Data[@name='result'][. = '0x80070002'])", os_is_wine() ? "0" : "1");
    check_xpath(doc, "count(//Data[@name='result'][. = '0x800700B7'])", "2");
    xmlFreeDoc(doc);
}

/* The set's output folder may be inside a collected folder. */
static void copies_are_not_copied_again(void **state)
{
    struct test *t = *state;
    put(t, "a.txt", "a");
    char *all = text_format("%s//*.txt", t->scratch);
    texts_add(&t->model->Files, all);
    memory_free(all);
    xmlDocPtr doc = collect(t);
    check_xpath(doc, "count(//Data[@name='copy'][. != ''])", "1");
    xmlFreeDoc(doc);
}

static void times_and_attributes_are_kept(void **state)
{
    struct test *t = *state;
    struct file_traits traits = {.written = 116444736000000000 + 10000000LL * 1700000000 + 1230000,
                                 .attributes = FILE_TRAIT_READ_ONLY};
    struct file *f;
    put(t, "a.txt", "a");
    char *path = path_join(t->in, "a.txt"), *copy = path_join(t->out, "a.txt");
    assert_int_equal(file_open(path, FILE_APPEND, &f), S_OK);
    assert_int_equal(file_set_traits(f, &traits), S_OK);
    file_close(f);
    ask(t, "a.txt");
    xmlDocPtr doc = collect(t);
    check_xpath(doc, "//Item/Data[@name='modified']", "2023-11-14T22:13:20.123Z");
    check_xpath(doc, "contains(//Item/Data[@name='attributes'], 'R')", "true");
    xmlFreeDoc(doc);
    assert_int_equal(file_open_source(copy, &f), S_OK);
    assert_int_equal(file_traits_of(f, &traits), S_OK);
    file_close(f);
    assert_true(traits.written == 116444736000000000 + 10000000LL * 1700000000 + 1230000);
    assert_true(traits.attributes & FILE_TRAIT_READ_ONLY);
#ifdef _WIN32 /* Windows cannot delete read-only files */
    SetFileAttributesA(path, FILE_ATTRIBUTE_NORMAL);
    SetFileAttributesA(copy, FILE_ATTRIBUTE_NORMAL);
#endif
    memory_free(path);
    memory_free(copy);
}

/* ---- changes during the copy ---- */

HRESULT __real_file_write(struct file *f, const void *data, size_t size);
HRESULT __wrap_file_write(struct file *f, const void *data, size_t size);
static const char *grows;    /* file that grows on the collector's next write */
static const char *vanishes; /* file that is deleted on that write */

HRESULT __wrap_file_write(struct file *f, const void *data, size_t size)
{
    const char *path = grows;
    HRESULT hr = __real_file_write(f, data, size);
    grows = NULL;
    if (vanishes)
        file_delete(vanishes);
    vanishes = NULL;
    if (path) {
        FILE *other = fopen(path, "ab");
        assert_non_null(other);
        fputs("more", other);
        fclose(other);
    }
    return hr;
}

static void file_changed_during_copy_is_marked(void **state)
{
    struct test *t = *state;
    put(t, "a.txt", "a");
    put(t, "b.txt", "b");
    char *path = path_join(t->in, "a.txt");
    grows = path;
    ask(t, "*.txt");
    xmlDocPtr doc = collect(t);
    check_xpath(doc, "//Item[1]/Data[@name='changed']", "1");
    check_xpath(doc, "//Item[2]/Data[@name='changed']", "0");
    xmlFreeDoc(doc);
    memory_free(path);
}

static void file_deleted_during_copy_is_an_entry(void **state)
{
    struct test *t = *state;
    put(t, "a.txt", "a");
    put(t, "b.txt", "b");
    put(t, "c.txt", "c");
    char *path = path_join(t->in, "b.txt");
    vanishes = path;
    ask(t, "*.txt");
    xmlDocPtr doc = collect(t);
    check_xpath(doc, "//Item[2]/Data[@name='result']", "0x80070002");
    check_xpath(doc, "contains(//Item[2]/Data[@name='error'], 'b.txt')", "true");
    check_xpath(doc, "//Item[3]/Data[@name='copy']", "c.txt");
    xmlFreeDoc(doc);
    memory_free(path);
}

#ifdef _WIN32
/* Databases and mail stores open their files without sharing. */
static void exclusively_opened_file_is_an_entry(void **state)
{
    struct test *t = *state;
    put(t, "a.txt", "a");
    put(t, "b.txt", "b");
    char *path = path_join(t->in, "a.txt");
    HANDLE own = CreateFileA(path, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
    assert_true(own != INVALID_HANDLE_VALUE);
    ask(t, "*.txt");
    xmlDocPtr doc = collect(t);
    CloseHandle(own);
    check_xpath(doc, "//Item[1]/Data[@name='result']", "0x80070020");
    check_xpath(doc, "//Item[2]/Data[@name='copy']", "b.txt");
    xmlFreeDoc(doc);
    memory_free(path);
}
#endif

static void stop_leaves_a_document_and_no_partial_copy(void **state)
{
    struct test *t = *state;
    struct file *f;
    put(t, "a.txt", "a");
    put(t, "huge.bin", "");
    char *path = path_join(t->in, "huge.bin");
    assert_int_equal(file_open(path, FILE_REPLACE, &f), S_OK);
    assert_int_equal(file_set_size(f, 64ull << 30), S_OK); /* a sparse file: it occupies no disk space */
    file_close(f);
    memory_free(path);
    ask(t, "a.txt");
    ask(t, "huge.bin");
    struct collector *c = open_collector(t);
    struct collector_figures figures = {0};
    HRESULT reason;
    assert_int_equal(collector_poll(c, &reason), COLLECTOR_GOES_ON);
    for (int i = 0; i < 1000 && !figures.files_copied; i++) {
        wakeup_wait(t->woken, 5);
        collector_figures(c, &figures);
    }
    assert_int_equal(figures.files_copied, 1);
    assert_int_equal(collector_complete(c), S_OK);
    assert_int_equal(collector_close(c), S_OK);
    xmlDocPtr doc = xml_read(t->path);
    check_xpath(doc, "/Report/@complete", "0");
    check_xpath(doc, "//Item[1]/Data[@name='copy']", "a.txt");
    check_xpath(doc, "count(//processing-instruction())", "0");
    xmlFreeDoc(doc);
    path = path_join(t->out, "huge.bin");
    assert_false(file_exists(path));
    memory_free(path);
    assert_non_null(strstr(t->note, "incomplete"));
}

static void run_that_ends_immediately_leaves_a_document(void **state)
{
    struct test *t = *state;
    put(t, "a.txt", "a");
    ask(t, "a.txt");
    assert_int_equal(collector_close(open_collector(t)), S_OK);
    xmlDocPtr doc = xml_read(t->path);
    check_xpath(doc, "/Report/@complete", "0");
    xmlFreeDoc(doc);
}

/* ---- the collector's output file ---- */

static void existing_foreign_files_are_kept(void **state)
{
    struct test *t = *state;
    struct collector *c;
    char *a = path_join(t->out, "c.xml");
    FILE *f = fopen(a, "wb");
    fputs("<?xml version=\"1.0\"?><Letters/>", f);
    fclose(f);
    memory_free(a);
    assert_int_equal(collector_open(t->object, &t->context, &c), HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS));
    t->model->LogOverwrite = true;
    assert_int_equal(collector_open(t->object, &t->context, &c), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    check_copy(t, "c.xml", "<?xml version=\"1.0\"?><Letters/>");
    assert_int_equal(file_delete(t->path), S_OK);
    for (int i = 0; i < 2; i++)
        xmlFreeDoc(collect(t));
}

static void open_without_memory_leaves_nothing(void **state)
{
    struct test *t = *state;
    put(t, "a.txt", "a");
    ask(t, "a.txt");
    HRESULT hr = E_OUTOFMEMORY;
    struct collector *c = NULL;
    for (uint64_t n = 1; FAILED(hr); n++) {
        assert_true(n < 200);
        memory_fail_at(n);
        hr = collector_open(t->object, &t->context, &c);
        memory_fail_at(0);
        assert_true(SUCCEEDED(hr) || hr == E_OUTOFMEMORY);
        assert_true(SUCCEEDED(hr) == file_exists(t->path));
    }
    assert_int_equal(collector_close(c), S_OK);
}

static void request_state(struct test *t, const char *file)
{
    assert_int_equal(object_put_text(t->object, class_property(t->object->class, "SystemStateFile"), file), S_OK);
}

static void missing_kernel_session_is_an_entry(void **state)
{
    struct test *t = *state;
    put(t, "a.txt", "a");
    ask(t, "a.txt");
    request_state(t, "state");
    xmlDocPtr doc = collect(t);
    check_xpath(doc, "/Report/Section[@name='systemState']/Table/Item/Data[@name='session']",
                "Circular Kernel Context Logger");
    check_xpath(doc,
                "starts-with(//Section[@name='systemState']//Item/Data[@name='error'], \"SystemStateFile: 'state'\")",
                "true");
    check_xpath(doc, "count(//Data[@name='copy'][. != ''])", "1");
    xmlFreeDoc(doc);
}

#define STATE_FILE  "/Report/Section[@name='systemState']/Table/Item/Data[@name='file']"
#define STATE_ERROR "//Section[@name='systemState']//Item/Data[@name='error']"

static size_t rundown_of(const char *path)
{
    struct etl_reader *reader;
    struct etl_record e;
    size_t processes = 0;
    assert_int_equal(etl_reader_open(path, keep_warning, NULL, &reader), S_OK);
    while (etl_reader_next(reader, &e) == S_OK)
        processes += e.id == HOOK_PROCESS_RUNDOWN_START;
    etl_reader_close(reader);
    return processes;
}

/* Takes a snapshot of the session, and returns its number of rundown events. */
static size_t rundown_in(TRACEHANDLE handle, const char *snapshot)
{
    struct block b = block_of(0, snapshot);
    assert_int_equal(ControlTraceW(handle, NULL, &b.p, EVENT_TRACE_CONTROL_FLUSH), ERROR_SUCCESS);
    return rundown_of(snapshot);
}

/* The collector saves the session's earlier events in a file beside the document, and the session continues. */
static void kernel_session_in_memory_is_saved_to_a_file(void **state)
{
    struct test *t = *state;
    struct block b = block_of(TRACE_MODE_BUFFERING, NULL);
    TRACEHANDLE handle;
    scratch_environment(KERNEL_SOURCE_VARIABLE, "polling");
    b.p.EnableFlags = FLAG_PROCESS | FLAG_THREAD;
    assert_int_equal(start_session("Circular Kernel Context Logger", &b, &handle), ERROR_SUCCESS);
    char *first = path_join(t->scratch, "first.etl");
    for (size_t i = 0; i < CHILD_PATIENCE / 20 && rundown_in(handle, first) < 3; i++)
        child_sleep(20);
    memory_free(first);
    request_state(t, "state");
    xmlDocPtr doc = collect(t);
    check_xpath(doc, STATE_FILE, "state.etl");
    check_xpath(doc, STATE_ERROR, "");
    xmlFreeDoc(doc);
    char *path = path_join(t->out, "state.etl");
    assert_in_range(rundown_of(path), 3, SIZE_MAX);
    memory_free(path);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
}

static void kernel_session_with_a_file_is_an_entry(void **state)
{
    struct test *t = *state;
    char *path = path_join(t->scratch, "context.etl");
    struct block b = block_of(TRACE_MODE_CIRCULAR, path);
    TRACEHANDLE handle;
    b.p.MaximumFileSize = 4;
    assert_int_equal(start_session("Circular Kernel Context Logger", &b, &handle), ERROR_SUCCESS);
    request_state(t, "state");
    xmlDocPtr doc = collect(t);
    check_xpath(doc, STATE_FILE, "");
    check_xpath(doc, "contains(" STATE_ERROR ", 'does not buffer in memory')", "true");
    xmlFreeDoc(doc);
    assert_int_equal(control_session(handle, &b, EVENT_TRACE_CONTROL_STOP), ERROR_SUCCESS);
    memory_free(path);
}

static void pipe_does_not_block(void **state)
{
    struct test *t = *state;
    char *path = path_join(t->in, "pipe");
#ifdef _WIN32
    scratch_command(t->in, text_copy("mkfifo pipe"));
#else
    assert_int_equal(mkfifo(path, 0600), 0);
#endif
    ask(t, "pipe");
    xmlDocPtr doc = collect(t);
    check_xpath(doc, "contains(//Item/Data[@name='error'], 'a pipe')", "true");
    xmlFreeDoc(doc);
    file_delete(path);
    memory_free(path);
#ifdef _WIN32 /* Wine cannot delete a pipe, and a later run may use the same folder */
    scratch_command(t->in, text_copy("rm pipe"));
#endif
}

#ifndef _WIN32
static void full_disk_leaves_no_partial_copy_and_is_reported(void **state)
{
    struct test *t = *state;
    char *large = memory_alloc(400001);
    memset(large, 'x', 400000);
    large[400000] = 0;
    put(t, "large.bin", large);
    put(t, "small.txt", "s");
    ask(t, "*");
    full_disk_at(200000);
    xmlDocPtr doc = collect(t);
    full_disk_at(UINT64_MAX);
    check_xpath(doc, "//Item[1]/Data[@name='result']", "0x80070070");
    check_xpath(doc, "//Item[2]/Data[@name='copy']", "small.txt");
    xmlFreeDoc(doc);
    char *path = path_join(t->out, "large.bin");
    assert_false(file_exists(path));
    memory_free(path);
    memory_free(large);
}

static void document_without_space_fails_the_collector(void **state)
{
    struct test *t = *state;
    HRESULT reason;
    for (int i = 0; i < 300; i++)
        ask(t, "missing");
    struct collector *c = open_collector(t);
    full_disk_at(80000);
    assert_int_equal(await(t, c, &reason), COLLECTOR_FAILED);
    full_disk_at(UINT64_MAX);
    assert_int_equal(reason, HRESULT_FROM_WIN32(ERROR_DISK_FULL));
    assert_non_null(strstr(error_text(reason), "c.xml"));
    collector_close(c);
    xmlDocPtr doc = xml_read(t->path);
    check_xpath(doc, "/Report/@complete", "0");
    xmlFreeDoc(doc);
}
#endif

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_of_a_folder_precede_its_subfolders),
        TEST(entries_are_absolute_or_relative_with_wildcards_and_variables),
        TEST(uncopyable_files_are_entries_and_the_rest_is_copied),
        TEST(streams_are_reported_and_not_copied),
        TEST(many_copies_use_several_folders),
        TEST(limits_end_copying_and_are_reported),
        TEST(limit_that_omits_nothing_is_not_reported),
        TEST(links_are_copied_and_cycles_are_reported),
        TEST(copies_are_not_copied_again),
        TEST(times_and_attributes_are_kept),
        TEST(file_changed_during_copy_is_marked),
        TEST(file_deleted_during_copy_is_an_entry),
#ifdef _WIN32
        TEST(exclusively_opened_file_is_an_entry),
#endif
        TEST(stop_leaves_a_document_and_no_partial_copy),
        TEST(run_that_ends_immediately_leaves_a_document),
        TEST(existing_foreign_files_are_kept),
        TEST(open_without_memory_leaves_nothing),
        TEST(missing_kernel_session_is_an_entry),
        TEST(kernel_session_in_memory_is_saved_to_a_file),
        TEST(kernel_session_with_a_file_is_an_entry),
        TEST(pipe_does_not_block),
#ifndef _WIN32
        TEST(full_disk_leaves_no_partial_copy_and_is_reported),
        TEST(document_without_space_fails_the_collector),
#endif
    };
    own_directory_name();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    directory_delete(own_directory());
    return failed;
}
