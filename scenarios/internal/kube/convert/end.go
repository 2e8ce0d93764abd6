package convert

import (
	"strconv"
	"strings"
	"time"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
	corev1 "k8s.io/api/core/v1"
)

// The annotations of a pod that say when its containers exit, and with which code. Init containers go by their commands
// alone.
const (
	exitAnnotation = "nodesim.dev/exit"
	codeAnnotation = "nodesim.dev/exit-code"
)

// endOf is how a container ends: as its pod's annotations say, or as its command does where that is one of true, false,
// exit and sleep, in a shell or not, several after another too. Of anything else nothing is known; it runs for ever.
func endOf(c *corev1.Container, annotations map[string]string) kube.End {
	if after, err := time.ParseDuration(annotations[exitAnnotation]); err == nil {
		code, _ := strconv.ParseUint(annotations[codeAnnotation], 10, 8)
		return end(max(after, 0), int(code))
	}
	words := append(append([]string(nil), c.Command...), c.Args...)
	if len(words) == 0 {
		return kube.End{}
	}
	if name := base(words[0]); len(words) == 3 && (name == "sh" || name == "bash" || name == "ash") && strings.HasSuffix(words[1], "c") && strings.HasPrefix(words[1], "-") {
		return script(words[2])
	}
	after, code, known := command(words)
	if !known {
		return kube.End{}
	}
	return end(after, code)
}

// end is an exit; one at once has a time that isn't 0.
func end(after time.Duration, code int) kube.End {
	if after == 0 {
		after = -1
	}
	return kube.End{After: after, Code: code}
}

// redirections are those with the sign that also sends a command to the background.
var redirections = strings.NewReplacer(">&", ">", "&>", ">")

// script is the end of a line of a shell, as far as it is known: its commands come one after the other, those after &&
// and || only where the ones before have ended so.
func script(line string) kube.End {
	var after time.Duration
	code, joined := 0, ";"
	for line != "" {
		var one, next string
		one, next, line = cut(line)
		words := strings.Fields(one)
		if len(words) == 0 && (next == "\n" || line == "") {
			continue
		}
		if len(words) == 0 || strings.ContainsAny(redirections.Replace(one), "|&") {
			return kube.End{}
		}
		if joined == ";" || (joined == "&&") == (code == 0) {
			takes, exits, known := command(words)
			if after += takes; !known || after > longest {
				return kube.End{}
			}
			if code = exits; words[0] == "exit" {
				break
			}
		}
		if joined = next; next == "\n" {
			joined = ";"
		}
	}
	return end(after, code)
}

// cut cuts the first command off a line, and what stands after it.
func cut(line string) (command, operator, rest string) {
	at := len(line)
	for _, op := range [...]string{"&&", "||", ";", "\n"} {
		if i := strings.Index(line, op); i >= 0 && i < at {
			at, operator = i, op
		}
	}
	return line[:at], operator, line[at+len(operator):]
}

// command is what one command takes, and its exit code.
func command(words []string) (takes time.Duration, code int, known bool) {
	switch base(words[0]) {
	case "true", ":", "echo", "date", "hostname", "pwd":
		return 0, 0, true
	case "false":
		return 0, 1, true
	case "exit":
		if len(words) == 1 {
			return 0, 0, true
		}
		n, err := strconv.ParseUint(words[1], 10, 8)
		return 0, int(n), err == nil
	case "sleep":
		return asleep(words[1:])
	}
	return 0, 0, false
}

// longest is the longest time that a command takes, some thirty years. One that takes longer runs for ever.
const longest = 1e9 * time.Second

// asleep adds up what sleep is given: seconds, or other units by their letter.
func asleep(words []string) (takes time.Duration, code int, known bool) {
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}
	for _, w := range words {
		if w == "" {
			return 0, 0, false
		}
		unit := time.Second
		if u, named := units[w[len(w)-1]]; named {
			unit, w = u, w[:len(w)-1]
		}
		n, err := strconv.ParseFloat(w, 64)
		if err != nil || !(n >= 0 && n*unit.Seconds() <= longest.Seconds()) {
			return 0, 0, false // infinity, or nothing that sleep takes
		}
		if takes += time.Duration(n * float64(unit)); takes > longest {
			return 0, 0, false
		}
	}
	return takes, 0, len(words) > 0
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
