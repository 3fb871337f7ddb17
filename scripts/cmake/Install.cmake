# What `cmake --install` installs besides the targets: libraries that are loaded at run time, in a folder of their own.
# prof_bundled(VARIABLE LIBRARY PACKAGE): ships a library of a package of Debian, with its licence text.
function(prof_bundled variable library package)
  find_library(${variable} NAMES ${library} DOC "${library} to ship in lib/prof; empty: none")
  if(${variable})
    file(REAL_PATH ${${variable}} file)
    install(FILES ${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/prof RENAME ${library} COMPONENT bundled)
    set(licence ${CMAKE_SYSROOT}/usr/share/doc/${package}/copyright)
    if(EXISTS ${licence})
      install(FILES ${licence} DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME ${package} COMPONENT bundled)
    endif()
  endif()
endfunction()
# libprof.so loads lib/prof/libunwind.so.8 from its own folder with dlopen. Linking it would put its _Unwind_* functions
# before libgcc's in every program. GPU machines rarely have libunwind installed, so it is shipped.
prof_bundled(PROF_LIBUNWIND libunwind.so.8 libunwind8)
if(NOT PROF_LIBUNWIND)
  message(STATUS "libunwind.so.8 not found: it is not installed in lib/prof, and logs will have no native call stacks "
                 "unless the machine that records has it (scripts/setup installs it here)")
endif()
# prof loads lib/prof/libisal.so.2, which inflates .gz faster than zlib. Debian has no static one.
prof_bundled(PROF_LIBISAL libisal.so.2 libisal2)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licences)
install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md"
        PATTERN measurements EXCLUDE PATTERN man EXCLUDE PATTERN completion EXCLUDE)
