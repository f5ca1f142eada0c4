#!/bin/sh
# Slurm on this machine, in namespaces of its own and below one folder: a controller, and two hosts, n1 and n2, which have network
# namespaces and host names of their own. Needs root, and what scripts/test.sh installs for it.
#
#   slurm.sh start DIR            makes DIR, and starts all; says on standard error why it cannot
#   slurm.sh srun DIR WORDS...    srun --mpi=pmix WORDS, there
#   slurm.sh stop DIR             ends everything, and removes DIR
#
# All of it runs in a PID namespace: when its first process ends, the kernel kills the rest, and the network namespaces and mounts
# go with it. It ends by itself after LIFETIME seconds, whatever becomes of who started it.
# shellcheck disable=SC2016,SC2094 # the inner shells are to expand; the pipe is opened at both ends
set -u
lifetime=${LIFETIME:-120}
self=$(readlink -f "$0")

configure() { # DIR
  cat >"$1/slurm.conf" <<END
ClusterName=am
SlurmctldHost=ctl(10.78.0.100)
SlurmctldPort=6820
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$1/munge.socket
StateSaveLocation=$1/state
SlurmdSpoolDir=$1/spool.%n
TmpFS=$1/tmp.%n
SlurmctldPidFile=$1/slurmctld.pid
SlurmdPidFile=$1/slurmd.%n.pid
SlurmctldLogFile=$1/slurmctld.log
SlurmdLogFile=$1/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SchedulerType=sched/builtin
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
MailProg=/bin/true
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=1
UnkillableStepTimeout=10
MessageTimeout=10
NodeName=n1 NodeAddr=10.78.0.1 Port=6821 CPUs=4 State=UNKNOWN
NodeName=n2 NodeAddr=10.78.0.2 Port=6821 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=5 State=UP OverSubscribe=FORCE:8
END
  # Not to be looked for: slurmd does not start where it sees neither version of them (ip netns exec mounts a bare /sys), and with
  # version 2 it wants systemd. Nothing that is configured here uses them.
  printf '%s\n' CgroupPlugin=cgroup/v1 "CgroupMountpoint=$1/no_cgroups" >"$1/cgroup.conf"
  printf '%s\n' '127.0.0.1 localhost' '10.78.0.100 ctl' '10.78.0.1 n1' '10.78.0.2 n2' >"$1/hosts"
}

add_host() { # NUMBER
  ip netns add "n$1" &&
    ip link add "port$1" type veth peer name eth0 netns "n$1" &&
    ip link set "port$1" master switch up &&
    ip -n "n$1" link set lo up &&
    ip -n "n$1" addr add "10.78.0.$1/24" dev eth0 &&
    ip -n "n$1" link set eth0 up
}

hold() { # DIR: the first process of the namespaces; it says at descriptor 9 that all is there
  dir=$1
  export SLURM_CONF="$dir/slurm.conf"
  hostname ctl
  mount --bind "$dir/hosts" /etc/hosts || exit 1 # seen in here only, as are the names of the next line
  mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns || exit 1
  # The controller has an address on the switch: with loopback alone it finds none to bind to.
  ip link set lo up
  ip link add switch type bridge && ip link set switch up && ip addr add 10.78.0.100/24 dev switch || exit 1
  add_host 1 && add_host 2 || exit 1
  mkdir "$dir/state" "$dir/spool.n1" "$dir/spool.n2" "$dir/tmp.n1" "$dir/tmp.n2"
  (umask 077 && head -c 1024 /dev/urandom >"$dir/munge.key")
  munged --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munged.pid" \
    --log-file="$dir/munged.log" --seed-file="$dir/munged.seed" --num-threads=2 9>&- || exit 1
  slurmctld -D -c -f "$SLURM_CONF" >"$dir/slurmctld.out" 2>&1 9>&- &
  for node in n1 n2; do
    ip netns exec $node unshare --uts sh -c 'hostname "$0"; exec slurmd -D -N "$0" -f "$SLURM_CONF"' $node \
      >"$dir/slurmd.$node.out" 2>&1 9>&- &
  done
  tries=0
  until [ "$(sinfo -h -N -o %T 2>/dev/null | sort -u)" = idle ]; do
    tries=$((tries + 1))
    [ $tries -gt 200 ] && exit 1
    sleep 0.1
  done
  echo ready >&9
  exec 9>&-
  sleep "$lifetime" &
  wait $!
}

start() { # DIR
  mkdir "$1" || return 1
  dir=$(readlink -f "$1")
  configure "$dir"
  mkfifo "$dir/ready"
  exec 9<>"$dir/ready" 8<"$dir/ready"
  setsid unshare --net --uts --ipc --mount --pid --fork --kill-child --mount-proc \
    "$self" hold "$dir" </dev/null >"$dir/hold.out" 2>&1 8<&- &
  echo $! >"$dir/unshare.pid"
  exec 9>&-
  read -r word <&8
  exec 8<&-
  [ "${word:-}" = ready ] && return
  tail -n 20 "$dir"/*.out "$dir"/*.log >&2
  stop "$dir"
  return 1
}

holder() { # DIR: the pid of unshare; nothing when it has ended, as another process may have its number
  pid=$(cat "$1/unshare.pid") && tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF " hold $1 " && echo "$pid"
}

there() { # DIR COMMAND...
  dir=$(readlink -f "$1")
  shift
  pid=$(holder "$dir") || { echo "slurm.sh: there is no Slurm in $dir" >&2; return 1; }
  read -r pid _ <"/proc/$pid/task/$pid/children" # the first process of the PID namespace
  SLURM_CONF="$dir/slurm.conf" nsenter -t "$pid" --net --uts --ipc --mount --pid \
    sh -c 'cd "$0" && exec "$@"' "$PWD" "$@"
}

stop() { # DIR
  dir=$(readlink -f "$1") || return 1
  pid=$(holder "$dir") && kill -KILL "$pid"
  tries=0
  until rm -rf "$dir" 2>/dev/null; do # until the last of them is gone
    tries=$((tries + 1))
    [ $tries -gt 50 ] && return 1
    sleep 0.1
  done
}

command=$1 dir=$2
shift 2
case $command in
start) start "$dir" ;;
hold) hold "$dir" ;;
srun) there "$dir" srun --mpi=pmix "$@" ;;
stop) stop "$dir" ;;
*) exit 2 ;;
esac
