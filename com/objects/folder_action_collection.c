/* SPDX-License-Identifier: MIT */
/* IFolderActionCollection. MS-PLA 3.2.4.4. */
#include "com/objects/collection.h"

COLLECTION_READ_THUNKS(IFolderActionCollection, IFolderAction, ULONG)
COLLECTION_ADD_THUNK(IFolderActionCollection, IFolderAction)
COLLECTION_REMOVE_THUNK(IFolderActionCollection)
COLLECTION_CREATE_THUNK(IFolderActionCollection, IFolderAction, CreateFolderAction, folder_action_class)

#define INTERFACE IFolderActionCollection
#define METHODS                                                                                                        \
    .Add = THUNK(Add), .Remove = THUNK(Remove), .CreateFolderAction = THUNK(CreateFolderAction), COLLECTION_READ_SLOTS
#define METHOD_COUNT (COLLECTION_SLOT_COUNT + 1)
#include "com/objects/object_vtable.inc"
