package plan

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nodesim/nodesim/internal/app/liverun"
	"github.com/nodesim/nodesim/internal/localcluster"
	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/noderoll"
	"github.com/nodesim/nodesim/replay/observe"
	"github.com/nodesim/nodesim/scenarios/live"
	"github.com/nodesim/nodesim/scenarios/plan"
	"github.com/nodesim/nodesim/timeline"
)

// Live is how the roll is done once on a control plane of its own.
type Live struct {
	// Speed of the scenario and of the control plane's delays.
	Speed float64
	// Say is told how it goes, and Warn what goes wrong and doesn't end it, a line at a time, from any goroutine.
	Say, Warn func(line string)
}

// live does the roll once on a control plane of its own, and holds the plan against it. Nothing is left of it but what the plan says.
func (r *Request) live(ctx context.Context, p *plan.Plan) (err error) {
	file, err := plan.Prepare(r.File, r.Options)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "nodesim-plan-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	l := r.Live
	l.Say("starting a control plane, for the roll to be done once at " + fmt.Sprintf("%gx", l.Speed))
	plane, err := localcluster.Start(ctx, localcluster.Options{Name: "plan", Speed: l.Speed, Log: lines(l.Say)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	tape := filepath.Join(folder, "live.yaml")
	report, err := liverun.Run(ctx, liverun.Options{
		REST: plane.Config(), File: file, Tape: tape, Say: l.Say, Warn: l.Warn,
		Live: []live.Option{live.Speed(l.Speed), live.ClusterSpeed(l.Speed), live.KubeletClients(plane.Config().CAData), live.Keep()},
		Driver: func(h *timeline.Header) (*ui.Driver, error) {
			o, err := observe.OptionsFor(h, "", "", "")
			if err != nil {
				return nil, err
			}
			d := ui.NewDriver(ui.NewView(h, o), unseen{})
			d.View.FeedOnly = true
			return d, nil
		},
	})
	if err != nil {
		return fmt.Errorf("plan: live run: %w", err)
	}
	seen, err := timeline.Open(tape)
	if err != nil {
		return fmt.Errorf("plan: live run: %w", err)
	}
	defer func() { err = errors.Join(err, seen.Close()) }()
	return p.Hold(r.File, r.Options, seen, plan.LiveRun{Speed: l.Speed, Slowest: report.Slowest, Paused: report.Lost, Outcomes: report.Outcomes})
}

// lines is a Writer of lines.
type lines func(string)

func (l lines) Write(b []byte) (int, error) {
	l(noderoll.OneLine(string(b)))
	return len(b), nil
}

// unseen shows nothing of a live run: its tape tells.
type unseen struct{}

func (unseen) Entries([]noderoll.Entry) error { return nil }

func (unseen) Moment(*ui.View) error { return nil }
