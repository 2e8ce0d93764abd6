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
	// recordSmall is the size of the objects of a cluster, in bytes, up to which a recording gathers least garbage.
	recordSmall = 24 << 20
	// recordLeast and recordMost are how much garbage a recording gathers, in percent of what lives, in small clusters and in
	// large ones. Nearly all that it reads is garbage as soon as it is on the tape. In a small cluster that is most of its
	// memory; in a large one less would cost a third more CPU.
	recordLeast, recordMost = 15, 50
	// recordLook is the interval at which it is looked what lives.
	recordLook = time.Second
)

// frugal has a recording gather little garbage. A user that sets GOGC knows better. The watch over it ends with the
// context; end waits for that.
func frugal(ctx context.Context) (end func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	debug.SetGCPercent(recordLeast)
	ctx, cancel := context.WithCancel(ctx)
	var owned sync.WaitGroup
	owned.Go(func() {
		look := time.NewTicker(recordLook)
		defer look.Stop()
		read := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		for is := recordLeast; ; {
			metrics.Read(read)
			if live := read[0].Value; live.Kind() == metrics.KindUint64 {
				if percent := recordPercent(live.Uint64(), is); percent != is {
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

// recordPercent is GOGC for so many bytes that live, where it was so much before. It doesn't change at each look.
func recordPercent(live uint64, before int) int {
	switch {
	case live > recordSmall:
		return recordMost
	case live < recordSmall/2:
		return recordLeast
	}
	return before
}
