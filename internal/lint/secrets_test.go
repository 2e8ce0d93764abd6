package lint_test

import (
	"bufio"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nodesim/nodesim/internal/mask"
	"github.com/nodesim/nodesim/timeline"
)

// madeUp are files that hold what looks like credentials on purpose.
var madeUp = []string{
	"cmd/nodesim/app/testdata/help/",   // "--token string" and its like
	"cmd/nodesim/app/testdata/script/", // commands and inputs, in which credentials have to be masked
	"recorder/formats/testdata/",       // other tools' files with made-up Secrets, which no tape may have
	"replay/apiserver/internal/tables/testdata/certificatesigningrequests.certificates.k8s.io.yaml", // requests for no certificate
	"replay/apiserver/internal/tables/testdata/clustertrustbundles.certificates.k8s.io.yaml",        // public certificates
}

// Tapes, scenario files and golden files that are committed hold nothing that a recorder would have masked.
func TestCommittedFilesHoldNoSecrets(t *testing.T) {
	root := filepath.Join("..", "..")
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		data := strings.HasPrefix(name, "examples/") || strings.Contains(name, "/testdata/")
		if !data || path.Ext(name) == ".go" || slices.ContainsFunc(madeUp, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		file, err := os.Open(filepath.Join(root, filepath.FromSlash(name)))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(file)
		lines.Buffer(nil, 2*timeline.MaxLine)
		for n := 1; lines.Scan(); n++ {
			if text := lines.Text(); mask.String(text) != text {
				t.Errorf("%s:%d: found a credential in %.200q: want none: mask it, or name the file in madeUp if nothing of it is real", name, n, text)
				break
			}
		}
		if err := lines.Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_ = file.Close() // it was only read
		read++
	}
	if read < 100 {
		t.Errorf("read %d files: want all of them", read)
	}
}
