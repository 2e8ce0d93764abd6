//go:build controlplane

package kubedefaults_test

import (
	"regexp"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
)

// others are what the server adds after the defaults: admission, allocation, and the strategies of the registry. What
// they add isn't this package's.
var others = regexp.MustCompile(`^\.(metadata\.(uid|creationTimestamp|generation|managedFields|resourceVersion|namespace|annotations\.|finalizers)` +
	`|status\b` +
	`|spec\.(clusterIP|clusterIPs|ipFamilies|ipFamilyPolicy|ports\[\d+\]\.nodePort)` + // Services
	`|spec\.(tolerations|priority|preemptionPolicy|serviceAccount|serviceAccountName|volumes|(initContainers|containers)\[\d+\]\.volumeMounts)` + // admission of pods
	`|spec\.(selector|template\.metadata\.labels)\..*(controller-uid|job-name)|metadata\.labels\..*(controller-uid|job-name)` + // Jobs
	`|spec\.(taints|finalizers)` + // Nodes, Namespaces
	`)`)

// TestFillAsTheServerDoes creates the samples in a dry run of a real kube-apiserver, and compares.
func TestFillAsTheServerDoes(t *testing.T) {
	c := testcluster.Shared(t)
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range samples(t) {
		gvr, _ := meta.UnsafeGuessKindToResource(u.GroupVersionKind())
		sent := u.DeepCopy()
		at := client.Resource(gvr).Namespace(u.GetNamespace())
		answer, err := at.Create(t.Context(), sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			t.Errorf("%s %s: %v", u.GetKind(), u.GetName(), err)
			continue
		}
		want, got := leaves(answer.Object, "", map[string]string{}), leaves(filled(u), "", map[string]string{})
		for path, v := range want {
			if has, there := got[path]; (!there || has != v) && !others.MatchString(path) {
				t.Errorf("%s %s: %s is %q, and the server's %q", u.GetKind(), u.GetName(), path, has, v)
			}
		}
		for path, v := range got {
			if _, there := want[path]; !there && !others.MatchString(path) && v != "{}" && v != "[]" {
				t.Errorf("%s %s: %s is %q, and the server has none", u.GetKind(), u.GetName(), path, v)
			}
		}
	}
}
