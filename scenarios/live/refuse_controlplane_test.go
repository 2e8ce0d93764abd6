//go:build controlplane

package live_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/scenarios/live"
)

// A user who lacks a right is told which, before anything is written.
func TestMissingRight(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"nodes", "nodes/status", "pods/status", "events", "namespaces"}, Verbs: []string{"*"}},
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get", "list", "watch", "patch", "delete"}},
		{APIGroups: []string{"apps", "policy", "coordination.k8s.io"}, Resources: []string{"*"}, Verbs: []string{"*"}},
	}
	meta := metav1.ObjectMeta{Name: "few"}
	rbac := client(t).RbacV1()
	if _, err := rbac.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "few"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "few"}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config := plane(t).Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: "few"}
	p, err := live.New(config, scenario(t, "surge"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Run(ctx)
	var missing *live.MissingRightsError
	if !errors.As(err, &missing) || len(missing.Rights) != 1 || missing.Rights[0] != "create pods/eviction" {
		t.Errorf("error %v: want that the right to create pods/eviction is missing, and no other", err)
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("the error is more than a line: %q", err)
	}
	nothingLeft(ctx, t)
}

// A cluster with nodes of its own is refused, and left as it is.
func TestForeignNodes(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	nodes := client(t).CoreV1().Nodes()
	if _, err := nodes.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "production-1"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := newRunner(t, scenario(t, "surge")).Run(ctx)
	var foreign *live.ForeignNodesError
	if !errors.As(err, &foreign) || foreign.Count != 1 || foreign.Example != "production-1" {
		t.Errorf("error %v: want a *ForeignNodesError that names production-1", err)
	}
	if err := nodes.Delete(ctx, "production-1", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	nothingLeft(ctx, t)
}

// Two scenarios can't be in one cluster, nor one twice.
func TestOneLiveRunAtATime(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	file := scenario(t, "minimal")
	settled := make(chan struct{})
	first := newRunner(t, file, live.BeforeBegin(func(context.Context) error { close(settled); return nil }))
	running, end := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		_, err := first.Run(running)
		done <- err
	}()
	select {
	case <-settled:
	case err := <-done:
		t.Fatal(err)
	}
	var other *live.OtherRunError
	if _, err := newRunner(t, file).Run(ctx); !errors.As(err, &other) || !other.Running {
		t.Errorf("the same scenario: error %v, want that it is performed now", err)
	}
	if _, err := newRunner(t, scenario(t, "stuck-drain")).Run(ctx); !errors.As(err, &other) || other.Running {
		t.Errorf("another scenario: error %v, want it refused", err)
	} else if !strings.Contains(err.Error(), "nodesim simulate minimal --live --cleanup") {
		t.Errorf("another scenario: error %v, want the remedy", err)
	}
	end()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the first ends with %v", err)
	}
	nothingLeft(ctx, t)
}
