package apiserver_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gvr "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

// A cluster that takes writes lists the reviews and answers them; none of them makes a Table.
func TestReviewsOfAClusterThatTakesWrites(t *testing.T) {
	s, stop := keeping(t, nil)
	defer stop()
	config := s.RESTConfig()
	for group, want := range map[string]string{
		"authentication.k8s.io/v1": "selfsubjectreviews tokenreviews",
		"authorization.k8s.io/v1":  "localsubjectaccessreviews selfsubjectaccessreviews selfsubjectrulesreviews subjectaccessreviews",
	} {
		list, err := discovery.NewDiscoveryClientForConfigOrDie(config).ServerResourcesForGroupVersion(group)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range list.APIResources {
			got = append(got, r.Name)
		}
		if strings.Join(got, " ") != want || strings.Join(list.APIResources[0].Verbs, " ") != "create" {
			t.Errorf("%s: found %v, want %s", group, list.APIResources, want)
		}
	}
	c := kubernetes.NewForConfigOrDie(config)
	who, err := c.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: "t"}}, metav1.CreateOptions{})
	if err != nil || who.Status.Authenticated || who.Status.Error == "" {
		t.Errorf("found %+v, %v; want that the token isn't known", who, err)
	}
	create := &authorizationv1.ResourceAttributes{Namespace: "team", Resource: "pods", Verb: "create"}
	may, err := c.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), &authorizationv1.SubjectAccessReview{
		Spec: authorizationv1.SubjectAccessReviewSpec{User: "x", ResourceAttributes: create},
	}, metav1.CreateOptions{})
	if err != nil || !may.Status.Allowed {
		t.Errorf("found %+v, %v; want that x may", may, err)
	}
	missing := &authorizationv1.ResourceAttributes{Group: "example.com", Resource: "widgets", Verb: "list"} // nothing defines it yet
	self, err := c.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: missing},
	}, metav1.CreateOptions{})
	if err != nil || !self.Status.Allowed {
		t.Errorf("found %+v, %v; want that everybody may list what will be defined", self, err)
	}
	local, err := c.AuthorizationV1().LocalSubjectAccessReviews("team").Create(t.Context(), &authorizationv1.LocalSubjectAccessReview{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team"}, Spec: authorizationv1.SubjectAccessReviewSpec{User: "x", ResourceAttributes: create},
	}, metav1.CreateOptions{})
	if err != nil || !local.Status.Allowed {
		t.Errorf("found %+v, %v; want that x may there", local, err)
	}
	code := 0
	err = c.AuthorizationV1().RESTClient().Post().Resource("selfsubjectaccessreviews").SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").
		Body(&authorizationv1.SelfSubjectAccessReview{}).Do(t.Context()).StatusCode(&code).Error()
	if code != http.StatusNotAcceptable || err == nil || err.Error() != "the resource selfsubjectaccessreviews.authorization.k8s.io does not support being converted to a Table" {
		t.Errorf("a Table: found %d, %v; want 406", code, err)
	}
}

// Server-side apply of a custom resource refuses metadata that there isn't, in the object and in one that is within it, and OpenAPI v2
// has no properties of a kind that may have any.
func TestCustomResourcesAreDescribedWhole(t *testing.T) {
	s, stop := keeping(t, nil, definitionsOf)
	defer stop()
	config := s.RESTConfig()
	c := dynamic.NewForConfigOrDie(config)
	crds := c.Resource(gvr.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	open := strings.NewReplacer(`{"openAPIV3Schema":{"type":"object",`, `{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true,`, "gadget", "opener", "Gadget", "Opener", `"gd"`, `"op"`).Replace(gadget)
	within := strings.Replace(gadget, `"size":{`, `"template":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},"size":{`, 1)
	for _, text := range []string{open, within} {
		if _, err := crds.Create(t.Context(), parsed(t, text), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	gadgets := c.Resource(gvr.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}).Namespace("team")
	for text, want := range map[string]string{
		`"metadata":{"name":"a","mood":"good"}`: ".metadata.mood: field not declared in schema",
		`"metadata":{"name":"a"},"spec":{"template":{"apiVersion":"v1","kind":"Pod","metadata":{"mood":"good"}}}`: ".spec.template.metadata.mood: field not declared in schema",
		`"metadata":{"name":"a"},"mood":"good"`: ".mood: field not declared in schema",
		`"metadata":{"name":"a","labels":{"a":"b"},"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}],"finalizers":["a/b"]},` +
			`"spec":{"template":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"},"spec":{}}}`: "",
	} {
		_, err := gadgets.Patch(context.Background(), "a", types.ApplyPatchType, []byte(`{"apiVersion":"example.com/v1","kind":"Gadget",`+text+`}`), metav1.PatchOptions{FieldManager: "m"})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: found %v, want %q", text, err, want)
		}
	}
	text := get(t, config, "/openapi/v2", "application/json")
	if want := `"com.example.v1.Opener":{"type":"object","x-kubernetes-group-version-kind":[{"group":"example.com","kind":"Opener","version":"v1"}]}`; !strings.Contains(text, want) {
		i := strings.Index(text, `"com.example.v1.Opener"`)
		t.Errorf("found %.300s\nwant %s", text[max(i, 0):], want)
	}
}
