// How packets move through a router of the live substrate (src/emulated_hw/kit/live_move.hpp), access by access: each `atomic` holds one
// load or compare-and-swap of a shared word, sequentially consistent as there; the rest of it is the carrier's own. Names are the code's.
//
//   inputs 0, 1, 2 of a router  --->  channel 3 (PLACES places)  --->  the next router, which counts at its node
//                               --->  this router's node, which counts them in one word
//
// Carriers step any channel at any time, again and again. Each may stop between any two accesses, for ever or for as long as it likes.
// Once, at any moment, look_after() steps all inputs without a pause, as the only one who is alive: all must have come then, whatever
// the others have left half done. They may go on afterwards.
//
// Checked, at the access where it would happen:
//   - a packet is entered at each of its ends once, and the packets of an input in their order;
//   - an entry is replaced only when the packet that it names has left its input;
//   - places are brought in order, each with the packet that was let in, over one that has been taken out;
//   - a packet leaves its input when it is at all its ends;
//   - after look_after() nothing lies anywhere, and each count is exact.
//
// Where this departs from the code:
//   - counts, numbers and laps do not come again: at most 7 packets through an end. In the code they do after 2^20, 2^38 and 2^32; that
//     nobody acts on a word that old is assumed (live_channel.hpp). That bring() looks at no more than the lap's lowest bit is modelled.
//   - the packets of inputs 0 to 2 lie there from the beginning. The place of one that has gone on may hold another's lap at any time,
//     as if more came behind it.
//   - a carrier steps one input of a router (step_alone): who goes first is anybody's guess here, so arbitration adds nothing.
//   - a fetch that turns into its answer in the interface is one of kind THROUGH: only which channel it is differs.
//   - hints are left out: live_hints.pml.
//
// -DPLACES=n -DCARRIERS=n -DSTEPS=n (of each carrier; 0: any number) -DKINDS=... (of packets), and -DWRONG_...: mistakes, each of
// which has to be found.

#ifndef PLACES
#define PLACES 1
#endif
#ifndef CARRIERS
#define CARRIERS 2
#endif
#ifndef STEPS
#define STEPS 0
#endif

// What becomes of the packets of each input, two of each.
#define NONE 0     // there is none
#define THROUGH 1  // into channel 3
#define HERE 2     // to the node
#define BOTH 3     // a multicast: into channel 3, and a copy to the node
#ifndef KINDS
#define KINDS BOTH, BOTH, HERE, NONE, THROUGH, THROUGH
#endif

// Channels, and ends.
#define INPUTS 3
#define CHANNEL 3
#define BEHIND 0  // channel 3
#define NODE 1
#define NEXT_NODE 2

byte kinds[6] = {KINDS};
#define KIND(c, n) (c == CHANNEL -> HERE : kinds[2 * c + n])

// The shared words.
byte entries[3];     // by end
byte left[4];        // by channel
byte place[PLACES];  // of channel 3

// An Entry: a count, and the last one's input and number. A place: the lap, and the packet's name.
#define NAME(c, n) ((c) * 7 + (n) + 1)
#define COUNT(e) ((e) >> 5)
#define NAMED(e) ((e) & 31)
#define INPUT(e) ((NAMED(e) - 1) / 7)
#define NUMBER(e) ((NAMED(e) - 1) % 7)
#define WITH(e, name) ((COUNT(e) + 1) << 5 | (name))
#define LAP(w) ((w) >> 5)
#define PACKET(w) ((w) & 31)
#define LAP_OF(n) ((n) / PLACES + 1)
#define FILLED(packet, lap) ((lap) << 5 | (packet))

// What has happened. Checks read it, carriers do not.
byte has_entered[12];  // by end * 4 + channel: how many of its packets
byte let_in[PLACES];   // into channel 3
byte brought;          // to channel 3

// Of the packet whose move is frame `depth`: where it goes next, and the word for that.
#ifdef WRONG_NODE_BEFORE_CHANNEL
#define FIRST_OF_BOTH NODE
#else
#define FIRST_OF_BOTH BEHIND
#endif
#define C c[depth]
#define N n[depth]
#define ENTRY entry[depth]
#define END end[depth]
inline begin_ends() {
  if
  :: C == CHANNEL -> END = NEXT_NODE; last_end[depth] = true
  :: C != CHANNEL && KIND(C, N) == HERE -> END = NODE; last_end[depth] = true
  :: C != CHANNEL && KIND(C, N) == THROUGH -> END = BEHIND; last_end[depth] = true
  :: C != CHANNEL && KIND(C, N) == BOTH -> END = FIRST_OF_BOTH; last_end[depth] = false
  fi
}

// A carrier's own: one move in progress, and those that settle() begins in it.
#define LOCALS byte c[3]; byte n[3]; byte end[3]; bool last_end[3]; byte entry[3]; byte depth; byte seen; bool there; byte steps
inline forget(d) { c[d] = 0; n[d] = 0; end[d] = 0; last_end[d] = false; entry[d] = 0 }

#ifdef WRONG_SETTLES_ONE_DEEP
#define MOST_DEPTH 1
#else
#define MOST_DEPTH 2
#endif

// The second access of LiveChannel::first(): the place of packet n[d] of channel c[d], when `left` has been seen.
inline look_at_place(d) {
  if
  :: c[d] == CHANNEL ->
     there = LAP(place[n[d] % PLACES]) == LAP_OF(n[d]);
     assert(!there || left[CHANNEL] > n[d] || PACKET(place[n[d] % PLACES]) == let_in[n[d] % PLACES])
  :: c[d] != CHANNEL && (n[d] == 2 || KIND(c[d], n[d]) == NONE) -> there = false
  :: c[d] != CHANNEL && n[d] < 2 && KIND(c[d], n[d]) != NONE -> there = true
  :: c[d] != CHANNEL && left[c[d]] > n[d] -> there = false
  fi
}

// Checks, in the access that changes the word.
inline check_entering() {
  assert(NAMED(ENTRY) == 0 || left[INPUT(ENTRY)] > NUMBER(ENTRY));
  assert(left[C] == N);
  // of an input's two packets, the second comes behind the first where that came here, too
  assert(has_entered[END * 4 + C] ==
         (C == CHANNEL -> N : (N == 0 -> 0 : KIND(C, 0) == BOTH || (KIND(C, 0) == HERE) == (END == NODE))));
  has_entered[END * 4 + C]++;
  if
  :: END == BEHIND ->
     assert(COUNT(ENTRY) - left[CHANNEL] < PLACES);
     let_in[COUNT(ENTRY) % PLACES] = NAME(C, N)
  :: else
  fi
}
inline check_bringing() {
  assert(COUNT(ENTRY) - 1 == brought);
  assert(LAP(seen) + 1 == LAP_OF(brought));
  assert(NAME(C, N) == let_in[brought % PLACES]);
  assert(brought < PLACES || left[CHANNEL] > brought - PLACES);
  brought++
}
inline check_leaving() {
  if
  :: C == CHANNEL -> assert(NAMED(entries[NEXT_NODE]) == NAME(C, N) && brought > N)
  :: else ->
     assert(KIND(C, N) == THROUGH || NAMED(entries[NODE]) == NAME(C, N));
     assert(KIND(C, N) == HERE || (NAMED(entries[BEHIND]) == NAME(C, N) && brought == COUNT(entries[BEHIND])))
  fi
}

// LiveMove::run of the first packet of channel c[0].
inline step() {
  // first()
  atomic { N = left[C] };
  atomic {
    look_at_place(0);
    if
    :: !there -> goto out
    :: else -> begin_ends()
    fi
  };

enter:
#ifdef WRONG_LEFT_BEFORE_ENTRY
  atomic {
    if
    :: left[C] != N -> goto out
    :: else
    fi
  };
  atomic { ENTRY = entries[END] };
#else
  atomic { ENTRY = entries[END] };
#endif
  atomic {
    if
#if !defined(WRONG_NO_LOOK_AT_LEFT) && !defined(WRONG_LEFT_BEFORE_ENTRY)
    :: left[C] != N -> goto out  // already
    :: left[C] == N && NAMED(ENTRY) == NAME(C, N) -> goto is_entered
    :: left[C] == N && NAMED(ENTRY) != NAME(C, N) && END == BEHIND -> goto room
    :: left[C] == N && NAMED(ENTRY) != NAME(C, N) && END != BEHIND -> goto settle
#else
    :: NAMED(ENTRY) == NAME(C, N) -> goto is_entered
    :: NAMED(ENTRY) != NAME(C, N) && END == BEHIND -> goto room
    :: NAMED(ENTRY) != NAME(C, N) && END != BEHIND -> goto settle
#endif
    fi
  };
room:
  atomic {
    if
#ifndef WRONG_NO_LOOK_AT_ROOM
    :: COUNT(ENTRY) - left[CHANNEL] >= PLACES -> goto out
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
    :: NAMED(ENTRY) == 0 || INPUT(ENTRY) == C || depth == MOST_DEPTH -> goto change
    :: else -> c[depth + 1] = INPUT(ENTRY); n[depth + 1] = left[INPUT(ENTRY)]
    fi
  };
  atomic {
    look_at_place(depth + 1);
    if
    :: there && NAMED(ENTRY) == NAME(c[depth + 1], n[depth + 1]) -> depth++; begin_ends(); goto enter
    :: else -> forget(depth + 1)
    fi
  };
change:
  atomic {
    if
    :: entries[END] == ENTRY ->
       check_entering();
       ENTRY = WITH(ENTRY, NAME(C, N));
       entries[END] = ENTRY;
#ifdef WRONG_ONLY_WHO_ENTERS_BRINGS
       if
       :: END == BEHIND -> goto bring
       :: else -> goto has_come
       fi
#endif
    :: else -> goto enter
    fi
  };
is_entered:
#ifdef WRONG_ONLY_WHO_ENTERS_BRINGS
  goto has_come;
#endif
  if
  :: END != BEHIND -> goto has_come
  :: else
  fi;
bring:
#ifdef WRONG_PLACE_AFTER_ENTRY
  atomic {
    if
    :: entries[BEHIND] != ENTRY -> goto has_come
    :: else
    fi
  };
  atomic {
    seen = place[(COUNT(ENTRY) - 1) % PLACES];
    if
    :: (LAP(seen) ^ LAP_OF(COUNT(ENTRY) - 1)) & 1 -> skip
    :: else -> goto has_come
    fi
  };
#else
  atomic { seen = place[(COUNT(ENTRY) - 1) % PLACES] };
  atomic {
    if
#ifndef WRONG_NO_LOOK_AT_ENTRY
    :: entries[BEHIND] != ENTRY -> goto has_come
    :: entries[BEHIND] == ENTRY && ((LAP(seen) ^ LAP_OF(COUNT(ENTRY) - 1)) & 1) -> skip
#else
    :: (LAP(seen) ^ LAP_OF(COUNT(ENTRY) - 1)) & 1 -> skip
#endif
    :: else -> goto has_come
    fi
  };
#endif
  atomic {
    if
#ifdef WRONG_STORES_THE_PLACE
    :: true ->
#else
    :: place[(COUNT(ENTRY) - 1) % PLACES] == seen ->
#endif
       check_bringing();
       place[(COUNT(ENTRY) - 1) % PLACES] = FILLED(NAME(C, N), LAP(seen) + 1)
    :: else
    fi
  };
has_come:
  atomic {
    seen = 0;
    if
    :: !last_end[depth] -> END = 1 - END; last_end[depth] = true; goto enter  // BEHIND and NODE
    :: else
    fi;
    if
    :: left[C] == N -> check_leaving(); left[C] = N + 1
    :: else
    fi
  };
out:
  atomic {
    if
    :: depth != 0 -> forget(depth); depth--; goto change
    :: else
    fi;
    forget(0); there = false
  }
}

active [CARRIERS] proctype carrier() {
  LOCALS;
end_idle:
  do
  :: STEPS == 0 || steps < STEPS ->
     atomic {
       if
       :: c[0] = 0
       :: kinds[2] != NONE -> c[0] = 1
       :: kinds[4] != NONE -> c[0] = 2
       :: c[0] = CHANNEL
       fi;
       steps = (STEPS == 0 -> 0 : steps + 1)
     };
     step()
  od
}

// Input 2 before 0 before 1, so that what lies in the way of another is not gone by chance.
active proctype look_after() {
  LOCALS;
  byte before, i, went;
  d_step {
    do
    :: before = left[0] + left[1] + left[2] + left[CHANNEL];
       i = 0;
       do
       :: i < 4 -> c[0] = (i == 0 -> CHANNEL : INPUTS - i); step(); i++
       :: else -> break
       od;
       if
       :: left[0] + left[1] + left[2] + left[CHANNEL] == before -> break
       :: else
       fi
    od;
    i = 0;
    do
    :: i < 6 ->
       assert((kinds[i] == NONE) == (left[i / 2] <= i % 2));
       went = went + (kinds[i] == THROUGH || kinds[i] == BOTH);
       before = 0;
       i++
    :: else -> break
    od;
    assert(COUNT(entries[BEHIND]) == went && left[CHANNEL] == went && COUNT(entries[NEXT_NODE]) == went);
    went = 0;
    i = 0;
    do
    :: i < 6 -> went = went + (kinds[i] == HERE || kinds[i] == BOTH); i++
    :: else -> break
    od;
    assert(COUNT(entries[NODE]) == went);
    i = 0; went = 0
  }
}
