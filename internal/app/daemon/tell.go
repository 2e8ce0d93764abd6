package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/utils/clock"

	"github.com/nodesim/nodesim/internal/app/analyse"
	"github.com/nodesim/nodesim/internal/retry"
	"github.com/nodesim/nodesim/recorder/store"
	"github.com/nodesim/nodesim/replay/analysis"
)

// finished is a tape, and where it is.
type finished struct {
	path string
	tape store.Tape
}

// hook is told of a finished tape.
type hook interface {
	tell(ctx context.Context, f finished) error
}

// mostWaiting bounds how many finished tapes wait until others have been told of them.
const mostWaiting = 100

// tries bounds how often a hook is told of a tape, and again those are the pauses between.
const tries = 8

var again = retry.Doubling{First: time.Second, Most: time.Minute}

// teller tells hooks of finished tapes, one after the other, and holds up nobody.
type teller struct {
	hooks  []hook
	queue  chan finished
	failed func(error)
}

func newTeller(hooks []hook, failed func(error)) *teller {
	return &teller{hooks: hooks, queue: make(chan finished, mostWaiting), failed: failed}
}

func (t *teller) add(f finished) {
	if len(t.hooks) == 0 {
		return
	}
	select {
	case t.queue <- f:
	default:
		t.failed(fmt.Errorf("%s: %d others wait: nobody is told of it", f.tape.Name, mostWaiting))
	}
}

// end says that nothing more is added.
func (t *teller) end() { close(t.queue) }

// run tells until the context ends, or until all is told that was added before the end.
func (t *teller) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			for len(t.queue) > 0 {
				f := <-t.queue
				t.ended(f)
			}
			return
		case f, more := <-t.queue:
			if !more {
				return
			}
			for _, h := range t.hooks {
				t.try(ctx, h, f)
			}
		}
	}
}

func (t *teller) try(ctx context.Context, h hook, f finished) {
	for failures := 1; ; failures++ {
		err := h.tell(ctx, f)
		switch {
		case err == nil:
			return
		case ctx.Err() != nil:
			t.ended(f)
			return
		case failures == tries:
			t.failed(fmt.Errorf("%s: given up after %d tries: %w", f.tape.Name, tries, err))
			return
		}
		t.failed(fmt.Errorf("%s: %w", f.tape.Name, err))
		if retry.Pause(ctx, clock.RealClock{}, again.After(failures)) != nil {
			t.ended(f)
			return
		}
	}
}

// ended says of a tape that others aren't told of any more.
func (t *teller) ended(f finished) {
	t.failed(fmt.Errorf("%s: the recorder has ended before others were told of it", f.tape.Name))
}

// webhook posts what was found to a URL.
type webhook struct{ url string }

// message is what a webhook is sent.
type message struct {
	Tape store.Tape `json:"tape"`
	// Analysis is what nodesim explain -o json says of the tape; nil where it has no roll to explain.
	Analysis *analysis.Analysis `json:"analysis,omitempty"`
	// Lacks says why there is no analysis.
	Lacks string `json:"lacks,omitempty"`
}

// answerTime bounds how long a webhook may take to answer.
const answerTime = 10 * time.Second

func (h *webhook) tell(ctx context.Context, f finished) error {
	m := message{Tape: f.tape}
	a, err := analyse.File(f.path, strings.NewReader(""), analyse.Pods{}, false)
	if err != nil {
		m.Lacks = err.Error()
	} else {
		m.Analysis = a
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		return withoutURL(err)
	}
	_, err = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<16))
	err = errors.Join(err, answer.Body.Close())
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("webhook: found the answer %s, want 2xx", answer.Status)
	}
	return err
}

// withoutURL is an error without the URL of the request: webhooks have secrets in theirs.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("webhook: %w", err)
}
