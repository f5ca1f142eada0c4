// Paths that are to lead to the same on other hosts. What is reached by a link (scratch, which is vol1 here and vol2 there) has two names: the
// user's, by the link, and the kernel's, without it. Either may be the one that is good there: the user's is tried first.
#pragma once

#include <string>
#include <vector>

namespace amrun {

// Where nodes start: in `wanted` (--wdir), or where amrun was started when that is empty. Throws Fault.
std::vector<std::string> folders_to_start_in(const std::string& wanted);

// Goes to the first of these that is there, and calls it PWD. Throws Fault.
void go_to(const std::vector<std::string>& folders);

// Of amrun itself.
std::vector<std::string> own_paths();

}  // namespace amrun
