package app

import (
	"errors"
	"fmt"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/recorder"
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
)

// podFlags name the pods of a roll that updates them in place.
type podFlags struct{ pods, namespace string }

func (p *podFlags) add(cmd *cobra.Command, does string) {
	cmd.Flags().StringVar(&p.pods, "pods", "", does)
	cmd.Flags().StringVarP(&p.namespace, "namespace", "n", "", "the `NAMESPACE` of --pods (default: all)")
}

func (p *podFlags) check() error {
	if _, err := labels.Parse(p.pods); err != nil {
		return usagef("flag --pods %q: %w: want labels such as app=web,tier!=db", p.pods, err)
	}
	if p.pods == "" && p.namespace != "" {
		return usagef("flag --namespace %q: want --pods with it, such as --pods app=web", p.namespace)
	}
	if p.namespace != "" && len(validation.IsDNS1123Label(p.namespace)) > 0 {
		return usagef("flag --namespace %q: want the name of a namespace, such as shop", p.namespace)
	}
	return nil
}

// scopeFlags choose the part of a cluster that goes on a tape.
type scopeFlags struct {
	nodegroup, selector string
	provider            *choice
	podFlags
}

func (s *scopeFlags) add(cmd *cobra.Command) {
	names := providerNames()
	s.provider = newChoice("auto", names...)
	flags := cmd.Flags()
	flags.StringVar(&s.nodegroup, "nodegroup", "", "record the node group of this `NAME`, with its pods, budgets and events")
	flags.StringVarP(&s.selector, "selector", "l", "", "record the nodes that match this label `SELECTOR`, in place of a group")
	flags.Var(s.provider, "provider", "whose labels name groups and images")
	exclude(cmd, "nodegroup", "either says which nodes", "selector")
	suggest(cmd, "provider", names...)
	s.podFlags.add(cmd, "say on the tape that the roll is one of the pods that match this label `SELECTOR`, updated in place")
}

func (s *scopeFlags) check() error {
	if _, err := labels.Parse(s.selector); err != nil {
		return usagef("flag --selector %q: %w: want labels such as pool=blue,tier!=web", s.selector, err)
	}
	if s.nodegroup != "" && len(s.scope().Providers) == 0 {
		return usagef("flag --provider %s: its nodes name their group in an annotation: want --selector in place of --nodegroup", s.provider.value)
	}
	return s.podFlags.check()
}

func (s *scopeFlags) scope() recorder.Scope {
	scope := recorder.Scope{Nodegroup: s.nodegroup, Selector: s.selector, Pods: s.pods, Namespace: s.namespace}
	for _, p := range noderoll.Providers() {
		if (s.provider.value == "auto" || s.provider.value == p.Name) && len(p.PoolLabels) > 0 {
			scope.Providers = append(scope.Providers, recorder.Provider{Name: p.Name, Labels: p.PoolLabels})
		}
	}
	return scope
}

func gapsError(file string, gaps int) error {
	found := "a gap"
	if gaps > 1 {
		found = fmt.Sprintf("%d gaps", gaps)
	}
	return errors.New(file + ": has " + found + ", where events may be missing; nodesim inspect " + record.Quote(file) + " shows where")
}
