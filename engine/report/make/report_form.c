/* SPDX-License-Identifier: MIT */
/* The tables of the form of report documents. */
#include "engine/report/report_form.h"

#include <string.h>

enum { NOTHING, TEXT };
enum { ONE_OR_NONE, ANY_NUMBER };
enum { optional, required };

const struct form_type_row form_types[FORM_TYPE_COUNT] = {
#define TYPE(Type, holds, doc) {#Type, holds, doc},
#include "engine/report/make/report_form.def"
};

const struct form_child form_children[] = {
#define CHILD(Type, element, child, number, doc) {FORM_##Type, #element, FORM_##child, number, doc},
#include "engine/report/make/report_form.def"
};
const size_t form_child_count = sizeof form_children / sizeof *form_children;

const struct form_attribute form_attributes[] = {
#define ATTRIBUTE(Type, name, schema_type, use, doc) {FORM_##Type, #name, schema_type, use, doc},
#include "engine/report/make/report_form.def"
};
const size_t form_attribute_count = sizeof form_attributes / sizeof *form_attributes;

const struct form_child *form_find_child(enum form_type parent, const char *element)
{
    for (size_t i = 0; i < form_child_count; i++)
        if (form_children[i].parent == parent && !strcmp(form_children[i].element, element))
            return &form_children[i];
    return NULL;
}
