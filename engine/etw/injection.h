/* SPDX-License-Identifier: MIT */
/* Injection of openetw.dll into programs under Wine that do not know it (DECISIONS 44): the image of a program, in its
   file or in a process that has not started, whose first import the DLL becomes, and the process itself. */
#ifndef OPENPLA_INJECTION_H
#define OPENPLA_INJECTION_H

#include "engine/base/error.h"

/* The functions of openetw.dll that such an import names: the program alone, or what it starts too. By them the DLL
   knows that it is to take the program's calls. */
#define INJECTION_ENTRY          "OpenEtwRun"
#define INJECTION_ENTRY_CHILDREN "OpenEtwRunChildren"

struct injection_source {
    /* All `size` bytes at `offset` from the image's beginning, or a failure. */
    HRESULT (*read)(void *user, uint64_t offset, void *to, size_t size);
    void *user;
};

/* What the headers say of imports, and of bound ones: RVA and size of each. */
struct injection_entries {
    uint32_t imports, imports_size, bound, bound_size;
};
struct injection_image {
    uint32_t size;         /* in memory, bytes */
    uint32_t import_entry; /* offset of the header's 8 bytes about imports */
    uint32_t bound_entry;  /* the same for bound imports; 0: there is none */
    struct injection_entries entries;
};

/* From what is the same in a file and in memory. `name` is for the texts of HRESULT_FROM_WIN32(ERROR_BAD_EXE_FORMAT):
   no program, one for another processor or of 32 bits, a .NET program, a DLL, a damaged one. */
HRESULT injection_image_read(const struct injection_source *from, const char *name, struct injection_image *out);

/* In memory. S_OK: its first import is one of the two functions, *children says which, and *before what its headers
   said then; S_FALSE: it is not. */
HRESULT injection_image_has_import(const struct injection_source *from, const struct injection_image *image,
                                   bool *children, struct injection_entries *before);

/* An import directory with one DLL before those of the image, and what it points to: to be written at an RVA. */
struct injection_block {
    uint8_t *bytes; /* from memory_alloc */
    size_t size;
    uint32_t directory; /* bytes of it that are the directory */
};
/* In memory. `dll` is a path as Wine's loader takes names of imports: each byte one UTF-16 unit. */
HRESULT injection_block_make(const struct injection_source *from, const struct injection_image *image, const char *name,
                             const char *dll, const char *function, struct injection_block *out);
/* Once: makes it fit for this RVA, which is below 2^32 with the block's size. */
void injection_block_place(struct injection_block *block, uint32_t rva);

/* ---- processes ---- */

/* Path of openetw.dll as Wine's loader takes names of imports, each byte one UTF-16 unit: `folder` (UTF-8) may have to
   be named by its short name. From memory_alloc. HRESULT_FROM_WIN32(ERROR_BAD_PATHNAME): it cannot be said so. */
HRESULT injection_dll_path(const char *folder, char **out);

/* Makes that DLL the first import of a process (a HANDLE with all access) whose program has not begun; `name` is the
   program's, for texts. S_FALSE: it is already. Failures leave the process as it was: those of injection_image_read,
   HRESULT_FROM_WIN32(ERROR_NOT_ENOUGH_MEMORY) for no place behind its image. */
HRESULT injection_into_process(void *process, const char *name, const char *dll, bool children);

/* Is this process to be reached, and what it starts, if `children`? Once: its headers then say again what its file
   says, for those programs that walk their own imports. */
bool injection_restore_self(bool *children);

/* ntdll's system call of this name, in whose place a function of ours is to stand: a copy of its code that does the
   same. NULL: in this Wine it looks unlike those that are known, or is missing, or memory is out. */
void *injection_system_call_copy(const char *name);
/* Whether it looks like those that are known, or a function of ours stands in its place already. */
bool injection_system_call_is_known(const char *name);

/* ---- exports ---- */

/* Functions that a module of Windows exports and Wine's module of that name does not: GetProcAddress finds none, so a
   program takes the system for one that lacks them (DECISIONS 122). GetProcAddress reads the export directory in the
   module's memory. A larger directory is placed behind the module, and the module's header then names that one:

       export directory | functions | names | ordinals | forwarders, new names | padding | thunks
       `---------------------------- directory ------------------------------'

   What lies in the directory's range is a forwarder to the loader, so forwarders move into it and thunks lie behind it.
   A thunk jumps to a function that may be farther away than an RVA reaches. */
struct injection_export {
    const char *name;
    const void *function;
};

/* What is to be built. The image and the names are borrowed. */
struct injection_exports {
    const uint8_t *image;
    const struct injection_export *more;
    struct injection_name *names; /* of the old directory and the new ones, as the loader searches them */
    uint32_t name_count, function_count, new_count;
    uint32_t texts;      /* offset of the forwarders */
    uint32_t directory;  /* bytes of the directory */
    uint32_t size;       /* bytes in all */
    uint32_t entry;      /* offset in the image of the header's 8 bytes about exports */
    uint32_t image_size; /* in memory */
};
/* `image`: a 64-bit module as the loader has mapped it, which is trusted. Names that it exports are left out; S_FALSE:
   it exports all of them, or has no export directory. E_OUTOFMEMORY. */
HRESULT injection_exports_plan(const uint8_t *image, const struct injection_export *more, size_t count,
                               struct injection_exports *out);
/* The block of `size` bytes as it has to be at this RVA of the image. */
void injection_exports_build(const struct injection_exports *e, uint32_t rva, uint8_t *block);
void injection_exports_free(struct injection_exports *e);

/* Adds exports to a module of this process, so that GetProcAddress finds them.
   S_FALSE: it has all of them. E_OUTOFMEMORY; ERROR_NOT_ENOUGH_MEMORY's HRESULT: there is no place behind the module.
 */
HRESULT injection_exports_add(void *module, const struct injection_export *more, size_t count);

/* Functions that are to stand in the place of NtQuerySystemInformation and NtSetSystemInformation: of the class
   SystemPerformanceTraceInformation they answer by engine/etw/controller/system_trace.h. NULL: as
   injection_system_call_copy. */
void *injection_query_system_begin(void);
void *injection_set_system_begin(void);

/* Can what a program starts be reached too? Only where ntdll's NtCreateUserProcess looks as it does in Wine so far, or
   where this process is reached and that function taken.
   HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), with a text. */
HRESULT injection_children_supported(void);
/* What has to stand in the place of that function, for good, and gives each process the DLL. NULL: not possible. */
void *injection_children_begin(const char *dll);

/* In openetw.dll, for `module`, when it is loaded (DllMain): where injection_restore_self says so, the functions that
   this module exports are called in the place of those of ntdll, advapi32, sechost and kernelbase from now on. */
void injection_begin(void *module);

#endif
