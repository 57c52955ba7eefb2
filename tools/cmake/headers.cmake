# Target tilesim_headers: compiles every header alone, so that each includes what it needs. Not part of `all`.
find_package(nlohmann_json REQUIRED)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
     ${PROJECT_SOURCE_DIR}/model/*.h ${PROJECT_SOURCE_DIR}/sim/*.h ${PROJECT_SOURCE_DIR}/traces/*.h ${PROJECT_SOURCE_DIR}/tools/*.h)
foreach(header IN LISTS headers)
  string(REPLACE "/" "_" name ${header})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"  // twice: include guard\n")
  list(APPEND sources ${source})
endforeach()
add_library(tilesim_headers OBJECT EXCLUDE_FROM_ALL ${sources})
target_link_libraries(tilesim_headers PRIVATE tilesim::app nlohmann_json::nlohmann_json tilesim_warnings)
target_compile_options(tilesim_headers PRIVATE -fsyntax-only)
