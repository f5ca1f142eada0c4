// How packets move through a router of the live substrate (src/emulated_hw/kit/live_move.hpp), access by access: each `atomic` holds one
// load or compare-and-swap of a shared word, sequentially consistent as there; the rest of it is the carrier's own. Names are the code's.
//
//   inputs 0, 1, 2 of a router  --->  channel 3 (PLACES places)  --->  the next router, which counts at its node
//                               --->  this router's node, which counts them in one word
//
// Or, with -DLINK, of a link of two channels, 3 and 4, of one place each, which one word is for (live_link.hpp); and with packets of kind
// ASKED the node is asked first whether it takes one, and what it does not take goes into the link (mmachine/live_mesh.hpp). With -DFALLS
// who brings a packet into channel 3 writes there, as he sees fit, whether it falls: then the next router's memory counts it, and not
// its node (cm5/live_tree.hpp).
//
// Carriers step any channel at any time, again and again. Each may stop between any two accesses, for ever or for as long as it likes.
// Once, at any moment, look_after() steps all inputs without a pause, as the only one who is alive: all must have come then, whatever
// the others have left half done. They may go on afterwards.
//
// Checked, at the access where it would happen:
//   - a packet is entered at each of its ends once, and the packets of an input in their order; at one of them, if it is one that the
//     node was asked about;
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
//   - of several channels a carrier looks at one, any of them, and comes again when there is no room: which it prefers is its affair.
//   - what an ASKED packet is decided to be lies in a word of its own, not in the packet's place. Who finds that another has decided
//     may read anything when that has gone; here he reads what it was. Either way he finds next that it has gone.
//   - hints are left out: live_hints.pml.
//
// -DPLACES=n (1 with -DLINK) -DCARRIERS=n -DSTEPS=n (of each carrier; 0: any number) -DKINDS=... (of packets), and -DWRONG_...:
// mistakes, each of which has to be found.

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
#define ASKED 4    // THROUGH or HERE, as the node says when it is asked
#define OPEN 0     // one of these that has not been decided about
#ifndef KINDS
#define KINDS BOTH, BOTH, HERE, NONE, THROUGH, THROUGH
#endif

// Channels, and ends.
#define INPUTS 3
#define CHANNEL 3
#ifdef LINK
#define CHANNELS 2
#else
#define CHANNELS 1
#endif
#define BEHIND 0  // channel 3, or the link
#define NODE 1
#define NEXT_NODE 2
#ifdef FALLS
#define MEMORY 3
#define ENDS 4
#else
#define ENDS 3
#endif

byte kinds[6] = {KINDS};
#define KIND(c, n) (c >= CHANNEL -> HERE : (kinds[2 * c + n] == ASKED -> fate[2 * c + n] : kinds[2 * c + n]))

// An Entry: a count, and the last one's input and number; a LinkEntry: a count for each channel, and which the last one is in. A place:
// the lap, and the packet's name.
#define NAME(c, n) ((c) * 7 + (n) + 1)
#define INPUT(e) ((NAMED(e) - 1) / 7)
#define NUMBER(e) ((NAMED(e) - 1) % 7)
#ifdef LINK
#define WORD short
#define NAMED(e) ((e) & 63)
#define COUNT(e) ((e) >> 7)
#define WITH(e, name) ((COUNT(e) + 1) << 7 | (name))
#define ITS_CHANNEL(e) ((e) >> 6 & 1)
#define COUNT_IN(e, ch) ((e) >> (7 + 3 * (ch)) & 7)
#define WITH_IN(e, name, ch) ((((e) >> 7) + (1 << 3 * (ch))) << 7 | (ch) << 6 | (name))
#else
#define WORD byte
#define NAMED(e) ((e) & 31)
#define COUNT(e) ((e) >> 5)
#define WITH(e, name) ((COUNT(e) + 1) << 5 | (name))
#define ITS_CHANNEL(e) 0
#define COUNT_IN(e, ch) COUNT(e)
#define WITH_IN(e, name, ch) WITH(e, name)
#endif

// The shared words.
WORD entries[ENDS];             // by end
byte left[INPUTS + CHANNELS];   // by channel
short place[PLACES * CHANNELS];  // of channel 3, and 4
byte fate[6];                   // of packets that are ASKED

#define LAP(w) ((w) >> 6)
#define IT_FALLS(w) ((w) >> 5 & 1)
#define PACKET(w) ((w) & 31)
#define LAP_OF(n) ((n) / PLACES + 1)
#define FILLED(packet, falls, lap) ((lap) << 6 | (falls) << 5 | (packet))
#define PLACE(ch, n) ((ch) * PLACES + (n) % PLACES)

// What has happened. Checks read it, carriers do not.
byte has_entered[ENDS * (INPUTS + CHANNELS)];  // by end and channel: how many of its packets
byte let_in[PLACES * CHANNELS];             // into channel 3, and 4
byte brought[CHANNELS];                     // there
#define HAS_ENTERED(end, ch) has_entered[(end) * (INPUTS + CHANNELS) + ch]

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
#ifndef FALLS
  :: C >= CHANNEL -> END = NEXT_NODE; last_end[depth] = true
#else
  :: C >= CHANNEL -> last_end[depth] = true  // look_at_place() has seen which
#ifdef WRONG_EACH_LOOKS_AS_IT_GOES
  :: C >= CHANNEL -> END = NEXT_NODE; last_end[depth] = true
  :: C >= CHANNEL -> END = MEMORY; last_end[depth] = true
#endif
#endif
  :: C < CHANNEL && KIND(C, N) == HERE -> END = NODE; last_end[depth] = true
  :: C < CHANNEL && KIND(C, N) == THROUGH -> END = BEHIND; last_end[depth] = true
  :: C < CHANNEL && KIND(C, N) == BOTH -> END = FIRST_OF_BOTH; last_end[depth] = false
#ifdef WRONG_EACH_DECIDES
  :: C < CHANNEL && KIND(C, N) == OPEN -> END = NODE; last_end[depth] = true
  :: C < CHANNEL && KIND(C, N) == OPEN -> END = BEHIND; last_end[depth] = true
#endif
  fi
}

// A carrier's own: one move in progress, and those that settle() begins in it.
#ifdef LINK
#define LOCALS LOCALS_OF_ALL; byte chosen[3]; bool has_room
#define CHOSEN chosen[depth]
inline forget(d) { c[d] = 0; n[d] = 0; end[d] = 0; last_end[d] = false; entry[d] = 0; chosen[d] = 0 }
#else
#define LOCALS LOCALS_OF_ALL
#define CHOSEN 0
inline forget(d) { c[d] = 0; n[d] = 0; end[d] = 0; last_end[d] = false; entry[d] = 0 }
#endif
#define LOCALS_OF_ALL byte c[3]; byte n[3]; byte end[3]; bool last_end[3]; WORD entry[3]; byte depth; short seen; bool there; byte steps

#ifdef WRONG_SETTLES_ONE_DEEP
#define MOST_DEPTH 1
#else
#define MOST_DEPTH 2
#endif

// The second access of LiveChannel::first(): the place of packet n[d] of channel c[d], when `left` has been seen.
inline look_at_place(d) {
  if
  :: c[d] >= CHANNEL ->
     there = LAP(place[PLACE(c[d] - CHANNEL, n[d])]) == LAP_OF(n[d]);
     assert(!there || left[c[d]] > n[d] ||
            PACKET(place[PLACE(c[d] - CHANNEL, n[d])]) == let_in[PLACE(c[d] - CHANNEL, n[d])]);
#ifdef FALLS
     end[d] = (IT_FALLS(place[PLACE(c[d] - CHANNEL, n[d])]) -> MEMORY : NEXT_NODE)
#endif
  :: c[d] < CHANNEL && (n[d] == 2 || kinds[2 * c[d] + n[d]] == NONE) -> there = false
  :: c[d] < CHANNEL && n[d] < 2 && kinds[2 * c[d] + n[d]] != NONE -> there = true
  :: c[d] < CHANNEL && left[c[d]] > n[d] -> there = false
  fi
}

// The channel that an entered packet is brought to, and its place there.
#ifdef WRONG_KEEPS_ITS_CHOICE
#define BROUGHT_TO CHOSEN
#else
#define BROUGHT_TO ITS_CHANNEL(ENTRY)
#endif
#define BROUGHT_AS (COUNT_IN(ENTRY, BROUGHT_TO) - 1)
#define ITS_PLACE place[PLACE(BROUGHT_TO, BROUGHT_AS)]

// Checks, in the access that changes the word.
inline check_entering() {
  assert(NAMED(ENTRY) == 0 || left[INPUT(ENTRY)] > NUMBER(ENTRY));
  assert(left[C] == N);
  // of an input's two packets, the second comes behind the first where that came here, too
  if
  :: C < CHANNEL && kinds[2 * C] == ASKED ->
     assert(HAS_ENTERED(NODE, C) + HAS_ENTERED(BEHIND, C) == N)
#ifdef FALLS
  :: C >= CHANNEL -> assert(HAS_ENTERED(NEXT_NODE, C) + HAS_ENTERED(MEMORY, C) == N)
#endif
  :: else ->
     assert(HAS_ENTERED(END, C) ==
            (C >= CHANNEL -> N : (N == 0 -> 0 : KIND(C, 0) == BOTH || (KIND(C, 0) == HERE) == (END == NODE))))
  fi;
  HAS_ENTERED(END, C)++;
  if
  :: END == BEHIND ->
     assert(COUNT_IN(ENTRY, CHOSEN) - left[CHANNEL + CHOSEN] < PLACES);
     let_in[PLACE(CHOSEN, COUNT_IN(ENTRY, CHOSEN))] = NAME(C, N)
  :: else
  fi
}
inline check_bringing() {
  assert(COUNT_IN(ENTRY, BROUGHT_TO) - 1 == brought[BROUGHT_TO]);
  assert(LAP(seen) + 1 == LAP_OF(brought[BROUGHT_TO]));
  assert(NAME(C, N) == let_in[PLACE(BROUGHT_TO, brought[BROUGHT_TO])]);
  assert(brought[BROUGHT_TO] < PLACES || left[CHANNEL + BROUGHT_TO] > brought[BROUGHT_TO] - PLACES);
  brought[BROUGHT_TO]++
}
inline check_leaving() {
  if
  :: C >= CHANNEL -> assert(NAMED(entries[END]) == NAME(C, N) && brought[C - CHANNEL] > N)
#ifdef WRONG_EACH_DECIDES
  :: C < CHANNEL && KIND(C, N) == OPEN
#endif
  :: else ->
     assert(KIND(C, N) == THROUGH || NAMED(entries[NODE]) == NAME(C, N));
     assert(KIND(C, N) == HERE || (NAMED(entries[BEHIND]) == NAME(C, N) &&
            brought[ITS_CHANNEL(entries[BEHIND])] == COUNT_IN(entries[BEHIND], ITS_CHANNEL(entries[BEHIND]))))
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
#ifndef WRONG_EACH_DECIDES
    :: there && C < CHANNEL && KIND(C, N) == OPEN -> goto decided
#endif
    :: else -> begin_ends(); goto enter
    fi
  };
decided:
  atomic {
    if
#ifdef WRONG_STORES_WHAT_IT_DECIDES
    :: fate[2 * C + N] = HERE
    :: fate[2 * C + N] = THROUGH
#endif
    :: fate[2 * C + N] == OPEN -> fate[2 * C + N] = HERE
    :: fate[2 * C + N] == OPEN -> fate[2 * C + N] = THROUGH
    :: else  // another has decided
    fi;
    begin_ends()
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
#ifdef LINK
#ifdef WRONG_LOOKS_FOR_ROOM_ONCE
    if
    :: has_room -> goto settle
    :: else
    fi;
#endif
    if
    :: CHOSEN = 0
    :: CHOSEN = 1
    fi;
#endif
    if
#ifndef WRONG_NO_LOOK_AT_ROOM
    :: COUNT_IN(ENTRY, CHOSEN) - left[CHANNEL + CHOSEN] >= PLACES -> goto out
#endif
    :: else
    fi
#ifdef WRONG_LOOKS_FOR_ROOM_ONCE
    ; has_room = true
#endif
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
       ENTRY = (END == BEHIND -> WITH_IN(ENTRY, NAME(C, N), CHOSEN) : WITH(ENTRY, NAME(C, N)));
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
    seen = ITS_PLACE;
    if
    :: (LAP(seen) ^ LAP_OF(BROUGHT_AS)) & 1 -> skip
    :: else -> goto has_come
    fi
  };
#else
  atomic { seen = ITS_PLACE };
  atomic {
    if
#ifndef WRONG_NO_LOOK_AT_ENTRY
    :: entries[BEHIND] != ENTRY -> goto has_come
    :: entries[BEHIND] == ENTRY && ((LAP(seen) ^ LAP_OF(BROUGHT_AS)) & 1) -> skip
#else
    :: (LAP(seen) ^ LAP_OF(BROUGHT_AS)) & 1 -> skip
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
    :: ITS_PLACE == seen ->
#endif
       check_bringing();
#ifdef FALLS
       if
       :: ITS_PLACE = FILLED(NAME(C, N), 0, LAP(seen) + 1)
       :: ITS_PLACE = FILLED(NAME(C, N), 1, LAP(seen) + 1)
       fi
#else
       ITS_PLACE = FILLED(NAME(C, N), 0, LAP(seen) + 1)
#endif
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
#ifdef WRONG_LOOKS_FOR_ROOM_ONCE
    has_room = false;
#endif
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
#ifdef LINK
       :: c[0] = CHANNEL + 1
#endif
       fi;
       steps = (STEPS == 0 -> 0 : steps + 1)
     };
     step()
  od
}

// That have come into channel 3, or the link, and that have left it.
#ifdef LINK
#define HAVE_COME (COUNT_IN(entries[BEHIND], 0) + COUNT_IN(entries[BEHIND], 1))
#define HAVE_LEFT (left[CHANNEL] + left[CHANNEL + 1])
#else
#define HAVE_COME COUNT(entries[BEHIND])
#define HAVE_LEFT left[CHANNEL]
#endif

// Input 2 before 0 before 1, so that what lies in the way of another is not gone by chance.
active proctype look_after() {
  LOCALS;
  byte before, i, went, stays, asked;
  d_step {
    do
    :: before = left[0] + left[1] + left[2] + HAVE_LEFT;
       i = 0;
       do
       :: i < INPUTS + CHANNELS -> c[0] = (i < CHANNELS -> CHANNEL + i : INPUTS + CHANNELS - 1 - i); step(); i++
       :: else -> break
       od;
       if
       :: left[0] + left[1] + left[2] + HAVE_LEFT == before -> break
       :: else
       fi
    od;
    i = 0;
    do
    :: i < 6 ->
       assert((kinds[i] == NONE) == (left[i / 2] <= i % 2));
       went = went + (kinds[i] == THROUGH || kinds[i] == BOTH);
       stays = stays + (kinds[i] == HERE || kinds[i] == BOTH);
       asked = asked + (kinds[i] == ASKED);
       before = 0;
       i++
    :: else -> break
    od;
#ifdef FALLS
    assert(HAVE_COME == HAVE_LEFT && COUNT(entries[NEXT_NODE]) + COUNT(entries[MEMORY]) == HAVE_COME);
#else
    assert(HAVE_COME == HAVE_LEFT && COUNT(entries[NEXT_NODE]) == HAVE_COME);
#endif
    assert(HAVE_COME >= went && COUNT(entries[NODE]) >= stays);
    assert(HAVE_COME + COUNT(entries[NODE]) == went + stays + asked);
    i = 0; went = 0; stays = 0; asked = 0
  }
}
