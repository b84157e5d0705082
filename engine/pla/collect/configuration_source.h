/* SPDX-License-Identifier: MIT */
/* The private header of configuration collectors (MS-PLA 3.2.4.7): the XML that they write, what they collect and their
   sources, and what the sources share. */
#ifndef OPENPLA_CONFIGURATION_SOURCE_H
#define OPENPLA_CONFIGURATION_SOURCE_H

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/registry.h"
#include "engine/base/text.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct configuration_document;

/* ---- the document ---- */

/* ---- for the sources ---- */

/* A column of a table, an entry of its Header. */
struct configuration_column {
    const char *name;
    enum {
        COLUMN_PLAIN,
        COLUMN_KEY,     /* with the table's other keys it says which row this is: documents are compared by them */
        COLUMN_VOLATILE /* other each time it is collected, though nothing changed: documents are compared without */
    } use;
};
/* The last columns of every table: what could not be collected of an Item, empty when all could. */
#define COLUMN_ERROR  "error"  /* a text for people */
#define COLUMN_RESULT "result" /* an HRESULT, 0x%08X */

void configuration_begin_section(struct configuration_document *d, const char *name);
/* `source`: what the table was made from, its attribute of that name, such as the text of a query; NULL: none.
   The columns are copied; `error` and `result` come behind them. In a section, or in an Item behind its Data. */
void configuration_begin_table(struct configuration_document *d, const char *name, const char *source,
                               const struct configuration_column *columns, size_t count);
void configuration_begin_item(struct configuration_document *d);
/* In the order of the columns; those that are left out become empty. `type`: the attribute, such as REG_SZ or uint32;
   NULL: none. Of the text, what is no UTF-8 or no character of XML becomes U+FFFD. */
void configuration_data(struct configuration_document *d, const char *column, const char *type, const char *text);
void configuration_data_n(struct configuration_document *d, const char *column, const char *type, const char *text,
                          size_t bytes);
void configuration_data_number(struct configuration_document *d, const char *column, const char *type, uint64_t n);
/* A FILETIME as 2026-01-02T03:04:05.678Z. */
void configuration_data_time(struct configuration_document *d, const char *column, int64_t utc);
/* As hexadecimal digits, two each byte. */
void configuration_data_bytes(struct configuration_document *d, const char *column, const char *type, const void *bytes,
                              size_t count);
/* `result` and its text, error_text(result), into the Item's last columns. */
void configuration_data_error(struct configuration_document *d, HRESULT result);
HRESULT configuration_end_item(struct configuration_document *d);
HRESULT configuration_end_table(struct configuration_document *d);
HRESULT configuration_end_section(struct configuration_document *d);
uint64_t configuration_errors(const struct configuration_document *d); /* entries of configuration_data_error */
/* The failure that sticks, with its text; S_OK. */
HRESULT configuration_status(const struct configuration_document *d);
/* All whole Items go to the file now: before something that may take long. */
HRESULT configuration_put_out(struct configuration_document *d);

/* ---- for the collector ---- */

/* The file, which is borrowed, must be empty; it is a whole document on success. */
struct file;
HRESULT configuration_document_begin(struct file *file, struct configuration_document **out);
void configuration_time(int64_t utc, char text[64]); /* as configuration_data_time writes it */
/* An entry of Report's own Header, before the first section. */
void configuration_fact(struct configuration_document *d, const char *name, const char *text);
/* Ends what has begun; `complete`: nothing was left out because somebody stopped it. Frees, in any case, but not the
   file. */
HRESULT configuration_document_end(struct configuration_document *d, bool complete);

/* ---- sources ---- */

/* Sources run one after another on a thread of the collector. What cannot be collected is an error entry of its Item,
   and the source goes on. */

/* What MS-PLA 3.2.4.7's properties ask for: a copy of the source's own, so no lock is needed. */
struct configuration_request {
    struct texts registry_keys;
    struct texts files;
    struct texts queries;    /* ManagementQueries */
    uint32_t registry_depth; /* RegistryMaxRecursiveDepth; 0: any */
    uint32_t file_depth;     /* FileMaxRecursiveDepth; never 0 */
    uint32_t file_count;     /* FileMaxCount; 0: any */
    uint64_t file_bytes;     /* FileMaxTotalSize; 0: any */
    uint32_t query_limit_s;  /* a query that gives nothing for so long is given up; 0: 60 */
    bool network_adapters;
    bool overwrite;   /* LogOverwrite */
    char *state_file; /* SystemStateFile, "" for none */
};

struct configuration_source_context {
    const struct configuration_request *request;
    struct configuration_document *document;
    const char *output_base;   /* all that is written must lie below it (file_open_below) */
    const char *output_folder; /* where copies of files go */
    void (*made)(const char *base, const char *folder, const char *path); /* collect_context's */
    atomic_bool *stop; /* look at least each 100 ms: then end with S_OK */
    _Atomic uint64_t *files_copied;
};

static inline bool configuration_stopped(const struct configuration_source_context *c)
{
    return atomic_load_explicit(c->stop, memory_order_relaxed);
}

/* A failure is one of the document (configuration_status) or E_OUTOFMEMORY: nothing more can be collected. Each does
   nothing when the request has nothing for it, and begins and ends its own section. */
HRESULT configuration_collect_registry(const struct configuration_source_context *c);
HRESULT configuration_collect_files(const struct configuration_source_context *c);
HRESULT configuration_collect_queries(const struct configuration_source_context *c);
HRESULT configuration_collect_network(const struct configuration_source_context *c);
HRESULT configuration_collect_state(const struct configuration_source_context *c);

/* ---- entries of RegistryKeys: MS-PLA 3.2.4.7, DECISIONS 61 ---- */

/* Forms, a backslash before each allowed: HIVE\Key\Value one value, HIVE\Key\ all of a key, HIVE\Key\\ all of it and of
   those below, HIVE\Key\\Value the values of that name in the key and in those below. \\computer\HIVE... is another
   computer's; " /reg:32" or " /reg:64" behind it says whose view. */
struct registry_path {
    struct registry_place place; /* its computer is owned */
    char *key;                   /* below the hive; of one value, key and value */
    char *value;                 /* recursive: only of that name */
    bool all, recursive;
};
/* E_INVALIDARG, with a text that names the entry. *out needs no free on failure, and takes it. */
HRESULT registry_path_read(const char *text, struct registry_path *out);
/* The same place with another key. */
HRESULT registry_path_copy(const struct registry_path *from, const char *key, struct registry_path *out);
void registry_path_free(struct registry_path *p);

/* ---- work that may hang ---- */

/* A query or another computer may hang. Such work runs on a thread of its own; the source waits no longer than a limit,
   and stops when somebody stops the collector. Results are passed one at a time, so that memory is limited. Work that
   hangs keeps its thread and its memory until it ends. */

struct slow_work;
struct slow_work_kind {
    HRESULT (*run)(void *user, struct slow_work *p); /* on its own thread; S_FALSE and failures are its result */
    void (*free_thing)(void *thing);
    void (*free_user)(void *user); /* at the end of the work and of who waits */
};
/* Takes over `user`, also on failure. */
HRESULT slow_work_start(const struct slow_work_kind *kind, void *user, struct slow_work **out);
/* From `run`: takes over the thing, and returns when it was taken. E_ABORT: nobody wants any more of it. */
HRESULT slow_work_give(struct slow_work *p, void *thing);
/* The next thing, the caller's then. S_FALSE, with *out NULL: the work has ended, or somebody has stopped the wait. A
   failure is the work's, with its text; ERROR_TIMEOUT's, which names `what`, when for `limit_ms` nothing has come. */
HRESULT slow_work_take(struct slow_work *p, const atomic_bool *stop, uint32_t limit_ms, const char *what, void **out);
void slow_work_abandon(struct slow_work *p);

/* ---- a file that is a whole document at each moment ---- */

/* Text is added in front of closing tags. The file stays a whole XML document if the process is killed within a write
   or the disk is full.

   A write within one page of the host's cache is done or not; a longer one may be cut at the end of a page. So text
   that goes beyond the page of the closing tags is first written behind them as the inside of a processing instruction,
   <?rest ... ?>. It becomes contents by one write within that page, which overwrites the beginning of the instruction
   and the old closing tags. The room for that is written before, as blanks behind the document, so that the writes that
   count never find a full disk; the end of the instruction, <?end ?>, stands at the end of that room. */

#define WHOLE_DOCUMENT_PAGE 4096 /* bytes; the least that any host has */

struct file;
struct whole_document {
    struct file *file; /* borrowed */
    uint64_t end;      /* of the contents: here the closing tags begin */
    uint64_t size;     /* of the file */
    uint64_t stop;     /* where <?end ?> stands; 0: nowhere */
    size_t closing;    /* bytes of the closing tags, which are within one page */
};

/* Of an empty file. Both together are at most half a page. */
HRESULT whole_document_begin(struct whole_document *w, struct file *file, const char *head, const char *closing);
/* Adds the text, from which `closing` ends the document now, and empties it. Blanks may come behind it. No character of
   it may be across whole_document_end + n * WHOLE_DOCUMENT_PAGE, nor "?>" be in it. On failure the file is a document
   still, with or without the text; only whole_document_close may follow. */
HRESULT whole_document_add(struct whole_document *w, struct text_buffer *text, const char *closing);
/* Takes the room behind the document away. Also after a failure. */
HRESULT whole_document_close(struct whole_document *w);

#endif
