package shell

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
)

const (
	maxLine  = 64 << 10 // bytes of a line
	maxDepth = 8        // shells in shells
)

// sh runs the text after -c, or else the lines of stdin.
func sh(ctx context.Context, s *session, args []string) int {
	if s.depth++; s.depth > maxDepth {
		s.complain("sh: found %d shells in each other, want at most %d", s.depth, maxDepth)
		return 2
	}
	defer func() { s.depth-- }()
	switch {
	case len(args) >= 2 && args[0] == "-c":
		s.last = 0
		code, _ := s.execute(ctx, args[1])
		return code
	case len(args) > 0:
		s.complain("sh: %s: want -c and a command, or nothing", args[0])
		return 2
	}
	s.last = 0
	for {
		var line string
		var err error
		s.prompt()
		quit := false
		code := s.inForeground(ctx, func(ctx context.Context) int {
			if line, err = s.line(); err != nil && (line == "" || errors.Is(err, bufio.ErrBufferFull)) {
				return s.last
			}
			var code int
			code, quit = s.execute(ctx, line)
			return code
		})
		s.last = code
		switch {
		case ctx.Err() != nil || quit:
			return code
		case code == interrupted && s.tty:
		case errors.Is(err, bufio.ErrBufferFull):
			s.complain("sh: found a line of more than %d bytes", maxLine)
			return 2
		case err != nil:
			if s.tty {
				s.say("")
			}
			return code
		}
	}
}

func (s *session) prompt() {
	if s.tty {
		_, _ = io.WriteString(s.out, "# ")
	}
}

// line reads a line of stdin, without its end.
func (s *session) line() (string, error) {
	text, err := s.in.ReadSlice('\n')
	return strings.TrimSuffix(string(text), "\n"), err
}

// execute executes a text and returns the exit code of its last command, and whether the shell has been told to exit.
func (s *session) execute(ctx context.Context, text string) (code int, quit bool) {
	if len(text) > maxLine {
		s.complain("sh: found a command of %d bytes, want at most %d", len(text), maxLine)
		return 2, false
	}
	list, err := parse(text)
	if err != nil {
		s.complain("sh: %v", err)
		return 2, false
	}
	code = s.last
	for _, c := range list {
		if c.after == "&&" && code != 0 || c.after == "||" && code == 0 {
			continue
		}
		s.last = code
		words := s.expand(c.words)
		if words[0] == "exit" {
			return exit(ctx, s, words[1:]), true
		}
		if code = s.run(ctx, words); ctx.Err() != nil {
			return code, false
		}
	}
	return code, false
}

func (s *session) expand(words []word) []string {
	var all []string
	for _, w := range words {
		var text strings.Builder
		for _, p := range w {
			switch {
			case !p.variable:
				text.WriteString(p.text)
			case p.text == "?":
				text.WriteString(strconv.Itoa(s.last))
			default:
				text.WriteString(s.environment()[p.text])
			}
		}
		all = append(all, text.String())
	}
	return all
}

// environment returns the variables of every container, without those of its pod.
func (s *session) environment() map[string]string {
	env := map[string]string{
		"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "HOSTNAME": hostname(s.pod),
	}
	if s.tty {
		env["TERM"] = "xterm"
	}
	return env
}
