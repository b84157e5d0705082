/* SPDX-License-Identifier: MIT */
/* The objects that are their properties and nothing else. */
#include "com/objects/class_table.h"

/* MS-PLA 3.2.4.3. */
#define INTERFACE IFolderAction
#define ROWS      "engine/pla/folder_action.def"
#include "com/objects/object_vtable.inc"

/* MS-PLA 3.2.4.12. */
#define INTERFACE ISchedule
#define ROWS      "engine/pla/schedule.def"
#include "com/objects/object_vtable.inc"

/* MS-PLA 3.2.4.17. */
#define INTERFACE IValueMapItem
#define ROWS      "engine/pla/value_map_item.def"
#include "com/objects/object_vtable.inc"
