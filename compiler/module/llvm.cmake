# LLVM and its linker, as the libraries axon_llvm and lldELF, which link the form that suits the program.
#
# The shared library is quick to link, which the tests want, since they are many. Loading it takes longer than all
# that `etcc check` does: its vtables and tables are relocated when a process starts, on 2,500 pages. A program whose
# property AXON_STATIC_LLVM is on links what it needs of the static libraries, and where those are not installed, the
# shared one. (Debian's LLVM for LLD's link-time optimisation, which nothing here uses, comes with Polly.)
find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
find_package(LLD REQUIRED CONFIG HINTS ${LLVM_LIBRARY_DIR}/cmake/lld /usr/lib/llvm-19/lib/cmake/lld)
define_property(TARGET PROPERTY AXON_STATIC_LLVM BRIEF_DOCS "LLVM is linked into the program")

add_library(axon_llvm_inside INTERFACE)
set(polly "")
if(TARGET LLVMPasses AND TARGET Polly)
  get_target_property(polly Polly LOCATION)
endif()
if(EXISTS "${polly}")
  # What the compiler uses, and what the linker uses beside it.
  set(targets X86 NVPTX)
  llvm_map_components_to_libnames(llvm_libraries ${targets} passes bitreader bitwriter irreader linker lineeditor)
  llvm_map_components_to_libnames(lld_libraries lto option debuginfodwarf object targetparser)
  # For its link-time optimisation, LLD initialises all machines of LLVM: the others are nothing to initialise.
  set(source ${CMAKE_BINARY_DIR}/generated/module/no_targets.c)
  set(content "")
  foreach(target IN LISTS LLVM_TARGETS_TO_BUILD)
    foreach(part Target TargetInfo TargetMC AsmPrinter AsmParser)
      if(NOT target IN_LIST targets)
        string(APPEND content "void LLVMInitialize${target}${part}(void) {}\n")
      endif()
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${source} CONTENT "${content}")
  add_library(axon_no_targets STATIC ${source})
  target_link_libraries(axon_llvm_inside INTERFACE axon_no_targets ${llvm_libraries} ${lld_libraries})
else()
  target_link_libraries(axon_llvm_inside INTERFACE LLVM)
endif()
add_library(axon_llvm INTERFACE)
target_include_directories(axon_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(axon_llvm INTERFACE
  $<IF:$<BOOL:$<TARGET_PROPERTY:AXON_STATIC_LLVM>>,axon_llvm_inside,LLVM>)

# The targets of LLD's package name the shared library of LLVM: they come with either form here.
target_include_directories(lldCommon SYSTEM INTERFACE ${LLD_INCLUDE_DIRS})
set_target_properties(lldCommon PROPERTIES INTERFACE_LINK_LIBRARIES axon_llvm)
set_target_properties(lldELF PROPERTIES INTERFACE_LINK_LIBRARIES "lldCommon;ZLIB::ZLIB;zstd::libzstd_shared;axon_llvm")
