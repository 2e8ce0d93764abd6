package fakeclient

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/testing"
)

// keptReads is the number of reads a fake may remember. client-go's fakes remember
// every call forever, and give a reactor no way to forget.
const keptReads = 1024

// serve puts the replay before a fake's own reactors. A reactor runs with
// the fake's lock held, so nothing here calls back into the fake.
func (c *Client) serve(f *testing.Fake, as form) {
	f.PrependReactor("*", "*", func(a testing.Action) (bool, runtime.Object, error) {
		return c.react(f, as, a)
	})
	f.PrependWatchReactor("*", func(a testing.Action) (bool, watch.Interface, error) {
		c.forget(f)
		w, ok := a.(testing.WatchActionImpl)
		if !ok {
			return false, nil, nil
		}
		s, err := c.watch(w.GetResource(), w.GetNamespace(), w.ListOptions, as)
		if err != nil {
			return true, nil, err
		}
		return true, s, nil
	})
}

func (c *Client) react(f *testing.Fake, as form, a testing.Action) (bool, runtime.Object, error) {
	switch a := a.(type) {
	case testing.GetActionImpl:
		c.forget(f)
		obj, err := c.get(a, as)
		return true, obj, err
	case testing.ListActionImpl:
		c.forget(f)
		obj, err := c.list(a.GetResource(), a.GetNamespace(), a.ListOptions, as)
		return true, obj, err
	case testing.GenericActionImpl: // logs
		return true, nil, c.refuse(a, "a tape holds no logs")
	case testing.CreateActionImpl, testing.UpdateActionImpl, testing.PatchActionImpl,
		testing.DeleteActionImpl, testing.DeleteCollectionActionImpl:
		c.forget(f)
		obj, err := c.write(a, as)
		return true, obj, err
	}
	return false, nil, nil // discovery
}

// forget drops what the fake remembers, now and then. The fake's lock is held
// here, so that another goroutine has to; Close waits for it.
func (c *Client) forget(f *testing.Fake) {
	if c.reads.Add(1)%keptReads == 0 {
		c.start(f.ClearActions)
	}
}

func (c *Client) get(a testing.GetActionImpl, as form) (runtime.Object, error) {
	if a.Subresource != "" && a.Subresource != "status" {
		return nil, c.refuse(a, "a tape holds no subresources")
	}
	o, err := c.cluster.Get(a.GetResource(), a.GetNamespace(), a.GetName(), a.GetOptions)
	if err != nil {
		return nil, c.explain(a.GetResource(), err)
	}
	obj, err := shared(as, o)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return obj.DeepCopyObject(), nil
}

func (c *Client) list(gvr schema.GroupVersionResource, namespace string, opts metav1.ListOptions, as form) (runtime.Object, error) {
	l, err := c.cluster.List(gvr, namespace, opts)
	if err != nil {
		return nil, c.explain(gvr, err)
	}
	c.noteList(requestOf(gvr, namespace, opts), l, opts)
	items := make([]runtime.Object, len(l.Items))
	for i, o := range l.Items {
		obj, err := shared(as, o)
		if err != nil {
			c.refuted(err)
			return nil, apierrors.NewInternalError(err)
		}
		items[i] = obj.DeepCopyObject() // callers change what they list, then update it
	}
	list, err := as.list(l.Resource, items, metav1.ListMeta{
		ResourceVersion: l.ResourceVersion, Continue: l.Continue, RemainingItemCount: l.Remaining,
	})
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return list, nil
}

// explain adds to a 404 for a resource what the tape does hold.
func (c *Client) explain(gvr schema.GroupVersionResource, err error) error {
	if _, known := c.cluster.Resource(gvr); known || !apierrors.IsNotFound(err) {
		return err
	}
	status := apierrors.NewGenericServerResponse(404, "get", gvr.GroupResource(), "", "", 0, true)
	status.ErrStatus.Message = fmt.Sprintf("the tape %q doesn't hold %s (%s), but %s: record it, or add it with replay.Empty",
		c.player.Header().Metadata.Name, gvr.GroupResource(), gvr.Version, c.holds())
	return status
}

func (c *Client) holds() string {
	s := ""
	for i, r := range c.cluster.Resources() {
		if i > 0 {
			s += ", "
		}
		s += r.String()
	}
	return s
}
