# Writes OUTPUT, a header that says which commit of FOLDER is built; only when that has changed.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${FOLDER} rev-parse --short=12 HEAD OUTPUT_VARIABLE hash
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(hash "no repository")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define AXON_GIT_HASH \"@hash@\"\n" @ONLY)
