package liverun

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
)

// warnings hold what has gone wrong, as a panel has room for it. They may be used by
// several goroutines.
type warnings struct {
	mu    sync.Mutex
	count int
	last  string
	at    time.Time
}

func (w *warnings) add(text string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count, w.last, w.at = w.count+1, text, now
}

// lines are at most one line: the last warning, its age, and how many there were.
func (w *warnings) lines(now time.Time) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	ago := duration.HumanDuration(now.Sub(w.at))
	switch w.count {
	case 0:
		return nil
	case 1:
		return []string{fmt.Sprintf("warning, %s ago: %s", ago, w.last)}
	}
	return []string{fmt.Sprintf("%d warnings, the last %s ago: %s", w.count, ago, w.last)}
}
