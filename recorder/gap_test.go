package recorder_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/recorder"
	"github.com/nodesim/nodesim/timeline"
)

// While no watch is open, b changes, c goes, d comes and goes (which no one will
// ever know), e comes.
func meanwhile(a *api) {
	a.put(nodesPath, "MODIFIED", node("b", `"unschedulable":true`))
	a.put(nodesPath, "DELETED", node("c", ""))
	a.put(nodesPath, "ADDED", node("d", ""))
	a.put(nodesPath, "DELETED", node("d", ""))
	a.put(nodesPath, "ADDED", node("e", ""))
	a.forget()
}

const gapTape = `
	0s ADDED nodes a 101
	0s ADDED nodes b 102
	0s ADDED nodes c 103
	0s SYNC nodes 103
	100ms GAP nodes 103 410 Expired: too old resource version
	100ms DELETED nodes c
	100ms MODIFIED nodes b 104
	100ms ADDED nodes e 108
	100ms SYNC nodes 109
	100ms ADDED nodes end 110
	100ms END complete
	`

func TestForgottenVersionLeavesAGap(t *testing.T) {
	const expired = `{"type":"ERROR","object":{"kind":"Status","status":"Failure","message":"too old resource version","reason":"Expired","code":410}}`
	end := func(a *api) fault {
		return func(http.ResponseWriter, *http.Request) bool { a.put(nodesPath, "ADDED", node("end", "")); return true }
	}
	for name, faults := range map[string]func(a *api) []fault{
		"as a status": func(a *api) []fault {
			return []fault{
				func(w http.ResponseWriter, r *http.Request) bool { meanwhile(a); return say("")(w, r) },
				func(http.ResponseWriter, *http.Request) bool { return true }, // the API answers 410
				end(a),
			}
		},
		"as an event": func(a *api) []fault {
			return []fault{
				say(""),
				func(w http.ResponseWriter, r *http.Request) bool { meanwhile(a); return say(expired)(w, r) },
				end(a),
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t)
			for _, n := range []string{"a", "b", "c"} {
				a.put(nodesPath, "ADDED", node(n, ""))
			}
			a.fail("watch "+nodesPath, faults(a)...)
			r, err := record(t, a, nil)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, lines(t, r.file), gapTape)
			if r.sum.Gaps != 1 {
				t.Errorf("found %d gaps in the summary, want 1", r.sum.Gaps)
			}
		})
	}
}

// The last state of what went unseen is on the tape.
func TestDeletionFoundByListingCarriesTheLastState(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("c", `"providerID":"aws:///i-1"`))
	a.fail("watch "+nodesPath, func(w http.ResponseWriter, r *http.Request) bool {
		a.put(nodesPath, "DELETED", node("c", ""))
		a.forget()
		return say("")(w, r)
	}, func(http.ResponseWriter, *http.Request) bool { return true },
		func(http.ResponseWriter, *http.Request) bool { a.put(nodesPath, "ADDED", node("end", "")); return true })
	r, err := record(t, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	tape, err := timeline.Open(r.file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tape.Close() }()
	for ev, err := range tape.All() {
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type == timeline.Deleted {
			if !strings.Contains(string(ev.Object), "aws:///i-1") {
				t.Errorf("found %s, want the last state with its providerID", ev.Object)
			}
			return
		}
	}
	t.Error("found no DELETED")
}

// The same name with another UID is another object.
func TestListingFindsAnotherObjectOfTheSameName(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("a", ""))
	a.fail("watch "+nodesPath, func(w http.ResponseWriter, r *http.Request) bool {
		a.put(nodesPath, "DELETED", node("a", ""))
		a.put(nodesPath, "ADDED", `{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","uid":"uid-2"}}`)
		a.forget()
		return say("")(w, r)
	}, func(http.ResponseWriter, *http.Request) bool { return true },
		func(http.ResponseWriter, *http.Request) bool { a.put(nodesPath, "ADDED", node("end", "")); return true })
	r, err := record(t, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, lines(t, r.file), `
	0s ADDED nodes a 101
	0s SYNC nodes 101
	100ms GAP nodes 101 410 Expired: too old resource version
	100ms DELETED nodes a
	100ms ADDED nodes a 103
	100ms SYNC nodes 104
	100ms ADDED nodes end 105
	100ms END complete
	`)
}

// A list that fails while a gap is open is tried until it works; there is one
// GAP for it.
func TestOneGapHoweverOftenTheListFails(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("a", ""))
	a.page = 1
	a.fail("watch "+nodesPath, func(w http.ResponseWriter, r *http.Request) bool {
		a.put(nodesPath, "ADDED", node("b", ""))
		a.forget()
		a.fail("list "+nodesPath, status(500, "InternalError", "boom"), status(429, "TooManyRequests", "later", "Retry-After", "3"), cut(`{"kind":`),
			func(http.ResponseWriter, *http.Request) bool { return true },
			status(410, "Expired", "The provided continue parameter is too old"))
		return say("")(w, r)
	}, func(http.ResponseWriter, *http.Request) bool { return true },
		func(http.ResponseWriter, *http.Request) bool { a.put(nodesPath, "ADDED", node("end", "")); return true })
	r, err := record(t, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := lines(t, r.file)
	if strings.Count(got, "GAP") != 1 || !strings.Contains(got, "ADDED nodes b 102\n") || strings.Count(got, "nodes a") != 1 {
		t.Errorf("found\n%s\nwant one GAP, b once and a once", got)
	}
	if r.sum.At < 3*time.Second {
		t.Errorf("found %s, want a pause of three seconds for Retry-After", r.sum.At)
	}
}

// A stream that says nonsense at one version again and again is given up
// there: with a GAP.
func TestEndlessGarbageBecomesAGap(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("a", ""))
	for range 5 {
		a.fail("watch "+nodesPath, say(`{"type":"ADDED","object":{"kind":nonsense}}`+"\n"))
	}
	a.fail("watch "+nodesPath, func(http.ResponseWriter, *http.Request) bool { a.put(nodesPath, "ADDED", node("end", "")); return true })
	r, err := record(t, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(t, r.file); strings.Count(got, "GAP") != 1 || !strings.Contains(got, "nonsense") && !strings.Contains(got, "'n'") && !strings.Contains(got, "found") {
		t.Errorf("found\n%s\nwant one GAP with a reason", got)
	}
}

// A watch that is down when the recording ends leaves a GAP; a recording that continues the tape asks the server for what happened since.
func TestWatchesThatAreDownAtTheEnd(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("a", ""))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a.fail("watch "+nodesPath, say(""), status(503, "ServiceUnavailable", "going"), func(w http.ResponseWriter, r *http.Request) bool {
		cancel()
		return status(503, "ServiceUnavailable", "gone")(w, r)
	})
	r, err := recordIn(ctx, t, a, func(c *recorder.Config) { c.GapAtEnd = true })
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(t, r.file); r.sum.Gaps != 1 || !strings.Contains(got, "GAP nodes") || !strings.HasSuffix(got, "END interrupted\n") {
		t.Errorf("found %d gaps in\n%s", r.sum.Gaps, got)
	}
	a.put(nodesPath, "MODIFIED", node("a", `"unschedulable":true`))
	a.put(nodesPath, "ADDED", node("end", ""))
	if _, err := record(t, a, resume(t, r.file, nil)); err != nil {
		t.Fatal(err)
	}
	got := lines(t, r.file)
	if strings.Contains(got, "GAP") || !strings.Contains(got, "MODIFIED nodes a 102") || !strings.Contains(got, "ADDED nodes end 103") {
		t.Errorf("want what happened meanwhile, and no GAP:\n%s", got)
	}
	if n := strings.Count(strings.Join(a.requests(), "\n"), "list "); n != 1 {
		t.Errorf("found %d lists, want 1: the versions were still known", n)
	}
}
