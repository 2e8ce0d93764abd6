//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import (
	"slices"
	"sync"
	"testing"
)

// A slowSuspendable is suspended when it may be, and notes in a log of several what happens.
type slowSuspendable struct {
	name string
	may  <-chan struct{}
	mu   *sync.Mutex
	log  *[]string
}

func (l slowSuspendable) note(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*l.log = append(*l.log, what+" "+l.name)
}

func (l slowSuspendable) Suspend() error {
	<-l.may
	l.note("suspend")
	return nil
}

func (l slowSuspendable) Resume() error {
	l.note("resume")
	return nil
}

// A terminal that took nothing when it was given back is taken again after that, not
// while it lasts: what is suspended last would stay so. Nor is it when the program is
// about to end.
func TestTakenAgainBehindASlowTerminal(t *testing.T) {
	var mu sync.Mutex
	var log []string
	may := make(chan struct{})
	h := &jobControl{suspendables: []Suspendable{slowSuspendable{"screen", may, &mu, &log}, slowSuspendable{"keys", may, &mu, &log}}}
	h.suspend() // for as long as suspendTimeout
	h.resume()
	if !h.away || len(log) > 0 {
		t.Errorf("while it lasts: away %v, %q: want nothing to be taken", h.away, log)
	}
	close(may)
	<-h.given
	h.resume()
	if want := []string{"suspend screen", "suspend keys", "resume keys", "resume screen"}; h.away || !slices.Equal(log, want) {
		t.Errorf("after it: away %v, %q: want %q", h.away, log, want)
	}
	log = nil
	h.suspend()
	h.ending = true
	h.resume()
	if want := []string{"suspend screen", "suspend keys"}; !slices.Equal(log, want) {
		t.Errorf("while the program ends: %q: want %q", log, want)
	}
}
