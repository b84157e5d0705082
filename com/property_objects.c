/* SPDX-License-Identifier: MIT */
/* The objects that are their properties and nothing else. */
#include "com/class_table.h"

/* MS-PLA 3.2.4.3. */
#define INTERFACE IFolderAction
#define ROWS      "engine/model/folder_action.def"
#include "com/object_vtable.inc"

/* MS-PLA 3.2.4.12. */
#define INTERFACE ISchedule
#define ROWS      "engine/model/schedule.def"
#include "com/object_vtable.inc"

/* MS-PLA 3.2.4.17. */
#define INTERFACE IValueMapItem
#define ROWS      "engine/model/value_map_item.def"
#include "com/object_vtable.inc"
