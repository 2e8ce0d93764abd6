package serve

import (
	"sync"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/replay/fault"
)

// fired keeps the faults that have fired, the last of them, and tells of each.
type fired struct {
	say func(string)

	mu   sync.Mutex
	last []control.Fault
}

// mostFired is the number of faults kept.
const mostFired = 1000

func (f *fired) note(one fault.Fired) {
	text := one.String()
	f.mu.Lock()
	if len(f.last) == mostFired {
		f.last = append(f.last[:0], f.last[1:]...)
	}
	f.last = append(f.last, control.Fault{At: control.Seconds(one.At), Text: text})
	f.mu.Unlock()
	f.say(text)
}

func (f *fired) all() []control.Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]control.Fault(nil), f.last...)
}
