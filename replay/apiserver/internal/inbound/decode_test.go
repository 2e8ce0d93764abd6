package inbound

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/nodesim/nodesim/replay/apiserver/internal/route"
	"github.com/nodesim/nodesim/replay/internal/writes"
)

func decode(t *testing.T, method, url, media, body string) (writes.Request, error) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	info, err := route.Of(req)
	if err != nil {
		t.Fatal(err)
	}
	return Decode(req, info)
}

// protobuf is an object as client-go's typed clients send it.
func protobuf(t *testing.T, obj runtime.Object, gv schema.GroupVersion) string {
	t.Helper()
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	raw, err := runtime.Encode(scheme.Codecs.EncoderForVersion(info.Serializer, gv), obj)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestBodies(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	for _, c := range []struct{ what, method, url, media, body, want string }{
		{"JSON as it is", "POST", "/api/v1/nodes", "application/json", ` {"a":1} `, ` {"a":1} `},
		{"nothing said", "POST", "/api/v1/nodes", "", `{}`, `{}`},
		{"a character set", "PUT", "/api/v1/nodes/a", "application/json; charset=utf-8", `{}`, `{}`},
		{"YAML", "POST", "/api/v1/nodes", "application/yaml", "metadata:\n  name: a\n", `{"metadata":{"name":"a"}}`},
		{"protobuf", "POST", "/api/v1/nodes", runtime.ContentTypeProtobuf, protobuf(t, node, corev1.SchemeGroupVersion),
			`{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"},"spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}}`},
		{"protobuf of a subresource", "POST", "/api/v1/namespaces/n/pods/p/eviction", runtime.ContentTypeProtobuf, protobuf(t, eviction, policyv1.SchemeGroupVersion),
			`{"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"p"}}`},
		{"a patch", "PATCH", "/api/v1/nodes/a", "application/merge-patch+json", `{"x":1}`, `{"x":1}`},
	} {
		r, err := decode(t, c.method, c.url, c.media, c.body)
		if err != nil || string(r.Body) != c.want {
			t.Errorf("%s: %s %v, want %s", c.what, r.Body, err, c.want)
		}
	}
}

func TestRequests(t *testing.T) {
	r, err := decode(t, "PATCH", "/apis/policy/v1/namespaces/n/poddisruptionbudgets/b/status?dryRun=All&fieldManager=m&fieldValidation=Strict&force=true", "application/apply-patch+yaml; x=y", "a: 1")
	if got := strings.TrimSpace(fmt.Sprintln(r.Verb, r.Resource, r.Subresource, r.Namespace, r.Name, r.PatchType, r.Options.DryRun, r.Options.FieldManager, r.Options.FieldValidation, *r.Options.Force)); err != nil ||
		got != "patch policy/v1, Resource=poddisruptionbudgets status n b application/apply-patch+yaml [All] m Strict true" {
		t.Error(got, err)
	}
	r, err = decode(t, "DELETE", "/api/v1/namespaces/n", "", "")
	if err != nil || r.Namespace != "" || r.Name != "n" {
		t.Errorf("%+v %v", r, err)
	}
	r, err = decode(t, "DELETE", "/api/v1/namespaces/n/pods?labelSelector=a%3Db&fieldSelector=spec.nodeName%3Dx&gracePeriodSeconds=5", "", "")
	if err != nil || r.Verb != writes.DeleteCollection || r.Selector.LabelSelector != "a=b" || r.Selector.FieldSelector != "spec.nodeName=x" || *r.Delete.GracePeriodSeconds != 5 {
		t.Errorf("%+v %v", r, err)
	}
	grace := int64(7)
	for _, c := range []struct{ media, body string }{
		{"", `{"gracePeriodSeconds":7}`}, {"application/json", `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":7}`},
		{"application/json", `{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/v1","gracePeriodSeconds":7}`},
		{"application/yaml", "gracePeriodSeconds: 7"},
		{runtime.ContentTypeProtobuf, protobuf(t, &metav1.DeleteOptions{GracePeriodSeconds: &grace}, corev1.SchemeGroupVersion)},
	} {
		// What is in the query doesn't count beside a body.
		r, err := decode(t, "DELETE", "/api/v1/namespaces/n/pods/p?gracePeriodSeconds=5", c.media, c.body)
		if err != nil || r.Delete.GracePeriodSeconds == nil || *r.Delete.GracePeriodSeconds != grace {
			t.Errorf("%s: %+v %v", c.media, r.Delete, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		what, method, url, media, body string
		code                           int
		message                        string
	}{
		{"a form", "POST", "/api/v1/nodes", "multipart/form-data", "", http.StatusUnsupportedMediaType,
			"the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf"},
		{"a patch that isn't one", "PATCH", "/api/v1/nodes/a", "application/json", "{}", http.StatusUnsupportedMediaType, "415: Unsupported Media Type"},
		{"a patch of a custom resource", "PATCH", "/apis/x.y/v1/zs/a", "application/strategic-merge-patch+json", "{}", http.StatusUnsupportedMediaType,
			"the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"},
		{"too much", "POST", "/api/v1/nodes", "", strings.Repeat(" ", MaxBody+1), http.StatusRequestEntityTooLarge, "Request entity too large: limit is 3145728"},
		{"an odd parameter", "PUT", "/api/v1/nodes/a?dryRun=x", "application/yaml", "a: b: c", http.StatusBadRequest, "the object provided is unrecognized: yaml: mapping values are not allowed in this context"},
		{"garbled protobuf", "POST", "/api/v1/nodes", runtime.ContentTypeProtobuf, "k8s\x00garbage", http.StatusBadRequest, ""},
		{"garbled grace", "DELETE", "/api/v1/nodes/a?gracePeriodSeconds=soon", "", "", http.StatusBadRequest, ""},
		{"garbled options", "DELETE", "/api/v1/nodes/a", "", `{"gracePeriodSeconds":"x"}`, http.StatusBadRequest, ""},
		{"options of another kind", "DELETE", "/api/v1/nodes/a", "", `{"kind":"ListOptions","apiVersion":"meta.k8s.io/v1"}`, http.StatusBadRequest, ""},
		{"a garbled selector", "DELETE", "/api/v1/nodes?labelSelector=a+in", "", "", http.StatusBadRequest, ""},
		{"not a write", "GET", "/api/v1/nodes", "", "", http.StatusMethodNotAllowed, `list is not supported on resources of kind "nodes"`},
	} {
		_, err := decode(t, c.method, c.url, c.media, c.body)
		s, ok := err.(apierrors.APIStatus)
		if !ok || int(s.Status().Code) != c.code || c.message != "" && s.Status().Message != c.message {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if _, err := decode(t, "POST", "/api/v1/nodes", "", strings.Repeat(" ", MaxBody)); err != nil {
		t.Errorf("as much as may be: %v", err)
	}
}
