package replay

import (
	"errors"
	"fmt"
	"time"

	"github.com/nodesim/nodesim/timeline"
)

// Of what clients write to an [Engine]'s cluster, there is no more than this; an Engine bounds what its own controllers create. The
// bytes are half of what etcd has room for by default (etcd, server/storage/quota.go, DefaultQuotaBytes), in which it keeps older
// versions, too.
const (
	mostLiving      = 1_000_000
	mostLivingBytes = 1 << 30
)

// errFull is what a kube-apiserver answers whose etcd is full (etcd, api/v3rpc/rpctypes/error.go).
var errFull = errors.New("etcdserver: mvcc: database space exceeded")

// full is the error of a write that needs room where there is none.
func (c *Cluster) full(ev timeline.Event) error {
	if ev.Type == timeline.Deleted {
		return nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	grown := len(ev.Object)
	if alive := c.named(ev.Resource).objects[name{ev.Namespace, ev.Name}]; alive != nil {
		grown -= len(alive.raw)
	} else if c.objects >= c.mostLiving {
		return errFull
	}
	if grown > 0 && c.bytes+grown > c.mostLivingBytes {
		return errFull
	}
	return nil
}

// Of one object, clients write no more than this at one moment of a time that passes, and of all together no more than the latter: a
// controller that answers to its own writes would do so for ever, since a bubble's time passes only when it waits.
const (
	mostWrites    = 10_000
	mostWritesAll = 1_000_000
)

// writes counts those of one moment.
type writes struct {
	at  time.Duration
	all int
	of  map[writeKey]int // once there are many
}

type writeKey struct {
	resource string
	name
}

// endless is the error of one write too many.
func (w *writes) endless(ev timeline.Event) error {
	if ev.At != w.at {
		w.at, w.all = ev.At, 0
		clear(w.of)
	}
	if w.all++; w.all <= mostWrites/10 {
		return nil
	}
	if w.of == nil {
		w.of = map[writeKey]int{}
	}
	key := writeKey{ev.Resource, name{ev.Namespace, ev.Name}}
	w.of[key]++
	if w.of[key] <= mostWrites && w.all <= mostWritesAll {
		return nil
	}
	object := ev.Name
	if ev.Namespace != "" {
		object = ev.Namespace + "/" + ev.Name
	}
	return fmt.Errorf("at %s clients have written %d times, %s %s alone %d times, and no time has passed: want a controller that waits when there is nothing to change",
		timeline.FormatAt(ev.At), w.all, ev.Resource, object, w.of[key])
}
