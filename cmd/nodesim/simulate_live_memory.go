package main

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// garbageMost is how much garbage a performance may gather between two
	// collections, as far as garbageLeast and Go's own hundred percent let it.
	garbageMost = 48 << 20
	// garbageLeast is the least percentage of what lives: collections that follow
	// each other more closely cost more than they are worth.
	garbageLeast = 25
	// garbageLook is how often it is looked what lives. To change the percentage
	// stops everything for a moment.
	garbageLook = 2 * time.Second
)

// thrifty has a performance, which lives for hours beside a control plane, gather
// little garbage: as Go would by itself while it is small, a quarter of what lives
// when that is much. Whoever sets GOGC knows better. The watch over it ends with
// the context; end waits for that.
func thrifty(ctx context.Context) (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var owned sync.WaitGroup
	owned.Go(func() {
		look := time.NewTicker(garbageLook)
		defer look.Stop()
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		for is := 0; ; {
			if metrics.Read(live); live[0].Value.Kind() == metrics.KindUint64 {
				if percent := garbagePercent(live[0].Value.Uint64()); percent != is {
					debug.SetGCPercent(percent)
					is = percent
				}
			}
			select {
			case <-look.C:
			case <-ctx.Done():
				return
			}
		}
	})
	return func() { cancel(); owned.Wait() }
}

// garbagePercent is GOGC for so many bytes that live, in steps of a quarter.
func garbagePercent(live uint64) int {
	if live <= garbageMost {
		return 100
	}
	percent := int(garbageMost * 100 / live)
	return max(percent-percent%garbageLeast, garbageLeast)
}
