# The Python package as a wheel: `ninja wheel` leaves it in BUILD/wheel. It holds all that `import axon` needs: the
# package, the runtime, the compiler and its library; the system has the library of Z3. What goes into it is
# the component `wheel` of the installation, below the folder that make_wheel.cmake gives to setuptools.
if(NOT TARGET axon_python)
  return()
endif()
set(into COMPONENT wheel EXCLUDE_FROM_ALL)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/runtime/python/axon DESTINATION . ${into}
        FILES_MATCHING PATTERN "*.py" PATTERN "*.axn" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
install(TARGETS axon_python_native LIBRARY DESTINATION axon ${into})
# A wheel has no links: the library goes by the name that programs ask for.
install(FILES $<TARGET_FILE:axon_runtime> DESTINATION axon RENAME $<TARGET_SONAME_FILE_NAME:axon_runtime> ${into})
install(TARGETS etcc RUNTIME DESTINATION axon/bin ${into})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/stdlib/ DESTINATION axon/share/axon/stdlib ${into} FILES_MATCHING PATTERN "*.axn")
configure_file(${CMAKE_SOURCE_DIR}/runtime/python/pyproject.toml.in ${CMAKE_BINARY_DIR}/pyproject.toml @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/pyproject.toml ${CMAKE_SOURCE_DIR}/runtime/python/setup.py ${CMAKE_SOURCE_DIR}/LICENSE
              ${CMAKE_SOURCE_DIR}/runtime/python/etcc
        DESTINATION . ${into})

add_custom_target(wheel
  COMMAND ${CMAKE_COMMAND} -D BUILD=${CMAKE_BINARY_DIR} -D OUT=${CMAKE_BINARY_DIR}/wheel
          -P ${CMAKE_CURRENT_LIST_DIR}/make_wheel.cmake VERBATIM)
add_dependencies(wheel axon_python axon_runtime etcc)
