package api

import (
	"bytes"
	"context"
	"github.com/nodesim/nodesim/internal/promtext"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	statsv1alpha1 "k8s.io/kubelet/pkg/apis/stats/v1alpha1"
)

// A PodStatsSummaryHandlerFunc says what a node and its pods use.
type PodStatsSummaryHandlerFunc func(context.Context) (*statsv1alpha1.Summary, error)

// A PodMetricsResourceHandlerFunc says the same as metrics for Prometheus. Families that are nil or empty are left out.
type PodMetricsResourceHandlerFunc func(context.Context) ([]*dto.MetricFamily, error)

// PodMetricsConfig has a function for each route of metrics.
type PodMetricsConfig struct {
	GetStatsSummary    PodStatsSummaryHandlerFunc
	GetMetricsResource PodMetricsResourceHandlerFunc
}

// AttachPodMetricsRoutes registers /stats/summary and /metrics/resource, each with and without a slash at its end and
// nothing else, so that it goes together with [AttachPodRoutes] on one mux. A function that is nil answers 501.
func AttachPodMetricsRoutes(p PodMetricsConfig, mux ServeMux) {
	for path, h := range map[string]http.Handler{
		"/stats/summary":    statsSummary(p.GetStatsSummary),
		"/metrics/resource": metricsResource(p.GetMetricsResource),
	} {
		one := routes{http.NewServeMux()}
		one.both(path, h)
		mux.Handle(path, one.mux)
		mux.Handle(path+"/", one.mux)
	}
}

// AttachMetricsRoutes is AttachPodMetricsRoutes under its older name.
func AttachMetricsRoutes(p PodMetricsConfig, mux ServeMux) { AttachPodMetricsRoutes(p, mux) }

func statsSummary(summary PodStatsSummaryHandlerFunc) http.Handler {
	if summary == nil {
		return notImplemented("stats summary")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := summary(r.Context())
		if err != nil {
			writeError(w, err)
			return
		}
		if answer == nil {
			answer = &statsv1alpha1.Summary{}
		}
		writeJSON(w, answer)
	})
}

// textFormat is the type of Prometheus's text format, as a kubelet names it.
const textFormat = "text/plain; version=0.0.4"

func metricsResource(metrics PodMetricsResourceHandlerFunc) http.Handler {
	if metrics == nil {
		return notImplemented("resource metrics")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		families, err := metrics(r.Context())
		if err != nil {
			writeError(w, err)
			return
		}
		var text bytes.Buffer
		for _, family := range families {
			if family == nil || len(family.Metric) == 0 {
				continue
			}
			if err := promtext.Write(&text, family); err != nil {
				writeError(w, err)
				return
			}
		}
		w.Header().Set("Content-Type", textFormat)
		_, _ = w.Write(text.Bytes())
	})
}
