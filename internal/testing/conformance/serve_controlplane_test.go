//go:build controlplane

package conformance_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/clusterstories"
	"github.com/nodesim/nodesim/internal/testing/conformance"
	"github.com/nodesim/nodesim/internal/testing/simcheck"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/replay/apiserver"
	"github.com/nodesim/nodesim/timeline"
)

// TestServe runs a roll on a real control plane, records all of it, and puts some thousands of requests to
// kube-apiserver and to a server over the tape: what differs is in conformance.Known.
func TestServe(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	cluster := testcluster.Shared(t)
	tape := filepath.Join(t.TempDir(), "whole.yaml")
	if err := clusterstories.Whole(ctx, cluster, tape); err != nil {
		t.Fatal(err)
	}
	inventory := survey(t, tape)
	real, err := conformance.Connect(cluster.Config(), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	defer real.Close()
	ours := serve(ctx, t, tape, inventory)
	defer ours.Close()
	const least = 2000
	requests := conformance.Requests(inventory)
	if len(requests) < least {
		t.Errorf("found %d requests, want at least %d", len(requests), least)
	}
	report, err := conformance.CompareServers(ctx, inventory, real, ours, requests, conformance.Known)
	if err != nil {
		t.Fatal(err)
	}
	if !report.Equal() {
		t.Errorf("serve isn't like kube-apiserver: mend it, or say in conformance.Known why it may differ:\n%s", report)
	}
	t.Log(report.Summary())
	if err := simcheck.Tell("conformance", report.Summary()); err != nil {
		t.Error(err)
	}
}

func survey(t *testing.T, tape string) *conformance.Inventory {
	t.Helper()
	r, err := timeline.Open(tape)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }() // it was only read
	inventory, err := conformance.TakeInventory(r)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Complete() {
		t.Fatalf("the tape isn't complete: %s", r.Torn())
	}
	return inventory
}

// serve shows the end of a tape on a socket.
func serve(ctx context.Context, t *testing.T, tape string, inventory *conformance.Inventory) *conformance.Peer {
	t.Helper()
	player, err := replay.NewPlayer(replay.File(tape))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = player.Close() }) // it was only read
	if err := player.Seek(ctx, replay.End); err != nil {
		t.Fatal(err)
	}
	server, err := apiserver.New(player)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	serving, stop := context.WithCancel(ctx)
	go func() { ended <- listener.Serve(serving) }()
	t.Cleanup(func() {
		server.Close()
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serve the replay: %v", err)
		}
	})
	ours, err := conformance.Connect(listener.RESTConfig(), inventory.End)
	if err != nil {
		t.Fatal(err)
	}
	return ours
}
