/* SPDX-License-Identifier: MIT */
/* Converts threshold files of PAL (Performance Analysis of Logs) into OpenPLA's rules, DECISIONS 160. */
#ifndef OPENPLA_PAL_IMPORT_H
#define OPENPLA_PAL_IMPORT_H

#include "engine/base/text.h"

enum {
    PAL_FILES_MAX = 64, /* maximum number of files: a threshold file, and the files that it inherits from */
    PAL_BYTES_MAX = 16 << 20,
    PAL_THRESHOLDS_MAX = 20000,
    PAL_QUESTIONS_MAX = 200
};

/* Zero-initialise. */
struct pal_question {
    char *variable, *text, *value;
    bool is_answered; /* the caller has answered; otherwise `value` is the file's default */
    bool is_memory;   /* the question asks for the amount of memory and was not answered; rules use the amount in the
                         report, if any */
};
struct pal_imported {
    char *rules; /* the rules file, XML */
    size_t size;
    size_t thresholds, mapped; /* number of all thresholds, and number of thresholds that became rules */
    struct texts lost;         /* one message for each threshold that became no rule: "FILE: analysis 'A': threshold
                                  'T': why" */
    struct texts notes;        /* differences between the rules and PAL, and ignored parts of the files */
    struct pal_question *questions;
    size_t question_count, question_capacity;
};
void pal_imported_free(struct pal_imported *i);

struct pal_job {
    const char *path;            /* path of the file; messages contain it */
    const char *text;            /* content of the file, which then must not inherit from other files; NULL means
                                    that `path` is read */
    size_t size;                 /* size of `text` */
    const struct texts *answers; /* "NAME=VALUE"; may be NULL */
    bool means;                  /* true: rules compare the means of slices; false: rules compare peaks, as PAL does */
};
/* Fails with E_INVALIDARG if an answer refers to a question that does not exist, and with OPENPLA_E_MALFORMED_XML if
   the file is not a threshold file. Also fails with an error of a file, or with E_OUTOFMEMORY. Free `out` in any
   case. */
HRESULT pal_import(const struct pal_job *job, struct pal_imported *out);

#endif
