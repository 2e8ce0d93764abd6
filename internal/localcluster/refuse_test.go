package localcluster

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nothingLeft fails if a start that failed has left something in the folder for temporary files, which it sets.
func nothingLeft(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	t.Cleanup(func() {
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("found %v, %v, want nothing left", left, err)
		}
	})
}

func TestATakenPortIsRefusedAtOnce(t *testing.T) {
	nothingLeft(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, err = Start(t.Context(), Options{Port: l.Addr().(*net.TCPAddr).Port})
	if err == nil || !strings.Contains(err.Error(), "address already in use: want a free one") {
		t.Errorf("found %v, want that the port is taken", err)
	}
}

// Without programs and without Go the error says what to do.
func TestNoProgramsAndNoGo(t *testing.T) {
	nothingLeft(t)
	t.Setenv("KUBEBUILDER_ASSETS", t.TempDir())
	t.Setenv("NODESIM_CACHE", t.TempDir())
	t.Setenv("PATH", t.TempDir())
	t.Setenv("NODESIM_MIRROR", "off")
	_, err := Start(t.Context(), Options{})
	for _, want := range []string{"build etcd", "found no program go on the PATH", "KUBEBUILDER_ASSETS", "setup-envtest", "kind"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, want %q in it", err, want)
		}
	}
}

// What a server sends in the place of programs is neither kept nor run.
func TestADamagedDownloadAndNoGo(t *testing.T) {
	nothingLeft(t)
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "#!/bin/sh\n") }))
	defer mirror.Close()
	cache := t.TempDir()
	t.Setenv("KUBEBUILDER_ASSETS", "")
	t.Setenv("NODESIM_CACHE", cache)
	t.Setenv("PATH", t.TempDir())
	t.Setenv("NODESIM_MIRROR", mirror.URL)
	_, err := Start(t.Context(), Options{Kubernetes: "1.37"})
	for _, want := range []string{"build etcd", "download " + mirror.URL + "/github.com/", "found the checksum sha512:", "found no program go on the PATH"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("found %v, want one line with %q", err, want)
		}
	}
	left, err := filepath.Glob(filepath.Join(cache, "controlplane", "*", "*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != ".lock" {
		t.Errorf("found %v, %v, want nothing left but the lock", left, err)
	}
}

// A program that dies at its start is told of with what it said.
func TestAProgramThatDiesAtItsStart(t *testing.T) {
	nothingLeft(t)
	instead(t, "echo before\nfor i in 1 2 3 4 5 6 7 8; do echo line $i; done\nexit 3\n")
	_, err := Start(t.Context(), Options{})
	if err == nil || !strings.Contains(err.Error(), "kube-apiserver ended by itself, with exit status 3") ||
		!strings.HasSuffix(err.Error(), "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8") {
		t.Errorf("found %v, want the end of the log", err)
	}
}

// instead has another program run as kube-apiserver.
func instead(t *testing.T, apiServer string) {
	t.Helper()
	t.Setenv("NODESIM_KEEP", "")
	assets := t.TempDir()
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	for name, text := range map[string]string{Etcd: "exec sleep 1000\n", APIServer: apiServer, ControllerManager: "", Scheduler: ""} {
		if err := os.WriteFile(filepath.Join(assets, name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// A reader of the audit log reads one file: kube-apiserver isn't to begin another when it is long.
func TestTheAuditLogIsOneFile(t *testing.T) {
	nothingLeft(t)
	instead(t, `for flag; do case $flag in --audit-log-max*) echo "$flag";; esac; done; exit 3`)
	_, err := Start(t.Context(), Options{AuditLog: filepath.Join(t.TempDir(), "audit.jsonl")})
	if err == nil || !strings.HasSuffix(err.Error(), "ends with --audit-log-maxsize=1048576") {
		t.Errorf("found %v, want that the size has no limit", err)
	}
}

func TestAnAuditLogThatCantBeWritten(t *testing.T) {
	nothingLeft(t)
	_, err := Start(t.Context(), Options{AuditLog: filepath.Join(t.TempDir(), "none", "audit.jsonl")})
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %v, want that there is no such folder", err)
	}
}
