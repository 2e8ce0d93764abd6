package replay

// waiter waits until a watch has no more than most events to read.
type waiter struct {
	watch *Watch
	most  int
	wake  func()
}

// after reports whether a watch has more than n events to read. wake is called
// when that one has read half of them, or has ended: there may be others then.
func (c *Cluster) behind(n int, wake func()) bool {
	for _, w := range c.openWatches() {
		if !w.behind(n) {
			continue
		}
		c.late.Store(&waiter{w, n / 2, wake})
		if w.behind(n) {
			return true
		}
		c.late.Store(nil) // it has read on meanwhile, and may have missed the waiter
	}
	return false
}

func (w *Watch) behind(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lag() > n
}

// progress wakes the waiter in after: the watch has read on. Called with
// mu held.
func (w *Watch) progress() {
	late := w.cluster.late.Load()
	if late != nil && late.watch == w && w.lag() <= late.most && w.cluster.late.CompareAndSwap(late, nil) {
		late.wake()
	}
}
