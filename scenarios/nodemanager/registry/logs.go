package registry

import (
	"bytes"
	"sync"
)

// LogRegistry keeps the last log of each node's agent. Its zero value is empty; its methods may be called from any
// goroutine. A log goes with Delete alone: it is there to be read when its node is gone.
type LogRegistry struct {
	mu   sync.Mutex
	logs map[string][]byte
}

// CreateLog stores the log of a node, in the place of an earlier one.
func (r *LogRegistry) CreateLog(node string, text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.logs == nil {
		r.logs = map[string][]byte{}
	}
	r.logs[node] = bytes.Clone(text)
}

// GetLog returns the log of a node, and whether there is one.
func (r *LogRegistry) GetLog(node string) ([]byte, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, ok := r.logs[node]
	return bytes.Clone(text), ok
}

// Delete forgets the log of a node.
func (r *LogRegistry) Delete(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.logs, node)
}
