package clusterstories

import (
	"context"
	"errors"
	"fmt"

	"github.com/nodesim/nodesim/recorder"
)

// recordWhile lets act happen while a recording runs: from when started is closed until act returns. It returns when
// the recording has ended, with the errors of both. A recording that ends before act begins is an error.
func recordWhile(ctx context.Context, rec *recorder.Recorder, started <-chan struct{}, act func() error) error {
	recording, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		_, err := rec.Run(recording)
		ended <- err
	}()
	select {
	case err := <-ended:
		return fmt.Errorf("the recording ended before the story: %w", errors.Join(err, context.Cause(ctx)))
	case <-started:
	}
	err := act()
	stop()
	return errors.Join(err, <-ended)
}
