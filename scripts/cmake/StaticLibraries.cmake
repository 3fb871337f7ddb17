# The libraries of prof as static ones, in place of what find_package() finds, and their licence texts (PROF_STATIC).
# The compiler of the preset `static` has headers of libc and C++ of its own, which those in /usr/include would replace.
# So it sees a folder with links to the headers of these packages only. PROF_STATIC_ROOT: where the packages are
# unpacked, if they are not installed.

# prof_static_package(PACKAGE HEADER...): links the headers, installs the licence text.
set(prof_static_include ${CMAKE_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${prof_static_include})
function(prof_static_package package)
  foreach(header ${ARGN})
    unset(found CACHE)
    find_path(found ${header} NO_DEFAULT_PATH PATHS
              ${PROF_STATIC_ROOT}/usr/include ${PROF_STATIC_ROOT}/usr/include/${CMAKE_LIBRARY_ARCHITECTURE})
    if(NOT found)
      message(FATAL_ERROR "${header} was not found. scripts/setup installs it (the package ${package})")
    endif()
    file(CREATE_LINK ${found}/${header} ${prof_static_include}/${header} SYMBOLIC)
  endforeach()
  unset(found CACHE)
  prof_licence(${PROF_STATIC_ROOT}/usr/share/doc/${package}/copyright ${package})
endfunction()
# prof_licence(FILE NAME): installs a licence text of a library that prof contains.
function(prof_licence file name)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "${file}, the licence text of ${name}, does not exist")
  endif()
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME ${name} COMPONENT licences)
endfunction()
# prof_static_library(VARIABLE NAME): the path of libNAME.a.
function(prof_static_library variable name)
  find_library(${variable} NAMES lib${name}.a PATHS ${PROF_STATIC_ROOT}/usr/lib/${PROF_STATIC_PROCESSOR}-linux-gnu
               NO_DEFAULT_PATH DOC "lib${name}.a, linked into the static prof")
  if(NOT ${variable})
    message(FATAL_ERROR "lib${name}.a was not found. scripts/setup --static installs it, or names what is missing")
  endif()
endfunction()

prof_static_package(libfmt-dev fmt)
prof_static_package(libcli11-dev CLI)
prof_static_package(rapidjson-dev)
# document.h assigns to a constant member in a template that nothing uses, which clang 19 and newer refuse. Later
# releases of RapidJSON have this change.
file(COPY ${PROF_STATIC_ROOT}/usr/include/rapidjson DESTINATION ${prof_static_include} PATTERN document.h EXCLUDE)
file(READ ${PROF_STATIC_ROOT}/usr/include/rapidjson/document.h document)
string(REPLACE "const SizeType length;" "SizeType length;" document "${document}")
file(CONFIGURE OUTPUT ${prof_static_include}/rapidjson/document.h CONTENT "@document@" @ONLY)
prof_static_package(libprotozero-dev protozero)
prof_static_package(zlib1g-dev zlib.h zconf.h)
prof_static_package(libisal-dev isa-l)  # prof loads the library
prof_static_package(libsqlite3-dev sqlite3.h)
prof_static_package(libdw-dev elfutils dwarf.h)
prof_static_package(libelf-dev libelf.h gelf.h)
prof_static_package(libncurses-dev curses.h ncurses_dll.h unctrl.h term.h)
prof_static_package(libzstd-dev zstd.h zstd_errors.h)
foreach(package liblzma-dev libbz2-dev)  # libdw reads sections and kernels compressed with these
  prof_static_package(${package})
endforeach()
foreach(part libcxx libcxxabi libunwind)  # the C++ library of the compiler
  prof_licence(${PROF_ZIG}/lib/${part}/LICENSE.TXT ${part})
endforeach()
prof_licence(${PROF_ZIG}/LICENSE zig)
prof_licence(${PROF_ZIG}/lib/libc/glibc/LICENSES glibc)  # the start of a program, and stat()

foreach(name z sqlite3 dw elf ncursesw tinfo zstd lzma bz2)
  string(TOUPPER PROF_STATIC_${name} variable)
  prof_static_library(${variable} ${name})
endforeach()
add_library(prof_static_headers INTERFACE)
target_include_directories(prof_static_headers SYSTEM INTERFACE ${prof_static_include})
foreach(target fmt::fmt CLI11::CLI11 ZLIB::ZLIB SQLite::SQLite3)
  add_library(${target} INTERFACE IMPORTED)
  target_link_libraries(${target} INTERFACE prof_static_headers)
endforeach()
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)  # Debian's libfmt.a is built for another C++ library
target_link_libraries(ZLIB::ZLIB INTERFACE ${PROF_STATIC_Z})
target_link_libraries(SQLite::SQLite3 INTERFACE ${PROF_STATIC_SQLITE3})
set(RAPIDJSON_INCLUDE_DIRS ${prof_static_include})
set(PROF_PROTOZERO ${prof_static_include})
set(PROF_ZSTD_LIBRARY ${PROF_STATIC_ZSTD})
set(PROF_LIBDW_INCLUDE ${prof_static_include})
set(PROF_LIBDW_LIBRARY ${PROF_STATIC_DW})
set(PROF_LIBELF_LIBRARY ${PROF_STATIC_ELF} ${PROF_STATIC_ZSTD} ${PROF_STATIC_LZMA} ${PROF_STATIC_BZ2})
set(PROF_NCURSES_INCLUDE ${prof_static_include})
set(PROF_NCURSES_LIBRARY ${PROF_STATIC_NCURSESW})
set(PROF_TINFO_LIBRARY ${PROF_STATIC_TINFO})
