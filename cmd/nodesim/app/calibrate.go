package app

import (
	"errors"
	"fmt"
	"io"

	"github.com/nodesim/nodesim/internal/ui"
	"github.com/nodesim/nodesim/scenarios/calibrate"
	"github.com/spf13/cobra"
)

func newCalibrate() *cobra.Command {
	var out string
	format := newChoice("text", "text", "json")
	cmd := &cobra.Command{
		Use:   "calibrate TAPE... --out FILE",
		Short: "Measure the timings of your own cluster on its tapes",
		Long: `Measure how long things take in your own cluster: boot, join, pulls, the start and
stop of pods, termination, by tapes of its rolls. It tells for each timing how many
samples there are, their median and 95th percentile, and which timings stay
estimates and why.

--out writes them as a file of kind Timings. Any verb that simulates takes it with
--timings: the simulation takes the measured times then.

All tapes have to be of one provider. docs/calibrate.md says what is measured, from
where to where, and what is made of few samples.`,
		GroupID: "use",
		Example: examples(`
			nodesim calibrate roll.yaml
			nodesim calibrate monday.yaml tuesday.yaml --out timings.yaml
			nodesim calibrate rolls/*.yaml.zst -o json | jq '.measured[].name'
			nodesim simulate surge --timings timings.yaml --out mine.yaml`),
		Args:              arguments(1, -1, "at least one tape"),
		ValidArgsFunction: completeFiles(1000, tapeEndings...),
	}
	cmd.Flags().VarP(format, "output", "o", "text, or json for programs")
	cmd.Flags().StringVar(&out, "out", "", "write the timings to this `FILE`, - for standard output and nothing else there")
	suggest(cmd, "output", format.of...)
	_ = cmd.RegisterFlagCompletionFunc("out", completeTimings)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := spare(cmd, out, args...); err != nil {
			return err
		}
		var c calibrate.Calibration
		for _, name := range args {
			if err := readSamples(&c, ui.File(name, cmd.InOrStdin()).Until(cmd.Context())); err != nil {
				return err
			}
		}
		res := c.Result()
		if out != "" {
			file, err := res.File()
			if err != nil {
				return fmt.Errorf("calibrate: %w", err)
			}
			err = writeOut(cmd, out, func(w io.Writer) error { _, err := w.Write(file); return err })
			if err != nil || out == "-" {
				return err
			}
		}
		if format.value == "json" {
			_, err := cmd.OutOrStdout().Write(res.JSON())
			return err
		}
		return res.Text(cmd.OutOrStdout())
	}
	return cmd
}

// readSamples reads a tape to its end.
func readSamples(c *calibrate.Calibration, tape *ui.Tape) (err error) {
	r, err := tape.Reader()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return c.Read(tape.Name, r)
}
