/* SPDX-License-Identifier: MIT */
/* Injects openetw.dll into programs under Wine that do not use it (DECISIONS 44): reads the image of a program, in its
   file or in a suspended process, and makes the DLL its first import. */
#ifndef OPENPLA_INJECTION_H
#define OPENPLA_INJECTION_H

#include "engine/base/error.h"

/* The functions of openetw.dll that the added import names: for the program alone, or for its child processes too. They
   tell the DLL to take over the program's calls. */
#define INJECTION_ENTRY          "OpenEtwRun"
#define INJECTION_ENTRY_CHILDREN "OpenEtwRunChildren"

struct injection_source {
    /* Reads exactly `size` bytes at `offset` from the start of the image. */
    HRESULT (*read)(void *user, uint64_t offset, void *to, size_t size);
    void *user;
};

/* RVA and size of the imports and the bound imports, from the headers. */
struct injection_entries {
    uint32_t imports, imports_size, bound, bound_size;
};
struct injection_image {
    uint32_t size;         /* bytes in memory */
    uint32_t import_entry; /* offset of the header's 8-byte entry for imports */
    uint32_t bound_entry;  /* the same for bound imports; 0: no such entry */
    struct injection_entries entries;
};

/* Returns whether a program is for 32-bit x86 (`narrow`) or for x64. `name` is for the error texts of
   HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT): not a program, for another processor, a .NET program, a DLL, or corrupt. */
HRESULT injection_program_read(const struct injection_source *from, const char *name, bool *narrow);
/* Reads what is identical in a file and in memory. Errors are those of injection_program_read; a 32-bit program is one,
   too. */
HRESULT injection_image_read(const struct injection_source *from, const char *name, struct injection_image *out);

/* For an image in memory. Returns S_OK if its first import is one of the two functions: *children says which one,
 *before holds the original header entries. Otherwise S_FALSE. */
HRESULT injection_image_has_import(const struct injection_source *from, const struct injection_image *image,
                                   bool *children, struct injection_entries *before);

/* An import directory with one DLL before those of the image, and the data it refers to, to be written at an RVA. */
struct injection_block {
    uint8_t *bytes; /* from memory_alloc */
    size_t size;
    uint32_t directory; /* bytes that belong to the directory */
};
/* For an image in memory. `dll` is a path in the form that Wine's loader expects in imports: each byte is one UTF-16
   unit. */
HRESULT injection_block_make(const struct injection_source *from, const struct injection_image *image, const char *name,
                             const char *dll, const char *function, struct injection_block *out);
/* Relocates the block to this RVA, once. The RVA plus the block's size must be below 2^32. */
void injection_block_place(struct injection_block *block, uint32_t rva);

/* ---- processes ---- */

/* Returns the path of openetw.dll in the form that Wine's loader expects in imports (each byte is one UTF-16 unit);
   uses the short name of `folder` (UTF-8) if necessary. From memory_alloc. Returns
   HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME) if the path cannot be expressed. */
HRESULT injection_dll_path(const char *folder, char **out);

/* Makes the DLL the first import of a process (a HANDLE with all access) whose program has not started; `name` is for
   error texts. Returns S_FALSE if the library is already loaded. Failures leave the process unchanged: those of
   injection_image_read, and HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_MEMORY) if the space after the image is occupied. */
HRESULT injection_into_process(void *process, const char *name, const char *dll, bool children);

/* Returns whether this process was injected, and whether its children should be (`children`). Call it once: it restores
   the original header entries for programs that walk their own imports. */
bool injection_restore_self(bool *children);

/* Returns a copy of ntdll's system call of this name, for use when one of our functions replaces it. NULL if the code
   is missing or unknown in this Wine, or out of memory. */
void *injection_system_call_copy(const char *name);
/* Returns whether the code of the system call is known, or already replaced by one of our functions. */
bool injection_system_call_is_known(const char *name);

/* ---- exports ---- */

/* Adds functions to a module that Windows' version exports and Wine's does not. Without them, GetProcAddress fails and
   a program assumes that the system lacks the feature (DECISIONS 122). GetProcAddress reads the export directory in the
   module's memory. A larger directory is placed after the module, and the module's header is changed to refer to it:

       export directory | functions | names | ordinals | forwarders, new names | padding | thunks
       `---------------------------- directory ------------------------------'

   The loader treats every export that points into the directory's range as a forwarder. So forwarders are moved into
   the range and thunks lie after it. A thunk jumps to a function that may be farther away than an RVA reaches. */
struct injection_export {
    const char *name;
    const void *function;
};

/* The block to build. The image and the names are borrowed. */
struct injection_exports {
    const uint8_t *image;
    const struct injection_export *more;
    struct injection_name *names; /* old and new names, in the order in which the loader searches them */
    uint32_t name_count, function_count, new_count;
    uint32_t texts;      /* offset of the forwarders */
    uint32_t directory;  /* bytes of the directory */
    uint32_t size;       /* all bytes */
    uint32_t entry;      /* offset in the image of the header's 8-byte entry for exports */
    uint32_t image_size; /* bytes in memory */
};
/* `image`: a 64-bit module as mapped by the loader; it is trusted. Skips names that it already exports. Returns S_FALSE
   if it exports all of them or has no export directory; E_OUTOFMEMORY. */
HRESULT injection_exports_plan(const uint8_t *image, const struct injection_export *more, size_t count,
                               struct injection_exports *out);
/* Writes the block of `size` bytes for this RVA of the image. */
void injection_exports_build(const struct injection_exports *e, uint32_t rva, uint8_t *block);
void injection_exports_free(struct injection_exports *e);

/* Adds exports to a module of this process, so that GetProcAddress finds them. Returns S_FALSE if it has all of them;
   E_OUTOFMEMORY; ERROR_NOT_ENOUGH_MEMORY's HRESULT if there is no space after the module. */
HRESULT injection_exports_add(void *module, const struct injection_export *more, size_t count);

/* Return the functions to put in place of NtQuerySystemInformation and NtSetSystemInformation. They answer the class
   SystemPerformanceTraceInformation (engine/etw/controller/system_trace.h). NULL: as injection_system_call_copy. */
void *injection_query_system_begin(void);
void *injection_set_system_begin(void);

/* Checks whether child processes can be injected: only if ntdll's NtCreateUserProcess has the code known from Wine so
   far, or if this process was injected and has replaced that function. Otherwise returns
   HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), with an error text. */
HRESULT injection_children_supported(void);
/* Returns the function to put in place of NtCreateUserProcess for the rest of the process; it injects the DLL into each
   new process. NULL if that is impossible. */
void *injection_children_begin(const char *dll);

/* For openetw.dll's DllMain. If injection_restore_self says so, the functions that `module` exports replace those of
   ntdll, advapi32, sechost and kernelbase from now on. */
void injection_begin(void *module);

#endif
