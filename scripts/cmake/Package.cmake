# Packages (CPack; scripts/package makes them). The .tar.gz has the static prof of build/static, runs from any folder
# and needs glibc only. The .deb has prof linked with the libraries of this Debian release, on which it depends.
set(CPACK_PACKAGE_NAME libprof)
set(CPACK_PACKAGE_VENDOR "libprof")
set(CPACK_PACKAGE_CONTACT "libprof maintainers <libprof@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "recorder and analyzer of the GPU time of CUDA programs")
set(CPACK_PACKAGE_DESCRIPTION "A preloaded library writes every CUDA launch, GPU operation and
NVTX range of an unmodified program into a log. prof reads logs, and traces
of other tools, and answers with traces, tables and a list of what to change.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME libprof-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR}-linux)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_SOURCE_DIR}/build/package)
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_THREADS 0)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libunwind8, libisal2")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/package_options.cmake)
# What Debian requires in /usr/share/doc/libprof; installed by the .deb only.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${CMAKE_BINARY_DIR}/debian/changelog "libprof (${PROJECT_VERSION}) unstable; urgency=medium

  * See CHANGELOG.md of the sources.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(WRITE ${CMAKE_BINARY_DIR}/debian/copyright "libprof
Copyright: 2026, the authors of libprof
License: Apache-2.0

On Debian systems, the text of the Apache License 2.0 is in
/usr/share/common-licenses/Apache-2.0.
")
file(WRITE ${CMAKE_BINARY_DIR}/debian/libprof "# The project has no mail address.
libprof: bogus-mail-host *
libprof: bogus-mail-host-in-debian-changelog *
# It is preloaded by its path and never linked, so it has no version.
libprof: shared-library-lacks-version *
# Written by CPack; it runs ldconfig as the trigger does.
libprof: maintscript-calls-ldconfig *
")
file(WRITE ${CMAKE_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
install(FILES ${CMAKE_BINARY_DIR}/debian/changelog ${CMAKE_BINARY_DIR}/debian/copyright
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_BINARY_DIR}/debian/libprof DESTINATION share/lintian/overrides COMPONENT debian EXCLUDE_FROM_ALL)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/debian/triggers)
# Debian wants these compressed.
file(WRITE ${CMAKE_BINARY_DIR}/debian/compress.cmake "
if(CPACK_GENERATOR STREQUAL DEB)
  file(GLOB_RECURSE files \${CPACK_TEMPORARY_DIRECTORY}/*/share/man/*
       \${CPACK_TEMPORARY_DIRECTORY}/*/share/doc/libprof/changelog)
  if(NOT files)
    message(FATAL_ERROR \"no man pages in \${CPACK_TEMPORARY_DIRECTORY}\")
  endif()
  execute_process(COMMAND gzip -9nf \${files} COMMAND_ERROR_IS_FATAL ANY)
endif()
")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_BINARY_DIR}/debian/compress.cmake)
# A .deb has the files of Debian in place of what this installation ships.
file(WRITE ${CMAKE_BINARY_DIR}/package_options.cmake "
if(CPACK_GENERATOR STREQUAL DEB)
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_COMPONENTS_ALL Unspecified texts debian)
  set(CPACK_INSTALL_CMAKE_PROJECTS \"\")
  foreach(component Unspecified texts debian)
    list(APPEND CPACK_INSTALL_CMAKE_PROJECTS \"${CMAKE_BINARY_DIR}\" libprof \${component} /)
  endforeach()
  set(CPACK_DEBIAN_PACKAGE_NAME libprof)
else()
  set(CPACK_INSTALL_CMAKE_PROJECTS \"${CMAKE_BINARY_DIR};libprof;ALL;/;${PROJECT_SOURCE_DIR}/build/static;prof;ALL;/\")
endif()
")
include(CPack)

# What is installed, without the tests.
add_custom_target(installed DEPENDS prof prof_preload man completion)
if(TARGET prof_parquet)
  add_dependencies(installed prof_parquet)
endif()

# cmake --build FOLDER --target uninstall: removes the files of the last `cmake --install` of this build.
add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt
                                    -P ${PROJECT_SOURCE_DIR}/scripts/cmake/uninstall.cmake VERBATIM)
