# am_warnings: what every target of this project compiles with, and no outside project.
add_library(am_warnings INTERFACE)
target_compile_options(am_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<BOOL:${AM_WERROR}>:-Werror>)
