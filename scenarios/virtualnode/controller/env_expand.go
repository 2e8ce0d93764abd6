package controller

import "strings"

// expand puts values in the place of references $(NAME) in the value of a variable; $$ is a dollar sign, and anything else
// stays (k8s.io/kubernetes, third_party/forked/golang/expansion/expand.go).
func expand(value string, mapping func(name string) string) string {
	if !strings.Contains(value, "$") {
		return value
	}
	var out strings.Builder
	for {
		at := strings.IndexByte(value, '$')
		if at < 0 || at+1 == len(value) {
			out.WriteString(value)
			return out.String()
		}
		out.WriteString(value[:at])
		rest := value[at+1:]
		switch rest[0] {
		case '$':
			out.WriteByte('$')
			value = rest[1:]
			continue
		case '(':
			if end := strings.IndexByte(rest, ')'); end >= 0 {
				out.WriteString(mapping(rest[1:end]))
				value = rest[end+1:]
				continue
			}
		}
		out.WriteByte('$')
		out.WriteByte(rest[0])
		value = rest[1:]
	}
}
