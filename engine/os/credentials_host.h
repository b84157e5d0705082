/* SPDX-License-Identifier: MIT */
/* What the hosts' parts of credentials.h share. */
#ifndef OPENPLA_CREDENTIALS_HOST_H
#define OPENPLA_CREDENTIALS_HOST_H

#include "engine/os/credentials.h"
#include "engine/os/file.h"
#include "engine/os/host.h"

const struct logon *logon_of_host(void); /* NULL: it has none */
bool secret_key_is_one(const char *key);
HRESULT secret_is_too_long(const char *text); /* S_OK: it is not */
/* <data folder>/secrets, and the file of a key in it; from memory_alloc. */
char *secret_folder(void);
char *secret_path(const char *key);

#endif
