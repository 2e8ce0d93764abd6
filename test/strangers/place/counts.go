package place

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// A counter counts the objects of a watch.
type counter struct {
	is func(runtime.Object) bool

	mu          sync.Mutex
	now         map[types.UID]bool
	least, most int
	stopped     bool
}

// Counts counts the objects for which something holds, from now on. The function that it returns ends the count and says
// how few and how many there ever were at a time.
func Counts[L runtime.Object](
	p *Place, list func(context.Context, metav1.ListOptions) (L, error), open func(context.Context, metav1.ListOptions) (watch.Interface, error),
	opts metav1.ListOptions, is func(runtime.Object) bool,
) (counted func() (least, most int)) {
	p.Helper()
	begun, err := list(p.Context(), opts)
	p.Must(err)
	objects, err := meta.ExtractList(begun)
	p.Must(err)
	c := &counter{is: is, now: map[types.UID]bool{}}
	for _, o := range objects {
		p.Must(c.note(watch.Added, o))
	}
	c.least, c.most = len(c.now), len(c.now)
	l, err := meta.ListAccessor(begun)
	p.Must(err)
	opts.ResourceVersion = l.GetResourceVersion()
	w, err := open(p.Context(), opts)
	p.Must(err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ev := range w.ResultChan() {
			if err := c.note(ev.Type, ev.Object); err != nil {
				p.Errorf("a watch ended: %v", err)
				return
			}
		}
	}()
	return func() (least, most int) {
		c.mu.Lock()
		c.stopped = true
		c.mu.Unlock()
		w.Stop()
		<-ended
		return c.least, c.most
	}
}

// note takes an event. The error is the watch's; after its end a watch may have one.
func (c *counter) note(t watch.EventType, o runtime.Object) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, err := meta.Accessor(o)
	if err != nil {
		if c.stopped {
			return nil
		}
		return fmt.Errorf("%s %v", t, o)
	}
	if t == watch.Deleted || !c.is(o) {
		delete(c.now, m.GetUID())
	} else {
		c.now[m.GetUID()] = true
	}
	c.least, c.most = min(c.least, len(c.now)), max(c.most, len(c.now))
	return nil
}
