/* SPDX-License-Identifier: MIT */
/* bench_configuration FOLDER [FILES]: copies a tree of FILES (100,000) files of 1,000 bytes, 1,000 per folder. It
   alternates between a plain copy and a configuration collector. Prints the ratio of their times, and the peak memory
   of both. FOLDER should be on tmpfs. The plain copy creates a tree like the one that it reads. Both use one thread. */
#include "engine/base/clock.h"
#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/thread.h"
#include "engine/pla/collect/collect.h"
#include "engine/pla/model.h"
#include "tests/bench/measured.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/resource.h>
#endif

enum { IN_FOLDER = 1000, BYTES = 1000 };

static double now(void)
{
    return (double)clock_ticks() / (double)clock_frequency();
}

static void write_file(const char *path, const char *bytes, size_t size)
{
    struct file *f;
    must(file_open(path, FILE_CREATE_NEW, &f), path);
    must(file_write(f, bytes, size), path);
    file_close(f);
}

static void make_tree(const char *folder, int files)
{
    char bytes[BYTES];
    memset(bytes, 'x', sizeof bytes);
    for (int i = 0; i < files; i++) {
        char *in = text_format("%s/%03d", folder, i / IN_FOLDER), *path = text_format("%s/f%06d.txt", in, i);
        if (i % IN_FOLDER == 0)
            must(folder_create(in), in);
        write_file(path, bytes, sizeof bytes);
        memory_free(in);
        memory_free(path);
    }
}

static void copy_plainly(const char *from, const char *to)
{
    struct texts names = {0};
    must(folder_create(to), to);
    for (int folders = 0; folders < 2; folders++) {
        must(folder_list(from, folders, &names), from);
        for (size_t i = 0; i < names.count; i++) {
            char *source = path_join(from, names.items[i]), *copy = path_join(to, names.items[i]), *bytes;
            size_t size;
            if (folders) {
                copy_plainly(source, copy);
            } else {
                must(file_load(source, 1 << 20, &bytes, &size), source);
                write_file(copy, bytes, size);
                memory_free(bytes);
            }
            memory_free(source);
            memory_free(copy);
        }
    }
    texts_free(&names);
}

static void note(void *user, HRESULT reason, const char *subject, const char *text)
{
    (void)user;
    (void)reason;
    (void)subject;
    printf("note: %s\n", text);
}

static void wake(void *user)
{
    wakeup_set(user);
}

static uint64_t copy_by_collector(const char *from, const char *to)
{
    struct object *object;
    struct wakeup *woken;
    struct collector *c;
    struct collector_figures figures;
    HRESULT reason;
    char *entry = text_format("%s//*", from), *path = path_join(to, "c.xml");
    must(wakeup_create(&woken), "wakeup");
    must(folder_create(to), to);
    must(object_create(&configuration_collector_class, NULL, &object), "collector");
    must(texts_add(&((struct configuration_collector *)object)->Files, entry), "Files");
    must(collector_open(
             object,
             &(struct collect_context){
                 .output_path = path, .output_base = to, .description = "", .note = note, .wake = wake, .user = woken},
             &c),
         "open");
    while (collector_poll(c, &reason) == COLLECTOR_GOES_ON)
        wakeup_wait(woken, 1000);
    must(reason, "collect");
    collector_figures(c, &figures);
    must(collector_close(c), "close");
    object_release(object);
    wakeup_free(woken);
    memory_free(entry);
    memory_free(path);
    return figures.files_copied;
}

/* In KiB; 0: the host OS does not report it. */
static long peak_memory(void)
{
#ifndef _WIN32
    struct rusage usage;
    if (!getrusage(RUSAGE_SELF, &usage))
        return usage.ru_maxrss;
#endif
    return 0;
}

int main(int argc, char **argv)
{
    const int files = argc > 2 ? atoi(argv[2]) : 100000;
    if (argc < 2) {
        printf("usage: bench_configuration FOLDER [FILES]\n");
        return 2;
    }
    char *source = path_join(argv[1], "source");
    make_tree(source, files);
    for (int round = 0; round < 2; round++) {
        char *plain = text_format("%s/plain%d", argv[1], round), *collected = text_format("%s/own%d", argv[1], round);
        double begin = now();
        copy_plainly(source, plain);
        const double plainly = now() - begin;
        const long before = peak_memory();
        begin = now();
        const uint64_t copied = copy_by_collector(source, collected);
        const double own = now() - begin;
        printf("%d files: plain copy %.2f s, %ld KiB at most; collector %.2f s, %llu copied, %ld KiB at most; ratio "
               "%.2f\n",
               files, plainly, before, own, (unsigned long long)copied, peak_memory(), own / plainly);
        memory_free(plain);
        memory_free(collected);
    }
    memory_free(source);
    return 0;
}
