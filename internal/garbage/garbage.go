// Package garbage has a program gather more or less garbage, by what lives in it.
//
// In: how often to look, and what GOGC is to be. A user that sets GOGC knows better: then nothing is done. The one
// goroutine ends with its context, and end waits for that.
package garbage

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// Govern sets GOGC to what percent says of so many bytes that live, after so many collections: at once, and then after
// each interval. end ends that, and leaves GOGC as it is.
func Govern(ctx context.Context, every time.Duration, percent func(live, collections uint64) int) (end func()) {
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
