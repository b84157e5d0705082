/* SPDX-License-Identifier: MIT */
/* What the hosts' parts of credentials.h share. */
#ifndef OPENPLA_CREDENTIALS_HOST_H
#define OPENPLA_CREDENTIALS_HOST_H

#include "engine/base/credentials.h"
#include "engine/base/file.h"
#include "engine/base/host.h"

const struct logon *logon_of_host(void);      /* NULL: it has none */
HRESULT secret_is_too_long(const char *text); /* S_OK: it is not */
/* The file of a key, for the account alone: made with these bytes; read, S_FALSE where there is none; taken away,
   S_FALSE where there was none. A folder or file that is a link or another's is refused. */
HRESULT secret_file_write(const char *key, const void *data, size_t size);
HRESULT secret_file_read(const char *key, size_t most, char **data, size_t *size);
HRESULT secret_file_delete(const char *key);

#endif
