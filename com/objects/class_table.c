/* SPDX-License-Identifier: MIT */
/* The table of the classes of objects: model class, interface, vtable. */
#include "com/objects/class_table.h"

struct com_class com_classes[] = {
#define CLASS(model, I, base) {&model##_class, &IID_##I, base, &I##_vtable, NULL},
#include "engine/pla/classes.def"
#undef CLASS
};
const size_t com_classes_count = sizeof com_classes / sizeof com_classes[0];
