package record

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// GovernGC sets GOGC to what percent says of so many bytes that live, after so many collections: at once, and then after
// each interval. A user that sets GOGC knows better: then it does nothing. It ends with the context; end waits for that, and
// leaves GOGC as it is.
func GovernGC(ctx context.Context, every time.Duration, percent func(live, collections uint64) int) (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	read := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	is := -1 // unknown
	look := func() {
		metrics.Read(read)
		live, collections := read[0].Value, read[1].Value
		if live.Kind() != metrics.KindUint64 || collections.Kind() != metrics.KindUint64 {
			return
		}
		if p := percent(live.Uint64(), collections.Uint64()); p != is { // to set it stops everything for a moment
			debug.SetGCPercent(p)
			is = p
		}
	}
	look()
	ctx, cancel := context.WithCancel(ctx)
	var owned sync.WaitGroup
	owned.Go(func() {
		next := time.NewTicker(every)
		defer next.Stop()
		for {
			select {
			case <-next.C:
				look()
			case <-ctx.Done():
				return
			}
		}
	})
	return func() { cancel(); owned.Wait() }
}
