/* SPDX-License-Identifier: MIT */
/* How a writer of logs comes by its file: below the folder that log_options.base names, and over nothing but a log. */
#ifndef OPENPLA_LOG_FILE_H
#define OPENPLA_LOG_FILE_H

#include "engine/base/file.h"
#include "engine/logs/log.h"

/* Opens the file that a log begins in. `over`: a file that is there is taken, if it is empty or a log or the beginning
   of one; it keeps its bytes until log_file_empty. Otherwise ERROR_FILE_EXISTS's HRESULT. *fresh: it was made now.
   ERROR_INVALID_DATA's with a text: what is there is no log, and stays as it is. Errors: those of file_open_below. */
HRESULT log_file_begin(const char *path, const struct log_options *options, bool over, struct file **out, bool *fresh);
/* Cuts what is in the file; for the writer, right before its first write. */
HRESULT log_file_empty(struct file *file);
/* Opens a file that is to be continued, to write to its end. */
HRESULT log_file_continue(const char *path, const struct log_options *options, struct file **out);
HRESULT log_file_delete(const char *path, const struct log_options *options);

#endif
