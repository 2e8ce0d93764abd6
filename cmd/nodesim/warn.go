package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nodesim/nodesim/noderoll"
)

// warn tells, in one line, of what goes wrong and doesn't end the work.
func warn(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, "nodesim: warning: %s\n", noderoll.OneLine(fmt.Sprintf(format, args...)))
}

// seldom lets a warning through once a few seconds.
func seldom(tell func(error)) func(error) {
	var mu sync.Mutex
	var last time.Time
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) > 3*time.Second {
			last = time.Now()
			tell(err)
		}
	}
}
