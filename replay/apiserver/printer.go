package apiserver

import (
	"bytes"
	"sync"

	"github.com/nodesim/nodesim/replay/apiserver/internal/media"
	"github.com/nodesim/nodesim/replay/apiserver/internal/tables"
	"github.com/nodesim/nodesim/timeline"
)

// printer keeps the printer of a resource until the definition that it was made
// of is another one.
type printer struct {
	resource   timeline.Resource
	definition func(timeline.Resource) []byte

	mu   sync.Mutex
	from []byte
	made *tables.Printer
}

func (p *printer) get() media.Printer {
	from := p.definition(p.resource)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.made == nil || !bytes.Equal(from, p.from) {
		p.made, p.from = tables.For(p.resource, from), from
	}
	return p.made
}
