package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/internal/app/ctl"
	"github.com/nodesim/nodesim/replay"
	"github.com/nodesim/nodesim/scenarios/spec"
	"github.com/spf13/cobra"
)

// Verbs of the API: asked takes nothing, given takes a word.
type (
	asked func(*ctl.Client, context.Context) (control.Status, error)
	given func(*ctl.Client, context.Context, string) (control.Status, error)
)

// verb is one that takes no arguments.
func (f *ctlFlags) verb(name, short string, do asked) *cobra.Command {
	return f.asks(name, short, do, ctl.AppendLine)
}

// status is the verb that tells everything.
func (f *ctlFlags) status() *cobra.Command {
	return f.asks("status", "Where the replay is, and its watchers", (*ctl.Client).Status, ctl.AppendStatus)
}

func (f *ctlFlags) asks(name, short string, do asked, text func([]byte, control.Status) []byte) *cobra.Command {
	return &cobra.Command{
		Use: name, Short: short, Example: examples("nodesim ctl " + name),
		Args: arguments(0, 0, "no argument"), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.client()
			if err != nil {
				return err
			}
			defer c.Close()
			s, err := do(c, cmd.Context())
			if err != nil {
				return err
			}
			return f.say(cmd, s, text(nil, s))
		},
	}
}

// given is a verb that takes one word, which check looks at before anybody is
// asked.
func (f *ctlFlags) given(use, example, short string, check func(string) error, do given, words ...string) *cobra.Command {
	name, what, _ := strings.Cut(use, " ")
	return &cobra.Command{
		Use: use, Short: short, Example: examples("nodesim ctl " + name + " " + example),
		Args: arguments(1, 1, "one "+what), ValidArgsFunction: cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			if check != nil {
				if err := check(args[0]); err != nil {
					return &exitError{exitUsage, err}
				}
			}
			c, err := f.client()
			if err != nil {
				return err
			}
			defer c.Close()
			s, err := do(c, cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return f.say(cmd, s, ctl.AppendLine(nil, s))
		},
	}
}

func checkPosition(word string) error { _, err := control.ParseTarget(word); return err }
func checkFault(text string) error    { _, err := spec.ParseFault(text); return err }
func checkSpeed(word string) error    { _, err := replay.ParseSpeed(word); return err }

// step is the verb that advances by events, transitions or markers.
func (f *ctlFlags) step() *cobra.Command {
	until := newChoice(string(control.UntilEvent), control.Untils...)
	wait := true
	cmd := &cobra.Command{
		Use: "step [N]", Short: "Pause, and step by one event, or by N", Args: arguments(0, 1, "at most one number"),
		ValidArgsFunction: cobra.NoFileCompletions,
		Long: `Pause the tape, and step by one event, or by N.

With --until transition a step ends when a node joins, is online, drains,
isn't ready or is gone, a pod of a roll in place changes, a roll is complete or
has failed, or the tape has a mark, and prints that after the events; with
--until marker it goes on to the next mark alone.
Every step ends at the end of the tape.`,
		Example: examples(`
			nodesim ctl step
			nodesim ctl step 10
			nodesim ctl step --until transition`),
	}
	cmd.Flags().Var(until, "until", "where a step ends")
	cmd.Flags().BoolVar(&wait, "wait", true, "return when every watcher has been handed the events")
	suggest(cmd, "until", until.of...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		steps := control.Steps{Count: 1, Until: control.Until(until.value), Wait: wait}
		if len(args) > 0 {
			n, err := strconv.Atoi(args[0])
			if err != nil || n < 1 {
				return usagef("argument %q: want a number of steps, 1 or more", args[0])
			}
			steps.Count = n
		}
		c, err := f.client()
		if err != nil {
			return err
		}
		defer c.Close()
		s, err := c.Step(cmd.Context(), steps)
		if err != nil {
			return fmt.Errorf("step: %w", err)
		}
		return f.say(cmd, s, ctl.AppendStepped(nil, s))
	}
	return cmd
}
