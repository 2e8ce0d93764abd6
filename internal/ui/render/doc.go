// Package render draws a roll: a snapshot of a node group and the feed's latest
// entries go in, lines of text come out.
//
// [Panel] is a pure function of a [Frame] and [Options]. It reads no clock, no
// environment and no terminal, so the same frame gives the same bytes, and a
// panel can be compared with a golden file. Size, colour profile and character
// set come in as data: the owner of the terminal asks it (with colorprofile and
// golang.org/x/term) and hands the answers over.
//
// [Screen] is the other half: it puts panels on a terminal, each over the one
// before, or appends them to a stream without escape codes.
//
// # What the panel shows
//
//	nodesim  rolling spot-burst                                      v1.36.3
//	ami-old → ami-new
//	━━━━━━━━━━━━━━╸────────────────────────────   1/3 replaced   1 new ready
//
//	NODES 4   ◐ 1 draining   ○ 1 joining   ● 1 new   ● 1 old
//	◐ ip-10-0-1-12  old  draining            ━━━━━━──  3/4 pods
//	…
//	EVENTS
//	T+1m32.412s  ◐ draining    ip-10-0-1-12
//
//	WARNINGS 1
//	▲ ip-10-0-1-12  FailedDraining  …
//
//	▸ 20x  1:32 ━━━━━━━━━━╸────────── 3:10
//
// Lines that matter least go first when the height is small, cells on the right
// when the width is. Where the nodes don't fit, those that move come first (not
// ready, blocked, draining, joining, under pressure, changed lately) and the
// rest is counted.
//
// Of a roll that is one of pods (Frame.Pods), which are updated in place, the section
// in the middle is that of the pods:
//
//	PODS 3   ◐ 1 updating   ● 1 updated   ● 1 waiting
//	◐ web-1  new  updating           ip-10-0-1-11
//
// # What it must never do
//
// Let a byte of a name or message reach the terminal as anything but a visible
// character: everything that comes from a cluster passes through [Clean]. Give
// a line wider than asked or more lines than asked. Panic, whatever the
// snapshot holds. Take time that grows faster than the number of nodes.
package render
