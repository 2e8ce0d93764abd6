package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/live"
	"github.com/spf13/pflag"
)

// pace returns the speed of the live run.
func (f *liveFlags) pace() float64 {
	if f.speed.Speed == 0 {
		return 1
	}
	return float64(f.speed.Speed)
}

// aboutSpeed says how often leases are renewed, where that doesn't go without
// saying: on a control plane that was hurried.
func (f *liveFlags) aboutSpeed(cluster float64, file *scenarios.File) string {
	if f.renew > 0 || cluster == 1 {
		return ""
	}
	line := fmt.Sprintf("the control plane goes at %s: leases are renewed every %s", times(cluster), live.Renewal(cluster, file.Nodes()).Round(time.Millisecond))
	if pace := f.pace(); pace != cluster {
		line += fmt.Sprintf(", and the scenario goes at %s", times(pace))
	}
	return line
}

func times(speed float64) string { return strconv.FormatFloat(speed, 'g', -1, 64) + "x" }

// quotedPath returns how a command line anywhere on this machine names a scenario file.
func quotedPath(word string) string {
	if word == "-" {
		return word
	}
	if path, err := filepath.Abs(word); err == nil {
		word = path
	}
	return record.Quote(word)
}

// explain says how the refusal of a cluster is overcome.
func (f *liveFlags) explain(err error, name string) error {
	var foreign *live.ForeignNodesError
	var other *live.OtherRunError
	switch {
	case errors.As(err, &foreign):
		return fmt.Errorf("%w: --i-know-this-cluster=%s", err, record.Quote(name))
	case errors.As(err, &other):
		other.Flags = f.way()
	}
	return err
}

// way are the flags that led to the cluster, but for those that are secret.
func (f *liveFlags) way() string {
	var b strings.Builder
	f.connect.VisitAll(func(flag *pflag.Flag) {
		switch value := flag.Value.String(); {
		case !flag.Changed:
		case flag.Name == "token", flag.Name == "password":
			fmt.Fprintf(&b, " --%s=…", flag.Name)
		case flag.Name == "kubeconfig":
			fmt.Fprintf(&b, " --kubeconfig=%s", quotedPath(value))
		case flag.Value.Type() == "stringArray":
			for _, one := range flag.Value.(pflag.SliceValue).GetSlice() {
				fmt.Fprintf(&b, " --%s=%s", flag.Name, record.Quote(one))
			}
		default:
			fmt.Fprintf(&b, " --%s=%s", flag.Name, record.Quote(value))
		}
	})
	return b.String()
}
