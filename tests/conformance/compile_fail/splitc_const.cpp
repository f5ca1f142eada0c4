// What a global pointer to const points to is not written.
// expected: what the pointer points to is const: it is only read
// expected: what the pointer points to is const: it is only read
// expected: what the pointer points to is const: it is only read
// expected: what the pointer points to is const: it is only read
#include <am/splitc.hpp>

void f(am::splitc::global_ptr<const int> i, am::splitc::spread_ptr<const double> d,
       am::splitc::global_ptr<const char> c, am::splitc::global_ptr<const long> l, const char* text) {
  *i = 5;
  am::splitc::put(d, 0.5);
  am::splitc::bulk_put(c, text, 5);
  am::splitc::store(l, 5);
}
