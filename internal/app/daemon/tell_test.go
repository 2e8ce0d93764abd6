package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nodesim/nodesim/recorder/store"
)

// A webhook has what explain says of the tape, and its URL is a secret.
func TestWebhook(t *testing.T) {
	tape, err := filepath.Abs("../../../examples/surge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	status := http.StatusNoContent
	var got struct { // as a receiver reads it
		Tape     store.Tape
		Analysis *struct{ Rolls []json.RawMessage }
		Lacks    string
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		if err != nil {
			t.Error(err)
		}
		w.WriteHeader(status)
	}))
	h := &webhook{url: server.URL + "/secret"}
	f := finished{tape, store.Tape{Name: "roll", Outcome: "complete"}}
	if err := h.tell(t.Context(), f); err != nil {
		t.Error(err)
	}
	if got.Tape.Name != "roll" || got.Analysis == nil || len(got.Analysis.Rolls) != 1 || got.Lacks != "" {
		t.Errorf("found the message %+v, want the tape and one roll", got)
	}
	got.Analysis = nil
	if err := h.tell(t.Context(), finished{tape + ".gone", f.tape}); err != nil || got.Lacks == "" || got.Analysis != nil {
		t.Errorf("a tape that is gone: %v, %+v, want it said", err, got)
	}
	status = http.StatusInternalServerError
	if err := h.tell(t.Context(), f); err == nil || err.Error() != "webhook: found the answer 500 Internal Server Error, want 2xx" {
		t.Error(err)
	}
	server.Close()
	if err := h.tell(t.Context(), f); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("found %v, want an error without the URL", err)
	}
}

// flaky fails so often.
type flaky struct{ failures, calls int }

func (f *flaky) tell(context.Context, finished) error {
	if f.calls++; f.calls <= f.failures {
		return errors.New("away")
	}
	return nil
}

// Others are told again after failures, and given up in the end, which is said.
func TestTellsAgain(t *testing.T) {
	for failures, want := range map[int]int{0: 1, 3: 4, 100: tries} {
		synctest.Test(t, func(t *testing.T) {
			h := &flaky{failures: failures}
			var said []string
			teller := newTeller([]hook{h}, func(err error) { said = append(said, err.Error()) })
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { teller.run(ctx); close(ended) }()
			teller.add(finished{tape: store.Tape{Name: "roll"}})
			<-time.After(time.Hour) // of the bubble
			cancel()
			<-ended
			if h.calls != want || len(said) != min(failures, tries) {
				t.Errorf("%d failures: told %d times, said %q", failures, h.calls, said)
			}
			if failures > tries && said[tries-1] != "roll: given up after 8 tries: away" {
				t.Errorf("said %q in the end", said[tries-1])
			}
		})
	}
}

// A recorder that ends says which tapes nobody was told of: the one that is tried, and those that wait.
func TestSaysWhatWasNotTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		teller := newTeller([]hook{&flaky{failures: 100}}, func(err error) { said = append(said, err.Error()) })
		for _, name := range []string{"a", "b", "c"} {
			teller.add(finished{tape: store.Tape{Name: name}})
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { teller.run(ctx); close(ended) }()
		synctest.Wait() // in the pause after the first try
		cancel()
		<-ended
		for _, name := range []string{"a", "b", "c"} {
			want := name + ": the recorder has ended before others were told of it"
			if !slices.Contains(said, want) {
				t.Errorf("said %q, want %q among it", said, want)
			}
		}
	})
}

// What was added before the end is told, and then run returns.
func TestTellsAllThatWasAdded(t *testing.T) {
	h := &flaky{}
	teller := newTeller([]hook{h}, func(err error) { t.Error(err) })
	for _, name := range []string{"a", "b"} {
		teller.add(finished{tape: store.Tape{Name: name}})
	}
	teller.end()
	teller.run(t.Context())
	if h.calls != 2 {
		t.Errorf("told of %d tapes, want 2", h.calls)
	}
}
