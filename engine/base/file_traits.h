/* SPDX-License-Identifier: MIT */
/* What there is to say of a file beside its bytes, for who copies it; and which folder a path leads to. */
#ifndef OPENPLA_FILE_TRAITS_H
#define OPENPLA_FILE_TRAITS_H

#include "engine/base/file.h"

struct file_traits {
    uint64_t size;
    int64_t created, accessed, written; /* FILETIME, UTC; 0: this host does not tell */
    uint32_t attributes;                /* Windows' FILE_ATTRIBUTE_; natively read-only and hidden, by mode and name */
};
#define FILE_TRAIT_READ_ONLY 0x01u
#define FILE_TRAIT_HIDDEN    0x02u
#define FILE_TRAIT_SYSTEM    0x04u
#define FILE_TRAIT_ARCHIVE   0x20u

/* Opens a file to be read from its beginning to its end, which others may be writing. Never waits for what writes into
   a pipe: pipes and devices are ERROR_NOT_SUPPORTED's HRESULT, a folder is ERROR_DIRECTORY's. */
HRESULT file_open_source(const char *path, struct file **out);
HRESULT file_traits_of(struct file *f, struct file_traits *out);
/* Times and attributes, as far as the host keeps them; the size is not looked at. */
HRESULT file_put_traits(struct file *f, const struct file_traits *traits);

/* Which folder it is, by whatever path: links are followed. Equal for the same one alone. */
struct folder_identity {
    uint64_t volume, number;
};
HRESULT folder_identify(const char *path, struct folder_identity *out);

#endif
