package live

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"
)

// What is in the way and on its way out, even if it goes between two looks, is waited
// for; what stays there and isn't ours is not.
func TestCreateWhereSomethingIs(t *testing.T) {
	now := metav1.Now()
	settings := func(label string, deleted *metav1.Time) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", Labels: map[string]string{Label: label}, DeletionTimestamp: deleted}}
	}
	for name, one := range map[string]struct {
		there         []runtime.Object
		waits, refuse bool
	}{
		"it has just gone":  {nil, true, true},
		"it goes":           {[]runtime.Object{settings("surge", &now)}, true, true},
		"it is ours":        {[]runtime.Object{settings("surge", nil)}, false, false},
		"it is another's":   {[]runtime.Object{settings("other", nil)}, false, true},
		"theirs, and going": {[]runtime.Object{settings("other", &now)}, true, true},
	} {
		client := dynamicfake.NewSimpleDynamicClient(scheme.Scheme, one.there...)
		client.PrependReactor("create", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewAlreadyExists(corev1.Resource("configmaps"), "a")
		})
		g := &prerequisites{label: "surge", client: client}
		p, err := g.plan(settings("", nil))
		if err != nil {
			t.Fatal(err)
		}
		created, err := g.create(t.Context(), p)
		if created || (err != nil) != one.refuse || err != nil && passing(err) != one.waits {
			t.Errorf("%s: created %t, %v; want it waited for: %t", name, created, err, one.waits)
		}
	}
}
