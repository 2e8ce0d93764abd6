//go:build controlplane

package daemon_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

// machines are the kinds that recorder.machines=true is about.
var machines = map[schema.GroupVersionResource]string{
	{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}:   "NodeClaim",
	{Group: "cluster.x-k8s.io", Version: "v1", Resource: "machines"}: "Machine",
}

// define makes NodeClaims and Machines, unless they are there, and waits until the server offers and lists them.
func define(t *testing.T, c *testcluster.Cluster) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	for of, kind := range machines {
		crd := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": of.GroupResource().String()},
			"spec": map[string]any{
				"group": of.Group, "scope": "Cluster", "names": map[string]any{"kind": kind, "plural": of.Resource},
				"versions": []any{map[string]any{
					"name": of.Version, "served": true, "storage": true,
					"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
				}},
			},
		}}
		if _, err := definitions.Create(ctx, crd, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	listed := func(ctx context.Context, of schema.GroupVersionResource) bool {
		_, err := client.Resource(of).List(ctx, metav1.ListOptions{})
		return err == nil
	}
	err = wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		_, offers, _ := c.Client().Discovery().ServerGroupsAndResources() // what can't be asked for is missing
		for of := range machines {
			offered := slices.ContainsFunc(offers, func(l *metav1.APIResourceList) bool {
				return l.GroupVersion == of.GroupVersion().String() && len(l.APIResources) > 0
			})
			if !offered || !listed(ctx, of) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		t.Fatalf("NodeClaims and Machines aren't served: %v", err)
	}
}

// grant makes the namespace and the objects of the chart's templates/rbac.yaml in the cluster, waits until the API server has its
// rights, and returns the way to the cluster of its account.
func grant(ctx context.Context, t *testing.T, c *testcluster.Cluster, namespace string, all []runtime.Object) *rest.Config {
	t.Helper()
	client := c.Client()
	for _, o := range append([]runtime.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}}, all...) {
		if err := create(ctx, client, o); err != nil {
			t.Fatal(err)
		}
	}
	user := "system:serviceaccount:" + namespace + ":nodesim"
	for _, o := range all {
		var err error
		switch o := o.(type) {
		case *rbacv1.ClusterRole:
			err = authorized(ctx, client, user, "", o.Rules)
		case *rbacv1.Role:
			err = authorized(ctx, client, user, o.Namespace, o.Rules)
		}
		if err != nil {
			t.Fatalf("wait for the rights of %s: %v", user, err)
		}
	}
	token, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, "nodesim", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(c.Config())
	config.BearerToken = token.Status.Token
	return config
}

func create(ctx context.Context, client kubernetes.Interface, o runtime.Object) (err error) {
	switch o := o.(type) {
	case *corev1.Namespace:
		_, err = client.CoreV1().Namespaces().Create(ctx, o, metav1.CreateOptions{})
	case *corev1.ServiceAccount:
		_, err = client.CoreV1().ServiceAccounts(o.Namespace).Create(ctx, o, metav1.CreateOptions{})
	case *rbacv1.ClusterRole:
		_, err = client.RbacV1().ClusterRoles().Create(ctx, o, metav1.CreateOptions{})
	case *rbacv1.ClusterRoleBinding:
		_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, o, metav1.CreateOptions{})
	case *rbacv1.Role:
		_, err = client.RbacV1().Roles(o.Namespace).Create(ctx, o, metav1.CreateOptions{})
	case *rbacv1.RoleBinding:
		_, err = client.RbacV1().RoleBindings(o.Namespace).Create(ctx, o, metav1.CreateOptions{})
	default:
		err = fmt.Errorf("templates/rbac.yaml: found a %T: want an account, a role or a binding", o)
	}
	return err
}

// authorized waits until the API server grants a user the first of the rules of a role: its authorizer reads roles and bindings from
// caches of its own (k8s.io/kubernetes, plugin/pkg/auth/authorizer/rbac).
func authorized(ctx context.Context, client kubernetes.Interface, user, namespace string, rules []rbacv1.PolicyRule) error {
	if len(rules) == 0 {
		return nil
	}
	asks := &authorizationv1.ResourceAttributes{
		Namespace: namespace, Verb: rules[0].Verbs[0], Group: rules[0].APIGroups[0], Resource: rules[0].Resources[0],
	}
	if len(rules[0].ResourceNames) > 0 {
		asks.Name = rules[0].ResourceNames[0]
	}
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: asks}}
	return wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		answer, err := client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		return err == nil && answer.Status.Allowed, err
	})
}
