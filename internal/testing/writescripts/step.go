package writescripts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/retry"
)

// doStep does one step and returns what it was answered.
func (c *Cluster) doStep(ctx context.Context, step string) ([]string, error) {
	verb, rest, _ := strings.Cut(step, " ")
	rest = c.fill(rest)
	words := strings.Fields(rest)
	if need := arguments[verb]; len(words) < need {
		return nil, fmt.Errorf("%q: found %d words after the verb, want %d", step, len(words), need)
	}
	// object is what is after a number of words, a flow of YAML.
	object := func(skip int) (map[string]any, error) { return flow(after(rest, skip)) }
	switch verb {
	case "create": // KIND NAME {…}: over what kinds.go has for every object of the kind
		return c.create(ctx, words[0], words[1], object)
	case "apply": // KIND NAME MANAGER {…}: server-side; MANAGER! forces
		o, err := object(3)
		if err != nil {
			return nil, err
		}
		k, err := kindOf(words[0])
		if err != nil {
			return nil, err
		}
		o = merged(map[string]any{"apiVersion": c.fill(k.version()), "kind": words[0], "metadata": map[string]any{"name": words[1]}}, o)
		manager, force := strings.CutSuffix(words[2], "!")
		query := "?" + url.Values{"fieldManager": {manager}, "force": {strconv.FormatBool(force)}}.Encode()
		return c.write(ctx, http.MethodPatch, words[0], words[1]+query, "application/apply-patch+yaml", o)
	case "patch", "strategic": // KIND NAME[/SUBRESOURCE] {…}
		o, err := object(2)
		if err != nil {
			return nil, err
		}
		contentType := map[string]string{"patch": "application/merge-patch+json", "strategic": "application/strategic-merge-patch+json"}[verb]
		return c.write(ctx, http.MethodPatch, words[0], words[1], contentType, o)
	case "json": // KIND NAME [{op: …}]
		var list []any
		if err := yaml.Unmarshal([]byte(after(rest, 2)), &list); err != nil {
			return nil, err
		}
		return c.write(ctx, http.MethodPatch, words[0], words[1], "application/json-patch+json", list)
	case "update": // KIND NAME {…}: reads, changes and writes the whole object
		o, err := object(2)
		if err != nil {
			return nil, err
		}
		return c.update(ctx, words[0], words[1], o)
	case "scale": // KIND NAME REPLICAS
		n, err := strconv.Atoi(words[2])
		if err != nil {
			return nil, err
		}
		return c.write(ctx, http.MethodPatch, words[0], words[1]+"/scale", "application/merge-patch+json", map[string]any{"spec": map[string]any{"replicas": n}})
	case "delete": // KIND NAME [{…}]: the options
		o, err := object(2)
		if err != nil {
			return nil, err
		}
		return c.write(ctx, http.MethodDelete, words[0], words[1], "", o)
	case "deleteall": // KIND SELECTOR [{…}]
		o, err := object(2)
		if err != nil {
			return nil, err
		}
		return c.write(ctx, http.MethodDelete, words[0], "?labelSelector="+url.QueryEscape(words[1]), "", o)
	case "get": // KIND NAME: the answer is what counts
		return c.write(ctx, http.MethodGet, words[0], words[1], "", nil)
	case "evict": // SELECTOR COUNT [{…}]: the first pods by age, one after the other
		o, err := object(2)
		if err != nil {
			return nil, err
		}
		return c.evict(ctx, words[0], words[1], o)
	case "drain": // NODE: cordons and evicts until no pod of the script is left that no DaemonSet owns
		return c.drain(ctx, words[0])
	case "node": // NODE {…}: a merge patch
		o, err := object(1)
		if err != nil {
			return nil, err
		}
		name, err := c.node(words[0])
		if err != nil {
			return nil, err
		}
		return c.write(ctx, http.MethodPatch, "Node", name, "application/merge-patch+json", o)
	}
	return nil, fmt.Errorf("%q: found the verb %q: want one that step.go lists", step, verb)
}

// arguments is how many words a verb needs.
var arguments = map[string]int{
	"create": 2, "apply": 3, "patch": 3, "strategic": 3, "json": 3, "update": 2, "scale": 3, "delete": 2, "deleteall": 2, "get": 2, "evict": 2, "drain": 1, "node": 2,
}

// after is the text after a number of words.
func after(text string, words int) string {
	for range words {
		_, text, _ = strings.Cut(strings.TrimSpace(text), " ")
	}
	return text
}

// fill puts in the script's namespace and nodes.
func (c *Cluster) fill(s string) string {
	return strings.NewReplacer("$slot", c.slot, "$ns", c.namespace).Replace(s)
}

func flow(text string) (map[string]any, error) {
	var o map[string]any
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return o, nil
}

// merged is an object with the fields of another one over it. null takes a field away.
func merged(o, over map[string]any) map[string]any {
	o = maps.Clone(o)
	for name, v := range over {
		was, is := o[name].(map[string]any)
		now, sub := v.(map[string]any)
		switch {
		case v == nil:
			delete(o, name)
		case is && sub:
			o[name] = merged(was, now)
		default:
			o[name] = v
		}
	}
	return o
}

func (c *Cluster) create(ctx context.Context, kind, name string, object func(int) (map[string]any, error)) ([]string, error) {
	k, err := kindOf(kind)
	if err != nil {
		return nil, err
	}
	o, err := flow("{" + c.fill(strings.ReplaceAll(k.spec, "$name", name)) + "}")
	if err != nil {
		return nil, err
	}
	o = merged(map[string]any{"apiVersion": c.fill(k.version()), "kind": kind, "metadata": map[string]any{"name": name}}, o)
	over, err := object(2)
	if err != nil {
		return nil, err
	}
	o = merged(o, over)
	return c.write(ctx, http.MethodPost, kind, text(over, "dryRun"), "", merged(o, map[string]any{"dryRun": nil}))
}

// write sends an object to the path of a kind's objects, or of one.
func (c *Cluster) write(ctx context.Context, method, kind, name, contentType string, o any) ([]string, error) {
	path, err := c.at(kind)
	if err != nil {
		return nil, err
	}
	if name != "" && !strings.HasPrefix(name, "?") {
		path += "/"
	}
	var body []byte
	if o != nil {
		if body, err = json.Marshal(o); err != nil {
			return nil, err
		}
	}
	if string(body) == "null" {
		body = nil
	}
	a, err := c.do(ctx, method, path+name, contentType, body)
	return []string{a.String()}, err
}

func (c *Cluster) update(ctx context.Context, kind, name string, over map[string]any) ([]string, error) {
	path, err := c.at(kind, name)
	if err != nil {
		return nil, err
	}
	// As client-go's RetryOnConflict: a controller may write meanwhile. A version that the script names is kept.
	for {
		a, err := c.must(ctx, http.MethodGet, path, "", nil)
		if err != nil {
			return nil, err
		}
		var o map[string]any
		if err := json.Unmarshal(a.body, &o); err != nil {
			return nil, err
		}
		answers, err := c.write(ctx, http.MethodPut, kind, name, "", merged(o, over))
		if err != nil || text(over, "metadata", "resourceVersion") != "" || !strings.HasPrefix(answers[0], "409 Conflict: Operation cannot be fulfilled") {
			return answers, err
		}
	}
}

// podsOf are the names of the script's pods, the oldest first.
func (c *Cluster) podsOf(ctx context.Context, query string) ([]map[string]any, error) {
	path, err := c.at("Pod")
	if err != nil {
		return nil, err
	}
	all, err := c.list(ctx, path+query)
	slices.SortFunc(all, func(a, b map[string]any) int {
		return strings.Compare(text(a, "metadata", "creationTimestamp")+text(a, "metadata", "name"), text(b, "metadata", "creationTimestamp")+text(b, "metadata", "name"))
	})
	return all, err
}

func (c *Cluster) evictOne(ctx context.Context, pod string, options map[string]any) (answer, error) {
	path, err := c.at("Pod", pod, "eviction")
	if err != nil {
		return answer{}, err
	}
	o := map[string]any{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": map[string]any{"name": pod}}
	if options != nil {
		o["deleteOptions"] = options
	}
	body, err := json.Marshal(o)
	if err != nil {
		return answer{}, err
	}
	return c.do(ctx, http.MethodPost, path, "", body)
}

func (c *Cluster) evict(ctx context.Context, selector, count string, options map[string]any) (answers []string, err error) {
	n, err := strconv.Atoi(count)
	if err != nil {
		return nil, err
	}
	all, err := c.podsOf(ctx, "?labelSelector="+url.QueryEscape(selector))
	if err != nil {
		return nil, err
	}
	for _, p := range all[:min(n, len(all))] {
		a, err := c.evictOne(ctx, text(p, "metadata", "name"), options)
		if err != nil {
			return nil, err
		}
		answers = append(answers, strings.ReplaceAll(a.String(), text(p, "metadata", "name"), "POD"))
	}
	return answers, nil
}

// A drain tries an eviction again after this time, as kubectl does, and gives up after some tries.
const (
	tryAgain = 5 * time.Second
	tries    = 40
)

func (c *Cluster) drain(ctx context.Context, which string) ([]string, error) {
	node, err := c.node(which)
	if err != nil {
		return nil, err
	}
	if _, err := c.write(ctx, http.MethodPatch, "Node", node, "application/merge-patch+json", map[string]any{"spec": map[string]any{"unschedulable": true}}); err != nil {
		return nil, err
	}
	for range tries {
		all, err := c.podsOf(ctx, "?fieldSelector=spec.nodeName%3D"+node)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(p map[string]any) bool {
			owners, _ := field(p, "metadata", "ownerReferences").([]any)
			return slices.ContainsFunc(owners, func(o any) bool { return field(o, "kind") == "DaemonSet" })
		})
		if len(all) == 0 {
			return []string{"drained"}, nil
		}
		for _, p := range all {
			if text(p, "metadata", "deletionTimestamp") != "" {
				continue
			}
			if a, err := c.evictOne(ctx, text(p, "metadata", "name"), nil); err != nil || a.code >= 300 && a.code != http.StatusTooManyRequests && a.code != http.StatusNotFound {
				return nil, errors.Join(err, fmt.Errorf("evict %s: %s", text(p, "metadata", "name"), a))
			}
		}
		if err := pause(ctx, tryAgain); err != nil {
			return nil, err
		}
	}
	return []string{"not drained"}, nil
}

// node is the name of one of the script's nodes, by its place: 0, 1, 2.
func (c *Cluster) node(place string) (string, error) {
	n, err := strconv.Atoi(place)
	if err != nil || n < 0 || n >= len(c.nodes) {
		return "", fmt.Errorf("found the node %q: want 0 to %d", place, len(c.nodes)-1)
	}
	c.touched[n] = true
	return c.nodes[n], nil
}

func pause(ctx context.Context, d time.Duration) error { return retry.Pause(ctx, clock.RealClock{}, d) }
