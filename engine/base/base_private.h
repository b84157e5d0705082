/* SPDX-License-Identifier: MIT */
/* Private to engine/base: what its portable files and those in posix/ and win32/ call in each other. */
#ifndef OPENPLA_BASE_PRIVATE_H
#define OPENPLA_BASE_PRIVATE_H

#include "engine/base/file.h"
#include "engine/base/os.h"
#include "engine/base/security.h"

/* ---- a file that is being stored (file_store_begin) ---- */

struct file_storing {
    struct file *file;
    char *folder, *temporary;
    char path[];
};

/* Opens the temporary file, which is not there, as this host wants it for what follows. */
HRESULT file_storing_open(struct file_storing *s);
/* Gives the temporary file, which is written and flushed, the name `path`, and closes it if that takes it. */
HRESULT file_storing_rename(struct file_storing *s);

/* ---- secrets and logons ---- */

const struct logon *logon_of_os(void);        /* NULL: it has none */
HRESULT secret_is_too_long(const char *text); /* S_OK: it is not */
/* The file of a key, for the account alone: made with these bytes; read, S_FALSE where there is none; taken away,
   S_FALSE where there was none. A folder or file that is a link or another's is refused. */
HRESULT secret_file_write(const char *key, const void *data, size_t size);
HRESULT secret_file_read(const char *key, size_t most, char **data, size_t *size);
HRESULT secret_file_delete(const char *key);

#endif
