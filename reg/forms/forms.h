/* SPDX-License-Identifier: MIT */
/* Converts the table of registration.def to forms for administrators and installers. The build writes them
   (reg/forms/build.sh). */
#ifndef OPENPLA_REG_FORMS_H
#define OPENPLA_REG_FORMS_H

#include "engine/base/text.h"

struct registration_form {
    const char *name;                        /* name of the file, without its folder */
    HRESULT (*make)(struct text_buffer *to); /* the whole text; the caller always frees the buffer */
};
extern const struct registration_form registration_forms[];
extern const size_t registration_form_count;

#endif
