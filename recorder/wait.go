package recorder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/retry"
	"github.com/nodesim/nodesim/timeline"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// waitTick is the interval at which the first node is looked for. Servers answer from their watch cache.
const waitTick = time.Second

// await returns when there is a node in the scope. A server that is away is asked again.
func (r *Recorder) await(ctx context.Context, c *client, nodes timeline.Resource) error {
	selectors, err := r.cfg.Scope.selectors()
	if err != nil {
		return err
	}
	told := ""
	for failures := 0; ; {
		found, err := r.anyNode(ctx, c, nodes, selectors)
		var s *statusError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case found:
			return nil
		case errors.As(err, &s) && s.Code >= 400 && s.Code < 500 && s.Code != http.StatusTooManyRequests:
			return refused("list", nodes, err)
		}
		pause := waitTick
		if failures++; err == nil {
			failures, told = 0, ""
		} else {
			pause = max(pause, backoff(failures, r.cfg.Jitter(), retryAfter(err)))
			if text := err.Error(); text != told {
				r.cfg.Warn("waiting for the first node: " + text)
				told = text
			}
		}
		if retry.Pause(ctx, r.clock, pause) != nil {
			return ctx.Err()
		}
	}
}

// anyNode reports whether one of the selectors matches a node.
func (r *Recorder) anyNode(ctx context.Context, c *client, nodes timeline.Resource, selectors []labels.Selector) (found bool, err error) {
	for _, selector := range selectors {
		l := lister{client: c, res: nodes, item: func(raw []byte) error {
			found = found || selector.Matches(labelsOf(raw))
			return nil
		}}
		var version string
		query := url.Values{"labelSelector": {selector.String()}, "resourceVersion": {"0"}}
		if _, err := l.page(ctx, query, &version); err != nil || found {
			return found, err
		}
	}
	return false, nil
}

// selectors are those of which one matches each node of the scope.
func (s Scope) selectors() (all []labels.Selector, err error) {
	if s.Selector != "" {
		one, err := labels.Parse(s.Selector)
		return []labels.Selector{one}, err
	}
	for _, p := range s.Providers {
		for _, key := range p.Labels {
			is, err := labels.NewRequirement(key, selection.Equals, []string{s.Nodegroup})
			if err != nil {
				return nil, fmt.Errorf("node group %q: want a name that a label can have: %s", s.Nodegroup, strings.ReplaceAll(err.Error(), "\n", "; "))
			}
			all = append(all, labels.NewSelector().Add(*is))
		}
	}
	return all, nil
}
