package calibrate

import (
	"time"

	"github.com/nodesim/nodesim/internal/kubejson"
	"github.com/nodesim/nodesim/internal/rawjson"
)

// An owner is a ReplicaSet whose pods are being replaced.
type owner struct {
	missing int  // pods that were deleted, less those that were created since
	since   mark // the first of them, while none was created
}

// reactPause is the longest time until a ReplicaSet replaces a pod. One that is created later wasn't created for that.
const reactPause = time.Minute

// owner finds the ReplicaSet that keeps a pod, or nil.
func (r *reading) owner(pod []byte) *owner {
	ref := kubejson.Controller(pod)
	if rawjson.Text(ref, "kind") != "ReplicaSet" {
		return nil
	}
	uid := rawjson.Text(ref, "uid")
	o := r.owners[uid]
	if o == nil {
		o = &owner{}
		r.owners[uid] = o
	}
	return o
}

// loses takes the deletion of one of its pods.
func (o *owner) loses(now mark) {
	if o.missing == 0 {
		o.since = now
	}
	o.missing++
}

// creates takes a new pod of its own. The first one after deletions is its answer to the first of these.
func (o *owner) creates(r *reading) {
	if o.missing == 0 {
		return // it was scaled up
	}
	if o.since.is && r.now-o.since.at <= reactPause {
		r.add("controllerReact", o.since, r.here())
	}
	o.missing--
	o.since = mark{}
}
