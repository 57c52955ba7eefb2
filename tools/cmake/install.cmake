# Install rules: libraries, headers, the command, the specs, and a CMake package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tilesim)
# The warnings target goes along because static libraries record what they link; consumers get no flag from it.
install(TARGETS tilesim_model tilesim_isa tilesim_sim tilesim_traces tilesim_app tilesim_warnings
        EXPORT tilesim_targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tilesim)
install(TARGETS tilesim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY model sim traces DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tilesim FILES_MATCHING PATTERN "*.h")
install(DIRECTORY tools/lib DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tilesim/tools FILES_MATCHING PATTERN "*.h")
install(DIRECTORY model/specs DESTINATION ${CMAKE_INSTALL_DATADIR}/tilesim FILES_MATCHING PATTERN "*.toml")
install(DIRECTORY traces/recorded DESTINATION ${CMAKE_INSTALL_DATADIR}/tilesim
        FILES_MATCHING PATTERN "*.json" PATTERN "*.zst" PATTERN "*.gz" PATTERN "*.cubin" PATTERN "*.sass")
install(DIRECTORY kernels DESTINATION ${CMAKE_INSTALL_DATADIR}/tilesim USE_SOURCE_PERMISSIONS
        PATTERN CMakeLists.txt EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Targets are tilesim::model and so on, as in this tree.
foreach(name IN ITEMS model isa sim traces app warnings)
  set_target_properties(tilesim_${name} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(EXPORT tilesim_targets NAMESPACE tilesim:: FILE tilesim-targets.cmake DESTINATION ${package_folder})
configure_package_config_file(tools/cmake/tilesim-config.cmake.in ${PROJECT_BINARY_DIR}/tilesim-config.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tilesim-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tilesim-config.cmake ${PROJECT_BINARY_DIR}/tilesim-config-version.cmake
        DESTINATION ${package_folder})
