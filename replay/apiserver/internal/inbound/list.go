package inbound

import (
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// listOptions says what a deletecollection is about.
func listOptions(req *http.Request) (out metav1.ListOptions, err error) {
	var in internalversion.ListOptions
	if err := parameters(req, &in); err != nil {
		return out, err
	}
	out = metav1.ListOptions{
		ResourceVersion: in.ResourceVersion, ResourceVersionMatch: in.ResourceVersionMatch,
		Limit: in.Limit, Continue: in.Continue, SendInitialEvents: in.SendInitialEvents,
	}
	if in.LabelSelector != nil {
		out.LabelSelector = in.LabelSelector.String()
	}
	if in.FieldSelector != nil {
		out.FieldSelector = in.FieldSelector.String()
	}
	return out, nil
}
