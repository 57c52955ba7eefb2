# What may lie at the top level of the repository.
#   cmake -D SOURCE=<repository> -P top_level.cmake
cmake_minimum_required(VERSION 3.25)

set(allowed "^(sim|model|kernels|traces|tests|tools|CMakeLists\\.txt|CMakePresets\\.json|README\\.md|CHANGELOG\\.md|LICENSE|\\..*)$")
# Made by builds, ignored by git.
set(ignored "^(build|install)$")
file(GLOB entries RELATIVE ${SOURCE} ${SOURCE}/* ${SOURCE}/.*)
list(FILTER entries EXCLUDE REGEX "${ignored}")
set(surplus ${entries})
list(FILTER surplus EXCLUDE REGEX "${allowed}")
if(NOT entries)
  message(FATAL_ERROR "nothing under ${SOURCE}")
elseif(surplus)
  message(FATAL_ERROR "not allowed at the top level: ${surplus}")
endif()
