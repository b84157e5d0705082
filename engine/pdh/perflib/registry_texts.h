/* SPDX-License-Identifier: MIT */
/* Lists of texts as the registry's values hold them (REG_MULTI_SZ). Perflib's have pairs: a number, then what it
   stands for. */
#ifndef OPENPLA_REGISTRY_TEXTS_H
#define OPENPLA_REGISTRY_TEXTS_H

#include "engine/base/registry.h"

/* Adds the value's texts to *out. S_FALSE: there is no such value. ERROR_INVALID_DATA's HRESULT, naming the value: it
   is no list of texts. */
HRESULT registry_read_texts(struct registry_key *key, const char *name, struct texts *out);
/* Removes the value where the list is empty. E_INVALIDARG, naming the value: one of the texts is empty, which would end
   the list. */
HRESULT registry_write_texts(struct registry_key *key, const char *name, const struct texts *texts);

#endif
