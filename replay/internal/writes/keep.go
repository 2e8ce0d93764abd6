package writes

import (
	"encoding/json"
	"errors"
	"net/http"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/timeline"
)

// mostBytes is what etcd takes of an object (its --max-request-bytes).
const mostBytes = 3 << 19

// Keep makes a Handler of a Player whose cluster takes writes
// ([replay.Player.Writable]): what is written is kept, and the cluster goes on
// from there. record is that of [New].
func Keep(p *replay.Player, record func(Entry)) *Handler {
	limitCopies()
	return &Handler{cluster: p.Cluster(), header: p.Header(), record: record, player: p}
}

// transact does a write at one moment of the cluster's time. A write that stored
// nothing leaves no trace, in the names and UIDs of later objects either.
func (d *Handler) transact(w *write) (reply Answer, err error) {
	created, named := d.created, d.named
	failed := d.player.Transact(func(tx *replay.Tx) error {
		w.tx, w.at = tx, tx.At()
		if reply, err = w.do(); err == nil {
			err = w.conclude()
		}
		return nil // the cluster is as well as before
	})
	w.tx = nil
	if !w.stored {
		d.created, d.named = created, named
	}
	if failed != nil {
		return Answer{}, failed
	}
	return reply, err
}

// keeps reports whether what the write does is to be stored, were it not for
// a dry run.
func (w *write) keeps() bool { return w.handler.player != nil }

// put stores an object, which has the new version then, and returns it as JSON.
func (w *write) put(what timeline.Type, u unstructured.Unstructured) ([]byte, error) {
	return w.putOf(w.kind, what, u)
}

func (w *write) putOf(k kind, what timeline.Type, u unstructured.Unstructured) ([]byte, error) {
	ev := timeline.Event{Type: what, Resource: w.handler.key(k), Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID())}
	if what != timeline.Deleted {
		raw, err := json.Marshal(k.inStorage(u).Object)
		if err != nil {
			return nil, err
		}
		if len(raw) > mostBytes {
			return nil, errors.New("etcdserver: request is too large")
		}
		ev.Object = raw
	}
	o, err := w.tx.Put(ev)
	if err != nil {
		return nil, err
	}
	w.stored, w.newest = true, o
	u.SetResourceVersion(o.ResourceVersion())
	return k.inRequest(o.Raw()), nil
}

// keepNew stores a new object.
func (w *write) keepNew(u unstructured.Unstructured) (Answer, error) {
	raw, err := w.put(timeline.Added, u)
	if err == nil {
		w.remember(u)
	}
	return Answer{Code: http.StatusCreated, Object: raw}, err
}

// keepChange stores a changed object, where it has changed. One that has been
// deleted and has nothing left to wait for is removed.
func (w *write) keepChange(v view, u unstructured.Unstructured, live *object) (Answer, error) {
	var err error
	switch {
	case w.dryRun():
	case w.kind.over(u, live):
		gone := *u.DeepCopy() // the client is answered what it wrote
		_, err = w.put(timeline.Deleted, gone)
	default:
		if sameOwners(u.GetManagedFields(), live.GetManagedFields()) {
			u.SetManagedFields(live.GetManagedFields())
		}
		if equality.Semantic.DeepEqual(u.Object, live.Object) {
			break
		}
		var raw []byte
		if raw, err = w.put(timeline.Modified, u); err == nil {
			w.remember(u)
			if v.kind.Kind == w.kind.Kind {
				return Answer{Code: http.StatusOK, Object: raw}, nil
			}
		}
	}
	if err != nil {
		return Answer{}, err
	}
	if u, err = v.shown(u); err != nil {
		return Answer{}, err
	}
	return w.answer(http.StatusOK, u)
}

// over is ShouldDeleteDuringUpdate of
// k8s.io/apiserver/pkg/registry/generic/registry/store.go, and for namespaces
// ShouldDeleteNamespaceDuringUpdate of kubernetes/pkg/registry/core/namespace.
func (k kind) over(u unstructured.Unstructured, live *object) bool {
	left := live.GetDeletionGracePeriodSeconds()
	if len(u.GetFinalizers()) > 0 || live.GetDeletionTimestamp() == nil || left != nil && *left > 0 {
		return false
	}
	return !k.is("namespaces") || !inhabited(u)
}

// keepEnd stores what a delete has made of an object: it is marked, or gone, or
// first the one and then the other.
func (w *write) keepEnd(o *object, was unstructured.Unstructured, pending bool) error {
	if !w.keeps() || w.dryRun() {
		return nil
	}
	if len(o.GetFinalizers()) == 0 {
		o.SetFinalizers(nil)
	}
	// What ends at once shows nothing in between, but a pod that it was given no time.
	marked := pending || !equality.Semantic.DeepEqual(o.GetDeletionGracePeriodSeconds(), was.GetDeletionGracePeriodSeconds())
	if marked && !equality.Semantic.DeepEqual(o.Object, was.Object) {
		if _, err := w.put(timeline.Modified, o.Unstructured); err != nil {
			return err
		}
	}
	if pending {
		return nil
	}
	_, err := w.put(timeline.Deleted, o.Unstructured)
	return err
}
