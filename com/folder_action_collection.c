/* SPDX-License-Identifier: MIT */
/* IFolderActionCollection. MS-PLA 3.2.4.4. */
#include "com/class_table.h"
#include "com/collection.h"

DISPATCH_THUNKS(IFolderActionCollection)
COLLECTION_READ_THUNKS(IFolderActionCollection, IFolderAction, ULONG)
COLLECTION_ADD_THUNK(IFolderActionCollection, IFolderAction)
COLLECTION_REMOVE_THUNK(IFolderActionCollection)
COLLECTION_CREATE_THUNK(IFolderActionCollection, IFolderAction, CreateFolderAction, folder_action_class)

const IFolderActionCollectionVtbl folder_action_collection_vtable = {
    DISPATCH_SLOTS(IFolderActionCollection),
    COLLECTION_READ_SLOTS(IFolderActionCollection),
    .Add = IFolderActionCollection_Add_thunk,
    .Remove = IFolderActionCollection_Remove_thunk,
    .CreateFolderAction = IFolderActionCollection_CreateFolderAction_thunk,
};
ASSERT_SLOTS(IFolderActionCollection, COLLECTION_SLOT_COUNT + 1);
