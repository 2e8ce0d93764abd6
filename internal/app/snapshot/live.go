package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/nodesim/nodesim/internal/kubeclient"
	"github.com/nodesim/nodesim/scenarios/snapshot"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/nodesim/nodesim/timeline"
)

// pageSize is the limit that kubectl and client-go's pager ask for at once.
const pageSize = 500

// live reads the cluster itself.
func (s *Source) live(ctx context.Context) (*spec.File, error) {
	config := rest.CopyConfig(s.REST)
	config.QPS = -1 // a few dozen requests, one after the other
	client, err := kubeclient.New(config, nil)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", s.Name, err)
	}
	l := &lister{client: client.CoreV1().RESTClient(), reading: snapshot.Reading{Now: s.Now}}
	o := snapshot.Options{Name: s.Name, At: s.Now, Key: s.Key, Header: &timeline.Header{}}
	if o.Header.Source.Server, err = l.version(ctx); err != nil {
		return nil, fmt.Errorf("cluster %s: %w: want one that answers: check the kubeconfig, its context and --server", s.Name, err)
	}
	for _, r := range snapshot.Resources() {
		switch err := l.list(ctx, r); {
		case err == nil:
		case apierrors.IsForbidden(err) && r.Resource != "nodes":
			o.LeftOut = append(o.LeftOut, notRead(r)+fmt.Sprintf("can't list %s: forbidden: want list on %s, in all namespaces", r, r))
		case apierrors.IsForbidden(err):
			return nil, fmt.Errorf("cluster %s: can't list %s: forbidden: want list on %s; check with: kubectl auth can-i list %s", s.Name, r, r, r)
		case apierrors.IsNotFound(err): // an older or a smaller API
			o.LeftOut = append(o.LeftOut, notRead(r)+fmt.Sprintf("the cluster has no %s of %s", r.Resource, r.APIVersion()))
		default:
			return nil, fmt.Errorf("cluster %s: list %s: %w", s.Name, r, err)
		}
	}
	o.LeftOut = append(o.LeftOut, "HorizontalPodAutoscalers, ResourceQuotas, LimitRanges, StorageClasses and webhooks: not asked for; what they do to a roll isn't here")
	f, err := l.reading.File(o)
	if err != nil {
		return nil, fmt.Errorf("cluster %s: %w", s.Name, err)
	}
	return f, nil
}

// notRead begins the line about a resource that wasn't read: without pods and budgets nobody can tell what holds up a roll.
func notRead(r timeline.Resource) string {
	switch r.Resource {
	case "pods":
		return spec.NotRead(spec.PodsOfCluster)
	case "poddisruptionbudgets":
		return spec.NotRead(spec.BudgetsOfCluster)
	}
	return ""
}

// A lister reads lists.
type lister struct {
	client  rest.Interface
	reading snapshot.Reading
}

func (l *lister) get(path string) *rest.Request {
	return l.client.Get().AbsPath(path).SetHeader("Accept", "application/json")
}

func (l *lister) version(ctx context.Context) (string, error) {
	raw, err := l.get("/version").DoRaw(ctx)
	if err != nil {
		return "", err
	}
	var is struct {
		Git string `json:"gitVersion"`
	}
	return is.Git, json.Unmarshal(raw, &is)
}

// list reads a resource page by page. Where the server forgets where a page began, it is read again in one piece.
func (l *lister) list(ctx context.Context, r timeline.Resource) error {
	err := l.pages(ctx, r, pageSize)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		err = l.pages(ctx, r, 0)
	}
	return err
}

func (l *lister) pages(ctx context.Context, r timeline.Resource, limit int) error {
	path := "/apis/" + r.APIVersion() + "/" + r.Resource
	if r.Group == "" {
		path = "/api/" + r.Version + "/" + r.Resource
	}
	for next := ""; ; {
		request := l.get(path)
		if limit > 0 {
			request.Param("limit", strconv.Itoa(limit))
		}
		if next != "" {
			request.Param("continue", next)
		}
		raw, err := request.DoRaw(ctx)
		if err != nil {
			return said(err)
		}
		var page struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			Items []json.RawMessage `json:"items"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return fmt.Errorf("%w: want a list", err)
		}
		for _, item := range page.Items {
			if err := l.reading.Add(r.APIVersion(), r.Kind, item); err != nil {
				return err
			}
		}
		if next = page.Metadata.Continue; next == "" {
			return nil
		}
	}
}

// said is an error with what the server has said, where that is a Status.
func said(err error) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Code == http.StatusUnauthorized {
		return fmt.Errorf("401 Unauthorized: %w: want credentials that the API server accepts; check the user of the kubeconfig's context", err)
	}
	return err
}
