//go:build controlplane && linux

package live_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/localcluster/assets"
	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/live"
)

// kubectlClient are a kubectl and its kubeconfig.
type kubectlClient struct {
	t   *testing.T
	bin string
	env []string
}

func handsOn(t *testing.T, kubeconfig string) kubectlClient {
	t.Helper()
	bin, err := assets.Find("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	return kubectlClient{t, bin, append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+t.TempDir(), "TERM=xterm")}
}

func (h kubectlClient) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, h.bin, args...)
	cmd.Env = h.env
	return cmd
}

// piped starts a command and returns its first line, and who reads on.
func (h kubectlClient) piped(cmd *exec.Cmd) (first string, rest *bufio.Reader) {
	h.t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	rest = bufio.NewReader(out)
	first, err = rest.ReadString('\n')
	if err != nil {
		_ = cmd.Wait() // it has closed its output
		h.t.Fatalf("%v: %v\n%s", cmd.Args, err, errs.String())
	}
	return first, rest
}

func (h kubectlClient) interrupt(cmd *exec.Cmd) {
	h.t.Helper()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		h.t.Error(err)
	}
	_ = cmd.Wait() // however it takes that
}

// People work in the pods of a live run: a shell on a terminal whose size
// changes, an attached one, a forwarded port, and a log that is followed, up to the
// moment at which its pod is deleted.
func TestShell(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	f := written(t, growth) // no handler drains there
	swept(t, f)
	s := raise(ctx, t, plane(t).Config(), f, live.Speed(speed))
	h := handsOn(t, plane(t).KubeconfigPath())
	var space, pod, node string
	for _, p := range podsNow(ctx, t) {
		if p.Namespace == "shop" {
			space, pod, node = p.Namespace, p.Name, p.Spec.NodeName
		}
	}

	shell := testcluster.OnTerminal(t, h.command(ctx, "-n", space, "exec", "-it", pod, "--", "sh"), 24, 80)
	shell.See("# ")
	shell.Press("hostname\r")
	shell.See(pod + "\r\n")
	shell.Press("watch-size\r")
	shell.See("24 80\r\n")
	shell.Resize(40, 100)
	shell.See("40 100\r\n")
	shell.Press("\x03")
	shell.See("# ")
	shell.Press("exit 7\r")
	if code := shell.End(); code != 7 {
		t.Errorf("exec -it: exit code %d, want 7", code)
	}

	// A pod that somebody else brings, with a terminal of its own.
	for _, args := range [][]string{
		{"run", "own", "-n", space, "--image=busybox:1.37", "--stdin", "--tty", "--attach=false", "--restart=Never"},
		{"wait", "pod/own", "-n", space, "--for=condition=Ready", "--timeout=10m"},
	} {
		if _, err := kubectl(ctx, t, args...); err != nil {
			t.Fatal(err)
		}
	}
	attached := testcluster.OnTerminal(t, h.command(ctx, "-n", space, "attach", "-it", "own"), 24, 80)
	attached.See("heartbeat ")
	attached.Press("hello\r")
	attached.See("hello\r\n")
	attached.Press("\x03")
	if code := attached.End(); code != 0 {
		t.Errorf("attach -it: exit code %d, want 0", code)
	}

	forward := h.command(ctx, "-n", space, "port-forward", "--address=127.0.0.1", "pod/"+pod, ":8080")
	line, _ := h.piped(forward)
	var port int
	if _, err := fmt.Sscanf(line, "Forwarding from 127.0.0.1:%d -> 8080", &port); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/healthz", port), nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil || !strings.Contains(string(text), "pod "+space+"/"+pod) || !strings.Contains(string(text), "on node "+node) {
		t.Errorf("port-forward: %q, %v: want the pod and its node", text, err)
	}
	transport.CloseIdleConnections()
	h.interrupt(forward)

	follow := h.command(ctx, "-n", space, "logs", "-f", pod)
	line, rest := h.piped(follow)
	if !strings.Contains(line, space+"/"+pod) {
		t.Errorf("logs -f begins with %q: want the pod's name", line)
	}
	if _, err := kubectl(ctx, t, "delete", "pod", "-n", space, pod, "--wait=false"); err != nil {
		t.Error(err)
	}
	if _, err := io.Copy(io.Discard, rest); err != nil { // ends with the pod
		t.Error(err)
	}
	if err := follow.Wait(); err != nil {
		t.Errorf("logs -f: %v", err)
	}
	s.end()
	<-s.done
	nothingLeft(ctx, t)
}
