// The program that `ambench startup` times: joins the job, one barrier, leaves.

#include <am/am.hpp>

int main(int argc, char** argv) { am::start(argc, argv).barrier(); }
