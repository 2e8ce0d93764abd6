package testcluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Compact forgets etcd's history up to the present and returns the revision of the present. Objects stay; a read of
// the past fails from here on. See the package comment for what that means to a watch.
func (c *Cluster) Compact(ctx context.Context) (revision int64, err error) {
	revision, err = c.Revision(ctx)
	if err != nil {
		return 0, err
	}
	var ignored struct{}
	err = c.askEtcd(ctx, "/v3/kv/compaction", map[string]any{
		"revision": strconv.FormatInt(revision, 10), "physical": true,
	}, &ignored)
	return revision, err
}

// Revision is etcd's present revision, which is the newest resourceVersion of the cluster.
func (c *Cluster) Revision(ctx context.Context) (int64, error) {
	var answer struct {
		Header struct {
			Revision int64 `json:"revision,string"`
		} `json:"header"`
	}
	err := c.askEtcd(ctx, "/v3/kv/range", map[string]any{"key": "Cg==", "count_only": true}, &answer)
	return answer.Header.Revision, err
}

// ExpireWatches makes every resourceVersion up to now too old to watch from, with and without a watch cache: it moves
// the cluster's version on by one write, compacts, and restarts the API server. It returns the first version that is
// good again; a watch from an earlier one gets 410 Expired.
func (c *Cluster) ExpireWatches(ctx context.Context) (revision int64, err error) {
	marker := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "expire-watches-"}}
	if _, err := c.client.CoreV1().ConfigMaps(metav1.NamespaceDefault).Create(ctx, marker, metav1.CreateOptions{}); err != nil {
		return 0, fmt.Errorf("move the cluster's version on: %w", err)
	}
	if err := c.StopAPIServer(); err != nil {
		return 0, err
	}
	if revision, err = c.Compact(ctx); err != nil {
		return 0, err
	}
	return revision, c.StartAPIServer(ctx)
}

// askEtcd calls etcd's JSON gateway (etcd.io/docs/v3.6/dev-guide/api_grpc_gateway), which saves us its client.
func (c *Cluster) askEtcd(ctx context.Context, path string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("ask etcd: %w", err)
	}
	url := c.env.ControlPlane.Etcd.URL.JoinPath(path).String()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask etcd: %w", err)
	}
	request.Close = true // no idle connection outlives the call, for tests that look for leaked goroutines
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask etcd: %w", err)
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return fmt.Errorf("ask etcd: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("ask etcd: POST %s: %s: %s", path, response.Status, text)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("ask etcd: POST %s: %w", path, err)
	}
	return nil
}
