package inbound

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ListOptions reads the options of a list, a watch or a deletecollection from
// the query, as listOpts of k8s.io/apiserver/pkg/endpoints/handlers/get.go
// does. A name that is in the path, or in the field selector, selects it.
func ListOptions(req *http.Request, name string) (metav1.ListOptions, error) {
	var in internalversion.ListOptions
	if err := parameters(req, &in); err != nil {
		return metav1.ListOptions{}, err
	}
	out := metav1.ListOptions{
		AllowWatchBookmarks: in.AllowWatchBookmarks, ResourceVersion: in.ResourceVersion, ResourceVersionMatch: in.ResourceVersionMatch,
		TimeoutSeconds: in.TimeoutSeconds, Limit: in.Limit, Continue: in.Continue, SendInitialEvents: in.SendInitialEvents,
	}
	if in.LabelSelector != nil {
		out.LabelSelector = in.LabelSelector.String()
	}
	if in.FieldSelector != nil {
		out.FieldSelector = in.FieldSelector.String()
	}
	if name == "" {
		return out, nil
	}
	if in.FieldSelector == nil || in.FieldSelector.Empty() {
		out.FieldSelector = "metadata.name=" + name
	} else if selected, ok := in.FieldSelector.RequiresExactMatch("metadata.name"); !ok || selected != name {
		return out, apierrors.NewBadRequest("fieldSelector metadata.name doesn't match requested name")
	}
	return out, nil
}
