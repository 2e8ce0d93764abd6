package replay

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GetUnfaulted returns an object as it is now, and the newest version of its resource,
// at which it is so. No FaultInjector is asked: a write is checked
// against, whatever its client has been made to see. Errors are 404, for the
// resource or the object; of a resource that is there the version comes with it.
func (c *Cluster) GetUnfaulted(gvr schema.GroupVersionResource, namespace, objectName string) (o *Object, version string, err error) {
	k, err := c.find(gvr)
	if err != nil {
		return nil, "", err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	version = k.version(c.base)
	if o := k.objects[name{namespace, objectName}]; o != nil {
		return o, version, nil
	}
	return nil, version, apierrors.NewNotFound(gvr.GroupResource(), objectName)
}

// ListUnfaulted is [Cluster.List] without a FaultInjector.
func (c *Cluster) ListUnfaulted(gvr schema.GroupVersionResource, namespace string, opts metav1.ListOptions) (*List, error) {
	return c.listed(gvr, namespace, opts, func(Request) Verdict { return Verdict{} })
}
