package controller

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

// A server is an API server of nodes and leases without a socket, so that it works in a bubble of testing/synctest. It
// gives UIDs and versions, refuses old versions and foreign UIDs, and keeps spec and status apart. It knows no watch, no
// validation and no defaults.
type server struct {
	mu      sync.Mutex
	objects map[string]metav1.Object // by path
	version int
	log     []string // "PATCH nodes/virtual/status", in order
	fault   func(request string) error
	moved   chan struct{} // closed and created again after each request
}

func newServer() *server {
	return &server{objects: map[string]metav1.Object{}, moved: make(chan struct{})}
}

func (s *server) client(t testing.TB, contentType string) *kubernetes.Clientset {
	t.Helper()
	config := &rest.Config{Host: "http://server", QPS: -1, ContentConfig: rest.ContentConfig{
		ContentType: contentType, AcceptContentTypes: contentType,
	}}
	client, err := kubernetes.NewForConfigAndClient(config, &http.Client{Transport: s})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// requests counts those that the log holds of one kind.
func (s *server) requests(kind string) (count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.log {
		if r == kind {
			count++
		}
	}
	return count
}

// forget empties the log.
func (s *server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = nil
}

// fails has requests answered with what f returns for them, if that isn't nil.
func (s *server) fails(f func(request string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

func (s *server) node() *corev1.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	node, _ := s.objects["nodes/virtual"].(*corev1.Node)
	return node.DeepCopy()
}

func (s *server) lease() *coordinationv1.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	lease, _ := s.objects["leases/virtual"].(*coordinationv1.Lease)
	return lease.DeepCopy()
}

// edit changes the node as somebody else does.
func (s *server) edit(change func(*corev1.Node)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	node := s.objects["nodes/virtual"].(*corev1.Node).DeepCopy()
	change(node)
	s.put("nodes/virtual", node)
}

// remove deletes an object, and add makes one, as somebody else does.
func (s *server) remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, path)
}

func (s *server) add(path string, o metav1.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(path, o)
}

// put wants s.mu held.
func (s *server) put(path string, o metav1.Object) {
	s.version++
	o.SetResourceVersion(fmt.Sprint(s.version))
	if o.GetUID() == "" {
		o.SetUID(types.UID(fmt.Sprintf("uid-%d", s.version)))
	}
	s.objects[path] = o
}

// RoundTrip implements http.RoundTripper.
func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	body := []byte(nil)
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	path := r.URL.Path
	for _, prefix := range []string{"/api/v1/", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/"} {
		path = strings.TrimPrefix(path, prefix)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	request := r.Method + " " + path
	s.log = append(s.log, request)
	defer func() {
		close(s.moved)
		s.moved = make(chan struct{})
	}()
	if s.fault != nil {
		if err := s.fault(request); err != nil {
			if _, ok := err.(apierrors.APIStatus); !ok {
				return nil, err
			}
			return s.answer(r, nil, err)
		}
	}
	object, err := s.serve(r, path, body)
	return s.answer(r, object, err)
}

func (s *server) answer(r *http.Request, object runtime.Object, err error) (*http.Response, error) {
	code := http.StatusOK
	if err != nil {
		status := err.(apierrors.APIStatus).Status()
		object, code = &status, int(status.Code)
	}
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), r.Header.Get("Accept"))
	var body bytes.Buffer
	if err := scheme.Codecs.EncoderForVersion(info.Serializer, schema.GroupVersions{
		corev1.SchemeGroupVersion, coordinationv1.SchemeGroupVersion, metav1.Unversioned,
	}).Encode(object, &body); err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: code, Request: r, Header: http.Header{"Content-Type": {info.MediaType}}, Body: io.NopCloser(&body),
		ProtoMajor: 2,
	}, nil
}

// serve wants s.mu held.
func (s *server) serve(r *http.Request, path string, body []byte) (runtime.Object, error) {
	path, status := strings.CutSuffix(path, "/status")
	resource, name, _ := strings.Cut(path, "/")
	kind := schema.GroupResource{Resource: resource}
	var sent metav1.Object
	if r.Method == http.MethodPost || r.Method == http.MethodPut {
		decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		sent = decoded.(metav1.Object)
	}
	if r.Method == http.MethodPost {
		path = resource + "/" + sent.GetName()
		if s.objects[path] != nil {
			return nil, apierrors.NewAlreadyExists(kind, sent.GetName())
		}
		if sent.GetResourceVersion() != "" || sent.GetUID() != "" {
			return nil, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
		}
		s.put(path, sent)
		return sent.(runtime.Object), nil
	}
	live := s.objects[path]
	if live == nil {
		return nil, apierrors.NewNotFound(kind, name)
	}
	switch r.Method {
	case http.MethodPut:
		if sent.GetResourceVersion() != live.GetResourceVersion() {
			return nil, apierrors.NewConflict(kind, name, fmt.Errorf("version %s", sent.GetResourceVersion()))
		}
		s.put(path, sent)
	case http.MethodPatch:
		next, err := patched(live.(*corev1.Node), body, r.Header.Get("Content-Type"), status)
		if err != nil {
			return nil, err
		}
		s.put(path, next)
	case http.MethodDelete:
		delete(s.objects, path)
		return live.(runtime.Object), nil
	}
	return s.objects[path].(runtime.Object), nil
}

func patched(live *corev1.Node, patch []byte, contentType string, status bool) (*corev1.Node, error) {
	before, err := json.Marshal(live)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	var after []byte
	switch types.PatchType(contentType) {
	case types.StrategicMergePatchType:
		after, err = strategicpatch.StrategicMergePatch(before, patch, corev1.Node{})
	default:
		after, err = jsonpatch.MergePatch(before, patch)
	}
	next := &corev1.Node{}
	if err == nil {
		err = json.Unmarshal(after, next)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	kind := schema.GroupResource{Resource: "nodes"}
	if next.ResourceVersion != live.ResourceVersion {
		return nil, apierrors.NewConflict(kind, live.Name, fmt.Errorf("version %s", next.ResourceVersion))
	}
	if next.UID != live.UID {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Node"}, live.Name, nil)
	}
	if status {
		next.Spec = live.Spec
	} else {
		next.Status = live.Status
	}
	return next, nil
}
