package controller

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// earlyReports keeps what a provider says before the caches are full, the last word on each pod.
type earlyReports struct {
	mu     sync.Mutex
	closed bool
	kept   map[string]earlyReport
}

type earlyReport struct {
	of   metav1.ObjectMeta
	said *podReport
}

// keep keeps a report and says whether it did: not after replay.
func (e *earlyReports) keep(of metav1.ObjectMeta, said *podReport) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	if e.kept == nil {
		e.kept = map[string]earlyReport{}
	}
	e.kept[keyOf(&corev1.Pod{ObjectMeta: of})] = earlyReport{of, said}
	return true
}

// replay hands on what was kept, and closes. What is reported meanwhile waits for its end, so that no report overtakes
// an earlier one of the same pod.
func (e *earlyReports) replay(report func(metav1.ObjectMeta, *podReport)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, early := range e.kept {
		report(early.of, early.said)
	}
	e.kept, e.closed = nil, true
}

// over says whether replay has ended.
func (e *earlyReports) over() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}
