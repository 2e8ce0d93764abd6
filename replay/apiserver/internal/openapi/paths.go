package openapi

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/nodesim/nodesim/timeline"
)

// paths describes the resources of a group and version, whose schemas it adds to the library. They are in v2's form.
func (o Options) paths(l *library, gv *groupVersion) map[string]spec.PathItem {
	kinds := l.addKinds(gv, o.Definitions)
	all := map[string]spec.PathItem{}
	for _, r := range gv.resources {
		var subresources []string
		if o.Subresources != nil {
			subresources = o.Subresources(r)
		}
		paths := pathsOf(rootOf(r), r.Resource, r.Namespaced, subresources)
		sources, names := paths, strings.NewReplacer()
		if captured().Paths[paths[0]] == nil {
			e := exampleOf(r)
			sources, names = pathsOf(e.root, e.plural, r.Namespaced, subresources), e.like(kinds[r.Kind])
		}
		for i, path := range paths {
			text := names.Replace(captured().path(sources[i]))
			if item, ok := o.allowed(r, text); ok {
				all[path] = item
				l.addRefs(text)
			}
		}
	}
	return all
}

// rootOf is where the resources of a group and version are.
func rootOf(r timeline.Resource) string {
	if r.Group == "" {
		return "/api/" + r.Version + "/"
	}
	return "/apis/" + r.APIVersion() + "/"
}

// pathsOf are those of a resource and its subresources.
func pathsOf(root, plural string, namespaced bool, subresources []string) []string {
	base := root + plural
	if namespaced {
		base = root + "namespaces/{namespace}/" + plural
	}
	paths := []string{base, base + "/{name}"}
	for _, name := range subresources {
		paths = append(paths, base+"/{name}/"+name)
	}
	if namespaced {
		paths = append(paths, root+plural)
	}
	return paths
}

// allowed reads a path of a resource and leaves out the operations that aren't described, or the path if none is left.
func (o Options) allowed(r timeline.Resource, text string) (item spec.PathItem, ok bool) {
	if text == "" {
		return item, false // of a subresource that the server doesn't have
	}
	_ = json.Unmarshal([]byte(text), &item) // the captured paths are the server's: a test reads each of them
	var verbs []string
	if o.Verbs != nil {
		verbs = o.Verbs(r)
	}
	for _, operation := range []**spec.Operation{&item.Get, &item.Put, &item.Post, &item.Patch, &item.Delete} {
		if *operation == nil {
			continue
		}
		action, _ := (*operation).Extensions.GetString("x-kubernetes-action")
		reads := action == "get" || action == "list"
		// The other actions have no verb of the same name, or can't be missing.
		if !o.Writes && !reads || action == "deletecollection" && verbs != nil && !slices.Contains(verbs, action) {
			*operation = nil
			continue
		}
		ok = true
	}
	return item, ok
}

// addRefs adds the schemas that a path in v2's form refers to, such as the Scale of a subresource.
func (l *library) addRefs(text string) {
	for part := range strings.SplitSeq(text, `"$ref":"`+refV2) {
		name, _, _ := strings.Cut(part, `"`)
		l.add(name)
	}
}
