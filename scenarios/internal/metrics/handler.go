package metrics

import (
	"encoding/json"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The paths of the group and of its version.
const (
	groupPath   = "/apis/" + groupName
	versionPath = "/apis/" + groupVersion
)

// Handler serves the group: discovery, and nodes and pods to get and to list, by labels and by the fields metadata.name
// and metadata.namespace. Anything else is a Status, as an API server says it. Answers are JSON whatever is accepted.
func Handler(s Source) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+groupPath, func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, group()) })
	mux.HandleFunc("GET "+versionPath, func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, resources()) })
	mux.HandleFunc("GET "+versionPath+"/nodes", s.listNodes)
	mux.HandleFunc("GET "+versionPath+"/nodes/{name}", s.getNode)
	mux.HandleFunc("GET "+versionPath+"/pods", s.listPods)
	mux.HandleFunc("GET "+versionPath+"/namespaces/{namespace}/pods", s.listPods)
	mux.HandleFunc("GET "+versionPath+"/namespaces/{namespace}/pods/{name}", s.getPod)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fail(w, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, schema.GroupResource{}, "", r.URL.Path, 0, true))
	})
	return mux
}

func group() metav1.APIGroup {
	version := metav1.GroupVersionForDiscovery{GroupVersion: groupVersion, Version: "v1beta1"}
	return metav1.APIGroup{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"},
		Name:     groupName, Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
	}
}

func resources() metav1.APIResourceList {
	verbs := metav1.Verbs{"get", "list"}
	return metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: groupVersion,
		APIResources: []metav1.APIResource{
			{Name: "nodes", Kind: "NodeMetrics", Verbs: verbs},
			{Name: "pods", Kind: "PodMetrics", Namespaced: true, Verbs: verbs},
		},
	}
}

func (s Source) listNodes(w http.ResponseWriter, r *http.Request) {
	selected, err := selection(r)
	if err != nil {
		fail(w, err)
		return
	}
	all, err := s.nodes(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	list := metricsList[nodeMetrics]{
		TypeMeta: metav1.TypeMeta{Kind: "NodeMetricsList", APIVersion: groupVersion}, Items: []nodeMetrics{},
	}
	for _, m := range all {
		if selected(m.ObjectMeta) {
			list.Items = append(list.Items, m)
		}
	}
	write(w, http.StatusOK, list)
}

func (s Source) getNode(w http.ResponseWriter, r *http.Request) {
	all, err := s.nodes(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	for _, m := range all {
		if m.Name == r.PathValue("name") {
			write(w, http.StatusOK, m)
			return
		}
	}
	fail(w, apierrors.NewNotFound(schema.GroupResource{Group: groupName, Resource: "nodes"}, r.PathValue("name")))
}

func (s Source) listPods(w http.ResponseWriter, r *http.Request) {
	selected, err := selection(r)
	if err != nil {
		fail(w, err)
		return
	}
	all, err := s.pods(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	namespace := r.PathValue("namespace")
	list := metricsList[podMetrics]{
		TypeMeta: metav1.TypeMeta{Kind: "PodMetricsList", APIVersion: groupVersion}, Items: []podMetrics{},
	}
	for _, m := range all {
		if (namespace == "" || m.Namespace == namespace) && selected(m.ObjectMeta) {
			list.Items = append(list.Items, m)
		}
	}
	write(w, http.StatusOK, list)
}

func (s Source) getPod(w http.ResponseWriter, r *http.Request) {
	all, err := s.pods(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	for _, m := range all {
		if m.Namespace == r.PathValue("namespace") && m.Name == r.PathValue("name") {
			write(w, http.StatusOK, m)
			return
		}
	}
	name := r.PathValue("namespace") + "/" + r.PathValue("name") // as metrics-server has it
	fail(w, apierrors.NewNotFound(schema.GroupResource{Group: groupName, Resource: "pods"}, name))
}

// selection reads the selectors of a request.
func selection(r *http.Request) (func(metav1.ObjectMeta) bool, error) {
	query := r.URL.Query()
	byLabel, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("labelSelector: %v", err))
	}
	byField, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("fieldSelector: %v", err))
	}
	for _, one := range byField.Requirements() {
		if one.Field != "metadata.name" && one.Field != "metadata.namespace" {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", one.Field))
		}
	}
	return func(m metav1.ObjectMeta) bool {
		return byLabel.Matches(labels.Set(m.Labels)) &&
			byField.Matches(fields.Set{"metadata.name": m.Name, "metadata.namespace": m.Namespace})
	}, nil
}

func fail(w http.ResponseWriter, err error) {
	known, ok := err.(apierrors.APIStatus)
	if !ok {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	write(w, int(status.Code), status)
}

func write(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}
