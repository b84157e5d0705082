/* SPDX-License-Identifier: MIT */
/* Lists the keys of the secrets that are stored in files of the data folder. */
#ifndef OPENPLA_TESTS_SECRET_KEYS_H
#define OPENPLA_TESTS_SECRET_KEYS_H

#include "engine/base/file.h"
#include "engine/base/memory.h"
#include "engine/base/os.h"
#include "engine/base/security.h"
#include "tests/unit/scratch_folder.h"

/* Lists the keys. If the LSA stores the secrets, the list is empty. Free it with texts_free. */
static inline void list_secret_keys(struct texts *keys)
{
    struct texts names = {0};
    char *data = os_data_folder(), *folder = path_join(data, "secrets");
    *keys = (struct texts){0};
    if (folder_exists(folder))
        assert_int_equal(folder_list(folder, false, &names), S_OK);
    for (size_t i = 0; i < names.count; i++)
        if (secret_key_is_one(names.items[i]))
            assert_int_equal(texts_add(keys, names.items[i]), S_OK);
    texts_free(&names);
    memory_free(folder);
    memory_free(data);
}

#endif
