package timeline

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// sequence makes a sequence of a slice.
func sequence(events []Event) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// transformed runs a transform over the tape of events, through a Reader on
// the way in and a Writer on the way out, which checks what came of it.
func transformed(t testing.TB, events []Event, tr Transform) (*Header, []Event) {
	t.Helper()
	r := openBytes(t, tape(t, events))
	h, seq := tr(r.Header(), r.All())
	var b bytes.Buffer
	w, err := NewWriter(&b, *h)
	if err != nil {
		t.Fatal(err)
	}
	var out []Event
	for ev, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, ev)
		if err := w.Write(ev); err != nil {
			t.Fatalf("no tape any more: %v", err)
		}
		if ev.Type == End && ev.Events != len(out) {
			t.Fatalf("END counts %d of %d events", ev.Events, len(out))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	wantSame(t, readAll(t, openBytes(t, b.Bytes())), out)
	return h, out
}

// stateAt is the dumb twin: what is alive, and of which resources there is a
// state at all, once all events up to a position count. A listing counts with
// its SYNC.
func stateAt(events []Event, at time.Duration) map[string]string {
	shown, listing := map[string]map[string]string{}, map[string]map[string]string{}
	for _, ev := range events {
		if ev.At > at {
			break
		}
		res := ev.Resource
		if shown[res] == nil {
			shown[res] = map[string]string{}
		}
		switch {
		case ev.Type == Gap && listing[res] == nil:
			listing[res] = maps.Clone(shown[res])
		case ev.Type == Sync && listing[res] != nil:
			shown[res], listing[res] = listing[res], nil
		case ev.Type.Object():
			into := shown[res]
			if listing[res] != nil {
				into = listing[res]
			}
			into[ev.Namespace+"/"+ev.Name] = string(ev.Object)
			if ev.Type == Deleted {
				delete(into, ev.Namespace+"/"+ev.Name)
			}
		}
	}
	all := map[string]string{}
	for res, objects := range shown {
		for name, object := range objects {
			all[res+" "+name] = object
		}
	}
	return all
}

// lookAlike brings the objects of a tape into the form that a Reader gives.
func lookAlike(t testing.TB, events []Event) []Event {
	t.Helper()
	return readAll(t, openBytes(t, tape(t, events)))
}

func complete(events []Event) []Event {
	return append(slices.Clone(events), Event{At: events[len(events)-1].At + time.Second, Type: End})
}

func TestWindowHasTheState(t *testing.T) {
	for seed := range uint64(6) {
		all := lookAlike(t, complete(sampleEvents(seed, 120)))
		end := all[len(all)-1].At
		r := rand.New(rand.NewPCG(seed, 2))
		for range 8 {
			a := time.Duration(r.Int64N(int64(end)))
			b := a + time.Duration(r.Int64N(int64(end-a)+1))
			if r.IntN(3) == 0 { // right at an event
				a, b = all[len(all)/3].At, all[len(all)/2].At
			}
			h, win := transformed(t, all, Window(a, b))
			if want := sampleHeader().Metadata.Start.Add(a); !h.Metadata.Start.Equal(want) {
				t.Fatalf("the window starts at %s, want %s", h.Metadata.Start, want)
			}
			for _, ev := range all {
				if ev.At >= a && ev.At <= b && !maps.Equal(stateAt(win, ev.At-a), stateAt(all, ev.At)) {
					t.Fatalf("seed %d, window %s to %s: the state at %s differs", seed, a, b, ev.At)
				}
			}
			if !maps.Equal(stateAt(win, ToEnd), stateAt(all, b)) {
				t.Fatalf("seed %d, window %s to %s: another state at its end", seed, a, b)
			}
			if last := win[len(win)-1]; last.Type != End || last.At > b-a {
				t.Fatalf("the window ends with %s at %s", last.Type, last.At)
			}
			wholeListings(t, win)
		}
	}
}

// wholeListings wants nothing after a GAP that no SYNC follows.
func wholeListings(t testing.TB, events []Event) {
	t.Helper()
	found := map[string]int{}
	for _, ev := range events {
		n, listing := found[ev.Resource]
		switch {
		case ev.Type == Sync:
			delete(found, ev.Resource)
		case ev.Type == Gap:
			found[ev.Resource] = n
		case ev.Type.Object() && listing:
			found[ev.Resource]++
		}
	}
	for resource, n := range found {
		if n > 0 {
			t.Fatalf("%d events of %s are in a listing that never ends", n, resource)
		}
	}
}

func TestWindowOfAllIsTheTape(t *testing.T) {
	var plain []Event
	for _, ev := range sampleEvents(3, 200) {
		if ev.Type != Gap {
			plain = append(plain, ev)
		}
	}
	plain = complete(plain)
	_, got := transformed(t, plain, Window(0, ToEnd))
	wantSame(t, got, plain)
}

func node(at time.Duration, typ Type, name, rv, spec string) Event {
	return Event{At: at, Type: typ, Resource: "nodes", Name: name, UID: "uid-" + name, RV: rv,
		Object: []byte(`{"kind":"Node","apiVersion":"v1","metadata":{"name":"` + name + `","uid":"uid-` + name + `","resourceVersion":"` + rv + `"},"spec":{` + spec + `}}`)}
}

// story writes events as words, one each.
func story(events []Event) string {
	var b strings.Builder
	for _, ev := range events {
		fmt.Fprintf(&b, "%s %s %s %s\n", FormatAt(ev.At), ev.Type, ev.Name+ev.Resource, ev.RV)
	}
	return b.String()
}

func TestWindowStories(t *testing.T) {
	s := time.Second
	events := []Event{
		node(0, Added, "a", "5", ""), node(0, Added, "b", "9", ""), {Type: Sync, Resource: "nodes", RV: "12"},
		node(5*s, Modified, "a", "20", `"unschedulable":true`),
		{At: 10 * s, Type: Gap, Resource: "nodes", RV: "20", Reason: "410"},
		node(12*s, Deleted, "a", "", `"unschedulable":true`), node(12*s, Added, "c", "31", ""), node(14*s, Modified, "c", "33", `"x":1`),
		{At: 15 * s, Type: Mark, Name: "m"},
		{At: 20 * s, Type: Sync, Resource: "nodes", RV: "40"},
		node(25*s, Deleted, "b", "44", ""),
		{At: 30 * s, Type: End},
	}
	for _, c := range []struct {
		from, to time.Duration
		want     string
	}{
		{6 * s, 8 * s, "0s ADDED anodes 20\n0s ADDED bnodes 9\n0s SYNC nodes 20\n2s END  \n"},
		// It ends inside the listing: the GAP is told, what is not yet whole is not.
		{6 * s, 16 * s, "0s ADDED anodes 20\n0s ADDED bnodes 9\n0s SYNC nodes 20\n4s GAP nodes 20\n9s MARK m \n10s END  \n"},
		// It begins inside of it: c has two events there and one change.
		{14 * s, 26 * s, "0s ADDED anodes 20\n0s ADDED bnodes 9\n0s SYNC nodes 20\n0s GAP nodes 20\n1s MARK m \n" +
			"1s DELETED anodes \n1s ADDED cnodes 33\n6s SYNC nodes 40\n11s DELETED bnodes 44\n12s END  \n"},
		{40 * s, ToEnd, "0s ADDED cnodes 33\n0s SYNC nodes 44\n0s END  \n"},
	} {
		_, got := transformed(t, events, Window(c.from, c.to))
		if story(got) != c.want {
			t.Errorf("window %s to %s:\n%swant\n%s", c.from, c.to, story(got), c.want)
		}
	}
}

func TestWindowReadsNoFurther(t *testing.T) {
	read := 0
	endless := func(yield func(Event, error) bool) {
		for {
			read++
			if !yield(Event{At: time.Duration(read) * time.Second, Type: Mark, Name: "m"}, nil) {
				return
			}
		}
	}
	_, seq := Window(time.Second, 3*time.Second)(&Header{}, endless)
	n := 0
	for _, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if read != 4 || n != 4 { // three marks and END
		t.Errorf("%d events read for %d shown", read, n)
	}
}

func TestSpeedComposes(t *testing.T) {
	all := complete(sampleEvents(5, 200))
	for _, c := range [][2]float64{{2, 5}, {0.5, 20}, {3, 7}, {1, 1}} {
		_, twice := transformed(t, all, Chain(Speed(c[0]), Speed(c[1])))
		_, once := transformed(t, all, Speed(c[0]*c[1]))
		for i := range all {
			if d := twice[i].At - once[i].At; d < -2 || d > 2 {
				t.Fatalf("%v: event %d at %s, at once %s", c, i, twice[i].At, once[i].At)
			}
			twice[i].At, once[i].At = all[i].At, all[i].At
		}
		wantSame(t, twice, all)
		wantSame(t, once, all)
	}
}

func TestIdleLimit(t *testing.T) {
	all := complete(sampleEvents(6, 300))
	for _, limit := range []time.Duration{0, 300 * time.Millisecond, time.Second, ToEnd} {
		_, got := transformed(t, all, IdleLimit(limit))
		m := NewIdleMap(limit)
		var last, was time.Duration
		for i := range all {
			pause, before := got[i].At-last, all[i].At-was
			if want := min(before, limit); pause != want {
				t.Fatalf("limit %s: pause %d is %s and was %s", limit, i, pause, before)
			}
			if played := m.Pass(all[i].At); played != got[i].At {
				t.Fatalf("limit %s: the map plays event %d at %s, the transform at %s", limit, i, played, got[i].At)
			}
			last, was = got[i].At, all[i].At
			got[i].At = all[i].At
		}
		wantSame(t, got, all)
		idleMapHolds(t, m, all)
	}
}

// idleMapHolds wants the map to be monotone and At to undo it.
func idleMapHolds(t *testing.T, m *IdleMap, all []Event) {
	t.Helper()
	var last time.Duration
	for at := time.Duration(0); at < all[len(all)-1].At; at += 97 * time.Millisecond {
		played := m.Played(at)
		if played < last || played > at {
			t.Fatalf("%s is played at %s, after %s", at, played, last)
		}
		last = played
		if back := m.At(played); m.Played(back) != played || back < at && m.Played(at) != m.Played(back) {
			t.Fatalf("%s is played at %s, which is %s of the tape", at, played, back)
		}
	}
	for _, ev := range all {
		if back := m.At(m.Played(ev.At)); back < ev.At {
			t.Fatalf("seeking to the event at %s shows the tape only up to %s", ev.At, back)
		}
	}
}

func TestTransformsRefuse(t *testing.T) {
	h := sampleHeader()
	noStart := Header{}
	for _, c := range []struct {
		h    *Header
		tr   Transform
		want string
	}{
		{&h, Speed(0), `speed 0: want a number above 0, such as 20 or 0.5`},
		{&h, Speed(-2), `speed -2: want a number above 0, such as 20 or 0.5`},
		{&h, Speed(1e-12), `speed 1e-12: 1s is slowed down past the end of what a tape can hold: want a higher speed`},
		{&h, IdleLimit(-time.Second), `idle limit -1s: want 0s or more`},
		{&h, Window(2*time.Second, time.Second), `window from 2s to 1s: want a beginning of 0s or later and an end after it`},
		{&h, Filter(Selection{Resources: []string{"widgets"}}), `filter by resource "widgets": want one that the tape has: nodes, pods, poddisruptionbudgets`},
		{&noStart, RebaseObjects(time.Time{}), `rebase the times in objects: the header has no metadata.start: want the wall time of 0s there`},
	} {
		_, seq := c.tr(c.h, sequence([]Event{{At: time.Second, Type: Mark, Name: "m"}}))
		var got error
		for _, err := range seq {
			got = errors.Join(got, err)
		}
		if got == nil || got.Error() != c.want {
			t.Errorf("%v\nwant %s", got, c.want)
		}
	}
}

// An error of the tape passes through, and is the end.
func TestTransformsPassErrors(t *testing.T) {
	bad := errors.New("bad line")
	h := sampleHeader()
	for name, tr := range map[string]Transform{
		"window": Window(0, ToEnd), "speed": Speed(2), "idle": IdleLimit(1), "filter": Filter(Selection{}),
		"rebase": Rebase(time.Time{}), "objects": RebaseObjects(time.Unix(0, 0)), "early": Window(time.Hour, ToEnd),
	} {
		_, seq := tr(&h, func(yield func(Event, error) bool) {
			_ = yield(Event{Type: Mark, Name: "m"}, nil) && yield(Event{}, bad)
		})
		var last error
		n := 0
		for _, err := range seq {
			if last != nil {
				t.Errorf("%s goes on after an error", name)
			}
			last, n = err, n+1
		}
		if !errors.Is(last, bad) {
			t.Errorf("%s: %v after %d events", name, last, n)
		}
		for ev, err := range seq { // stopping early is no panic, and a second run starts over
			if first := ev.Type != "" || name == "early"; !first {
				t.Errorf("%s starts the second time with %v", name, err)
			}
			break
		}
	}
}
