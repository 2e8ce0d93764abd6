package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nodesim/nodesim/replay/apiserver/internal/inbound"
	"github.com/nodesim/nodesim/replay/apiserver/internal/media"
	"github.com/nodesim/nodesim/replay/apiserver/internal/route"
	"github.com/nodesim/nodesim/replay/internal/writes"
	"github.com/nodesim/nodesim/timeline"
)

// reviews reports whether a request asks what the client may do, or who it is, as
// dashboards, kubectl auth can-i and kubectl auth whoami do.
func (s *Server) reviews(info *route.Info) bool {
	if info.APIVersion != "v1" || info.Subresource != "" || info.Verb != writes.Create {
		return false
	}
	switch info.APIGroup + "/" + info.Resource {
	case authenticationv1.GroupName + "/selfsubjectreviews",
		authorizationv1.GroupName + "/selfsubjectaccessreviews", authorizationv1.GroupName + "/selfsubjectrulesreviews":
		return true
	case authenticationv1.GroupName + "/tokenreviews",
		authorizationv1.GroupName + "/subjectaccessreviews", authorizationv1.GroupName + "/localsubjectaccessreviews":
		return s.player.Writable()
	}
	return false
}

// review answers it: a client that has come so far may read what the tape holds, and
// write where writes are recorded.
func (s *Server) review(w http.ResponseWriter, req *http.Request, info *route.Info) error {
	asked, err := inbound.Decode(req, info)
	if err != nil {
		return err
	}
	form, err := media.Negotiate(req, timeline.Resource{Group: info.APIGroup, Version: info.APIVersion, Resource: info.Resource}, media.Single)
	if err != nil {
		return err
	}
	if form.Table() {
		// errNotAcceptable of k8s.io/apiserver/pkg/registry/rest/table.go
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
			Message: fmt.Sprintf("the resource %s does not support being converted to a Table", schema.GroupResource{Group: info.APIGroup, Resource: info.Resource}),
		}}
	}
	r := s.reviewOf(info.Resource)
	if err := json.Unmarshal(asked.Body, r.object); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	r.answer()
	r.object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Group: info.APIGroup, Version: info.APIVersion, Kind: r.kind})
	raw, err := json.Marshal(r.object)
	if err != nil {
		return err
	}
	return s.answer(w, req, nil, info, http.StatusCreated, raw)
}

// A review is what is asked, and how its status is answered once it is decoded.
type review struct {
	object runtime.Object
	kind   string
	answer func()
}

func (s *Server) reviewOf(resource string) review {
	switch resource {
	case "selfsubjectreviews":
		r := &authenticationv1.SelfSubjectReview{}
		return review{r, "SelfSubjectReview", func() { r.Status = authenticationv1.SelfSubjectReviewStatus{UserInfo: tokenUser} }}
	case "tokenreviews":
		r := &authenticationv1.TokenReview{}
		return review{r, "TokenReview", func() {
			r.Status = authenticationv1.TokenReviewStatus{Error: "tokens are not checked: nodesim issues none to ServiceAccounts"}
		}}
	case "selfsubjectrulesreviews":
		r := &authorizationv1.SelfSubjectRulesReview{}
		return review{r, "SelfSubjectRulesReview", func() { r.Status = s.rules() }}
	case "selfsubjectaccessreviews":
		r := &authorizationv1.SelfSubjectAccessReview{}
		return review{r, "SelfSubjectAccessReview", func() { r.Status = s.access(r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes) }}
	}
	// The other two have the same fields.
	r, kind := &authorizationv1.SubjectAccessReview{}, "SubjectAccessReview"
	if resource == "localsubjectaccessreviews" {
		kind = "LocalSubjectAccessReview"
	}
	return review{r, kind, func() { r.Status = s.access(r.Spec.ResourceAttributes, r.Spec.NonResourceAttributes) }}
}

// tokenUser is the user of the token; there is no other.
var tokenUser = authenticationv1.UserInfo{Username: "nodesim", Groups: []string{"system:authenticated"}}

// readers are the verbs that a tape answers.
var readers = []string{"get", "list", "watch"}

func (s *Server) access(a *authorizationv1.ResourceAttributes, n *authorizationv1.NonResourceAttributes) authorizationv1.SubjectAccessReviewStatus {
	tape := s.player.Header().Metadata.Name
	switch {
	case s.player.Writable(): // in a cluster that acts everybody may do everything
		return authorizationv1.SubjectAccessReviewStatus{Allowed: a != nil || n != nil}
	case a == nil:
		return authorizationv1.SubjectAccessReviewStatus{Allowed: n != nil && n.Verb == "get"}
	case !slices.Contains(readers, a.Verb) && s.writeHandler == nil:
		return authorizationv1.SubjectAccessReviewStatus{Reason: fmt.Sprintf("this is a replay of tape %q, which takes no writes", tape)}
	case slices.Contains(readers, a.Verb) && a.Resource != "*" && !s.holds(a.Group, a.Resource):
		return authorizationv1.SubjectAccessReviewStatus{Reason: fmt.Sprintf("this is a replay of tape %q, which holds none of them", tape)}
	}
	return authorizationv1.SubjectAccessReviewStatus{Allowed: true}
}

// holds reports whether the tape has a resource, in any version.
func (s *Server) holds(group, resource string) bool {
	for name := range s.catalog().resources {
		if name.Resource == resource && (name.Group == group || group == "*") {
			return true
		}
	}
	return false
}

func (s *Server) rules() (status authorizationv1.SubjectRulesReviewStatus) {
	verbs := readers
	if s.writeHandler != nil {
		verbs = []string{"*"}
	}
	for _, r := range s.catalog().served {
		status.ResourceRules = append(status.ResourceRules, authorizationv1.ResourceRule{Verbs: verbs, APIGroups: []string{r.Group}, Resources: []string{r.Resource}})
	}
	status.NonResourceRules = []authorizationv1.NonResourceRule{{Verbs: []string{"get"}, NonResourceURLs: []string{"*"}}}
	return status
}
