//go:build controlplane

package shell_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nodesim/nodesim/internal/testing/testcluster"
	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

func TestKubectlLogs(t *testing.T) {
	s := play(t, testcluster.Shared(t), "logs", api.ServeOptions{})
	const started = "started shop/web:1.2 as container app of pod logs/web-0 on node logs\n"
	for _, c := range []struct {
		args string
		out  string // expression for the whole of it
		code int
		errs string
	}{
		{"logs web-0", `^` + started + `ready\n(heartbeat \d+: .*\n){58,}$`, 0, ""},
		{"logs web-0 --tail=0", `^$`, 0, ""},
		{"logs web-0 --tail=2", `^(heartbeat \d+: .*\n){2}$`, 0, ""},
		{"logs web-0 --since=20s", `^(heartbeat \d+: .*\n){17,23}$`, 0, ""},
		{"logs web-0 --since-time=2026-01-02T03:04:05Z", `^` + started, 0, ""},
		{"logs web-0 --timestamps --tail=2", `^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z heartbeat \d+: .*\n){2}$`, 0, ""},
		{"logs web-0 --limit-bytes=12", `^started shop$`, 0, ""},
		{"logs web-0 --previous", `^$`, 1, `previous terminated container "app" in pod "web-0" not found`},
	} {
		out, errs, code := s.kubectl(t, "", append(strings.Fields(c.args), "-n", "logs")...)
		if !regexp.MustCompile(c.out).MatchString(out) || code != c.code || !strings.Contains(errs, c.errs) {
			t.Errorf("kubectl %s: exit %d, want %d\n%s%s\nwant %s\n%s", c.args, code, c.code, out, errs, c.out, c.errs)
		}
	}

	follow := s.command(t, "logs", "-f", "--tail=1", "--timestamps", "web-0", "-n", "logs")
	out, err := follow.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := follow.Start(); err != nil {
		t.Fatal(err)
	}
	lines, last := bufio.NewScanner(out), ""
	for range 3 { // the last one that there is, and two that come
		if !lines.Scan() || lines.Text() <= last {
			t.Fatalf("line %q after %q, %v", lines.Text(), last, lines.Err())
		}
		last = lines.Text()
	}
	if err := follow.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = follow.Wait()
	s.idle(t)
}

func TestKubectlExec(t *testing.T) {
	s := play(t, testcluster.Shared(t), "exec", api.ServeOptions{})
	big := strings.Repeat("a line of forty characters, all in all.\n", 10_000)
	for _, c := range []struct {
		command, stdin string
		out, errs      string
		code           int
	}{
		{"exec web-0 -- echo hello world", "", "hello world\n", "", 0},
		{"exec -i web-0 -- cat", big, big, "", 0},
		{"exec -i web-0 -- sh", "echo one; hostname\nexit 4\n", "one\nweb-0\n", "command terminated with exit code 4\n", 4},
		{"exec web-0 -- false", "", "", "command terminated with exit code 1\n", 1},
		{"exec web-0 -- exit 3", "", "", "command terminated with exit code 3\n", 3},
		{"exec web-0 -- ls /", "", "", "sh: ls: not found\ncommand terminated with exit code 127\n", 127},
	} {
		out, errs, code := s.kubectl(t, c.stdin, append([]string{"-n", "exec"}, strings.Fields(c.command)...)...)
		if out != c.out || errs != c.errs || code != c.code {
			t.Errorf("kubectl %s: exit %d, want %d\n%.200q, want %.200q\n%q, want %q", c.command, code, c.code, out, c.out, errs, c.errs)
		}
	}
	sleeper := s.command(t, "-n", "exec", "exec", "web-0", "--", "sh", "-c", "echo there; sleep infinity")
	out, err := sleeper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "there\n" {
		t.Fatalf("read %q, %v", line, err)
	}
	if err := sleeper.Process.Signal(syscall.SIGKILL); err != nil { // its connection just breaks
		t.Fatal(err)
	}
	_ = sleeper.Wait()
	s.idle(t)
}

func TestKubectlOnATerminal(t *testing.T) {
	s := play(t, testcluster.Shared(t), "tty", api.ServeOptions{})
	s.converse(t)
	attached := testcluster.OnTerminal(t, s.command(t, "-n", "tty", "attach", "-it", "web-0"), 24, 80)
	attached.See("heartbeat ")
	attached.See("\r\n")
	attached.Press("hello\r")
	attached.See("hello\r\n")
	attached.Press("\x03")
	if code := attached.End(); code != 0 {
		t.Errorf("attach: exit code %d, want 0", code)
	}
	s.idle(t)
}

// converse has a shell on a terminal whose size changes.
func (s *kubectlFixture) converse(t *testing.T) {
	t.Helper()
	shell := testcluster.OnTerminal(t, s.command(t, "-n", s.name, "exec", "-it", "web-0", "--", "sh"), 24, 80)
	shell.See("# ")
	shell.Press("watch-sizex\x7f\r") // an x too many, taken back
	shell.See("24 80\r\n")
	shell.Resize(40, 100)
	shell.See("40 100\r\n")
	shell.Press("\x03")
	shell.See("^C\r\n# ")
	shell.Press("cat\r")
	shell.See("cat\r\n")
	shell.Press("mirror\r\x04")
	shell.See("mirror\r\nmirror\r\n# ")
	shell.Press("sleep infinity\r")
	shell.See("sleep infinity\r\n")
	shell.Press("\x03")
	shell.See("# ")
	shell.Press("exit 7\r")
	if code := shell.End(); code != 7 {
		t.Errorf("exit code %d, want 7", code)
	}
}

func TestKubectlPortForward(t *testing.T) {
	play(t, testcluster.Shared(t), "ports", api.ServeOptions{}).forward(t)
}

// forward speaks HTTP and something else through kubectl port-forward.
func (s *kubectlFixture) forward(t *testing.T) {
	t.Helper()
	cmd := s.command(t, "-n", s.name, "port-forward", "--address=127.0.0.1", "pod/web-0", ":8080")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var port int
	if _, err := fmt.Sscanf(line, "Forwarding from 127.0.0.1:%d -> 8080", &port); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	client := http.Client{Timeout: 10 * time.Second}
	for _, path := range []string{"/", "/healthz"} {
		response, err := client.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || !strings.HasPrefix(string(text), "pod "+s.name+"/web-0 (") ||
			!strings.HasSuffix(string(text), " on node "+s.name+", port 8080: GET "+path+"\n") {
			t.Errorf("GET %s: %q, %v", path, text, err)
		}
	}
	client.CloseIdleConnections()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		t.Fatal(err)
	}
	if got, err := bufio.NewReader(conn).ReadString('\n'); got != "PING\r\n" {
		t.Errorf("echo %q, %v", got, err)
	}
	_ = conn.Close()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}
