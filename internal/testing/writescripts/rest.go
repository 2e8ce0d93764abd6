package writescripts

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// A Rest is what a script sees when the cluster has come to rest: fields by their paths, of each object and of the answers to the
// steps before.
type Rest struct {
	After string // the step before
	// Fields have the object first: "Pod web-H1-#1 status.phase".
	Fields map[string]string
}

// patience is how long it may take until a cluster is at rest, and most how many objects it may have until then.
const (
	patience = 20 * time.Minute
	most     = 100
)

// Run does the script's steps, and returns what it sees whenever the script says rest. met is asked, again and again, whether what
// is seen is what was waited for; where it is nil, or never says so, a Rest is what stays the same for a while.
func (s Script) Run(ctx context.Context, c *Cluster, met func(place int, is Rest) bool) ([]Rest, error) {
	var all []Rest
	var answers []string
	shown := s.kinds()
	for i, step := range s.Steps {
		if step != "rest" {
			got, err := c.doStep(ctx, step)
			if err != nil {
				return all, fmt.Errorf("%s: step %d: %w", s.Name, i+1, err)
			}
			answers = append(answers, fmt.Sprintf("%s: %s", step, strings.Join(got, "; ")))
			continue
		}
		place, after := len(all), ""
		if i > 0 {
			after = s.Steps[i-1]
		}
		var enough func(Rest) bool
		if met != nil {
			enough = func(r Rest) bool { r.answered(c, answers); return met(place, r) }
		}
		is, err := c.rest(ctx, shown, i == len(s.Steps)-1, enough)
		if err != nil {
			return all, fmt.Errorf("%s: after step %d, %s: %w", s.Name, i, after, err)
		}
		is.After = after
		is.answered(c, answers)
		all = append(all, is)
	}
	return all, nil
}

// answered puts what the steps were answered beside the objects.
func (r Rest) answered(c *Cluster, answers []string) {
	for i, a := range answers {
		// A refused change of a pod ends with a diff of the server's internal type (pkg/apis/core/validation, ValidatePodUpdate).
		a, _, _ = strings.Cut(a, "\n@@")
		r.Fields[fmt.Sprintf("Answer %d answer", i+1)] = c.general(a)
	}
}

// kinds are those that the script's steps name, and those of what controllers make for them.
func (s Script) kinds() []string {
	all := []string{"Pod"}
	for _, step := range s.Steps {
		if words := strings.Fields(step); len(words) > 1 {
			all = append(all, words[1])
		}
	}
	if slices.Contains(all, "CustomResourceDefinition") {
		all = append(all, "Widget")
	}
	for i := 0; i < len(all); i++ {
		all = append(all, kinds[all[i]].makes...)
	}
	all = slices.DeleteFunc(all, func(name string) bool { k, ok := kinds[name]; return !ok || k.cluster })
	slices.Sort(all)
	return slices.Compact(all)
}

// rest waits until the objects stay as they are, or are what was waited for, three times in a row.
func (c *Cluster) rest(ctx context.Context, shown []string, last bool, met func(Rest) bool) (Rest, error) {
	var was string
	var stood, waited time.Duration
	good := 0
	for {
		objects, versions, err := c.objects(ctx, shown)
		if err != nil {
			return Rest{}, err
		}
		if versions != was {
			was, stood = versions, 0
		}
		if met != nil || stood >= c.Quiet {
			is := c.normal(objects)
			if last {
				if err := c.events(ctx, is); err != nil {
					return Rest{}, err
				}
			}
			if good++; met == nil || !met(is) {
				good = 0
			}
			if good == 3 || stood >= c.Quiet {
				return is, nil
			}
		}
		if waited >= patience || len(objects) > most {
			return Rest{}, fmt.Errorf("found %d objects, and no rest in %s: want objects that don't change for %s", len(objects), waited, c.Quiet)
		}
		if err := pause(ctx, c.Look); err != nil {
			return Rest{}, err
		}
		stood, waited = stood+c.Look, waited+c.Look
	}
}

// objects lists those of some kinds, and what of them changes with every write.
func (c *Cluster) objects(ctx context.Context, shown []string) (all []map[string]any, versions string, err error) {
	var b strings.Builder
	for _, kind := range shown {
		path, err := c.at(kind)
		if err != nil {
			return nil, "", err
		}
		list, err := c.list(ctx, path)
		if err != nil {
			return nil, "", err
		}
		for _, o := range list {
			o["kind"] = kind
			switch name := text(o, "metadata", "name"); {
			case kind == "ConfigMap" && name == "kube-root-ca.crt", kind == "ServiceAccount" && name == "default":
				continue // every namespace has them
			default:
				fmt.Fprintln(&b, kind, name, text(o, "metadata", "resourceVersion"))
			}
			all = append(all, o)
		}
	}
	if slices.Contains(shown, "Widget") {
		path, err := c.at("CustomResourceDefinition", c.fill("widgets.$ns.example.com"))
		if err != nil {
			return nil, "", err
		}
		a, err := c.do(ctx, http.MethodGet, path, "", nil)
		o := map[string]any{}
		if err != nil || a.code == http.StatusOK && json.Unmarshal(a.body, &o) != nil {
			return nil, "", fmt.Errorf("%s: %w", a, err)
		}
		if a.code == http.StatusOK {
			all = append(all, o)
			fmt.Fprintln(&b, text(o, "metadata", "resourceVersion"))
		}
	}
	return all, b.String(), nil
}

// reporters are the controllers whose Events are compared: those of kubelets and scheduler depend on what else a cluster has, and
// NoPods depends on whether a budget or its pods are there first.
var reporters = []string{
	"deployment-controller", "replicaset-controller", "replication-controller", "statefulset-controller", "daemonset-controller",
	"job-controller", "cronjob-controller", "disruption-controller", "controllermanager",
}

// events adds what the controllers have reported, each once.
func (c *Cluster) events(ctx context.Context, r Rest) error {
	list, err := c.list(ctx, "/api/v1/namespaces/"+c.namespace+"/events")
	for _, e := range list {
		by := text(e, "source", "component")
		if by == "" {
			by = text(e, "reportingComponent")
		}
		if slices.Contains(reporters, by) && text(e, "reason") != "NoPods" {
			about := text(e, "involvedObject", "kind") + "/" + text(e, "involvedObject", "name")
			message := c.general(fmt.Sprintf("%s %s %s: %s", about, text(e, "type"), text(e, "reason"), text(e, "message")))
			// In which steps a rollout goes is up to when pods become ready.
			r.Fields["Event "+by+" "+suffix.ReplaceAllString(step.ReplaceAllString(message, ""), "-#")] = "reported"
		}
	}
	return err
}
