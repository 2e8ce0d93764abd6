package liverun

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/nodesim/nodesim/internal/app/record"
)

const (
	// garbageMost bounds how much garbage a live run may gather between two
	// collections, as far as garbageLeast and Go's own hundred percent let it.
	garbageMost = 48 << 20
	// garbageLeast is the least percentage of what lives while much is done:
	// collections that follow each other more closely cost more than they are worth.
	garbageLeast = 25
	// garbageQuiet is that of a live run in which little happens, so that there is
	// no collection in most looks.
	garbageQuiet = 10
	// garbageLook is the interval at which it is looked what lives. To change the percentage
	// stops everything for a moment.
	garbageLook = 2 * time.Second
)

// TuneGC has a live run, which lives for hours beside a control plane, gather
// little garbage: as Go would by itself while it is small, a quarter of what lives
// when that is much, and a tenth when little happens then. A user that sets GOGC knows
// better. The watch over it ends with the context; end waits for that.
func TuneGC(ctx context.Context) (end func()) {
	var pace gcPace
	is := 0
	return record.GovernGC(ctx, garbageLook, func(live, collections uint64) int {
		was := is
		if is = pace.percent(live, collections); is == garbageQuiet && was != garbageQuiet {
			debug.FreeOSMemory() // what a time of much work has left behind
		}
		return is
	})
}

// A gcPace holds what was seen of the collections.
type gcPace struct {
	cycles uint64
	still  int // looks on end without a collection
	quiet  bool
}

// percent is GOGC for so many bytes that live, after so many collections: in steps of
// a quarter, and less where several looks on end have seen none.
func (p *gcPace) percent(live, cycles uint64) int {
	done := cycles - p.cycles
	p.cycles = cycles
	if p.still++; done > 0 {
		p.still = 0
	}
	switch {
	case p.still >= 2:
		p.quiet = true
	case done > 2: // with the tenth, one in a look is usual
		p.quiet = false
	}
	if live <= garbageMost {
		return 100
	}
	percent := int(garbageMost * 100 / live)
	percent = max(percent-percent%garbageLeast, garbageLeast)
	if percent == garbageLeast && p.quiet {
		return garbageQuiet
	}
	return percent
}
