// expected: an argument does not become the handler's parameter
// expected: an argument does not become the handler's parameter
#include <am/node.hpp>
#include <string>

enum class Colour { red };
void number(am::Request&, int);
void colour(am::Request&, Colour);

void f(am::Node& node) {
  node.request<number>(0, std::string("7"));
  node.request<colour>(0, 0);
}
