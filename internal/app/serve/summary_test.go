package serve_test

import (
	"os"
	"testing"

	"github.com/nodesim/nodesim/internal/app/serve"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/timeline"
)

// How long a tape is, is found out when clients can come: they don't wait for a large
// one to be read twice.
func TestTheTapeIsReadThroughWhenClientsCanCome(t *testing.T) {
	s := newStory(t)
	opened := make(chan error, 2) // what was known of the kubeconfig as the tape was opened
	s.options.Tape = ui.Simulated("demo", func(opts ...timeline.ReadOption) (*timeline.Reader, error) {
		_, err := os.Stat(s.options.Kubeconfig)
		opened <- err
		return scenarios.Open("demo", opts...)
	})
	session, err := serve.Open(t.Context(), s.options)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err == nil {
		t.Error("to play: found a kubeconfig, want none that leads nowhere")
	}
	if err := <-opened; err != nil {
		t.Errorf("to survey: %v, want that clients can come", err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}
