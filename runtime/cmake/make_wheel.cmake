# cmake -D BUILD=<a build tree> -D OUT=<folder> -P make_wheel.cmake: writes OUT/axon-<version>-cp311-abi3-<platform>.whl
# from what the tree has built. The system's own Python makes it, without a network: Debian's python3-build,
# python3-setuptools and python3-wheel. Equal trees give equal bytes.
cmake_minimum_required(VERSION 3.25)
set(stage ${OUT}/stage)
file(GLOB made_before ${OUT}/axon-*.whl)
file(REMOVE_RECURSE ${stage} ${made_before})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --component wheel --prefix ${stage} --strip
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
set(ENV{SOURCE_DATE_EPOCH} 315532800)  # the first second that a zip archive can state
execute_process(COMMAND /usr/bin/python3 -m build --wheel --no-isolation --outdir ${OUT} ${stage}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${stage})
