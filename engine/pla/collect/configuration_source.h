/* SPDX-License-Identifier: MIT */
/* Private header of configuration collectors (MS-PLA 3.2.4.7): the XML document, the request, the sources, and what
   the sources share. */
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

/* ---- for sources ---- */

/* A column of a table, an entry of its Header. */
struct configuration_column {
    const char *name;
    enum {
        COLUMN_PLAIN,
        COLUMN_KEY,     /* identifies the row together with the other keys; used to compare documents */
        COLUMN_VOLATILE /* differs each time although nothing changed; ignored in comparisons */
    } use;
};
/* The last columns of every table: why an Item could not be collected completely, else empty. */
#define COLUMN_ERROR  "error"  /* a message */
#define COLUMN_RESULT "result" /* an HRESULT, 0x%08X */

void configuration_begin_section(struct configuration_document *d, const char *name);
/* `source`: attribute that says what the table was made from, such as a query; NULL: none. Columns are copied;
   `error` and `result` are appended. Allowed in a section, or in an Item after its Data. */
void configuration_begin_table(struct configuration_document *d, const char *name, const char *source,
                               const struct configuration_column *columns, size_t count);
void configuration_begin_item(struct configuration_document *d);
/* Call in the order of the columns; omitted ones become empty. `type`: the attribute, such as REG_SZ or uint32;
   NULL: none. Invalid UTF-8 and characters that XML cannot represent become U+FFFD. */
void configuration_data(struct configuration_document *d, const char *column, const char *type, const char *text);
void configuration_data_n(struct configuration_document *d, const char *column, const char *type, const char *text,
                          size_t bytes);
void configuration_data_number(struct configuration_document *d, const char *column, const char *type, uint64_t n);
/* A FILETIME as 2026-01-02T03:04:05.678Z. */
void configuration_data_time(struct configuration_document *d, const char *column, int64_t utc);
/* As hexadecimal digits, two per byte. */
void configuration_data_bytes(struct configuration_document *d, const char *column, const char *type, const void *bytes,
                              size_t count);
/* Writes `result` and error_text(result) to the Item's last columns. */
void configuration_data_error(struct configuration_document *d, HRESULT result);
HRESULT configuration_end_item(struct configuration_document *d);
HRESULT configuration_end_table(struct configuration_document *d);
HRESULT configuration_end_section(struct configuration_document *d);
uint64_t configuration_errors(const struct configuration_document *d); /* calls of configuration_data_error */
/* The first failure, with its error text; S_OK: none. */
HRESULT configuration_status(const struct configuration_document *d);
/* Writes all complete Items to the file; call before something that may take long. */
HRESULT configuration_put_out(struct configuration_document *d);

/* ---- for the collector ---- */

/* The borrowed file must be empty; on success it is a complete document. */
struct file;
HRESULT configuration_document_begin(struct file *file, struct configuration_document **out);
void configuration_time(int64_t utc, char text[64]); /* as configuration_data_time writes it */
/* Adds an entry to the Header of Report; only before the first section. */
void configuration_fact(struct configuration_document *d, const char *name, const char *text);
/* Ends all open elements; `complete`: nothing was skipped because of a stop. Always frees the document, but not the
   file. */
HRESULT configuration_document_end(struct configuration_document *d, bool complete);

/* ---- sources ---- */

/* Sources run one after another on a thread of the collector. What cannot be collected becomes an error entry of its
   Item, and the source continues. */

/* The properties of MS-PLA 3.2.4.7, copied for the source, so that no lock is needed. */
struct configuration_request {
    struct texts registry_keys;
    struct texts files;
    struct texts queries;    /* ManagementQueries */
    uint32_t registry_depth; /* RegistryMaxRecursiveDepth; 0: no limit */
    uint32_t file_depth;     /* FileMaxRecursiveDepth; never 0 */
    uint32_t file_count;     /* FileMaxCount; 0: no limit */
    uint64_t file_bytes;     /* FileMaxTotalSize; 0: no limit */
    uint32_t query_limit_s;  /* a query is abandoned after so long without results; 0: 60 */
    bool network_adapters;
    bool overwrite;   /* LogOverwrite */
    char *state_file; /* SystemStateFile, or "" */
};

struct configuration_source_context {
    const struct configuration_request *request;
    struct configuration_document *document;
    const char *output_base;   /* contains everything that is written (file_open_below) */
    const char *output_folder; /* folder for copies of files */
    void (*made)(const char *base, const char *folder, const char *path); /* as in collect_context */
    atomic_bool *stop; /* check at least every 100 ms; if set, return S_OK */
    _Atomic uint64_t *files_copied;
};

static inline bool configuration_stopped(const struct configuration_source_context *c)
{
    return atomic_load_explicit(c->stop, memory_order_relaxed);
}

/* Fail only with an error of the document (configuration_status) or E_OUTOFMEMORY, after which nothing more can be
   collected. Each does nothing if the request has nothing for it, and begins and ends its section. */
HRESULT configuration_collect_registry(const struct configuration_source_context *c);
HRESULT configuration_collect_files(const struct configuration_source_context *c);
HRESULT configuration_collect_queries(const struct configuration_source_context *c);
HRESULT configuration_collect_network(const struct configuration_source_context *c);
HRESULT configuration_collect_state(const struct configuration_source_context *c);

/* ---- entries of RegistryKeys: MS-PLA 3.2.4.7, DECISIONS 61 ---- */

/* Forms, with an optional leading backslash: HIVE\Key\Value is one value, HIVE\Key\ all values of a key, HIVE\Key\\
   all values of it and the keys below, HIVE\Key\\Value the values of that name in the key and below.
   \\computer\HIVE... is on another computer; a trailing " /reg:32" or " /reg:64" selects the view. */
struct registry_path {
    struct registry_place place; /* its computer is owned */
    char *key;                   /* below the hive; for one value, key and value */
    char *value;                 /* recursive: only values of that name */
    bool all, recursive;
};
/* E_INVALIDARG, naming the entry. *out need not be freed on failure. */
HRESULT registry_path_read(const char *text, struct registry_path *out);
/* Copies the path with another key. */
HRESULT registry_path_copy(const struct registry_path *from, const char *key, struct registry_path *out);
void registry_path_free(struct registry_path *p);

/* ---- slow work ---- */

/* A query or another computer may hang. Such work runs on a separate thread; the source waits for a limited time,
   and stops when the collector is stopped. Results are passed one at a time, which limits memory. Work that hangs
   keeps its thread and memory until it returns. */

struct slow_work;
struct slow_work_kind {
    HRESULT (*run)(void *user, struct slow_work *p); /* on its thread; S_FALSE and failures are its result */
    void (*free_thing)(void *thing);
    void (*free_user)(void *user); /* called when both the work and its consumer are done */
};
/* Takes over `user`, also on failure. */
HRESULT slow_work_start(const struct slow_work_kind *kind, void *user, struct slow_work **out);
/* Called by `run`: takes over the result and returns when it was taken. E_ABORT: no more results are needed. */
HRESULT slow_work_give(struct slow_work *p, void *thing);
/* Returns the next result, owned by the caller. S_FALSE, with *out NULL: the work has ended, or the collector was
   stopped. Failures of the work, with its error text; that of ERROR_TIMEOUT, naming `what`, if there was no result
   for `limit_ms`. */
HRESULT slow_work_take(struct slow_work *p, const atomic_bool *stop, uint32_t limit_ms, const char *what, void **out);
void slow_work_abandon(struct slow_work *p);

/* ---- a file that is a complete document at any time ---- */

/* Adds text in front of the closing tags of a file such that it remains a complete XML document even if the process
   is killed in the middle of a write or the disk is full. configuration_document.c describes the method. */

#define WHOLE_DOCUMENT_PAGE 4096 /* bytes; the smallest page of a supported host */

struct file;
struct whole_document {
    struct file *file; /* borrowed */
    uint64_t end;      /* of the contents, where the closing tags begin */
    uint64_t size;     /* of the file */
    uint64_t stop;     /* position of <?end ?>; 0: none */
    size_t closing;    /* bytes of the closing tags, which are within one page */
};

/* The file must be empty. Head and closing tags together may have half a page. */
HRESULT whole_document_begin(struct whole_document *w, struct file *file, const char *head, const char *closing);
/* Adds the text, after which the document ends with `closing`, and empties the buffer. Blanks may follow it. No
   character may cross whole_document_end + n * WHOLE_DOCUMENT_PAGE, and the text may not contain "?>". On failure
   the file is a document with or without the text; only whole_document_close may follow. */
HRESULT whole_document_add(struct whole_document *w, struct text_buffer *text, const char *closing);
/* Truncates the preallocated room. Also after a failure. */
HRESULT whole_document_close(struct whole_document *w);

#endif
