package apiserver_test

import (
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/replay/apiserver"
)

// A dashboard that asks first what it may do is told what will work.
func TestAReviewSaysWhatWillWork(t *testing.T) {
	_, reading := stuck(t)
	_, writing := stuck(t, apiserver.RecordWrites(func(apiserver.Write) {}))
	for _, c := range []struct {
		group, resource, verb string
		reads, writes         bool
	}{
		{"", "nodes", "list", true, true},
		{"policy", "poddisruptionbudgets", "watch", true, true},
		{"", "nodes", "patch", false, true},
		{"", "secrets", "list", false, false},
		{"coordination.k8s.io", "leases", "create", false, true},
		{"*", "*", "get", true, true},
		{"*", "*", "*", false, true},
	} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Group: c.group, Resource: c.resource, Verb: c.verb},
		}}
		for name, client := range reading {
			for mode, want := range map[string]bool{"refuse": c.reads, "record": c.writes} {
				api := client
				if mode == "record" {
					api = writing[name]
				}
				got, err := api.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if got.Status.Allowed != want || !want && got.Status.Reason == "" {
					t.Errorf("%s, %s: %s %s.%s: found %+v, want allowed %v, or the reason", name, mode, c.verb, c.resource, c.group, got.Status, want)
				}
			}
		}
	}
	for name, client := range reading {
		me, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil || me.Status.UserInfo.Username != "nodesim" {
			t.Errorf("%s: who am I: %v, %+v, want nodesim", name, err, me)
		}
		err = client.CoreV1().RESTClient().Post().Namespace("shop").Resource("pods").Name("a").SubResource("exec").Do(t.Context()).Error()
		if !apierrors.IsMethodNotSupported(err) || !strings.Contains(err.Error(), "no containers run in it") {
			t.Errorf("%s: exec: %v, want that no containers run in it", name, err)
		}
	}
	rules, err := reading["protobuf"].AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(),
		&authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"}}, metav1.CreateOptions{})
	if err != nil || len(rules.Status.ResourceRules) == 0 || rules.Status.ResourceRules[0].Verbs[0] != "get" {
		t.Errorf("rules: %v, %+v", err, rules)
	}
}
