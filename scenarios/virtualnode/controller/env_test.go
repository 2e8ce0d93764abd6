package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
)

// anEnvironment reads from these objects, all of namespace default.
func anEnvironment(t *testing.T, objects ...metav1.Object) (*environment, *record.FakeRecorder) {
	t.Helper()
	indexer := func() cache.Indexer {
		return cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	}
	maps, secrets, services := indexer(), indexer(), indexer()
	for _, object := range objects {
		object.SetNamespace("default")
		of := maps
		switch object.(type) {
		case *corev1.Secret:
			of = secrets
		case *corev1.Service:
			of = services
		}
		if err := of.Add(object); err != nil {
			t.Fatal(err)
		}
	}
	recorder := record.NewFakeRecorder(100)
	return &environment{
		configMaps: corev1listers.NewConfigMapLister(maps), secrets: corev1listers.NewSecretLister(secrets),
		services: corev1listers.NewServiceLister(services), recorder: recorder,
	}, recorder
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

// shown is an environment as NAME=value; a reference that was left is NAME=?.
func shown(env []corev1.EnvVar) (all []string) {
	for _, v := range env {
		if v.ValueFrom != nil {
			v.Value = "?"
		}
		all = append(all, v.Name+"="+v.Value)
	}
	return all
}

func TestEnvironmentInDeclaredOrder(t *testing.T) {
	e, _ := anEnvironment(t,
		&corev1.ConfigMap{ObjectMeta: named("settings"), Data: map[string]string{"zeta": "1", "alpha": "2", "shared": "map"}},
		&corev1.Secret{ObjectMeta: named("keys"), Data: map[string][]byte{"token": []byte("s3cret"), "shared": []byte("secret")}},
		&corev1.Service{ObjectMeta: named("data-base"), Spec: corev1.ServiceSpec{ClusterIP: "10.0.0.9", Ports: []corev1.ServicePort{{Name: "sql", Port: 5432}}}},
		&corev1.Service{ObjectMeta: named("headless"), Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Ports: []corev1.ServicePort{{Port: 1}}}},
	)
	pod := aPod("web")
	pod.Spec.EnableServiceLinks = new(true)
	c := &pod.Spec.Containers[0]
	c.EnvFrom = []corev1.EnvFromSource{
		{Prefix: "CFG_", ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}},
		{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "keys"}}},
	}
	c.Env = []corev1.EnvVar{
		{Name: "Z", Value: "last letter first"},
		{Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
		{Name: "URL", Value: "db://$(DATA_BASE_SERVICE_HOST)/$(Z)/$(NOBODY)/$$(Z)"},
		{Name: "shared", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Key: "zeta",
		}}},
		{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: "keys"}, Key: "token",
		}}},
		{Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
	}
	want := []string{
		"CFG_alpha=2", "CFG_shared=map", "CFG_zeta=1", "shared=1", "token=s3cret", "Z=last letter first", "NODE=virtual",
		"URL=db://10.0.0.9/last letter first/$(NOBODY)/$(Z)", "TOKEN=s3cret", "IP=?",
		"DATA_BASE_SERVICE_HOST=10.0.0.9", "DATA_BASE_SERVICE_PORT=5432", "DATA_BASE_SERVICE_PORT_SQL=5432",
		"DATA_BASE_PORT=tcp://10.0.0.9:5432", "DATA_BASE_PORT_5432_TCP=tcp://10.0.0.9:5432", "DATA_BASE_PORT_5432_TCP_PROTO=tcp",
		"DATA_BASE_PORT_5432_TCP_PORT=5432", "DATA_BASE_PORT_5432_TCP_ADDR=10.0.0.9",
	}
	for range 5 { // equal every time
		again := pod.DeepCopy()
		if err := e.resolve(again); err != nil {
			t.Fatal(err)
		}
		if got := shown(again.Spec.Containers[0].Env); !slices.Equal(got, want) {
			t.Fatalf("environment %q:\nwant %q", got, want)
		}
		if again.Spec.Containers[0].EnvFrom != nil {
			t.Fatal("the sources are left beside what came out of them")
		}
	}
}

func TestMissingSources(t *testing.T) {
	ref := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	for name, c := range map[string]struct {
		from            *corev1.EnvVarSource
		sources         []corev1.EnvFromSource
		asked, mistaken string
	}{
		"config map": {
			sources: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: ref("none")}}},
			asked:   "ConfigMapNotFound config map default/none not found",
		},
		"secret": {
			sources: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: ref("none")}}},
			asked:   "SecretNotFound secret default/none not found",
		},
		"key of a config map": {
			from:  &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: ref("settings"), Key: "none"}},
			asked: `ConfigMapKeyNotFound config map default/settings has no key "none"`,
		},
		"key of a secret": {
			from:  &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: ref("keys"), Key: "none"}},
			asked: `SecretKeyNotFound secret default/keys has no key "none"`,
		},
	} {
		for _, isOptional := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, optional %t", name, isOptional), func(t *testing.T) {
				e, recorder := anEnvironment(t, &corev1.ConfigMap{ObjectMeta: named("settings")}, &corev1.Secret{ObjectMeta: named("keys")})
				pod := aPod("web")
				main := &pod.Spec.Containers[0]
				main.EnvFrom = slices.Clone(c.sources)
				if c.from != nil {
					main.Env = []corev1.EnvVar{{Name: "A", ValueFrom: c.from.DeepCopy()}}
				}
				for i := range main.EnvFrom {
					if r := main.EnvFrom[i].ConfigMapRef; r != nil {
						r.Optional = &isOptional
					}
					if r := main.EnvFrom[i].SecretRef; r != nil {
						r.Optional = &isOptional
					}
				}
				for i := range main.Env {
					if r := main.Env[i].ValueFrom.ConfigMapKeyRef; r != nil {
						r.Optional = &isOptional
					}
					if r := main.Env[i].ValueFrom.SecretKeyRef; r != nil {
						r.Optional = &isOptional
					}
				}
				err := e.resolve(pod)
				kind := map[bool]string{true: "Optional", false: "Mandatory"}[isOptional]
				if event, want := <-recorder.Events, "Warning "+kind+c.asked; event != want {
					t.Errorf("event %q: want %q", event, want)
				}
				if isOptional && (err != nil || len(main.Env) > 0) {
					t.Errorf("environment %q, error %v: want none of both", shown(main.Env), err)
				}
				if !isOptional && (!IsNotFound(err) || !strings.Contains(err.Error(), `container "main"`)) {
					t.Errorf("error %v: want a not-found error that names the container", err)
				}
			})
		}
	}
}

func TestDownwardFields(t *testing.T) {
	pod := aPod("web")
	pod.Labels, pod.Annotations = map[string]string{"b": "2", "a": "1"}, map[string]string{"example.org/x": `"quoted"`}
	pod.Spec.ServiceAccountName = "robot"
	for path, want := range map[string]string{
		"metadata.name": "web", "metadata.namespace": "default", "metadata.uid": "web-uid", "metadata.labels": "a=\"1\"\nb=\"2\"",
		"metadata.labels['b']": "2", "metadata.labels['none']": "", "metadata.annotations['example.org/x']": `"quoted"`,
		"metadata.annotations": `example.org/x="\"quoted\""`, "spec.nodeName": "virtual", "spec.serviceAccountName": "robot",
	} {
		if got, found, err := podField(pod, path); got != want || !found || err != nil {
			t.Errorf("%s is %q, %t, %v: want %q", path, got, found, err, want)
		}
	}
	for _, path := range []string{"", "status.phase", "metadata.labels['b'", "metadata.labels[b]", "spec.nodeName['a']"} {
		if _, _, err := podField(pod, path); !IsInvalidInput(err) {
			t.Errorf("%q: error %v, want an invalid-input error", path, err)
		}
	}
}

func TestResourceFields(t *testing.T) {
	pod := aPod("web")
	pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "side", Resources: corev1.ResourceRequirements{
		Limits:   corev1.ResourceList{"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("1Gi")},
		Requests: corev1.ResourceList{"cpu": resource.MustParse("1")},
	}})
	for _, c := range []struct{ container, resource, divisor, want string }{
		{"side", "limits.cpu", "0", "2"},
		{"side", "limits.cpu", "1m", "1500"},
		{"side", "limits.memory", "1Mi", "1024"},
		{"side", "limits.memory", "1G", "2"},
		{"side", "requests.cpu", "1", "1"},
		{"side", "requests.memory", "1", "0"},
		{"side", "limits.ephemeral-storage", "1", "left to the provider"},
		{"", "limits.cpu", "1", "left to the provider"},
		{"none", "limits.cpu", "1", `the pod has no container "none"`},
		{"side", "memory", "1", `resource "memory": want requests.NAME or limits.NAME`},
		{"side", "limits.cpu", "-1", "1500m in units of -1: want amounts above zero"},
	} {
		ref := &corev1.ResourceFieldSelector{ContainerName: c.container, Resource: c.resource, Divisor: resource.MustParse(c.divisor)}
		got, found, err := resourceField(pod, &pod.Spec.Containers[0], ref)
		if err != nil {
			got = err.Error()
		} else if !found {
			got = "left to the provider"
		}
		if got != c.want {
			t.Errorf("%s of %q in %s: %s, want %s", c.resource, c.container, c.divisor, got, c.want)
		}
	}
}

func TestSkippedDownwardFieldsStayReferences(t *testing.T) {
	e, _ := anEnvironment(t)
	e.skipDownward = true
	pod := aPod("web")
	pod.Spec.Containers[0].Env = []corev1.EnvVar{
		{Name: "A", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
		{Name: "B", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}},
		{Name: "C", Value: "$(A)"},
	}
	if err := e.resolve(pod); err != nil {
		t.Fatal(err)
	}
	if got, want := shown(pod.Spec.Containers[0].Env), []string{"A=?", "B=?", "C=$(A)"}; !slices.Equal(got, want) {
		t.Errorf("environment %q: want %q", got, want)
	}
}

func TestExpansion(t *testing.T) {
	mapping := func(name string) string { return "<" + name + ">" }
	for value, want := range map[string]string{
		"": "", "plain": "plain", "$(A)": "<A>", "a$(A)b$(B)": "a<A>b<B>", "$$(A)": "$(A)", "$": "$", "$$": "$", "$$$(A)": "$<A>",
		"$(A": "$(A", "$()": "<>", "$A": "$A", "a$": "a$", "$(A)$": "<A>$", "$é": "$é",
	} {
		if got := expand(value, mapping); got != want {
			t.Errorf("%q expands to %q: want %q", value, got, want)
		}
	}
}

func TestKeysThatCantBeVariablesAreLeftOut(t *testing.T) {
	e, recorder := anEnvironment(t, &corev1.ConfigMap{ObjectMeta: named("settings"), Data: map[string]string{"good": "1", "bad=": "2"}})
	pod := aPod("web")
	pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "settings"},
	}}}
	if err := e.resolve(pod); err != nil {
		t.Fatal(err)
	}
	if got, want := shown(pod.Spec.Containers[0].Env), []string{"good=1"}; !slices.Equal(got, want) {
		t.Errorf("environment %q: want %q", got, want)
	}
	if event, want := <-recorder.Events, `Warning InvalidEnvironmentVariableNames keys ["bad="] can't be environment variables and are left out`; event != want {
		t.Errorf("event %q: want %q", event, want)
	}
}
