package app

import (
	"context"
	"errors"
	"testing"
)

// A live run ends when the control plane that was started for it has, and says why.
func TestLiveClusterThatEnds(t *testing.T) {
	died := errors.New("kube-apiserver: exit status 1")
	done := make(chan struct{})
	ctx, end := liveCluster{done: done, err: func() error { return died }}.during(t.Context())
	defer end()
	if ctx.Err() != nil {
		t.Fatalf("it has ended before the cluster: %v", context.Cause(ctx))
	}
	close(done)
	<-ctx.Done()
	if err := context.Cause(ctx); !errors.Is(err, died) {
		t.Errorf("it ends with %v, want %v", err, died)
	}
}

// Of a cluster that isn't ours no message says that it has ended.
func TestLiveClusterOfOthers(t *testing.T) {
	ctx, end := liveCluster{}.during(t.Context())
	if ctx.Err() != nil {
		t.Errorf("it has ended: %v", context.Cause(ctx))
	}
	end()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("it ends with %v, want %v", err, context.Canceled)
	}
}
