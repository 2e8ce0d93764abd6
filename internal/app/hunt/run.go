package hunt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nodesim/nodesim/internal/app/record"
	"github.com/nodesim/nodesim/internal/app/simulate"
	"github.com/nodesim/nodesim/internal/atomicfile"
	"github.com/nodesim/nodesim/scenarios"
	"github.com/nodesim/nodesim/scenarios/hunt"
)

// Run searches until a case fails, all are tried, or the context ends.
func Run(ctx context.Context, c Config, status *simulate.Status) (*hunt.Result, error) {
	o, err := prepare(&c)
	if err != nil {
		return nil, err
	}
	var at standing
	o.Progress = at.note
	showing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	shown := make(chan struct{})
	go func() {
		status.Follow(showing, at.line)
		close(shown)
	}()
	res, err := hunt.Run(ctx, o)
	cancel()
	<-shown
	return res, err
}

// tapeOf is the name of the tape beside a scenario file: found.yaml has found.tape.yaml.
func tapeOf(file string) string {
	return strings.TrimSuffix(file, filepath.Ext(file)) + ".tape.yaml"
}

// Free refuses a file that is there, and one that can't be in its folder, before a search takes its time.
func Free(file string) error {
	if err := atomicfile.Folder(file); err != nil {
		return err
	}
	for _, name := range []string{file, tapeOf(file)} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w: want another name with --out", name, fs.ErrExist)
		}
	}
	return nil
}

// Write writes what was found: the scenario file, and its tape beside it. It tells where they are and how to see it again. A search that
// was ended by a signal has found something all the same: that ctx has ended doesn't end this.
func Write(ctx context.Context, r *hunt.Result, file string, tell io.Writer) error {
	if err := os.WriteFile(file, []byte(r.Found.File), 0o644); err != nil {
		return fmt.Errorf("write what was found: %w", err)
	}
	doc, err := scenarios.Parse(file, []byte(r.Found.File))
	if err != nil {
		return err
	}
	f, err := doc.Resolve(nil, nil)
	if err != nil {
		return err
	}
	tape := tapeOf(file)
	src := simulate.Source{Scenario: scenarios.Scenario{Name: doc.Metadata.Name, Document: doc}, File: f}
	if _, err := simulate.Run(context.WithoutCancel(ctx), src, tape, nil); err != nil {
		return err
	}
	fmt.Fprintf(tell, "written: %s, and its tape %s\nsee it again: nodesim replay --simulate %s\n", record.Quote(file), record.Quote(tape), record.Quote(asFile(file)))
	return nil
}

// asFile is a name that no scenario can be taken for.
func asFile(name string) string {
	if strings.ContainsRune(name, filepath.Separator) {
		return name
	}
	return "." + string(filepath.Separator) + name
}
