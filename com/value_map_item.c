/* SPDX-License-Identifier: MIT */
/* IValueMapItem. MS-PLA 3.2.4.17. */
#include "com/class_table.h"
#include "com/property_thunks.h"

#define INTERFACE IValueMapItem
#define PROPERTY  PROPERTY_THUNKS
#include "engine/model/value_map_item.def"
#undef PROPERTY
DISPATCH_THUNKS(IValueMapItem)

const IValueMapItemVtbl value_map_item_vtable = {
    DISPATCH_SLOTS(IValueMapItem),
#define PROPERTY PROPERTY_SLOTS
#include "engine/model/value_map_item.def"
#undef PROPERTY
};
enum {
    IValueMapItem_slots = 0
#define PROPERTY PROPERTY_SLOT_COUNT
#include "engine/model/value_map_item.def"
#undef PROPERTY
};
ASSERT_SLOTS(IValueMapItem, IValueMapItem_slots);
