// How a packet with several ends moves through a router of the live substrate: it enters all of them, or none. This is the design of
// that move, and the model of it, written before the code. Names are those of src/emulated_hw/kit/live_move.hpp, which moves packets
// with one channel among their ends. Each `atomic` holds one load or compare-and-swap of a shared word, sequentially consistent.
//
//   inputs 0, 1, 2 of a router  --->  channels 0 to 2 (PLACES slots each): the inputs of the next routers, or of the local storage
//                               --->  this router's node, which counts them in one word and always has room
//
// The words
//   head[c]     of an input: the serial of the attempt to move its first packet, the number of that packet, and the fate of the attempt:
//               the set of ends that get the packet; none: it is open. The head takes the place of `left`.
//   entries[e]  of an end: how many packets have entered, and who holds the end: an attempt (an input and its serial) that has reserved
//               the next slot, or one that has entered a packet there. A reservation does not count: an attempt that comes to nothing
//               has no credit to give back.
//
// A serial goes up by one with each attempt, whether the packet leaves by it or stays. So a serial names one attempt at one packet for
// ever, and an attempt is over when the head has another serial, or when its fate is known and leaves this end out. Only the name of an
// attempt that is over is replaced in an end's word. Nobody takes a reservation back: it is over, and the next carrier replaces it.
//
// The move, by any carrier, of the first packet of an input
//   1  reserve the ends one by one, in the order of the router's outputs: see the end's word, then the head, then the room
//        another attempt holds the end, and is not over:  complete that one first (settle)
//        there is no room:                               the rule says what follows
//   2  decide, by one compare-and-swap of the head: open -> the set of ends, or, where the rule wants none, open -> the next serial
//   3  at each end of the set: turn the reservation into an entry, which counts, and bring the packet to the slot that this gives it
//   4  enter it at the node, if that is one of its ends
//   5  leave: head -> the next serial, the next packet, open
// A packet with at most one channel among its ends needs no reservation and no fate: it does 3 to 5, and its entry replaces the name of
// an attempt that is over. These are the accesses of live_move.hpp as it is.
//
// Rules, by what has room
//   ALL    every end, or none (the nCUBE/2's broadcast; a multicast)
//   KEEP   the local storage is the last end. The packet enters all others that have room. Where some have none the storage keeps a copy,
//          which serves them later (CARE's split). Where it has no room either, the packet enters nowhere.
//   ONE    any one of them (the CM-5's climb; CARE's choice among outputs)
//
// Why a carrier that dies or stands still harms nobody
//   - A carrier that finds an attempt in its way completes it. An open attempt is decided first. A decided one holds all its ends, so
//     steps 3 to 5 need neither room nor another carrier.
//   - A fate holds. Each end of the set was reserved when the fate was decided: nobody replaces the name of an attempt that is not over.
//     The room is still there, too: nobody else entered, and room only grows until somebody does.
//   - A carrier that decides late fails: the head has another serial, or a fate.
//   - A carrier that reserves late for an attempt that is over fails if the packet has entered there since: the count has gone up. Else
//     it leaves a reservation that is over, which holds nobody up.
//   - A carrier that enters late fails as in live_move.hpp: it saw the end's word first, and then that its attempt was not over.
//   - Carriers do not complete each other's attempts in a circle. All reserve ends in one order. A carrier that finds an open attempt at
//     an end reserves for it only behind that end, and takes the ends before it as they are. Else an end that had no room then and has
//     some now leads back (KEEP).
//
// Nothing lies forgotten: a packet of rule ALL waits for the one end that it found without room, one of KEEP or ONE for any of those.
// It marks itself, says so at these ends, and looks at them once more, as in live_hints.pml. A carrier whose attempt another has ended
// begins again.
//
// What is not promised: a packet that wants all ends at once may wait long, while others with one end take each slot that becomes free.
// Who goes first is the arbiter's affair.
//
// Widths for the code: a head of 37 bits of serial, 6 of number, 21 of fate; an end's word of 20 bits of count, 1 of reservation, 6 of
// input, 37 of serial. An attempt that comes to nothing uses up a serial, so a packet tries only when a look at all ends has found room.
//
// Checked, at the access where it would happen:
//   - a packet is entered once at each end that its fate names, or, with one channel, at each of its ends; and nowhere else;
//   - where a fate names ends, all of them are reserved for that attempt, and the rule allows that set;
//   - an attempt that comes to nothing has entered nowhere;
//   - an end's word is replaced only when the attempt that it names is over, and a packet enters only where there is room;
//   - slots are filled in order, each with the packet that was let in, over one that has been taken out; the copy says who has got one;
//   - a packet leaves its input when it is at all its ends; those of one input enter an end in their order;
//   - carriers complete no more attempts inside each other than there are inputs;
//   - once, at any moment, look_after() does everything alone: then nothing lies anywhere, and each count is exact. The others may have
//     stopped anywhere, and may go on afterwards.
//
// Where this departs from the code to come:
//   - counts, serials and laps do not come again. That bring() looks at no more than the lap's lowest bit is modelled.
//   - the packets of inputs lie there from the beginning. A carrier that looks at one that has gone may find another there, or none.
//   - the next routers take a packet out of a channel in one step: live_move.pml has the accesses of that.
//   - the ends of a packet are given, and ONE takes the first that has room: a router may prefer others, as each holds one end at a time.
//   - a carrier begins no attempt at an input where more than MOST_LOST have come to nothing: it may as well have stopped. look_after()
//     begins some.
//   - hints are left out: live_hints.pml.
//
// -DCHANNELS=2|3 -DPLACES=n -DCARRIERS=n -DSTEPS=n (of each carrier; 0: any number) -DMOST_LOST=n -DKINDS=... (of packets, two of each
// input: ends, and a rule), and -DWRONG_...: mistakes, each of which has to be found.

#ifndef CHANNELS
#define CHANNELS 2
#endif
#ifndef PLACES
#define PLACES 1
#endif
#ifndef CARRIERS
#define CARRIERS 2
#endif
#ifndef STEPS
#define STEPS 0
#endif
#ifndef MOST_LOST
#define MOST_LOST 0
#endif

// What becomes of a packet: ends 0 to 2 are bits 1, 2, 4; the node is bit 8; and a rule, bits 16 and 32.
#define ALL 0
#define KEEP 16
#define ONE 32
#define NONE 0  // there is none
#define TO_0 1
#define TO_1 2
#define TO_2 4
#define TO_NODE 8
#define ALL_01 3
#define ALL_12 6
#define ALL_012 7
#define ALL_01_AND_NODE 11
#define KEEP_01 19
#define KEEP_012 23
#define ONE_01 35
#define ONE_012 39
#ifndef KINDS
#define KINDS ALL_01, NONE, ALL_01, NONE, TO_1, NONE
#endif
#define INPUTS 3
#define NODE 3  // an end
#define ENDS 4
byte kinds[6] = {KINDS};
#define CHANNELS_OF(kind) ((kind) & 7)
#define RULE(kind) ((kind) & 48)
#define IS_SEVERAL(kind) (RULE(kind) != ALL || (CHANNELS_OF(kind) & (CHANNELS_OF(kind) - 1)) != 0)
#define IS_ONE(set) ((set) != 0 && ((set) & ((set) - 1)) == 0)
#define HAS(set, end) (((set) >> (end) & 1) != 0)

// An input's head, and the word of an end.
#define HEAD(serial, number, fate) ((serial) << 5 | (number) << 3 | (fate))
#define SERIAL(h) ((h) >> 5)
#define NUMBER(h) ((h) >> 3 & 3)
#define FATE(h) ((h) & 7)
#define NAME(c, serial) ((c) + 1 << 3 | (serial))
#define NAMED(e) ((e) & 31)
#define INPUT(e) ((NAMED(e) >> 3) - 1)
#define ITS_SERIAL(e) ((e) & 7)
#define IS_RESERVED(e) (((e) & 32) != 0)
#define IS_RESERVED_BY(e, c, serial) (((e) & 63) == (32 | NAME(c, serial)))
#define IS_ENTERED_BY(e, c, serial) (((e) & 63) == NAME(c, serial))
#define COUNT(e) ((e) >> 6)
#ifdef WRONG_COUNTS_THE_RESERVED
#define RESERVED(e, name) (COUNT(e) + 1 << 6 | 32 | (name))
#define ENTERED(e, name) (COUNT(e) + !IS_RESERVED(e) << 6 | (name))
#else
#define RESERVED(e, name) (COUNT(e) << 6 | 32 | (name))
#define ENTERED(e, name) (COUNT(e) + 1 << 6 | (name))
#endif

// The shared words.
byte head[INPUTS];
short entries[ENDS];
byte left[CHANNELS];  // of channels, by the next routers
short place[PLACES * CHANNELS];

#define LAP(w) ((w) >> 6)
#define PACKET(w) ((w) & 7)
#define ITS_FATE(w) ((w) >> 3 & 7)
#define LAP_OF(n) ((n) / PLACES + 1)
#define FILLED(packet, fate, lap) ((lap) << 6 | (fate) << 3 | (packet))
#define PLACE(ch, n) ((ch) * PLACES + (n) % PLACES)
#define IS_THERE(ch) (LAP(place[PLACE(ch, left[ch])]) == LAP_OF(left[ch]))

// Whether the attempt that an end's word names is over there, by the head of its input.
#define IS_OVER(e, end, h) (SERIAL(h) != ITS_SERIAL(e) || (IS_RESERVED(e) && FATE(h) != 0 && !HAS(FATE(h), end)))

// What has happened. Checks read it, carriers do not.
byte has_entered[ENDS];         // the set of packets
byte let_in[PLACES * CHANNELS];
byte brought[CHANNELS];

// A carrier's own: one move in progress, and those that settle() begins in it.
#define LOCALS byte c[INPUTS]; byte s[INPUTS]; byte n[INPUTS]; byte fate[INPUTS]; byte kind[INPUTS]; byte end[INPUTS]; \
  byte from[INPUTS]; byte reserved[INPUTS]; short entry[INPUTS]; byte depth; short seen; bool there; byte steps
#define C c[depth]
#define S s[depth]
#define N n[depth]
#define F fate[depth]
#define KIND kind[depth]
#define END end[depth]
#define FROM from[depth]
#define R reserved[depth]
#define ENTRY entry[depth]
#define ITS_PACKET (2 * C + N)
inline forget(d) {
  c[d] = 0; s[d] = 0; n[d] = 0; fate[d] = 0; kind[d] = 0; end[d] = 0; from[d] = 0; reserved[d] = 0; entry[d] = 0
}
// END is that of a channel, in the order of the router.
#ifdef WRONG_EACH_ITS_ORDER
#define AT (END < CHANNELS && C == 1 -> CHANNELS - 1 - END : END)
#else
#define AT END
#endif
#define IS_RESERVING (IS_SEVERAL(KIND) && F == 0 && END < NODE)
// Of rule KEEP the storage, and the others.
#define STORAGE_OF(kind) (HAS(kind, 2) -> TO_2 : TO_1)
#define OTHERS_OF(kind) (CHANNELS_OF(kind) & ~STORAGE_OF(kind))
#define IS_STORAGE (RULE(KIND) == KEEP && 1 << END == STORAGE_OF(KIND))

// The first end of this set from END on.
inline find_end(set) {
  do
  :: END < ENDS && !HAS(set, END) -> END++
  :: else -> break
  od
}

// The second access of LiveChannel::first(): the place of packet n[d] of input c[d]. What lies there when that has gone is another's.
inline look_at_place(d) {
  if
  :: n[d] < 2 && NUMBER(head[c[d]]) == n[d] -> kind[d] = kinds[2 * c[d] + n[d]]
  :: n[d] < 2 && NUMBER(head[c[d]]) != n[d] -> kind[d] = kinds[2 * c[d]]
  :: n[d] < 2 && NUMBER(head[c[d]]) != n[d] -> kind[d] = kinds[2 * c[d] + 1]
  :: n[d] == 2 || NUMBER(head[c[d]]) != n[d] -> kind[d] = NONE
  fi;
  there = (kind[d] != NONE)
}

inline begin() {
  there = false;
  if
  :: F != 0 -> find_end(F); goto fill
  :: else -> find_end(KIND & 15); goto enter
  fi
}
// While it reserves: this end is done.
inline reserve_further() {
  ENTRY = 0;
  END++;
  find_end(CHANNELS_OF(KIND));
  if
  :: END < ENDS && !(IS_STORAGE && R == OTHERS_OF(KIND)) -> goto enter
  :: else -> goto decide
  fi
}
inline is_reserved() {
  R = R | 1 << AT;
  if
  :: RULE(KIND) == ONE -> ENTRY = 0; goto decide
  :: else -> reserve_further()
  fi
}
inline has_no_room() {
  if
  :: !IS_RESERVING -> goto out
  :: IS_RESERVING && (RULE(KIND) == ALL || IS_STORAGE) -> R = 0; ENTRY = 0; goto decide
  :: else -> reserve_further()
  fi
}
// It has entered this end.
inline go_further() {
  ENTRY = 0;
  END++;
  if
  :: F != 0 -> find_end(F | (KIND & TO_NODE))
  :: else -> find_end(KIND & 15)
  fi;
#ifdef WRONG_LEAVES_BEFORE_ALL_HAVE_IT
  END = ENDS;
#endif
  if
  :: END < NODE -> goto fill
  :: END == NODE -> goto enter
  :: END == ENDS -> goto leave
  fi
}

// Checks, in the access that changes the word.
inline check_replacing() {
  assert(NAMED(ENTRY) == 0 || IS_OVER(ENTRY, AT, head[INPUT(ENTRY)]))
}
inline check_entering() {
  assert(SERIAL(head[C]) == S && NUMBER(head[C]) == N);
  assert(kinds[ITS_PACKET] == KIND && HAS(KIND, AT));
  assert(!IS_SEVERAL(KIND) || AT == NODE || HAS(FATE(head[C]), AT));
  assert(!HAS(has_entered[AT], ITS_PACKET) && (N == 1 || !HAS(has_entered[AT], ITS_PACKET + 1)));
  has_entered[AT] = has_entered[AT] | 1 << ITS_PACKET;
  if
  :: END < NODE ->
     assert(COUNT(ENTERED(ENTRY, 0)) - left[AT] <= PLACES);
     let_in[PLACE(AT, COUNT(ENTERED(ENTRY, 0)) - 1)] = ITS_PACKET
  :: else
  fi
}
inline check_bringing() {
  assert(COUNT(ENTRY) - 1 == brought[AT] && LAP(seen) + 1 == LAP_OF(brought[AT]));
  assert(ITS_PACKET == let_in[PLACE(AT, brought[AT])]);
  assert(brought[AT] < PLACES || left[AT] > brought[AT] - PLACES);
  assert(SERIAL(head[C]) == S && FATE(head[C]) == F);
  brought[AT]++
}
inline check_fate() {
  assert(RULE(KIND) != ALL || R == CHANNELS_OF(KIND));
  assert(RULE(KIND) != ONE || IS_ONE(R));
  assert(RULE(KIND) != KEEP || (R & STORAGE_OF(KIND)) != 0 || R == OTHERS_OF(KIND));
  assert((R & ~KIND) == 0);
  assert(!HAS(R, 0) || IS_RESERVED_BY(entries[0], C, S));
  assert(!HAS(R, 1) || IS_RESERVED_BY(entries[1], C, S));
  assert(!HAS(R, 2) || IS_RESERVED_BY(entries[2], C, S))
}
#define ITS_ENDS (HAS(has_entered[0], ITS_PACKET) | HAS(has_entered[1], ITS_PACKET) << 1 | \
                  HAS(has_entered[2], ITS_PACKET) << 2 | HAS(has_entered[3], ITS_PACKET) << 3)
inline check_leaving() {
  assert(ITS_ENDS == (IS_SEVERAL(KIND) -> F | (KIND & TO_NODE) : KIND & 15));
  assert(!HAS(ITS_ENDS, 0) || (IS_ENTERED_BY(entries[0], C, S) && COUNT(entries[0]) == brought[0]));
  assert(!HAS(ITS_ENDS, 1) || (IS_ENTERED_BY(entries[1], C, S) && COUNT(entries[1]) == brought[1]));
#if CHANNELS == 3
  assert(!HAS(ITS_ENDS, 2) || (IS_ENTERED_BY(entries[2], C, S) && COUNT(entries[2]) == brought[2]));
#endif
  assert(!HAS(ITS_ENDS, NODE) || IS_ENTERED_BY(entries[NODE], C, S))
}
// A next router takes one out.
inline take(ch) {
  assert(PACKET(place[PLACE(ch, left[ch])]) == let_in[PLACE(ch, left[ch])]);
  left[ch]++
}

// LiveMove::run of the first packet of input c[0].
inline step() {
  // first()
  atomic { S = SERIAL(head[C]); N = NUMBER(head[C]); F = FATE(head[C]) };
  atomic {
    look_at_place(0);
    if
    :: !there -> goto out
    :: else -> begin()
    fi
  };

enter:  // or reserve
  atomic { ENTRY = entries[AT] };
  atomic {
    if
#ifdef WRONG_NO_LOOK_AT_THE_HEAD
    :: SERIAL(head[C]) != S && IS_RESERVING -> goto out
#else
    :: SERIAL(head[C]) != S -> goto out  // already
#endif
    :: else
    fi;
    if
    :: IS_RESERVING && FATE(head[C]) != 0 -> goto is_decided
    :: IS_RESERVING && FATE(head[C]) == 0 && IS_RESERVED_BY(ENTRY, C, S) -> is_reserved()
#ifndef WRONG_HELPS_FROM_THE_FIRST
    :: IS_RESERVING && FATE(head[C]) == 0 && !IS_RESERVED_BY(ENTRY, C, S) && END < FROM -> has_no_room()
#endif
    :: !IS_RESERVING && IS_ENTERED_BY(ENTRY, C, S) && END < NODE -> goto bring
    :: !IS_RESERVING && IS_ENTERED_BY(ENTRY, C, S) && END == NODE -> go_further()
    :: else
    fi;
    if
    :: END == NODE -> goto settle
    :: else
    fi
  };
  atomic {
    if
#ifndef WRONG_NO_LOOK_AT_ROOM
    :: COUNT(ENTRY) - left[AT] >= PLACES -> has_no_room()
#endif
    :: else
    fi
  };
settle:
  atomic {
    if
#ifdef WRONG_NO_SETTLE
    :: true -> goto change
#endif
    :: NAMED(ENTRY) == 0 || INPUT(ENTRY) == C -> goto change
    :: NAMED(ENTRY) != 0 && INPUT(ENTRY) != C && IS_OVER(ENTRY, AT, head[INPUT(ENTRY)]) -> goto change
#ifdef WRONG_REPLACES_WHAT_IS_OPEN
    :: IS_RESERVED(ENTRY) && INPUT(ENTRY) != C && FATE(head[INPUT(ENTRY)]) == 0 -> goto change
#endif
    :: else ->
       assert(depth + 1 < INPUTS);
       c[depth + 1] = INPUT(ENTRY);
       s[depth + 1] = ITS_SERIAL(ENTRY);
       n[depth + 1] = NUMBER(head[INPUT(ENTRY)]);
       fate[depth + 1] = FATE(head[INPUT(ENTRY)]);
       from[depth + 1] = END
    fi
  };
  atomic {
    look_at_place(depth + 1);
    if
    :: there -> depth++; begin()
    :: else -> forget(depth + 1); goto change
    fi
  };
change:
  atomic {
    if
    :: entries[AT] == ENTRY && IS_RESERVING ->
       check_replacing();
       entries[AT] = RESERVED(ENTRY, NAME(C, S));
       is_reserved()
    :: entries[AT] == ENTRY && !IS_RESERVING ->
       check_replacing();
       check_entering();
       ENTRY = ENTERED(ENTRY, NAME(C, S));
       entries[AT] = ENTRY;
       if
       :: END < NODE -> goto bring
       :: else -> go_further()
       fi
    :: else -> goto enter
    fi
  };

decide:
  atomic {
    if
    :: RULE(KIND) == KEEP && R == STORAGE_OF(KIND) -> R = 0  // the machine may have it wait, or stay in the local storage
    :: true
    fi;
    END = 0;
    if
#ifdef WRONG_STORES_THE_FATE
    :: R != 0 -> head[C] = HEAD(S, N, R); F = R; R = 0; find_end(F); goto fill
#endif
    :: head[C] == HEAD(S, N, 0) && R != 0 ->
       check_fate();
       head[C] = HEAD(S, N, R);
       F = R; R = 0;
       find_end(F);
       goto fill
#ifdef WRONG_TRIES_AGAIN_UNDER_THE_SAME_SERIAL
    :: R == 0 -> goto release
#else
    :: head[C] == HEAD(S, N, 0) && R == 0 ->
       assert(ITS_ENDS == 0 && S < 7);
       head[C] = HEAD(S + 1, N, 0);
       goto out
#endif
#ifdef WRONG_KEEPS_WHAT_IT_CHOSE
    :: head[C] != HEAD(S, N, 0) && R != 0 -> F = R; R = 0; find_end(F); goto fill
#endif
    :: else
    fi
  };
is_decided:
  atomic {
    R = 0; ENTRY = 0; END = 0;
    if
#ifdef WRONG_ONLY_WHO_DECIDES_ENTERS
    :: true -> goto out
#endif
    :: SERIAL(head[C]) != S -> goto out
    :: else -> F = FATE(head[C]); find_end(F)
    fi
  };
fill:
  atomic { ENTRY = entries[AT] };
#ifdef WRONG_ENTERS_WHAT_IS_RESERVED_BY_ANY
  if
  :: IS_RESERVED(ENTRY) -> goto enter_reserved
  :: else
  fi;
#endif
  if
  :: IS_ENTERED_BY(ENTRY, C, S) -> goto bring
  :: IS_RESERVED_BY(ENTRY, C, S)
  :: else -> goto out  // already
  fi;
enter_reserved:
  atomic {
    if
    :: entries[AT] == ENTRY ->
       check_entering();
       ENTRY = ENTERED(ENTRY, NAME(C, S));
       entries[AT] = ENTRY
    :: else -> goto fill
    fi
  };
bring:
  atomic { seen = place[PLACE(AT, COUNT(ENTRY) - 1)] };
  atomic {
    if
    :: entries[AT] == ENTRY && ((LAP(seen) ^ LAP_OF(COUNT(ENTRY) - 1)) & 1)
    :: else -> seen = 0; go_further()
    fi
  };
  atomic {
    if
    :: place[PLACE(AT, COUNT(ENTRY) - 1)] == seen ->
       check_bringing();
       place[PLACE(AT, COUNT(ENTRY) - 1)] = FILLED(ITS_PACKET, F, LAP(seen) + 1)
    :: else
    fi;
    seen = 0;
    go_further()
  };
leave:
  atomic {
    if
    :: head[C] == HEAD(S, N, F) -> check_leaving(); assert(S < 7); head[C] = HEAD(S + 1, N + 1, 0)
    :: else
    fi
  };
#ifdef WRONG_TRIES_AGAIN_UNDER_THE_SAME_SERIAL
  goto out;
release:
  do
  :: END < CHANNELS ->
     atomic { ENTRY = entries[AT] };
     atomic {
       if
       :: IS_RESERVED_BY(ENTRY, C, S) && entries[AT] == ENTRY -> entries[AT] = COUNT(ENTRY) << 6
       :: else
       fi;
       END++
     }
  :: else -> break
  od;
#endif
out:
  atomic {
    if
    :: depth != 0 -> forget(depth); depth--; goto change
    :: else
    fi;
    forget(0); there = false
  }
}

#define MAY_BEGIN(ch) (kinds[2 * ch] != NONE && SERIAL(head[ch]) - NUMBER(head[ch]) <= MOST_LOST)
active [CARRIERS] proctype carrier() {
  LOCALS;
end_idle:
  do
  :: STEPS == 0 || steps < STEPS ->
     atomic {
       if
       :: MAY_BEGIN(0) -> c[0] = 0
       :: MAY_BEGIN(1) -> c[0] = 1
       :: MAY_BEGIN(2) -> c[0] = 2
       fi;
       steps = (STEPS == 0 -> 0 : steps + 1)
     };
     step()
  od
}

active proctype next_routers() {
end_idle:
  do
  :: atomic { IS_THERE(0) -> take(0) }
  :: atomic { IS_THERE(1) -> take(1) }
#if CHANNELS == 3
  :: atomic { IS_THERE(2) -> take(2) }
#endif
  od
}

#define PACKETS_OF(set) (HAS(set, 0) + HAS(set, 1) + HAS(set, 2) + HAS(set, 3) + HAS(set, 4) + HAS(set, 5))

// Input 2 before 1 before 0, so that what lies in the way of another is not gone by chance.
active proctype look_after() {
  LOCALS;
  byte before, i;
  d_step {
    do
    :: before = NUMBER(head[0]) + NUMBER(head[1]) + NUMBER(head[2]);
       i = 0;
       do
       :: i < CHANNELS && IS_THERE(i) -> take(i)
       :: i < CHANNELS && !IS_THERE(i) -> i++
       :: i == CHANNELS -> break
       od;
       i = 0;
       do
       :: i < INPUTS -> c[0] = INPUTS - 1 - i; step(); i++
       :: else -> break
       od;
       if
       :: NUMBER(head[0]) + NUMBER(head[1]) + NUMBER(head[2]) == before -> break
       :: else
       fi
    od;
    i = 0;
    do
    :: i < 2 * INPUTS -> assert((kinds[i] == NONE) == (NUMBER(head[i / 2]) <= i % 2)); i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < ENDS -> assert(NAMED(entries[i]) == 0 || IS_OVER(entries[i], i, head[INPUT(entries[i])])); i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < CHANNELS -> assert(COUNT(entries[i]) == PACKETS_OF(has_entered[i]) && left[i] == COUNT(entries[i])); i++
    :: else -> break
    od;
    assert(COUNT(entries[NODE]) == PACKETS_OF(has_entered[NODE]));
    i = 0; before = 0
  }
}
