// Gives back to an interrupted program the system call that the interrupt broke off.
//
// SA_RESTART restarts read, write, wait, locks and their like. Calls that wait for a time, or for several things at once,
// the kernel never restarts (signal(7)): they fail with EINTR, which no program expects that has no signal handlers of its
// own. So the handler looks where it interrupts: right behind a system call instruction that returns EINTR, it sets the
// program back onto the call:
//   nanosleep, clock_nanosleep (and sleep, usleep, sleep_for, ...)  until the time that was asked for. A relative sleep for
//                       which the caller gave no place for the remaining time ends at most one length later than asked
//   poll, epoll_wait    where they wait without a limit
//   select, ppoll       with the time that the kernel says is left
//   pause, semop, msgsnd, msgrcv, waits for a futex until a time
// What is left: poll and epoll_wait with a time limit, sigsuspend, sigtimedwait, io_getevents, and socket calls with
// SO_RCVTIMEO or SO_SNDTIMEO, may fail with EINTR, as beside any program that handles signals. Only on x86-64 Linux; elsewhere
// all of the above may.
//
// A relative sleep is turned into one until a time, so the registers that held its arguments have changed when it returns
// (the C library does not look at them again), and an EINTR by the program's own signal later leaves the remaining time as
// it was at our interrupt: too long.
//
// An EINTR that the program's own signal has caused stays, if its number is below AM_SIGNAL's (they are delivered in that
// order).
#pragma once

#include <ucontext.h>

namespace am::core {

/// In a signal handler, as the last thing, with what it interrupted.
void continue_call(ucontext_t& context) noexcept;

}  // namespace am::core
