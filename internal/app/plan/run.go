package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/nodesim/nodesim/internal/app/simulate"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/plan"
)

// Request is what the verb was asked for.
type Request struct {
	File    *scenarios.File
	Options plan.Options
	Compare []plan.Axis // none: one plan
	Format  string      // text, json or markdown
	// Live is nil where nothing is rolled on a control plane.
	Live *Live
	// Tape is the file for the run that Which names; "" for none.
	Tape  string
	Which plan.Which
	Out   io.Writer
	// Status is where progress goes on a terminal of a width; nil where there is none.
	Status io.Writer
	Width  func() int
}

// answer is a plan, or a comparison of several.
type answer interface {
	Text(io.Writer) error
	Markdown(io.Writer) error
	JSON(io.Writer) error
	Failure() string
}

// Run plans and writes the answer. failure says what doesn't hold; "" where all does.
func (r *Request) Run(ctx context.Context) (failure string, err error) {
	if r.Tape != "" {
		if _, err := os.Lstat(r.Tape); err == nil {
			return "", fmt.Errorf("create timeline %s: %w: want another name", r.Tape, fs.ErrExist)
		}
	}
	o := r.Options
	done, of := 0, 0
	o.Progress = func(n, total int) {
		done, of = n, total
		r.show(fmt.Sprintf("plan: %d of %d runs (ctrl-c ends)", n, total))
	}
	var a answer
	var one *plan.Plan
	if len(r.Compare) > 0 {
		a, err = plan.Compare(ctx, r.File, o, r.Compare...)
	} else {
		one, err = plan.Of(ctx, r.File, o)
		a = one
	}
	r.show("")
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return "", fmt.Errorf("plan: interrupted after %d of %d runs: want all of them", done, of)
	}
	if err != nil {
		return "", err
	}
	if r.Live != nil {
		if err := r.live(ctx, one); err != nil {
			return "", err
		}
	}
	write := map[string]func(io.Writer) error{"text": a.Text, "json": a.JSON, "markdown": a.Markdown}[r.Format]
	if err := write(r.Out); err != nil {
		return "", err
	}
	if r.Tape != "" {
		if err := r.tape(ctx, one); err != nil {
			return "", err
		}
	}
	return a.Failure(), nil
}

// show repaints the line of progress; "" takes it away.
func (r *Request) show(line string) {
	if r.Status != nil {
		fmt.Fprint(r.Status, "\r\x1b[K"+noderoll.Brief(line, max(r.Width()-1, 1)))
	}
}

// tape writes the tape of one run.
func (r *Request) tape(ctx context.Context, p *plan.Plan) error {
	f, err := p.Sample(r.File, r.Options, r.Which)
	if err != nil {
		return err
	}
	_, err = simulate.Run(ctx, simulate.Source{Scenario: scenarios.Scenario{Name: f.Metadata.Name}, File: f}, r.Tape, nil)
	return err
}
