// Nobody is killed, and nobody looks after the routers: nothing lies forgotten (src/emulated_hw/t1/live_mesh.hpp, carrier.hpp). Carriers
// with their marks: what waits, who is starved, what is still to do. Each `atomic` holds one access to what they share, sequentially
// consistent as there; but a move is three: entered, brought and gone, since live_move.pml has its accesses. Names are the code's.
//
//   inputs 0 and 1 of router 0  --->  channel 2 (PLACES places), the input of router 1, which sends all to its node
//                               --->  its node
//
// Each carrier brings one packet to an input of router 0, and then does what there is to do until it knows of nothing more, and goes.
//
// Checked: when all have gone, nothing lies anywhere.
//
// Where this departs from the code:
//   - no carrier gives up after many steps, or because it cannot remember all there is to do: these leave marks for look_after(), so
//     something may wait until then. But such marks may stand at the beginning, where there is nothing (STALE).
//   - `work` is left out: only look_after() reads it.
//   - of those who want the same output anybody may go first.
//   - nobody asks for room in inputs 0 and 1: who brings a packet there waits until there is some.
//
// -DPLACES=n of channel 2 -DINPUT_PLACES=n of inputs 0 and 1 -DCARRIERS=n -DINTO=... (each one's input) -DGOES_0=... -DGOES_1=... (where
// packets of an input go) -DSTALE=n (marks at the beginning: 1, 2: waiting at router 0; 4: at router 1; 8: starved), and -DWRONG_...:
// mistakes, each of which has to be found.

#ifndef PLACES
#define PLACES 1
#endif
#ifndef INPUT_PLACES
#define INPUT_PLACES 2
#endif
#ifndef STALE
#define STALE 0
#endif
#ifndef CARRIERS
#define CARRIERS 3
#endif
#ifndef INTO
#define INTO 0, 1, 1
#endif
#define THROUGH 1  // into channel 2
#define HERE 2     // to the node
#ifndef GOES_0
#define GOES_0 HERE
#endif
#ifndef GOES_1
#define GOES_1 THROUGH
#endif

#define BEHIND 2  // the channel
#define GOES(ch) (ch == 0 -> GOES_0 : (ch == 1 -> GOES_1 : HERE))

// Of a channel: the router whose input it is, and its bit there.
#define ROUTER(ch) (ch / 2)
#define PLACES_OF(ch) (ch == BEHIND -> PLACES : INPUT_PLACES)
#define BIT(ch) (1 << (ch % 2))

// The shared words.
byte waiting[2];  // by router
byte starved;     // of router 1: whether input 2 is
byte come[3];     // by channel: how many have been brought there
byte left[3];
byte entered;     // into channel 2
byte last;        // the packet that its entry names
#define NAME(ch, n) (ch * 4 + n + 1)
#define INPUT(name) ((name - 1) / 4)
#define NUMBER(name) ((name - 1) % 4)

// LiveChannel::at(): the place of packet n, which may hold a later one by now.
#define IS_THERE(ch, n) (come[ch] > n && come[ch] <= n + PLACES_OF(ch))

byte into[CARRIERS] = {INTO};
byte ended;

// To do, the last one first: a router, and inputs beside those that wait.
#define MOST_TO_DO 6
inline to_do(router, bits) {
  if
  :: count != 0 && stack[count - 1] >> 2 == router -> stack[count - 1] = stack[count - 1] | bits
  :: else -> assert(count < MOST_TO_DO); stack[count] = router << 2 | bits; count++
  fi
}

// The first of these inputs, from `input` on; 2: none.
inline find_input(bits) {
  if
  :: input == 0 && !((bits) & 1) -> input = 1
  :: else
  fi;
  if
  :: input == 1 && !((bits) & 2) -> input = 2
  :: else
  fi
}

// To `back`: those of these inputs at which something lies after all.
inline forget(bits) {
  atomic {
    waiting[at] = waiting[at] & ~(bits);
    input = 0;
    find_input(bits)
#ifdef WRONG_FORGETS_WITHOUT_ANOTHER_LOOK
    ; input = 2
#endif
  };
  do
  :: atomic { input < 2 -> seen = left[2 * at + input] };
     atomic {
       if
       :: IS_THERE(2 * at + input, seen) -> back = back | 1 << input
       :: else
       fi;
       seen = 0; input++;
       find_input(bits)
     }
  :: atomic { input == 2 && back != 0 -> input = 0; waiting[at] = waiting[at] | back }; break
  :: atomic { input == 2 && back == 0 -> input = 0 }; break
  od
}

proctype carrier(byte its_input; byte before) {
  byte stack[MOST_TO_DO]; byte count;
  byte at, marks, found, picked, back, input, seen;
  bool alone, is_settling, no_room;
  byte n[3];      // by input: the first, as it was seen
  byte ch;        // whose packet moves
  byte number;    // in channel 2

  // brings one
  atomic {
    come[its_input] == before && come[its_input] - left[its_input] < PLACES_OF(its_input) -> come[its_input]++;
    to_do(0, BIT(its_input))
  };

next:  // run()
  atomic {
    n[0] = 0; n[1] = 0; n[2] = 0; ch = 0; found = 0; picked = 0; back = 0; number = 0; no_room = false;
    if
    :: count == 0 -> at = 0; marks = 0; alone = false; goto end_of_it
    :: else -> count--; at = stack[count] >> 2; found = stack[count] & 3; stack[count] = 0
    fi
  };

  // step()
  atomic {
    marks = waiting[at];
    found = found | marks;
    if
    :: found == 0 -> goto next
    :: found == 3 -> alone = false
    :: else -> alone = true
    fi;
    input = 0;
    find_input(found)
  };

look:  // at the first of each occupied input: `found` keeps those that are there
  atomic { n[2 * at + input] = left[2 * at + input] };
  atomic {
    if
    :: IS_THERE(2 * at + input, n[2 * at + input]) && alone -> input = 0; goto decide
    :: IS_THERE(2 * at + input, n[2 * at + input]) && !alone
    :: else ->
       n[2 * at + input] = 0; found = found & ~(1 << input); input++;
       find_input(found);
       if
       :: input < 2 -> goto look
       :: else -> input = 0; goto decide
       fi
    fi
  };
  atomic {  // has_room
    if
    :: GOES(input) == HERE || last == NAME(input, n[input]) || entered - left[BEHIND] < PLACES ->
       picked = picked | 1 << input
    :: else
    fi;
    input++;
    find_input(found);
    if
    :: input < 2 -> goto look
    :: else -> input = 0
    fi
  };

decide:
  atomic {
    if
    :: alone && found == 0 && marks == 0 -> goto next
    :: alone && found != 0 -> picked = found; goto moves
    :: picked == 3 && GOES_0 == GOES_1 -> picked = 1
    :: picked == 3 && GOES_0 == GOES_1 -> picked = 2
    :: else
    fi;
    marks = marks & ~found;
    if
    :: marks == 0 -> goto decided
    :: else
    fi
  };
  forget(marks);
decided:
  atomic {
    marks = 0;
    if
    :: alone || (back != 0 && picked == 0) -> to_do(at, found | back); goto next
#ifndef WRONG_KEEPS_NOT_WHAT_CAME_BACK
    :: !alone && picked != 0 -> found = found | back
#endif
    :: else
    fi;
    back = 0;
    if
    :: picked == 0 && found != 0 -> goto wait_for_room
    :: else
    fi
  };

moves:  // of those that are picked; then on with the others
  atomic {
    if
    :: picked == 0 && found != 0 -> to_do(at, found); goto next
    :: picked == 0 && found == 0 -> goto next
    :: picked & 1 -> ch = 2 * at
    :: picked == 2 -> ch = 1
    fi;
    marks = 0;
    if
    :: GOES(ch) == HERE -> goto leaves
    :: else
    fi
  };

enter:
  atomic {
    if
    :: left[ch] != n[ch] -> goto out  // already
    :: left[ch] == n[ch] && last == NAME(ch, n[ch]) -> number = entered - 1
    :: left[ch] == n[ch] && last != NAME(ch, n[ch]) && entered - left[BEHIND] >= PLACES -> no_room = true; goto out
    :: else ->
       if
       :: last != 0 && INPUT(last) != ch && left[INPUT(last)] == NUMBER(last) ->  // settle()
          is_settling = true; ch = INPUT(last); n[ch] = NUMBER(last); number = entered - 1
       :: else -> last = NAME(ch, n[ch]); number = entered; entered++
       fi
    fi
  };
  atomic {  // bring(), has_come()
    if
    :: come[BEHIND] == number -> come[BEHIND]++
    :: else
    fi;
    number = 0;
    to_do(1, 1)
  };
leaves:
  atomic {
    if
    :: left[ch] == n[ch] -> left[ch]++
    :: else
    fi;
    if
    :: !is_settling -> found = found & ~BIT(ch)
    :: else
    fi
  };

  // has_left()
  atomic {
    if
#ifndef WRONG_LEAVES_WITHOUT_A_LOOK_AT_THE_NEXT
    :: IS_THERE(ch, n[ch] + 1) -> to_do(at, BIT(ch)); goto tells
#endif
    :: else
    fi
  };
  atomic {
    if
    :: waiting[at] & BIT(ch)
    :: else -> goto tells
    fi
  };
  forget(BIT(ch));
  atomic { to_do(at, back); back = 0 };
tells:
  atomic {
    if
    :: ch != BEHIND || !starved -> goto out
    :: else
    fi
  };
  atomic { starved = 0; to_do(0, 0) };
out:
  atomic {
    n[ch] = 0;
    if
    :: is_settling -> is_settling = false; ch = 1 - ch; goto enter
    :: else
    fi;
    picked = picked & ~BIT(ch);
    if
    :: !no_room || !alone -> no_room = false; goto moves
    :: else
    fi
  };

wait_for_room:
#ifdef WRONG_STARVED_BEFORE_WAITING
  atomic { starved = 1 };
  atomic { waiting[at] = waiting[at] | found };
#else
  atomic { waiting[at] = waiting[at] | found };
  atomic { starved = 1 };
#endif
  atomic {
    if
#ifndef WRONG_WAITS_WITHOUT_ANOTHER_LOOK
    :: entered - left[BEHIND] < PLACES -> to_do(at, found)
#endif
    :: else
    fi;
    goto next
  };

end_of_it:
  ended++
}

init {
  byte i;
  byte earlier[2];
  atomic {
    waiting[0] = STALE & 3; waiting[1] = STALE >> 2 & 1; starved = STALE >> 3;
    do
    :: i < CARRIERS -> run carrier(into[i], earlier[into[i]]); earlier[into[i]]++; i++
    :: else -> break
    od
  };
  ended == CARRIERS;
  assert(left[0] == come[0] && left[1] == come[1] && entered == come[BEHIND] && left[BEHIND] == come[BEHIND]);
  assert(left[0] + left[1] == CARRIERS)
}
