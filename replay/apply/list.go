package apply

import (
	"context"
	"encoding/json"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/nodesim/nodesim/timeline"
)

const page = "500"

// each calls do for every object of a resource that has the labels, page by
// page. A resource that isn't there has none.
func (a *Applier) each(ctx context.Context, r timeline.Resource, selector string, do func(object) error) error {
	query := url.Values{"labelSelector": {selector}, "limit": {page}}
	for {
		raw, err := a.server.do(ctx, request{verb: List, resource: r, query: query})
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case apierrors.IsResourceExpired(err) && query.Get("continue") != "":
			query.Del("continue") // the list has grown old between two pages: again from the start
			continue
		case err != nil:
			return err
		}
		var list struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			Items []json.RawMessage `json:"items"`
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		for _, item := range list.Items {
			o, err := decode(item)
			if err != nil {
				return err
			}
			if err := do(o); err != nil {
				return err
			}
		}
		if list.Metadata.Continue == "" {
			return nil
		}
		query.Set("continue", list.Metadata.Continue)
	}
}

// ours selects what this tape's replays have written.
func (a *Applier) ours() string { return Label + "=" + a.label }
