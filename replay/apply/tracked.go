package apply

import (
	"github.com/nodesim/nodesim/replay"
)

// tracked is an object of the tape that is alive: what is known of it in the
// cluster.
type tracked struct {
	tape         string // its UID on the tape
	uid, version string // in the cluster; the version is "" where it isn't known
	sent         []byte // main and status as they were wanted last
	ending       bool   // a deletion has been asked for
	skip         string // why it isn't written
}

// sentence holds what tracked.sent holds.
type sentence struct{ Main, Status object }

func (t *tracked) says(w *want) { t.sent = encode(sentence{w.main, w.status}) }

func (t *tracked) said() (main, status object) {
	o, _ := decode(t.sent)
	main, _ = o["Main"].(object)
	status, _ = o["Status"].(object)
	return main, status
}

// skip leaves an object out, from now until the tape deletes it.
func (a *Applier) skip(k key, o *replay.Object, reason string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	where := o.Name()
	if o.Namespace() != "" {
		where = o.Namespace() + "/" + where
	}
	a.builder.skip(k.resource.String(), reason, where)
	if t := a.live[k]; t == nil || t.tape != string(o.UID()) {
		a.live[k] = &tracked{tape: string(o.UID()), skip: reason}
	}
}

func (a *Applier) get(k key) *tracked {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.live[k]
}

// keep remembers what the cluster has of an object.
func (a *Applier) keep(k key, w *want, have object) *tracked {
	t := &tracked{tape: w.uid, uid: text(have, "metadata", "uid"), version: text(have, "metadata", "resourceVersion")}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.live[k] = t
	if w.uid != "" {
		a.uids[w.uid] = t.uid
	}
	return t
}

func (a *Applier) forget(k key) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t := a.live[k]; t != nil {
		delete(a.uids, t.tape)
		delete(a.live, k)
	}
}

func (k key) where() string {
	if k.namespace == "" {
		return k.name
	}
	return k.namespace + "/" + k.name
}
