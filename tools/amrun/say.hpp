// amrun's own lines on standard error.
#pragma once

#include <string>

namespace amrun {

// Says of this amrun's lines what they are about, from here on: "job 2: ".
void begin_lines_with(const std::string& about);

// "amrun: text" and a line end.
std::string whole_line(const std::string& text);

// In pieces of whole lines that mix with nothing that nodes write. What nobody reads is given up: amrun has signals to
// answer.
void say_directly(const std::string& text);

}  // namespace amrun
