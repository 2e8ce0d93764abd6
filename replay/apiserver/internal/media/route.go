package media

import (
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/timeline"
)

// servedByGo are the groups whose objects have a Go type in their server, but
// not in apischeme.
var servedByGo = map[string]bool{
	"apiregistration.k8s.io":  true, // k8s.io/kube-aggregator
	"metrics.k8s.io":          true, // sigs.k8s.io/metrics-server
	"custom.metrics.k8s.io":   true,
	"external.metrics.k8s.io": true,
}

// isBuiltIn tells built-in resources, which a server has Go types and routes
// for, from custom ones.
func isBuiltIn(r timeline.Resource) bool {
	return types().IsVersionRegistered(kindOf(r).GroupVersion()) || servedByGo[r.Group]
}

// routed refuses what never comes to a negotiation: a built-in resource has a
// route of go-restful, which matches the Accept header by itself, knows
// parameters no more than application/*, and refuses in words of its own
// (github.com/emicklei/go-restful/v3, route.go and jsr311.go; serviceErrorHandler
// in k8s.io/apiserver/pkg/server/handler.go).
func routed(accept string, what What) error {
	produces := []string{runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf}
	if accept == "" {
		return nil
	}
	for clause := range strings.SplitSeq(accept, ",") {
		media, _, _ := strings.Cut(clause, ";")
		switch strings.TrimSpace(media) {
		case "*/*", runtime.ContentTypeJSON, runtime.ContentTypeYAML, runtime.ContentTypeProtobuf:
			return nil
		}
	}
	if what != Single { // lists and watches have one route
		produces = append(produces, runtime.ContentTypeJSON+";stream=watch", runtime.ContentTypeProtobuf+";stream=watch")
	}
	message := "406: Not Acceptable\n\nAvailable representations: " + strings.Join(produces, ", ")
	return apierrors.NewGenericServerResponse(http.StatusNotAcceptable, "", schema.GroupResource{}, "", message, 0, false)
}
