/* SPDX-License-Identifier: MIT */
/* Where a text log ends that shall be continued, wherever a crash cut it. */
#ifndef OPENPLA_TEXT_APPEND_H
#define OPENPLA_TEXT_APPEND_H

#include "engine/logs/log.h"

struct text_end {
    bool exists;          /* there is a file */
    uint64_t whole;       /* bytes up to the end of the last whole row; 0: there is no whole header, begin anew */
    bool cut;             /* a torn row follows */
    const char *missing;  /* the line end that the last whole row lacks: "", "\n", "\r\n" */
    struct log_zone zone; /* of the header; without its name */
};
/* header: the row that the log would begin with, with CR LF. A file that is not there is no failure. E_INVALIDARG: the
   file logs other counters, or has them in another form (saved by another program). ERROR_INVALID_DATA's HRESULT: it
   is no text log. */
HRESULT text_append_find_end(const char *path, const char *header, size_t length, size_t counters,
                             struct text_end *out);

#endif
