package discovery

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/timeline"
)

// reviews are the kinds that answer a question and are kept nowhere (pkg/registry/authentication/rest and
// pkg/registry/authorization/rest). A cluster that takes writes lists them as a real one does.
var reviews = []timeline.Resource{
	{Group: "authentication.k8s.io", Version: "v1", Kind: "SelfSubjectReview", Resource: "selfsubjectreviews"},
	{Group: "authentication.k8s.io", Version: "v1", Kind: "TokenReview", Resource: "tokenreviews"},
	{Group: "authorization.k8s.io", Version: "v1", Kind: "LocalSubjectAccessReview", Resource: "localsubjectaccessreviews", Namespaced: true},
	{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectAccessReview", Resource: "selfsubjectaccessreviews"},
	{Group: "authorization.k8s.io", Version: "v1", Kind: "SelfSubjectRulesReview", Resource: "selfsubjectrulesreviews"},
	{Group: "authorization.k8s.io", Version: "v1", Kind: "SubjectAccessReview", Resource: "subjectaccessreviews"},
}

// reviewFacts are what a list of resources says of one.
func reviewFacts(r timeline.Resource) facts {
	return facts{resource: metav1.APIResource{
		Name: r.Resource, SingularName: strings.ToLower(r.Kind), Namespaced: r.Namespaced, Kind: r.Kind, Verbs: metav1.Verbs{"create"},
	}}
}
