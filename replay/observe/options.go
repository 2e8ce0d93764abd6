package observe

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/timeline"
)

// Options choose the group that a Follower looks at and what its feed shows.
// The zero value takes every node on the tape.
type Options struct {
	noderoll.FeedOptions
}

// OptionsFor returns the options for a tape: what isn't given comes from what the
// recorder was told, from the header's scope. target is an image (or whatever
// the provider tells old from new by), or empty to find it from what appears.
func OptionsFor(h *timeline.Header, provider, nodegroup, target string) (Options, error) {
	var o Options
	p, err := noderoll.ProviderByName(cmp.Or(provider, h.Scope.Provider))
	if err != nil {
		return o, err
	}
	o.Provider = p
	o.Pool = cmp.Or(nodegroup, h.Scope.Nodegroup)
	o.Target.Image = target
	if h.Scope.Selector != "" && nodegroup == "" {
		s, err := labels.Parse(h.Scope.Selector)
		if err != nil {
			return o, fmt.Errorf("scope.selector %q in the header: %w", h.Scope.Selector, err)
		}
		o.Selector = s
	}
	if h.Scope.Pods != "" && nodegroup == "" {
		if err := o.ShowPods(h.Scope.Namespace, h.Scope.Pods); err != nil {
			return o, fmt.Errorf("scope.pods in the header: %w", err)
		}
	}
	return o, nil
}

// ShowPods makes the roll one of the pods that match a label selector, in one
// namespace or, where that is "", in all. OptionsFor does so where the header's
// scope names pods and no node group was asked for.
func (o *Options) ShowPods(namespace, selector string) error {
	s, err := labels.Parse(selector)
	if err != nil {
		return fmt.Errorf("pods %q: %w", selector, err)
	}
	o.Pods = noderoll.PodScope{Namespace: namespace, Selector: s}
	return nil
}
