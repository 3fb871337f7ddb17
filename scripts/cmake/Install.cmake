# What `cmake --install` installs besides the targets. libunwind for the recorder, in its own folder: libprof.so loads
# lib/prof/libunwind.so.8 from its own folder with dlopen. Linking it would put its _Unwind_* functions before libgcc's
# in every program. GPU machines rarely have libunwind installed, so it is shipped.
find_library(PROF_LIBUNWIND NAMES libunwind.so.8 DOC "libunwind.so.8 to ship in lib/prof; empty: none")
if(PROF_LIBUNWIND)
  file(REAL_PATH ${PROF_LIBUNWIND} unwind_file)
  install(FILES ${unwind_file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/prof RENAME libunwind.so.8 COMPONENT bundled)
  if(EXISTS /usr/share/doc/libunwind8/copyright)
    install(FILES /usr/share/doc/libunwind8/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME libunwind8
            COMPONENT bundled)
  endif()
else()
  message(STATUS "libunwind.so.8 not found: it is not installed in lib/prof, and logs will have no native call stacks "
                 "unless the machine that records has it (scripts/setup installs it here)")
endif()
# prof loads lib/prof/libisal.so.2, which inflates .gz faster than zlib. Debian has no static one.
if(NOT CMAKE_CROSSCOMPILING)
  find_library(PROF_LIBISAL NAMES libisal.so.2 DOC "libisal.so.2 to ship in lib/prof; empty: none")
endif()
if(PROF_LIBISAL)
  file(REAL_PATH ${PROF_LIBISAL} isal_file)
  install(FILES ${isal_file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/prof RENAME libisal.so.2 COMPONENT bundled)
  if(EXISTS /usr/share/doc/libisal2/copyright)
    install(FILES /usr/share/doc/libisal2/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences RENAME libisal2
            COMPONENT bundled)
  endif()
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licences)
install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md"
        PATTERN measurements EXCLUDE PATTERN man EXCLUDE PATTERN completion EXCLUDE)
