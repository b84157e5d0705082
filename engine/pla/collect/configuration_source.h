/* SPDX-License-Identifier: MIT */
/* Private header of configuration collectors (MS-PLA 3.2.4.7): the XML document, the request, the sources, and helpers
   that the sources share. */
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

/* ---- functions for the sources ---- */

/* A column of a table; becomes an entry of the table's Header. */
struct configuration_column {
    const char *name;
    enum {
        COLUMN_PLAIN,
        COLUMN_KEY,     /* identifies the row together with the other key columns; used to compare documents */
        COLUMN_VOLATILE /* differs in every document even if nothing has changed; ignored when documents are compared */
    } use;
};
/* The last two columns of every table. The two columns say why an Item could not be collected completely, and are empty
   otherwise. */
#define COLUMN_ERROR  "error"  /* a message */
#define COLUMN_RESULT "result" /* an HRESULT, 0x%08X */

void configuration_begin_section(struct configuration_document *d, const char *name);
/* Begins a table in a section, or in an Item after the Item's Data. `source`: attribute that names the origin of the
   table, such as a query; NULL: none. Copies the columns and appends `error` and `result`. */
void configuration_begin_table(struct configuration_document *d, const char *name, const char *source,
                               const struct configuration_column *columns, size_t count);
void configuration_begin_item(struct configuration_document *d);
/* Adds the value of a column. Call it in the order of the columns; omitted columns become empty. `type`: attribute such
   as REG_SZ or uint32; NULL: none. Replaces invalid UTF-8, and characters that XML cannot represent, with U+FFFD. */
void configuration_data(struct configuration_document *d, const char *column, const char *type, const char *text);
void configuration_data_n(struct configuration_document *d, const char *column, const char *type, const char *text,
                          size_t bytes);
void configuration_data_number(struct configuration_document *d, const char *column, const char *type, uint64_t n);
/* Adds a FILETIME in the form 2026-01-02T03:04:05.678Z. */
void configuration_data_time(struct configuration_document *d, const char *column, int64_t utc);
/* Adds bytes as hexadecimal digits, two per byte. */
void configuration_data_bytes(struct configuration_document *d, const char *column, const char *type, const void *bytes,
                              size_t count);
/* Writes `result` and error_text(result) to the Item's last columns. */
void configuration_data_error(struct configuration_document *d, HRESULT result);
HRESULT configuration_end_item(struct configuration_document *d);
HRESULT configuration_end_table(struct configuration_document *d);
HRESULT configuration_end_section(struct configuration_document *d);
uint64_t configuration_errors(const struct configuration_document *d); /* number of configuration_data_error calls */
/* Returns the document's first failure, with its error text; S_OK: none. */
HRESULT configuration_status(const struct configuration_document *d);
/* Writes all complete Items to the file. Call it before an operation that can take long. */
HRESULT configuration_put_out(struct configuration_document *d);

/* ---- functions for the collector ---- */

/* Begins the document in `file`, which is borrowed and must be empty. On success the file is a complete document. */
struct file;
HRESULT configuration_document_begin(struct file *file, struct configuration_document **out);
void configuration_time(int64_t utc, char text[64]); /* formats the time as configuration_data_time does */
/* Adds an entry to the Header of Report. Allowed only before the first section. */
void configuration_fact(struct configuration_document *d, const char *name, const char *text);
/* Ends all open elements. `complete`: nothing was skipped because of a stop. Always frees the document, but does not
   close the file. */
HRESULT configuration_document_end(struct configuration_document *d, bool complete);

/* ---- sources ---- */

/* The collector runs the sources one after another on its thread. If something cannot be collected, the source writes
   an error to the Item's last columns and continues. */

/* A copy of the properties of MS-PLA 3.2.4.7, which the sources read without a lock. */
struct configuration_request {
    struct texts registry_keys;
    struct texts files;
    struct texts queries;    /* ManagementQueries */
    uint32_t registry_depth; /* RegistryMaxRecursiveDepth; 0: no limit */
    uint32_t file_depth;     /* FileMaxRecursiveDepth; never 0 */
    uint32_t file_count;     /* FileMaxCount; 0: no limit */
    uint64_t file_bytes;     /* FileMaxTotalSize; 0: no limit */
    uint32_t query_limit_s;  /* seconds without results after which a query is abandoned; 0: 60 */
    bool network_adapters;
    bool overwrite;   /* LogOverwrite */
    char *state_file; /* SystemStateFile, or "" */
};

struct configuration_source_context {
    const struct configuration_request *request;
    struct configuration_document *document;
    const char *output_base;   /* folder that contains all written files (file_open_below) */
    const char *output_folder; /* folder for copies of files */
    void (*made)(const char *base, const char *folder, const char *path); /* as in collect_context */
    atomic_bool *stop; /* sources check it at least every 100 ms and return S_OK if it is set */
    _Atomic uint64_t *files_copied;
};

static inline bool configuration_stopped(const struct configuration_source_context *c)
{
    return atomic_load_explicit(c->stop, memory_order_relaxed);
}

/* The sources. Each source writes its section, or does nothing if the request does not ask for this section. A source
   fails only with an error of the document (configuration_status) or E_OUTOFMEMORY; the collector then stops. */
HRESULT configuration_collect_registry(const struct configuration_source_context *c);
HRESULT configuration_collect_files(const struct configuration_source_context *c);
HRESULT configuration_collect_queries(const struct configuration_source_context *c);
HRESULT configuration_collect_network(const struct configuration_source_context *c);
HRESULT configuration_collect_state(const struct configuration_source_context *c);

/* ---- entries of RegistryKeys: MS-PLA 3.2.4.7, DECISIONS 61 ---- */

/* An entry has one of these forms, with an optional leading backslash: HIVE\Key\Value is one value; HIVE\Key\ is all
   values of a key; HIVE\Key\\ is all values of the key and of all keys below; HIVE\Key\\Value is the values of that
   name in the key and in all keys below. \\computer\HIVE... selects another computer. A space and /reg:32 or /reg:64 at
   the end select the view. */
struct registry_path {
    struct registry_place place; /* place.computer is owned */
    char *key;                   /* path below the hive; for a single value: its key and its name */
    char *value;                 /* if `recursive`: collect only values with that name */
    bool all, recursive;
};
/* Parses an entry. E_INVALIDARG: the entry is invalid; the message names it. *out need not be freed on failure. */
HRESULT registry_path_read(const char *text, struct registry_path *out);
/* Copies the path, but with `key` instead of its key. */
HRESULT registry_path_copy(const struct registry_path *from, const char *key, struct registry_path *out);
void registry_path_free(struct registry_path *p);

/* ---- slow work ---- */

/* A query or another computer can hang. Work that may hang therefore runs on a separate thread. The source waits for a
   limited time, and stops waiting when the collector is stopped. Results are passed one at a time, to limit the use of
   memory. Work that hangs keeps its thread and memory until it returns. */

struct slow_work;
struct slow_work_kind {
    /* Called on the separate thread; slow_work_take returns its failures. */
    HRESULT (*run)(void *user, struct slow_work *p);
    void (*free_thing)(void *thing);
    void (*free_user)(void *user); /* called after the work has ended and the consumer has released it */
};
/* Starts the work. Takes ownership of `user`, even on failure. */
HRESULT slow_work_start(const struct slow_work_kind *kind, void *user, struct slow_work **out);
/* Passes a result to the consumer; called by `run`. Takes ownership of `thing`, and returns when the consumer has taken
   it. E_ABORT: no more results are needed. */
HRESULT slow_work_give(struct slow_work *p, void *thing);
/* Returns the next result, owned by the caller. S_FALSE, with *out NULL: the work has ended, or the collector was
   stopped. Returns failures of the work with their error text. HRESULT_FROM_WIN32(ERROR_TIMEOUT): there was no result
   for limit_ms; the message names `what`. */
HRESULT slow_work_take(struct slow_work *p, const atomic_bool *stop, uint32_t limit_ms, const char *what, void **out);
void slow_work_abandon(struct slow_work *p);

/* ---- a file that is a complete document at any time ---- */

/* Adds text before the closing tags of a file, so that the file is a complete XML document even if the process is
   killed during a write or the disk is full. configuration_document.c describes the method. */

#define WHOLE_DOCUMENT_PAGE 4096 /* bytes; the smallest page size of a supported host OS */

struct file;
struct whole_document {
    struct file *file; /* borrowed */
    uint64_t end;      /* end of the contents, where the closing tags begin */
    uint64_t size;     /* size of the file */
    uint64_t stop;     /* position of <?end ?>; 0: none */
    size_t closing;    /* bytes of the closing tags, which are within one page */
};

/* Begins the document with `head` and `closing`, which together must fit into half a page. The file must be empty. */
HRESULT whole_document_begin(struct whole_document *w, struct file *file, const char *head, const char *closing);
/* Adds the text, ends the document with `closing`, and empties the buffer. Spaces can follow the text. No character may
   cross a multiple of WHOLE_DOCUMENT_PAGE in the file, and the text may not contain "?>". On failure the file is a
   complete document with or without the text; only whole_document_close may be called afterwards. */
HRESULT whole_document_add(struct whole_document *w, struct text_buffer *text, const char *closing);
/* Cuts off the preallocated room. Call it even after a failure. */
HRESULT whole_document_close(struct whole_document *w);

#endif
