package process

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/nodesim/nodesim/internal/atomicfile"
)

// A watchdog is a shell that waits for its standard input to end, which happens when this program dies, however it
// dies; then it kills what the pid files name, removes the copies that are still copies, and removes the folder unless
// it is kept.
type watchdog struct {
	folder string
	cmd    *exec.Cmd
	pipe   io.WriteCloser
}

// watch looks for pids twice: a program that was being started when this one died leaves its pid a moment later.
const watch = `read -r word && [ "$word" = done ] && exit 0
trap '' HUP INT TERM
for again in yes no; do
	pids=$(cat "$0"/run/*.pid 2>/dev/null)
	[ -z "$pids" ] || kill -9 $pids 2>/dev/null
	[ $again = no ] || sleep 1
done
[ ! -e "$0/run/copies" ] || while read -r copy && read -r original; do
	! cmp -s "$copy" "$original" || rm -f "$copy"
done <"$0/run/copies"
[ -e "$0/kept" ] || rm -rf "$0"`

func startWatchdog(folder string) (*watchdog, error) {
	cmd := exec.Command("/bin/sh", "-c", watch, folder)
	apart(cmd)
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	return &watchdog{folder: folder, cmd: cmd, pipe: pipe}, nil
}

// copies tells the watchdog about files outside of the folder: a line for each copy, and one for its original.
func (w *watchdog) copies(list []file) error {
	var text strings.Builder
	for _, f := range list {
		fmt.Fprintf(&text, "%s\n%s\n", f.copy, f.original)
	}
	return atomicfile.Write(filepath.Join(w.folder, "run", "copies"), []byte(text.String()), 0o644)
}

// stop ends the watchdog: everything was stopped cleanly.
func (w *watchdog) stop() error {
	_, err := io.WriteString(w.pipe, "done\n")
	return errors.Join(err, w.pipe.Close(), w.cmd.Wait())
}
