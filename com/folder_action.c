/* SPDX-License-Identifier: MIT */
/* IFolderAction. MS-PLA 3.2.4.3. */
#include "com/class_table.h"
#include "com/property_thunks.h"

#define INTERFACE IFolderAction
#define PROPERTY  PROPERTY_THUNKS
#include "engine/model/folder_action.def"
#undef PROPERTY
DISPATCH_THUNKS(IFolderAction)

const IFolderActionVtbl folder_action_vtable = {
    DISPATCH_SLOTS(IFolderAction),
#define PROPERTY PROPERTY_SLOTS
#include "engine/model/folder_action.def"
#undef PROPERTY
};
enum {
    IFolderAction_slots = 0
#define PROPERTY PROPERTY_SLOT_COUNT
#include "engine/model/folder_action.def"
#undef PROPERTY
};
ASSERT_SLOTS(IFolderAction, IFolderAction_slots);
