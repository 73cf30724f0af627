# The Debian package `axon`, all components in one: `cpack --config BUILD/CPackConfig.cmake -B FOLDER`.
set(CPACK_GENERATOR DEB)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_NAME axon)
set(CPACK_PACKAGE_VENDOR "The Axon authors")
set(CPACK_PACKAGE_CONTACT "The Axon authors <noreply@axon.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler and runtime of the tensor language Axon")
set(CPACK_PACKAGE_DESCRIPTION
"etcc compiles tensor programs, whose shapes it infers and proves, to bundles that
run with any sizes. The library libaxon_runtime.so.${PROJECT_VERSION_MAJOR} loads bundles and calls them from
C and C++.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")  # later versions fit as well
include(CPack)
