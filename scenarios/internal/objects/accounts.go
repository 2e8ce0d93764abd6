package objects

import (
	_ "embed" // the certificate
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	"github.com/nodesim/nodesim/scenarios/internal/model"
)

// accounts gives every namespace its ServiceAccount default and the ConfigMap with the certificate of the cluster's
// authority (pkg/controller/serviceaccount/serviceaccounts_controller.go, pkg/controller/certificates/rootcacertpublisher).
type accounts struct {
	*Objects
	account, root model.Stream
}

const (
	defaultAccount = "default"
	rootConfig     = "kube-root-ca.crt"
	described      = "kubernetes.io/description"
)

// rootCertificate is of an authority whose key nobody has.
//
//go:embed root.crt
var rootCertificate string

func newAccounts(s *Objects) *accounts {
	return &accounts{Objects: s, account: s.Env.Stream("serviceaccount-controller"), root: s.Env.Stream("root-ca-cert-publisher")}
}

func (a *accounts) seen(c kube.Change, x *Object) {
	switch x.resource {
	case "namespaces":
		if c == kube.Added {
			a.soon(&a.account, x.Name, a.giveAccount)
			a.soon(&a.root, x.Name, a.giveRoot)
		}
	case "serviceaccounts":
		if c == kube.Deleted && x.Name == defaultAccount {
			a.soon(&a.account, x.Namespace, a.giveAccount)
		}
	case "configmaps":
		if c != kube.Added && x.Name == rootConfig {
			a.soon(&a.root, x.Namespace, a.giveRoot)
		}
	}
}

// soon looks at a namespace after the controller's reaction time.
func (a *accounts) soon(s *model.Stream, namespace string, give func(namespace string)) {
	a.Env.After(a.Env.Draw(s, a.Env.Timings.ControllerReact), func() {
		if x := a.Get("namespaces", "", namespace); x != nil && !x.Deleting {
			give(namespace)
		}
	})
}

func (a *accounts) giveAccount(namespace string) {
	if a.Get("serviceaccounts", namespace, defaultAccount) == nil {
		a.create("serviceaccounts", a.account.UUID(), account(namespace))
	}
}

// giveRoot is syncNamespace of the publisher: it writes where the data isn't the certificate alone, or nothing describes it.
func (a *accounts) giveRoot(namespace string) {
	want := root(namespace)
	x := a.Get("configmaps", namespace, rootConfig)
	switch {
	case x == nil:
		a.create("configmaps", a.root.UUID(), want)
	case !maps.Equal(stringsOf(x.text, "data"), want.Data) || stringsOf(x.text, "metadata", "annotations")[described] == "":
		a.patch(x, marshal(map[string]any{
			"metadata": map[string]any{"annotations": want.Annotations}, "data": replacing(x.text, want.Data, "data"),
		}))
	}
}

func account(namespace string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: defaultAccount},
	}
}

func root(namespace string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: rootConfig, Annotations: map[string]string{
			described: "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
		}},
		Data: map[string]string{"ca.crt": rootCertificate},
	}
}
