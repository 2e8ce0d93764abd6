package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nodesim/nodesim/internal/phrase"
)

// reference is the syntax by which a file takes a parameter's value. A scalar that is nothing else takes the value
// with its type; inside of longer text the value is put in as text. Nothing else is computed.
var reference = lazily(`\$\(([a-z][A-Za-z0-9]*)\)`)

// fixedParts of a file can't refer to parameters: they are read before these have values.
var fixedParts = []string{"apiVersion", "kind", "metadata", "parameters"}

// references refuses what refers to no parameter, and returns the names that
// are referred to. visit gets every scalar of the file, and its path.
func references(file string, root *node, parameters []Parameter) (used map[string]bool, _ *Error) {
	var names []string
	for _, p := range parameters {
		names = append(names, p.Name)
	}
	used = map[string]bool{}
	err := scalars(root, "", func(n *node, path string) *Error {
		if n.kind != isText || !strings.Contains(n.text, "$(") {
			return nil
		}
		bad := func(wanted, remedy string) *Error {
			return &Error{File: file, Line: n.line, Path: path, Found: n.String(), Wanted: wanted, Remedy: remedy}
		}
		if head, _, _ := strings.Cut(path, "."); slices.Contains(fixedParts, strings.Split(head, "[")[0]) {
			return bad("no parameter in here", "")
		}
		if len(n.text) > maxRef {
			return bad(fmt.Sprintf("at most %d bytes in a text with a parameter", maxRef), "")
		}
		found := reference().FindAllStringSubmatch(n.text, -1)
		if strings.Count(n.text, "$(") != len(found) {
			return bad("$(name), name a parameter", "")
		}
		for _, f := range found {
			if !slices.Contains(names, f[1]) {
				near := phrase.Closest(f[1], names)
				if near != "" {
					near = "$(" + near + ")"
				}
				return bad(fmt.Sprintf("%s declared in parameters", f[0]), didYouMean(near))
			}
			used[f[1]] = true
		}
		return nil
	})
	return used, err
}

// scalars visits every scalar of a tree, with its path.
func scalars(n *node, path string, visit func(n *node, path string) *Error) *Error {
	for i, item := range n.items {
		at := fmt.Sprintf("%s[%d]", path, i)
		if n.kind == isMapping {
			at = under(path, n.keys[i])
		}
		if err := scalars(item, at, visit); err != nil {
			return err
		}
	}
	if n.kind == isList || n.kind == isMapping {
		return nil
	}
	return visit(n, path)
}

// substitute returns a tree whose scalars have their parameters' values. The
// given tree stays as it is.
func substitute(n *node, value func(name string, line int) *node) *node {
	if n.kind == isText && strings.Contains(n.text, "$(") {
		whole := reference().FindStringSubmatch(n.text)
		if whole != nil && whole[0] == n.text {
			return value(whole[1], n.line)
		}
		text := reference().ReplaceAllStringFunc(n.text, func(ref string) string {
			return value(ref[2:len(ref)-1], n.line).text
		})
		return &node{kind: isText, line: n.line, text: text, ref: n.text}
	}
	if len(n.items) == 0 {
		return n
	}
	c := *n
	c.items = make([]*node, len(n.items))
	for i, item := range n.items {
		c.items[i] = substitute(item, value)
	}
	return &c
}
