/* SPDX-License-Identifier: MIT */
/* bench_model FOLDER: compares the cost of sets with libxml2 alone, on the same strings and files in the same run.
   1. SetXml, Commit and Query of a set of 250 counters, compared with parsing the same text and writing it. It is
      written to a plain file, and also as a set is written: to a temporary file that is flushed and, under a lock,
      renamed over the old file.
   2. Listing 1,000 stored sets, compared with parsing 1,000 such files.
   FOLDER should be on tmpfs (/dev/shm): Commit flushes to the disk, libxml2 does not. libxml2 is measured in a separate
   process with its default heap. Both take turns, because the machine's speed varies. Prints the minimum of 1,050
   rounds, and of seven listings. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/process.h"
#include "engine/pla/sets.h"
#include "engine/pla/store.h"
#include "tests/bench/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <string.h>

enum { ROUNDS = 7, TIMES = 150, COUNTERS = 250, SETS = 1000 };

static double now(void)
{
    return (double)clock_ticks() / (double)clock_frequency();
}

/* Keeps the minimum, because other work on the machine only increases a time. */
static void keep_minimum(double *least, double seconds)
{
    if (*least <= 0 || seconds < *least)
        *least = seconds;
}

/* The returned string is never freed. */
static const char *in_folder(const char *folder, const char *name)
{
    const char *path = path_join(folder, name);
    must(path ? S_OK : E_OUTOFMEMORY, name);
    return path;
}

/* The returned string is never freed. */
static const char *set_path(int n)
{
    char name[64];
    snprintf(name, sizeof name, n < 0 ? "bench" : "set %04d", n);
    const char *path = store_definition_path("Service", name);
    must(path ? S_OK : E_OUTOFMEMORY, name);
    return path;
}

/* ---- libxml2 alone ---- */

enum { PARSE, WRITE, WRITE_FILE, WRITE_SAFE, PARSE_FILES, PEER_COUNT };

/* Formats the document again, as xmlSaveFileEnc must. */
static void write_safely(xmlDocPtr doc, const char *copy, const char *lock_path)
{
    struct file_lock *lock;
    xmlChar *text = NULL;
    int length;
    must(file_lock_take(lock_path, 1000, &lock), "lock");
    xmlDocDumpMemoryEnc(doc, &text, &length, "UTF-8");
    must(file_store(copy, text, (size_t)length), "safe copy");
    xmlFree(text);
    file_lock_release(lock);
}

static void peer_once(const char *xml, size_t size, const char *copy, const char *lock_path, double *seconds)
{
    xmlChar *text = NULL;
    int length;
    double begin = now();
    xmlDocPtr doc = xmlReadMemory(xml, (int)size, NULL, "UTF-8", XML_PARSE_NONET);
    double parsed = now();
    xmlDocDumpMemoryEnc(doc, &text, &length, "UTF-8");
    double written = now();
    xmlSaveFileEnc(copy, doc, "UTF-8");
    keep_minimum(&seconds[WRITE_FILE], now() - written);
    keep_minimum(&seconds[WRITE], written - parsed);
    double safely = now();
    write_safely(doc, copy, lock_path);
    keep_minimum(&seconds[WRITE_SAFE], now() - safely);
    double end = now();
    xmlFree(text);
    xmlFreeDoc(doc);
    keep_minimum(&seconds[PARSE], parsed - begin + (now() - end));
}

static void peer_texts(const char *folder, double *seconds)
{
    const char *copy = in_folder(folder, "copy.xml"), *lock_path = in_folder(folder, "copy.lock");
    char *xml;
    size_t size;
    must(file_load(set_path(-1), 1 << 24, &xml, &size), "load");
    for (int i = 0; i < TIMES; i++)
        peer_once(xml, size, copy, lock_path, seconds);
}

static void peer_files(double *seconds)
{
    const char *files[SETS];
    for (int i = 0; i < SETS; i++)
        files[i] = set_path(i);
    for (int i = 0; i < SETS; i++) /* from the page cache, because OpenPLA has just written them */
        xmlFreeDoc(xmlReadFile(files[i], NULL, XML_PARSE_NONET));
    double begin = now();
    for (int i = 0; i < SETS; i++)
        xmlFreeDoc(xmlReadFile(files[i], NULL, XML_PARSE_NONET));
    keep_minimum(&seconds[PARSE_FILES], now() - begin);
}

static int measure_peer(const char *folder, const char *what)
{
    double seconds[PEER_COUNT] = {0};
    char result[256] = "";
    if (!strcmp(what, "files"))
        peer_files(seconds);
    else
        peer_texts(folder, seconds);
    for (int i = 0; i < PEER_COUNT; i++)
        snprintf(result + strlen(result), sizeof result - strlen(result), "%.9f ", seconds[i]);
    must(file_store(in_folder(folder, "peer.txt"), result, strlen(result)), "result");
    return 0;
}

/* Runs this program as the peer, which measures "texts" or "files". */
static void peer(const char *program, const char *folder, const char *what, double *seconds)
{
    const char *arguments[] = {folder, what};
    struct process *p;
    uint32_t rc = 1;
    char *text, *at;
    size_t size;
    must(process_start(&(struct program){.path = program, .arguments = arguments, .argument_count = 2}, &p),
         "start of the peer");
    while (process_wait(p, 1000, &rc) == S_FALSE)
        ;
    process_close(p);
    must(rc ? E_FAIL : S_OK, "the peer");
    must(file_load(in_folder(folder, "peer.txt"), 4096, &text, &size), "result");
    at = text;
    for (int i = 0; i < PEER_COUNT; i++) {
        double measured = strtod(at, &at);
        if (measured > 0)
            keep_minimum(&seconds[i], measured);
    }
    memory_free(text);
}

/* ---- ours ---- */

enum { SET_XML, COMMIT, QUERY, XML, OUR_COUNT };

static void add_counters(struct object *set)
{
    struct object *collector;
    struct value paths = {.kind = PROPERTY_TEXTS};
    must(object_create(&performance_counter_collector_class, set, &collector), "collector");
    for (int i = 0; i < COUNTERS; i++) {
        char path[128];
        snprintf(path, sizeof path, "\\Process(program#%d)\\%% Processor Time", i);
        must(texts_add(&paths.texts, path), "path");
    }
    must(object_put(collector, &collector->class->properties[IPerformanceCounterDataCollector_PerformanceCounters],
                    &paths),
         "PerformanceCounters");
    must(collection_add(((struct data_collector_set *)set)->DataCollectors, collector), "Add");
    object_release(collector);
    value_free(&paths);
}

static void commit(struct object *set, const char *name)
{
    struct object *issues;
    must(issues_create(NULL, &issues), "issues");
    must(set_commit(set, &caller_self, name, "", 3 /* plaCreateOrModify */, issues), "Commit");
    object_release(issues);
}

static void our_once(const char *xml, size_t size, double *seconds)
{
    struct object *set, *issues;
    char *text;
    must(sets_create(NULL, &set), "set");
    must(issues_create(NULL, &issues), "issues");
    double begin = now();
    must(set_from_xml(set, xml, size, issues), "SetXml");
    double read = now();
    commit(set, "bench");
    double committed = now();
    must(set_query(set, &caller_self, "bench", ""), "Query");
    double queried = now();
    must(object_to_xml(set, &text, NULL), "Xml");
    keep_minimum(&seconds[XML], now() - queried);
    keep_minimum(&seconds[QUERY], queried - committed);
    keep_minimum(&seconds[COMMIT], committed - read);
    keep_minimum(&seconds[SET_XML], read - begin);
    memory_free(text);
    object_release(issues);
    object_release(set);
}

static double list_all(void)
{
    struct object *collection;
    must(sets_collection_create(NULL, &collection), "collection");
    double begin = now();
    must(sets_find(collection, &caller_self, "", "Service\\set *"), "GetDataCollectorSets");
    double seconds = now() - begin;
    if (collection_count(collection) != SETS)
        printf("listed %u sets, not %d\n", (unsigned)collection_count(collection), SETS);
    object_release(collection);
    return seconds;
}

static void set_data_folder(const char *folder)
{
#ifdef _WIN32
    char *both = text_format("OPENPLA_DATA=%s", folder);
    must(both && !_putenv(both) ? S_OK : E_OUTOFMEMORY, "environment");
    memory_free(both);
#else
    setenv("OPENPLA_DATA", folder, 1);
#endif
}

int main(int argc, char **argv)
{
    static const char *const parts[] = {"SetXml", "Commit", "Query", "Xml"};
    struct object *set;
    double time[OUR_COUNT] = {0}, list = 0, theirs[PEER_COUNT] = {0};
    char *xml;
    size_t size;
    if (argc > 2)
        return measure_peer(argv[1], argv[2]);
    if (argc < 2) {
        printf("usage: bench_model FOLDER\n");
        return 2;
    }
    char *folder = path_join(argv[1], "openpla-bench-model");
    must(folder ? folder_create(folder) : E_OUTOFMEMORY, "folder");
    set_data_folder(folder);
    must(sets_create(NULL, &set), "set");
    add_counters(set);
    commit(set, "bench");
    must(object_to_xml(set, &xml, &size), "Xml");
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < TIMES; i++)
            our_once(xml, size, time);
        peer(argv[0], folder, "texts", theirs);
    }
    for (int i = 0; i < SETS; i++) {
        char name[32];
        snprintf(name, sizeof name, "set %04d", i);
        commit(set, name);
    }
    object_release(set);
    for (int round = 0; round < ROUNDS; round++) {
        keep_minimum(&list, list_all());
        peer(argv[0], folder, "files", theirs);
    }
    for (int i = 0; i < OUR_COUNT; i++)
        printf("%-46s %9.1f us\n", parts[i], time[i] * 1e6);
    printf("%-46s %9.1f us\n", "libxml2: parse", theirs[PARSE] * 1e6);
    printf("%-46s %9.1f us\n", "libxml2: write to memory", theirs[WRITE] * 1e6);
    printf("%-46s %9.1f us\n", "libxml2: write to a file", theirs[WRITE_FILE] * 1e6);
    printf("%-46s %9.1f us\n", "libxml2: lock, write, flush, rename", theirs[WRITE_SAFE] * 1e6);
    printf("%-46s %9.2f\n", "SetXml + Xml / parse + write to memory",
           (time[SET_XML] + time[XML]) / (theirs[PARSE] + theirs[WRITE]));
    double ours = time[SET_XML] + time[COMMIT] + time[QUERY];
    printf("%-46s %9.2f\n", "SetXml + Commit + Query / parse + plain write",
           ours / (theirs[PARSE] + theirs[WRITE_FILE]));
    printf("%-46s %9.2f\n", "SetXml + Commit + Query / parse + safe write",
           ours / (theirs[PARSE] + theirs[WRITE_SAFE]));
    printf("%-46s %9.1f ms\n", "listing 1,000 sets", list * 1e3);
    printf("%-46s %9.1f ms\n", "libxml2: parse 1,000 files", theirs[PARSE_FILES] * 1e3);
    printf("%-46s %9.2f\n", "listing / parsing", list / theirs[PARSE_FILES]);
    memory_free(xml);
    memory_free(folder);
    return 0;
}
