package recorder_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/recorder"
)

// Every failure here ends a watch; none of them loses an event, repeats one,
// or leaves a GAP.
func TestEveryFailureButOneLeadsToANewWatch(t *testing.T) {
	frame := `{"type":"ADDED","object":` + strings.Replace(node("b", ""), `"name"`, `"resourceVersion":"102","name"`, 1) + "}\n"
	for name, f := range map[string]fault{
		"refused for now":      status(429, "TooManyRequests", "later", "Retry-After", "7"),
		"a server that starts": status(503, "ServiceUnavailable", "starting"),
		"unauthorized for now": status(401, "Unauthorized", "token expired"),
		"no Status in the answer": func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(502)
			_, _ = w.Write([]byte("<html>"))
			return false
		},
		"closed at once":         say(""),
		"closed after an event":  say(frame),
		"cut at once":            cut(""),
		"cut inside of a frame":  cut(frame[:len(frame)/2]),
		"cut after an event":     cut(frame),
		"an ERROR event":         say(frame + `{"type":"ERROR","object":{"kind":"Status","status":"Failure","message":"boom","reason":"InternalError","code":500}}`),
		"ERROR without a Status": say(`{"type":"ERROR","object":{}}`),
		"garbage":                say(frame + "<html>\n"),
		"garbage inside of JSON": say(`{"type":"ADDED","object":{"kind":nonsense}}` + "\n"),
		"an unknown type":        say(`{"type":"SOMETHING","object":{}}` + "\n"),
		"an object without name": say(`{"type":"ADDED","object":{"metadata":{"resourceVersion":"103"}}}` + "\n"),
		"the same event twice":   say(frame + frame),
		"indented":               say(strings.ReplaceAll(frame, ",", ",\n  ") + strings.ReplaceAll(frame, ":", " :\n\t")),
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t)
			a.put(nodesPath, "ADDED", node("a", ""))
			a.fail("watch "+nodesPath, func(w http.ResponseWriter, r *http.Request) bool {
				a.put(nodesPath, "ADDED", node("b", ""))
				a.put(nodesPath, "ADDED", node("end", ""))
				return f(w, r)
			})
			// A preflight must find the first watch open, so the fault that
			// answers with a status comes second.
			if name == "refused for now" || name == "a server that starts" || name == "unauthorized for now" || name == "no Status in the answer" {
				a.faults["watch "+nodesPath] = append([]fault{say("")}, a.faults["watch "+nodesPath]...)
			}
			r, err := record(t, a, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := lines(t, r.file)
			for _, want := range []string{"ADDED nodes b 102\n", "ADDED nodes end 103\n"} {
				if strings.Count(got, want) != 1 {
					t.Errorf("found %d times %q on the tape, want once:\n%s", strings.Count(got, want), want, got)
				}
			}
			if strings.Contains(got, "GAP") || r.sum.Gaps != 0 {
				t.Errorf("found a GAP, want none:\n%s", got)
			}
			if n := strings.Count(strings.Join(a.requests(), "\n"), "list "); n != 1 {
				t.Errorf("found %d lists, want 1: %v", n, a.requests())
			}
		})
	}
}

func TestWaitsAsLongAsItIsAsked(t *testing.T) {
	a := newAPI(t)
	a.fail("watch "+nodesPath, say(""),
		status(429, "TooManyRequests", "later", "Retry-After", "7"),
		status(503, "ServiceUnavailable", "starting"),
		status(503, "ServiceUnavailable", "starting"),
		func(http.ResponseWriter, *http.Request) bool { a.put(nodesPath, "ADDED", node("end", "")); return true })
	r, err := record(t, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, r.clock.pauses()+"\n", "[100ms 7s 400ms 800ms]\n")
	if s := r.sum.Resources[0]; s.Retries != 4 || !s.Connected {
		t.Errorf("found %+v, want 4 retries and a watch that is open", s)
	}
}

// A server that is started again at the same place continues with its watches.
func TestNothingIsRepeatedThatWasSeen(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("a", ""))
	old := `{"type":"MODIFIED","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"a","uid":"uid-a","resourceVersion":"99"}}}`
	a.fail("watch "+nodesPath, say(old), func(http.ResponseWriter, *http.Request) bool {
		a.put(nodesPath, "ADDED", node("end", ""))
		return true
	})
	r, err := record(t, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, lines(t, r.file), `
	0s ADDED nodes a 101
	0s SYNC nodes 101
	100ms ADDED nodes end 102
	100ms END complete
	`)
	equal(t, strings.Join(r.sum.LeftOut, "\n"), "nodes: 1 event repeated: its version had been seen")
}

func TestBookmarksBecomeSync(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("a", ""))
	a.fail("watch "+nodesPath,
		// Within the first minute a bookmark is no SYNC, after it it is.
		func(w http.ResponseWriter, _ *http.Request) bool {
			a.bookmark(nodesPath)
			return say(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"102"}}}`)(w, nil)
		},
		status(429, "TooManyRequests", "later", "Retry-After", "61"),
		func(w http.ResponseWriter, _ *http.Request) bool {
			a.bookmark(nodesPath)
			a.bookmark(nodesPath)
			a.put(nodesPath, "ADDED", node("end", ""))
			return true
		})
	r, err := record(t, a, func(c *recorder.Config) { c.Stop = until("end") })
	if err != nil {
		t.Fatal(err)
	}
	equal(t, lines(t, r.file), `
	0s ADDED nodes a 101
	0s SYNC nodes 101
	1m1.1s SYNC nodes 103
	1m1.1s ADDED nodes end 105
	1m1.1s END complete
	`)
	if want := "watch " + nodesPath + " 102"; !strings.Contains(strings.Join(a.requests(), "\n"), want) {
		t.Errorf("found %v, want %q: a bookmark moves the version", a.requests(), want)
	}
}

func TestDuration(t *testing.T) {
	a := newAPI(t)
	a.put(nodesPath, "ADDED", node("a", ""))
	a.fail("watch "+nodesPath, func(http.ResponseWriter, *http.Request) bool { a.bookmark(nodesPath); return true })
	r, err := record(t, a, func(c *recorder.Config) {
		c.Resources = []string{"nodes"}
		c.Duration = 1
		c.Stop = nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.sum.End != recorder.EndDuration {
		t.Errorf("found end %q, want %q", r.sum.End, recorder.EndDuration)
	}
	if got := lines(t, r.file); !strings.HasSuffix(got, "END duration\n") {
		t.Errorf("found\n%s\nwant an END that says duration", got)
	}
}
