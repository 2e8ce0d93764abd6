package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/internal/app/storetest"
	"github.com/nodesim/nodesim/recorder/store"
)

// storeOfTapes is a folder with the tapes of a store: twelve, of which the last one hangs in a drain.
func storeOfTapes(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s, err := store.Open(t.Context(), "file://"+filepath.ToSlash(dir))
	if err != nil {
		t.Fatal(err)
	}
	for number := range 12 {
		name := "stuck-drain-force"
		if number == 11 {
			name = "stuck-drain"
		}
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "examples", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		began := time.Date(2026, 11, 27, number, 0, 0, 0, time.UTC)
		if err := s.Put(t.Context(), store.Tape{
			Name: fmt.Sprintf("roll-%02d", number), Cluster: "c1", Group: "workers", Outcome: "complete", Began: began, Ended: began.Add(time.Minute),
			Events: strings.Count(string(text), "\n--- "), Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:]),
		}, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// testAsked say which tapes are tested; testManifest prints a Job of three shards that does.
var (
	testAsked    = []string{"--as-of", "2026-11-28T00:00:00Z", "--policy", "no-stuck-roll"}
	testManifest = append([]string{"test", "manifest", "--shards", "3", "--image", "registry.example/nodesim:v1"}, testAsked...)
)

// tested is a result of nodesim test.
func tested(t *testing.T, line string) (res storetest.Result) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &res); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return res
}

// The Job of a manifest has a pod for each shard, whose program, run with what that pod's container has, leaves a result; merged they are
// what one test of the store says. The store is a bucket of a scheme that the test registers.
func TestTestManifest(t *testing.T) {
	tapes, folder := storeOfTapes(t), t.TempDir()
	store.Register("bucket", func(ctx context.Context, _ *url.URL) (store.Bucket, error) {
		s, err := store.Open(ctx, "file://"+filepath.ToSlash(tapes))
		return s.Bucket, err
	})
	objects, job := manifest(t, executed(t, 0, slices.Concat(testManifest, []string{"--store", "bucket://tapes", "--secret", "bucket"})...))
	var pods []corev1.Pod
	synctest.Test(t, func(t *testing.T) { pods = podsOf(t, objects, job) })
	if len(pods) != 3 {
		t.Fatalf("the Job has %d pods, want 3", len(pods))
	}
	for name, text := range objects.Data {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	log, failed := "", 0
	for i := range pods {
		out, code := ran(t, container(t, &pods[i], map[string]string{storetest.MountPath + "/": folder + "/"})...)
		log += "a line of something else\n" + out
		failed += code
	}
	all := filepath.Join(folder, "log")
	if err := os.WriteFile(all, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	whole := executed(t, 1, append([]string{"test", "--store", "bucket://tapes", "-o", "json"}, testAsked...)...)
	if merged := executed(t, 1, "test", "merge", "-o", "json", all); merged != whole || failed != 1 {
		t.Errorf("%d shards failed, and merged they say:\n%s\nwant one, and what one test says:\n%s", failed, merged, whole)
	}
	if res := tested(t, whole); res.Passed != 11 || res.Failed != 1 {
		t.Errorf("%d tapes passed and %d failed, want 11 and 1", res.Passed, res.Failed)
	}
}
