package writescripts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// A Cluster is where a script runs: a namespace, and the nodes of a node group, that nothing else uses meanwhile.
type Cluster struct {
	// Look is the time between two looks, Quiet how long nothing may change until the cluster counts as at rest.
	Look, Quiet time.Duration

	client    *http.Client
	host      string
	namespace string
	slot      string
	nodes     []string
	touched   map[int]bool // nodes to which the script has done something
}

// On makes a Cluster of the nodes of a node group. It creates the namespace.
func On(ctx context.Context, config *rest.Config, namespace, slot string) (*Cluster, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Look: 10 * time.Second, Quiet: 3 * time.Minute, client: client, host: strings.TrimSuffix(config.Host, "/"), namespace: namespace, slot: slot, touched: map[int]bool{}}
	all, err := c.list(ctx, "/api/v1/nodes?labelSelector=eks.amazonaws.com/nodegroup%3D"+slot)
	if err != nil {
		return nil, err
	}
	for _, n := range all {
		c.nodes = append(c.nodes, text(n, "metadata", "name"))
	}
	slices.Sort(c.nodes)
	_, err = c.must(ctx, http.MethodPost, "/api/v1/namespaces", "", fmt.Appendf(nil, `{"metadata":{"name":%q}}`, namespace))
	return c, err
}

// An answer is what a request got: 201, or 404 NotFound: pods "web" not found.
type answer struct {
	code   int
	reason string
	body   []byte
}

func (a answer) String() string {
	if a.code < 300 {
		return fmt.Sprint(a.code)
	}
	return fmt.Sprintf("%d %s", a.code, a.reason)
}

// do sends a request. Its answer may be a refusal. A definition's storage that has just begun is waited for
// (k8s.io/apiserver, pkg/storage/cacher/ready.go).
func (c *Cluster) do(ctx context.Context, method, path, contentType string, body []byte) (answer, error) {
	for {
		a, err := c.send(ctx, method, path, contentType, body)
		if err != nil || a.code != http.StatusTooManyRequests || !strings.Contains(a.reason, "storage is (re)initializing") {
			return a, err
		}
		if err := pause(ctx, time.Second); err != nil {
			return a, err
		}
	}
}

func (c *Cluster) send(ctx context.Context, method, path, contentType string, body []byte) (answer, error) {
	if contentType == "" {
		contentType = "application/json"
	}
	r, err := http.NewRequestWithContext(ctx, method, c.host+path, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", "application/json")
	response, err := c.client.Do(r)
	if err != nil {
		return answer{}, err
	}
	got, err := io.ReadAll(response.Body)
	_ = response.Body.Close() // it was only read
	if err != nil {
		return answer{}, err
	}
	a := answer{code: response.StatusCode, body: got}
	if a.code >= 300 {
		var status struct{ Reason, Message string }
		if json.Unmarshal(got, &status) == nil {
			a.reason = strings.TrimSpace(status.Reason + ": " + status.Message)
		}
	}
	return a, nil
}

// must is do for what has to succeed.
func (c *Cluster) must(ctx context.Context, method, path, contentType string, body []byte) (answer, error) {
	a, err := c.do(ctx, method, path, contentType, body)
	if err == nil && a.code >= 300 {
		err = fmt.Errorf("%s %s: %s", method, path, a)
	}
	return a, err
}

// list returns the objects of a path, none where the path isn't served.
func (c *Cluster) list(ctx context.Context, path string) ([]map[string]any, error) {
	a, err := c.do(ctx, http.MethodGet, path, "", nil)
	if err != nil || a.code == http.StatusNotFound {
		return nil, err
	}
	if a.code >= 300 {
		return nil, fmt.Errorf("list %s: %s", path, a)
	}
	var in struct{ Items []map[string]any }
	if err := json.Unmarshal(a.body, &in); err != nil {
		return nil, fmt.Errorf("list %s: %w", path, err)
	}
	return in.Items, nil
}

// at is the path of a kind's objects, or of one of them.
func (c *Cluster) at(name string, elements ...string) (string, error) {
	k, err := kindOf(name)
	if err != nil {
		return "", err
	}
	path := strings.ReplaceAll(k.path, "$ns", c.namespace)
	if !k.cluster {
		path += "/namespaces/" + c.namespace
	}
	return strings.Join(append([]string{path, k.resource}, elements...), "/"), nil
}

// text is a field of an object that is a string.
func text(o map[string]any, path ...string) string {
	s, _ := field(o, path...).(string)
	return s
}

// field is a field of an object, nil where there is none.
func field(o any, path ...string) any {
	for _, name := range path {
		m, _ := o.(map[string]any)
		o = m[name]
	}
	return o
}

// Leave takes away what a script has left: its namespace and its definition, whatever finalizers hold, and what it has changed of the
// nodes.
func (c *Cluster) Leave(ctx context.Context, s Script) error {
	const mergePatch = "application/merge-patch+json"
	if _, err := c.must(ctx, http.MethodDelete, "/api/v1/namespaces/"+c.namespace, "", nil); err != nil {
		return err
	}
	if _, err := c.do(ctx, http.MethodDelete, c.fill("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.$ns.example.com"), "", nil); err != nil {
		return err
	}
	for _, n := range c.nodes {
		if _, err := c.must(ctx, http.MethodPatch, "/api/v1/nodes/"+n, mergePatch, []byte(`{"metadata":{"labels":{"role":null}},"spec":{"taints":null,"unschedulable":null}}`)); err != nil {
			return err
		}
	}
	for {
		all, _, err := c.objects(ctx, s.kinds())
		if err != nil || len(all) == 0 {
			return err
		}
		for _, o := range all {
			path, err := c.at(text(o, "kind"), text(o, "metadata", "name"))
			if err != nil {
				return err
			}
			if text(o, "metadata", "deletionTimestamp") == "" || field(o, "metadata", "finalizers") == nil {
				continue
			}
			if _, err := c.do(ctx, http.MethodPatch, path, mergePatch, []byte(`{"metadata":{"finalizers":null}}`)); err != nil {
				return err
			}
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
}
