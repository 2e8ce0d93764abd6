package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/apply"
	"github.com/spf13/cobra"
)

// execute runs the verb, with a line on progress now and then.
func (f *applyFlags) execute(cmd *cobra.Command, a *apply.Applier) (apply.Report, error) {
	ctx := cmd.Context()
	if f.cleanup {
		return a.Cleanup(ctx)
	}
	if err := a.Open(ctx); err != nil || f.dry {
		if err != nil {
			return a.Report(), err
		}
		return a.Run(ctx)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "the initial state is written: %d objects\n", a.Report().Changes)
	done := make(chan struct{})
	var line sync.WaitGroup
	defer line.Wait()
	defer close(done)
	line.Go(func() { progress(cmd.ErrOrStderr(), a, done) })
	return a.Run(ctx)
}

// tidying is the time tidy may take.
const tidying = 2 * time.Minute

// tidy takes away what was written: where no user reads the output, none learns how
// to do it. Where it can't be done, the other of standard output and error may still
// have a reader.
func (f *applyFlags) tidy(cmd *cobra.Command, a *apply.Applier) {
	if f.dry || f.cleanup {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), tidying)
	defer cancel()
	if _, err := a.Cleanup(ctx); err != nil {
		warn(cmd.ErrOrStderr(), "what was written is still there: %s; --cleanup takes it away", err)
	}
}

// progress says every few seconds how far it is.
func progress(w io.Writer, a *apply.Applier, done <-chan struct{}) {
	ticker := time.NewTicker(5 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			r := a.Report()
			fmt.Fprintf(w, "%s: %d changes, %d requests\n", noderoll.AppendStamp(nil, r.Position), r.Changes, r.Requests)
		}
	}
}
