/* SPDX-License-Identifier: MIT */
/* What a set runs as, in its file: behind a definition's XML, and before the line of its Security (stored_security.h),
   stands one processing instruction with the account and the key of the set's one secret. */
#ifndef OPENPLA_STORED_ACCOUNT_H
#define OPENPLA_STORED_ACCOUNT_H

#include "engine/base/process.h"
#include "engine/base/text.h"

/* What a stored definition says. Zero-initialise. */
struct set_account {
    char *user;                      /* "": the service's own, LocalSystem */
    char key[SHARED_KEY_DIGITS + 1]; /* of the set's secret; "": it has none */
};
/* Of the XML with that line as its last one; also of a definition that says nothing. E_OUTOFMEMORY. */
HRESULT set_account_read(const char *xml, size_t size, struct set_account *out);
void set_account_free(struct set_account *a);
/* Puts it behind the XML, from memory_alloc, unless there is nothing to say. On failure the XML is what it was. */
HRESULT set_account_add(const struct set_account *a, char **xml, size_t *size);
/* Adds what looks like a secret's key in such a line anywhere in the text: for who must not miss one, in a file that
   may be damaged. E_OUTOFMEMORY. */
HRESULT set_account_find_keys(const char *text, size_t size, struct texts *keys);

#endif
