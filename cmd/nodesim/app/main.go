// Package app is the command line of nodesim. It is a package of its own so that programs can link it with more than
// [cmd/nodesim] does.
//
// Each verb has a file of its own, which parses flags and wires; what it calls is a library. Exit status: 0 done, 1 failed or
// not as expected, 2 wrong usage, 3 recorded with gaps, 4 a shard that was ended before it was done.
//
// [cmd/nodesim]: https://github.com/nodesim/nodesim/tree/main/cmd/nodesim
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // what kubectl links: oidc, and for azure and gcp what to use instead
	"k8s.io/klog/v2"

	"github.com/nodesim/nodesim/internal/ui/terminal"
	"github.com/nodesim/nodesim/internal/version"
	"github.com/nodesim/nodesim/noderoll"
)

// Main executes the command line of the process and ends it. The first signal that asks for the end ends the work
// cleanly, a second one the program.
func Main() {
	defer crashed(os.Stderr)
	klog.SetLogger(logr.Discard()) // client-go would write its own lines across a panel
	ctx, stop := signal.NotifyContext(context.Background(), terminal.EndSignals()...)
	context.AfterFunc(ctx, stop)
	root := newRoot()
	if isPlugin(os.Args[0]) {
		asPlugin(root)
	}
	code := run(ctx, root, os.Args[1:])
	stop()
	os.Exit(code)
}

// crashed says, where the goroutine that deferred it panics, which program that was, and panics on with the stack.
func crashed(w io.Writer) {
	if p := recover(); p != nil {
		is := version.Get()
		fmt.Fprintf(w, "nodesim %s %s %s has crashed: this is a bug; what follows, and what nodesim version -o json prints, belong into its report\n",
			is.Version, is.Go, is.Platform)
		panic(p)
	}
}

// The exit status.
const (
	exitFailed = 1
	exitUsage  = 2
	exitGaps   = 3
	exitEnded  = 4
)

// exitError is an error with a status of its own. Without err, everything has
// been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return "failed"
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usagef returns an error of the command line.
func usagef(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// run executes the command line and returns the exit status. An error is one
// line on stderr, and a wrong usage names the help.
func run(ctx context.Context, root *cobra.Command, args []string) int {
	root.SetArgs(distanceLast(args))
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	code := exitFailed
	var coded *exitError
	if errors.As(err, &coded) {
		code, err = coded.code, coded.err
	} else if word, ok := unknownVerb(err); ok {
		code, err = exitUsage, verbError(root, word)
	}
	if err != nil {
		message := oneLine(err)
		if code == exitUsage {
			message += "; see " + cmd.CommandPath() + " --help"
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", root.Name(), message)
	}
	return code
}

// oneLine is an error as one line without anything that acts on a terminal.
// Joined errors are divided by semicolons.
func oneLine(err error) string {
	return noderoll.OneLine(strings.ReplaceAll(strings.TrimSpace(withoutGo(err.Error())), "\n", "; "))
}

// unmarshalled is how Go's decoders say that a value has another form than a Go type.
var unmarshalled = regexp.MustCompile(`json: cannot unmarshal (\w+)(?: [^ ]+)? into Go (?:struct field \w+(?:\.([^ ]+))?|value) of type ([^ :;]+)`)

// withoutGo says in the words of a file what an error says in those of Go: clusters: found object, want a list.
func withoutGo(text string) string {
	return unmarshalled.ReplaceAllStringFunc(text, func(s string) string {
		m := unmarshalled.FindStringSubmatch(s)
		want := "a mapping"
		switch kind := m[3]; {
		case strings.HasPrefix(kind, "[]uint8"), kind == "string":
			want = "text"
		case strings.HasPrefix(kind, "["):
			want = "a list"
		case kind == "bool":
			want = "true or false"
		case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
			want = "a whole number"
		case strings.HasPrefix(kind, "float"):
			want = "a number"
		}
		place := ""
		if m[2] != "" {
			place = m[2] + ": "
		}
		return place + "found " + m[1] + ", want " + want
	})
}

// warn tells, in one line, of what goes wrong and doesn't end the work.
func warn(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, "nodesim: warning: %s\n", noderoll.OneLine(fmt.Sprintf(format, args...)))
}

// rateLimited lets a warning through once a few seconds. Others than the last one have no wait.
func rateLimited(tell func(error)) func(error) {
	var mu sync.Mutex
	var last time.Time
	var said string
	return func(err error) {
		mu.Lock()
		defer mu.Unlock()
		if text := err.Error(); text != said || time.Since(last) > 3*time.Second {
			last, said = time.Now(), text
			tell(err)
		}
	}
}
