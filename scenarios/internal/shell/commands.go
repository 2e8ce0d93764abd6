package shell

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

// commands are all that there are, each with its arguments and its exit code. A function, since help is one that lists
// them.
func commands() map[string]func(ctx context.Context, s *session, args []string) int {
	return map[string]func(context.Context, *session, []string) int{
		"cat": cat, "date": date, "echo": echo, "env": env, "exit": exit, "help": help, "sh": sh, "/bin/sh": sh,
		"sleep": sleep, "stty": stty, "watch-size": watchSize,
		"hostname": func(_ context.Context, s *session, _ []string) int { return s.say("%s", hostname(s.pod)) },
		"true":     func(context.Context, *session, []string) int { return 0 },
		"false":    func(context.Context, *session, []string) int { return 1 },
	}
}

func hostname(pod *corev1.Pod) string {
	if pod.Spec.Hostname != "" {
		return pod.Spec.Hostname
	}
	return pod.Name[:min(len(pod.Name), 63)] // as a kubelet cuts it
}

// cat copies stdin; there are no files.
func cat(_ context.Context, s *session, args []string) int {
	code := 0
	for _, file := range args {
		if file != "-" {
			s.complain("cat: can't open '%s': No such file or directory", file)
			code = 1
		}
	}
	if len(args) == 0 || slices.Contains(args, "-") {
		if _, err := io.Copy(s.out, struct{ io.Reader }{s.in}); err != nil {
			return 1
		}
	}
	return code
}

func date(_ context.Context, s *session, _ []string) int {
	return s.say("%s", s.scripted.clock().Now().UTC().Format(time.UnixDate))
}

func echo(_ context.Context, s *session, args []string) int {
	if len(args) > 0 && args[0] == "-n" {
		_, err := io.WriteString(s.out, strings.Join(args[1:], " "))
		return code(err)
	}
	return s.say("%s", strings.Join(args, " "))
}

func code(err error) int {
	if err != nil {
		return 1
	}
	return 0
}

func env(_ context.Context, s *session, _ []string) int {
	all := s.environment()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if s.say("%s=%s", name, all[name]) != 0 {
			return 1
		}
	}
	return 0
}

// exit also ends a shell; see execute.
func exit(_ context.Context, s *session, args []string) int {
	if len(args) == 0 {
		return s.last
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 0 {
		s.complain("sh: exit: Illegal number: %s", args[0])
		return 2
	}
	return n & 0xff
}

func help(_ context.Context, s *session, _ []string) int {
	return s.say("%s", strings.Join(slices.Sorted(maps.Keys(commands())), " "))
}

// sleep takes durations and adds them up: numbers, followed by s, m, h or d, or infinity.
func sleep(ctx context.Context, s *session, args []string) int {
	total, endless := time.Duration(0), false
	for _, arg := range args {
		d, err := span(arg)
		if err != nil {
			s.complain("sleep: invalid number '%s'", arg)
			return 1
		}
		endless = endless || d < 0 || total+d < total
		total += d
	}
	switch {
	case len(args) == 0:
		s.complain("sleep: missing operand")
		return 1
	case total == 0:
		return 0
	case endless:
		<-ctx.Done()
		return killed
	}
	timer := s.scripted.clock().NewTimer(total)
	defer timer.Stop()
	select {
	case <-timer.C():
		return 0
	case <-ctx.Done():
		return killed
	}
}

// span reads one duration of sleep; a negative one has no end.
func span(text string) (time.Duration, error) {
	if text == "infinity" {
		return -1, nil
	}
	unit := time.Second
	if text != "" {
		if u, ok := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[text[len(text)-1]]; ok {
			text, unit = text[:len(text)-1], u
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	switch seconds := n * unit.Seconds(); {
	case err != nil || !(n >= 0):
		return 0, errors.New("no duration")
	case seconds > 1e9:
		return -1, nil
	default:
		return time.Duration(seconds * float64(time.Second)), nil
	}
}

// firstSize bounds how long stty waits for the size that a client sends when it begins.
const firstSize = time.Second

func stty(ctx context.Context, s *session, args []string) int {
	switch {
	case !slices.Equal(args, []string{"size"}):
		s.complain("stty: want size")
		return 1
	case !s.tty:
		s.complain("stty: standard input: Not a tty")
		return 1
	}
	select {
	case s.size = <-s.resize:
	default:
		if s.size == (api.TermSize{}) {
			s.nextSize(ctx, firstSize)
		}
	}
	return s.say("%d %d", s.size.Height, s.size.Width)
}

// nextSize waits for a size, at most for a while if that isn't 0.
func (s *session) nextSize(ctx context.Context, most time.Duration) bool {
	var late <-chan time.Time
	if most > 0 {
		timer := s.scripted.clock().NewTimer(most)
		defer timer.Stop()
		late = timer.C()
	}
	select {
	case s.size = <-s.resize:
		return true
	case <-late:
	case <-ctx.Done():
	}
	return false
}

// watchSize prints the size of the terminal, and again whenever it changes.
func watchSize(ctx context.Context, s *session, _ []string) int {
	if code := stty(ctx, s, []string{"size"}); code != 0 {
		return code
	}
	for s.nextSize(ctx, 0) {
		if s.say("%d %d", s.size.Height, s.size.Width) != 0 {
			return 1
		}
	}
	return killed
}
