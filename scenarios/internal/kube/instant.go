package kube

import "time"

// An Instant is a wall time in nanoseconds since 1970, UTC. 0 is unset.
type Instant int64

// InstantOf returns the Instant of a time.
func InstantOf(t time.Time) Instant { return Instant(t.UnixNano()) }

// Add returns the Instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns how much later i is than j.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// Second returns the Instant rounded down to whole seconds, as a metav1.Time
// holds it.
func (i Instant) Second() Instant { return i - i%Instant(time.Second) }

// Time returns the Instant as a time in UTC.
func (i Instant) Time() time.Time { return time.Unix(0, int64(i)).UTC() }

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
