package shell_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/exec"

	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

// execute runs a command without a terminal to its end.
func execute(t testing.TB, stdin string, cmd ...string) (out, errs string, code int) {
	t.Helper()
	s, _, _ := scripted(time.Minute)
	c := &client{in: strings.NewReader(stdin), out: newOutput(), errs: newOutput()}
	err := s.Exec(t.Context(), "shop", "web-0", "app", cmd, c)
	exit := exec.CodeExitError{}
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.out.String(), c.errs.String(), exit.Code
}

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		cmd, stdin string // words of cmd are separated by ¦
		out, errs  string
		code       int
	}{
		{"true", "", "", "", 0},
		{"false", "", "", "", 1},
		{"exit¦3", "", "", "", 3},
		{"exit¦259", "", "", "", 3},
		{"exit¦x", "", "", "sh: exit: Illegal number: x\n", 2},
		{"hostname", "", "web-0\n", "", 0},
		{"date", "", "Fri Nov 20 22:22:09 UTC 2026\n", "", 0},
		{"echo¦a¦b c", "", "a b c\n", "", 0},
		{"echo¦-n¦a", "", "a", "", 0},
		{"env", "", "HOME=/root\nHOSTNAME=web-0\nPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n", "", 0},
		{"cat", "one\ntwo", "one\ntwo", "", 0},
		{"cat¦/etc/passwd¦-", "one", "one", "cat: can't open '/etc/passwd': No such file or directory\n", 1},
		{"ls¦/", "", "", "sh: ls: not found\n", 127},
		{"sleep", "", "", "sleep: missing operand\n", 1},
		{"sleep¦soon", "", "", "sleep: invalid number 'soon'\n", 1},
		{"sleep¦-1", "", "", "sleep: invalid number '-1'\n", 1},
		{"sleep¦NaN", "", "", "sleep: invalid number 'NaN'\n", 1},
		{"sleep¦0", "", "", "", 0},
		{"stty¦size", "", "", "stty: standard input: Not a tty\n", 1},
		{"sh¦-x", "", "", "sh: -x: want -c and a command, or nothing\n", 2},
		{"sh¦-c¦echo 'a  b' \"c $HOSTNAME ${HOME}\" d\\ e $NONE'' # and more", "", "a  b c web-0 /root d e \n", "", 0},
		{"sh¦-c¦false; echo $?; true && echo yes || echo no", "", "1\nyes\n", "", 0},
		{"sh¦-c¦false && echo no; false || echo $?", "", "1\n", "", 0},
		{"sh¦-c¦echo a\necho b", "", "a\nb\n", "", 0},
		{"sh¦-c¦exit 5; echo never", "", "", "", 5},
		{"sh¦-c¦false; exit", "", "", "", 1},
		{"sh¦-c¦sh -c 'exit 6'; echo $?", "", "6\n", "", 0},
		{"sh¦-c¦nothing; echo $?", "", "127\n", "sh: nothing: not found\n", 0},
		{"sh¦-c¦echo a | cat", "", "", "sh: syntax error: \"|\" unexpected\n", 2},
		{"sh¦-c¦echo a > x", "", "", "sh: syntax error: \">\" unexpected\n", 2},
		{"sh¦-c¦echo `hostname`", "", "", "sh: syntax error: \"`\" unexpected\n", 2},
		{"sh¦-c¦echo 'a", "", "", "sh: syntax error: unterminated quoted string\n", 2},
		{"sh¦-c¦true &&", "", "", "sh: syntax error: \"end of file\" unexpected\n", 2},
		{"sh¦-c¦;", "", "", "sh: syntax error: \";\" unexpected\n", 2},
		{"sh", "echo one\n\n# nothing\nfalse\n", "one\n", "", 1},
		{"sh", "cat\nmirror\n", "mirror\n", "", 0},
		{"sh", "exit 4\necho never\n", "", "", 4},
		{"sh", "echo unended", "unended\n", "", 0},
		{"sh", "echo " + strings.Repeat("x", 70_000) + "\n", "", "sh: found a line of more than 65536 bytes\n", 2},
	} {
		out, errs, code := execute(t, c.stdin, strings.Split(c.cmd, "¦")...)
		if out != c.out || errs != c.errs || code != c.code {
			t.Errorf("%s: exit %d, %q %q\nwant %d, %q %q", c.cmd, code, out, errs, c.code, c.out, c.errs)
		}
	}
}

func TestShellsInShells(t *testing.T) {
	command := "true"
	for range 7 {
		command = "sh -c '" + strings.ReplaceAll(command, "'", `'\''`) + "'"
	}
	if _, errs, code := execute(t, "", "sh", "-c", command); code != 0 {
		t.Errorf("eight shells: exit %d, %s", code, errs)
	}
	if _, errs, code := execute(t, "", "sh", "-c", "sh -c '"+strings.ReplaceAll(command, "'", `'\''`)+"'"); code != 2 || !strings.Contains(errs, "want at most 8") {
		t.Errorf("nine shells: exit %d, %s", code, errs)
	}
}

// Whatever is typed, the shell answers, and never twice in another way.
func FuzzShell(f *testing.F) {
	for _, seed := range []string{"echo a; echo b", "'\"", "$$ ${ ${x}", "exit 4 && true", "a\\", "echo \"\\$HOME\" #", "\n\n;;", "cat && cat"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "sleep") {
			return // which may take its time
		}
		out, errs, code := execute(t, "input", "sh", "-c", text)
		again, errsAgain, codeAgain := execute(t, "input", "sh", "-c", text)
		if out != again || errs != errsAgain || code != codeAgain || code < 0 || code > 255 {
			t.Fatalf("%q: exit %d, %q %q, then %d, %q %q", text, code, out, errs, codeAgain, again, errsAgain)
		}
	})
}

// A terminal echoes, edits, interrupts, ends input, and knows its size.
func TestOnATerminal(t *testing.T) {
	s, _, clock := scripted(time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	in, keys := io.Pipe()
	c := &client{in: in, out: newOutput(), errs: newOutput(), tty: true, sizes: make(chan api.TermSize, 1)}
	c.sizes <- api.TermSize{Width: 80, Height: 24}
	done := make(chan error, 1)
	go func() { done <- s.Exec(ctx, "shop", "web-0", "app", []string{"sh"}, c) }()
	for _, step := range []struct{ press, see string }{
		{"", "# "},
		{"echo héé\x7fy\r", "echo héé\b \by\r\nhéy\r\n# "},
		{"junk\x15stty size\r", "junk\b \b\b \b\b \b\b \bstty size\r\n24 80\r\n# "},
		{"junk\x03", "junk^C\r\n# "},
		{"\x1b[A\x15", "^[[A\b \b\b \b\b \b"},
		{"cat\r", "cat\r\n"},
		{"mirror\r", "mirror\r\nmirror\r\n"},
		{"half\x04", "halfhalf"},
		{"\x04", "# "},
		{"nothing\r", "nothing\r\nsh: nothing: not found\r\n# "},
		{"sleep infinity\r", "sleep infinity\r\n"},
		{"ignored\r\x03", "ignored\r\n^C\r\n# "},
		{"echo $?; sleep 5\r", "echo $?; sleep 5\r\n130\r\n"},
		{"\x00", "^@"},
	} {
		if _, err := io.WriteString(keys, step.press); err != nil {
			t.Fatal(err)
		}
		if !c.out.until(ctx, step.see) {
			t.Fatalf("after %q the terminal shows no %q:\n%q", step.press, step.see, c.out)
		}
	}
	go func() {
		for ctx.Err() == nil {
			untilWaiting(ctx, clock)
			clock.Step(time.Second)
		}
	}()
	if !c.out.until(ctx, "# ") {
		t.Fatalf("sleep doesn't end: %q", c.out)
	}
	if _, err := io.WriteString(keys, "\x15watch-size\r"); err != nil {
		t.Fatal(err)
	}
	if !c.out.until(ctx, "24 80\r\n") {
		t.Fatal(c.out)
	}
	c.sizes <- api.TermSize{Width: 100, Height: 40}
	if !c.out.until(ctx, "40 100\r\n") {
		t.Fatal(c.out)
	}
	if _, err := io.WriteString(keys, "\x03exit 7\r"); err != nil {
		t.Fatal(err)
	}
	exit := exec.CodeExitError{}
	if err := <-done; !errors.As(err, &exit) || exit.Code != 7 {
		t.Errorf("exit %v, want 7", err)
	}
}

// A command dies with its container, and with its client, whatever it waits for.
func TestKilled(t *testing.T) {
	for _, command := range []string{"cat", "sleep infinity", "sh", "watch-size"} {
		for _, tty := range []bool{false, true} {
			for _, how := range []string{"container", "client"} {
				name := fmt.Sprintf("%s, terminal %v, %s", command, tty, how)
				s, pods, clock := scripted(time.Minute)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				in, keys := io.Pipe()
				c := &client{in: in, out: newOutput(), errs: newOutput(), tty: tty, sizes: make(chan api.TermSize, 1)}
				done := make(chan error, 1)
				go func() { done <- s.Exec(ctx, "shop", "web-0", "app", []string{"sh", "-c", "echo ready; " + command}, c) }()
				if !c.out.until(ctx, "ready") {
					t.Fatal(name)
				}
				want := 137
				if command == "watch-size" && !tty {
					want = 1 // no terminal
				}
				if how == "container" {
					pods.change(terminate(clock.Now(), 0, ""))
					go func() {
						for ctx.Err() == nil {
							untilWaiting(ctx, clock)
							clock.Step(time.Second)
						}
					}()
				} else {
					context.AfterFunc(ctx, func() { _ = in.CloseWithError(context.Canceled) })
					if want == 137 {
						cancel()
					}
				}
				exit := exec.CodeExitError{}
				if err := <-done; !errors.As(err, &exit) || exit.Code != want {
					t.Errorf("%s: %v, want exit code %d", name, err, want)
				}
				cancel()
				_ = keys.Close()
			}
		}
	}
}

func TestNowhereToRun(t *testing.T) {
	s, pods, _ := scripted(time.Minute)
	c := &client{out: newOutput(), errs: newOutput()}
	for _, target := range []struct{ pod, container, err string }{
		{"web-1", "app", `pod "web-1" does not exist`}, {"web-0", "sidecar", `container not found ("sidecar")`},
	} {
		for name, err := range map[string]error{
			"exec":   s.Exec(t.Context(), "shop", target.pod, target.container, []string{"true"}, c),
			"attach": s.Attach(t.Context(), "shop", target.pod, target.container, c),
			"check":  s.Check(t.Context(), "shop", target.pod, target.container),
		} {
			if err == nil || err.Error() != target.err {
				t.Errorf("%s: %v, want %s", name, err, target.err)
			}
		}
	}
	if err := s.Check(t.Context(), "shop", "web-0", ""); err != nil {
		t.Errorf("a pod that runs: %v", err)
	}
	pods.change(func(pod *corev1.Pod) { pod.Status = corev1.PodStatus{} })
	if err := s.Check(t.Context(), "shop", "web-0", ""); err == nil || err.Error() != `pod not found ("web-0_shop")` {
		t.Errorf("a pod that doesn't run: %v", err)
	}
}

// Attach shows what is new in the log and what is typed, and ends with Ctrl-C, the client or the container.
func TestAttach(t *testing.T) {
	for _, tty := range []bool{false, true} {
		s, pods, clock := scripted(10 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		in, keys := io.Pipe()
		c := &client{in: in, out: newOutput(), errs: newOutput(), tty: tty}
		done := make(chan error, 1)
		go func() { done <- s.Attach(ctx, "shop", "web-0", "app", c) }()
		if _, err := io.WriteString(keys, "hello\n"); err != nil {
			t.Fatal(err)
		}
		if !c.out.until(ctx, "hello") {
			t.Fatal("found no echo")
		}
		go func() {
			for ctx.Err() == nil {
				untilWaiting(ctx, clock)
				clock.Step(time.Second)
			}
		}()
		if !c.out.until(ctx, "heartbeat 1: ") || strings.Contains(c.out.String(), "started") {
			t.Errorf("attached to\n%s\nwant the heartbeat and nothing of before", c.out)
		}
		if !tty {
			pods.change(terminate(clock.Now(), 0, "Completed"))
		}
		if tty {
			if _, err := io.WriteString(keys, "\x03"); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-done; err != nil {
			t.Errorf("terminal %v: %v", tty, err)
		}
		cancel()
	}
}
