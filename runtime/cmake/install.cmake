# What `cmake --install` puts where, as a package of Debian (`cpack`), and as a wheel (the target `wheel`). Nothing that
# is installed knows where it was built, or where it was installed to: prefixes can be moved.
#
# Components, for `cmake --install BUILD --component NAME`: runtime, development, compiler, documentation.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
foreach(folder BINDIR LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${folder}}")
    message(FATAL_ERROR "CMAKE_INSTALL_${folder} is ${CMAKE_INSTALL_${folder}}: it has to be relative to the prefix")
  endif()
endforeach()

# ---- the runtime: what a finished program needs ----
install(TARGETS axon_runtime EXPORT axon
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# ---- development: C and C++ programs over axon.h ----
install(FILES ${CMAKE_SOURCE_DIR}/runtime/include/axon/axon.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/axon COMPONENT development)
set(cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/axon)
install(EXPORT axon NAMESPACE axon:: FILE axon-targets.cmake DESTINATION ${cmake_folder} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/axon-config.cmake.in ${CMAKE_BINARY_DIR}/axon-config.cmake
  INSTALL_DESTINATION ${cmake_folder} PATH_VARS CMAKE_INSTALL_BINDIR NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/axon-config-version.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/axon-config.cmake ${CMAKE_BINARY_DIR}/axon-config-version.cmake
        DESTINATION ${cmake_folder} COMPONENT development)
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pc ${prefix_from_pc})
configure_file(${CMAKE_CURRENT_LIST_DIR}/axon.pc.in ${CMAKE_BINARY_DIR}/axon.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/axon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# ---- the compiler, its library, and what makes it at home in shells and editors ----
install(TARGETS etcc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
cmake_path(SET library NORMALIZE ${CMAKE_INSTALL_BINDIR}/../share/axon/stdlib)  # where the compiler looks
install(DIRECTORY ${CMAKE_SOURCE_DIR}/stdlib/ DESTINATION ${library} COMPONENT compiler FILES_MATCHING PATTERN "*.axn")
set(completions ${CMAKE_BINARY_DIR}/completions)
file(MAKE_DIRECTORY ${completions})
foreach(shell bash zsh fish)
  add_custom_command(OUTPUT ${completions}/${shell} COMMAND etcc --completion ${shell} > ${completions}/${shell}
                     DEPENDS etcc VERBATIM)
endforeach()
set(manual ${CMAKE_BINARY_DIR}/etcc.1)
add_custom_command(OUTPUT ${manual} COMMAND etcc --manual > ${manual} DEPENDS etcc VERBATIM)
add_custom_target(completions ALL DEPENDS ${completions}/bash ${completions}/zsh ${completions}/fish ${manual})
install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT compiler)
function(install_completion shell folder name)
  install(FILES ${completions}/${shell} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} RENAME ${name} COMPONENT compiler)
endfunction()
install_completion(bash bash-completion/completions etcc)
install_completion(fish fish/vendor_completions.d etcc.fish)
install_completion(zsh zsh/site-functions _etcc)
install_completion(zsh zsh/vendor-completions _etcc)  # where Debian's zsh looks below /usr
install(DIRECTORY ${CMAKE_SOURCE_DIR}/editors/vim ${CMAKE_SOURCE_DIR}/editors/neovim ${CMAKE_SOURCE_DIR}/editors/emacs
                  ${CMAKE_SOURCE_DIR}/editors/kakoune ${CMAKE_SOURCE_DIR}/editors/helix
        DESTINATION ${CMAKE_INSTALL_DATADIR}/axon/editors COMPONENT compiler)

# ---- documentation ----
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation
        FILES_MATCHING PATTERN "*.md")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples/c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT documentation)

include(${CMAKE_CURRENT_LIST_DIR}/package.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/wheel.cmake)
