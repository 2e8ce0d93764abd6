package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Sweep ends what is left in a folder of a Group whose program is dead, and whose watchdog was killed as well, and
// removes the copies of what was in it, and the folder unless it is kept. The watchdog may do the same at the same
// time. A pid file may be older than the machine's last start: a process is ended only if its arguments name the folder.
func Sweep(folder string) error {
	files, err := fs.Glob(os.DirFS(folder), "run/*.pid") // not with folder in it: what a user has called it is no pattern
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(file)))
		if err != nil {
			continue // the watchdog is at work as well
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || pid <= 1 {
			continue
		}
		said, err := exec.Command("ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output()
		if err != nil || !strings.Contains(string(said), folder) {
			continue
		}
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // fails only where it has ended
		}
	}
	text, err := os.ReadFile(filepath.Join(folder, "run", "copies"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var all []error
	lines := strings.Split(string(text), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		all = append(all, file{lines[i], lines[i+1]}.remove())
	}
	if kept(folder) {
		return errors.Join(all...)
	}
	return errors.Join(append(all, os.RemoveAll(folder))...)
}
