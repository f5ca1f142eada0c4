#!/bin/sh
# enter_host.sh HOST COMMAND...: runs the command on a host of namespaces.hpp. As Open MPI's launch agents (ssh) take their
# arguments: the words behind the host are one line for a shell.
host=$1
shift
# shellcheck disable=SC2016 # the inner shell is to expand them
exec ip netns exec "$host" unshare --uts sh -c 'hostname "$0"; exec sh -c "$1"' "$host" "$*"
