package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A ServeMux takes routes; *http.ServeMux is one.
type ServeMux interface {
	Handle(path string, h http.Handler)
}

// A PodListerFunc lists pods. The handler only reads them.
type PodListerFunc func(context.Context) ([]*corev1.Pod, error)

// PodHandlerConfig has a function for each route; see the package comment. Functions are called from many goroutines.
type PodHandlerConfig struct {
	RunInContainer    ContainerExecHandlerFunc
	AttachToContainer ContainerAttachHandlerFunc
	PortForward       PortForwardHandlerFunc
	GetContainerLogs  ContainerLogsHandlerFunc

	// GetPods lists the pods that the provider runs, GetPodsFromKubernetes those that the API server has bound here.
	GetPods               PodListerFunc
	GetPodsFromKubernetes PodListerFunc

	GetStatsSummary    PodStatsSummaryHandlerFunc
	GetMetricsResource PodMetricsResourceHandlerFunc

	// CheckContainer, if set, is asked before a stream is opened, with no container's name for a port-forward. Its
	// error is answered over HTTP, as a kubelet answers for a pod that it doesn't have; once a stream is open, an error
	// can only be a line in it.
	CheckContainer ContainerCheckFunc

	// StreamIdleTimeout ends a stream over which no byte has come or gone for that long; 0 is 30 s, a kubelet's own
	// default is four hours. StreamCreationTimeout bounds the time that a client takes to open its streams; 0 is 30 s.
	StreamIdleTimeout     time.Duration
	StreamCreationTimeout time.Duration
}

// A ContainerCheckFunc says whether a stream to a container can be opened.
type ContainerCheckFunc func(ctx context.Context, namespace, podName, containerName string) error

// defaultStreamTimeout is DefaultStreamCreationTimeout of k8s.io/apimachinery, pkg/util/remotecommand.
const defaultStreamTimeout = 30 * time.Second

// PodHandler returns a handler of a kubelet's routes. With debug it also serves /runningpods/.
func PodHandler(p PodHandlerConfig, debug bool) http.Handler {
	p = p.withDefaults()
	r := routes{http.NewServeMux()}
	r.handle("/pods", listPods("pods of the API server", p.GetPodsFromKubernetes), http.MethodGet)
	if debug {
		r.handle("/runningpods/", listPods("running pods", p.GetPods), http.MethodGet)
	}
	r.handle("/containerLogs/{namespace}/{pod}/{container}", containerLogs(p.GetContainerLogs), http.MethodGet)
	r.handle("/exec/{namespace}/{pod}/{container}", execHandler(p), http.MethodGet, http.MethodPost)
	r.handle("/attach/{namespace}/{pod}/{container}", attachHandler(p), http.MethodGet, http.MethodPost)
	r.handle("/portForward/{namespace}/{pod}", portForwardHandler(p), http.MethodGet, http.MethodPost)
	if p.GetStatsSummary != nil {
		r.both("/stats/summary", statsSummary(p.GetStatsSummary))
	}
	if p.GetMetricsResource != nil {
		r.both("/metrics/resource", metricsResource(p.GetMetricsResource))
	}
	return r.mux
}

// withDefaults fills in the timeouts that are 0.
func (p PodHandlerConfig) withDefaults() PodHandlerConfig {
	if p.StreamIdleTimeout == 0 {
		p.StreamIdleTimeout = defaultStreamTimeout
	}
	if p.StreamCreationTimeout == 0 {
		p.StreamCreationTimeout = defaultStreamTimeout
	}
	return p
}

// AttachPodRoutes registers [PodHandler] for every path that the mux has no other handler for.
func AttachPodRoutes(p PodHandlerConfig, mux ServeMux, debug bool) {
	mux.Handle("/", PodHandler(p, debug))
}

// listPods answers with a PodList in JSON.
func listPods(what string, list PodListerFunc) http.Handler {
	if list == nil {
		return notImplemented(what)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pods, err := list(r.Context())
		if err != nil {
			writeError(w, err)
			return
		}
		answer := corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{}}
		for _, pod := range pods {
			if pod != nil {
				answer.Items = append(answer.Items, *pod)
			}
		}
		writeJSON(w, answer)
	})
}

func writeJSON(w http.ResponseWriter, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		writeError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text)
}
