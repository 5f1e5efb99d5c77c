# Compiler flags, one interface target for each audience.
#
#   memagent_warnings   every target of ours
#   memagent_hot        code that runs inside the host program (all of agent/)
#   memagent_cold       ordinary executables: viewer, injector, tests

add_library(memagent_warnings INTERFACE)
target_compile_options(memagent_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Werror)

# Frame pointers in our own frames let a capture start from the hook's caller;
# initial-exec TLS never calls __tls_get_addr, which may allocate (pitfalls P19);
# no thread-safe statics and no exceptions: nothing lazily built, nothing thrown
# through a host frame.
add_library(memagent_hot INTERFACE)
target_link_libraries(memagent_hot INTERFACE memagent_warnings)
target_compile_options(memagent_hot INTERFACE
  -fvisibility=hidden -fvisibility-inlines-hidden -fno-omit-frame-pointer
  -fno-stack-protector -ftls-model=initial-exec -fno-semantic-interposition
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics>)
target_include_directories(memagent_hot INTERFACE ${PROJECT_SOURCE_DIR})

add_library(memagent_cold INTERFACE)
target_link_libraries(memagent_cold INTERFACE memagent_warnings)
target_include_directories(memagent_cold INTERFACE ${PROJECT_SOURCE_DIR})

if(MEMAGENT_SANITIZE)
  # UBSan's vptr check needs the type information that the agent's -fno-rtti removes.
  add_compile_options(-fsanitize=${MEMAGENT_SANITIZE} -fno-sanitize=vptr -fno-sanitize-recover=all -g)
  add_link_options(-fsanitize=${MEMAGENT_SANITIZE})
endif()
