package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// watchRequests watch from each version of the resource's history, and with each parameter.
func watchRequests(r *Resource) (all []Request) {
	const topic = "watch"
	at := get(topic, r.Path(""))
	from := func(version uint64) Request { return at.with("resourceVersion", fmt.Sprint(version)) }
	for _, version := range append([]uint64{r.Listed}, r.Versions...) {
		all = append(all, from(version).watch())
	}
	o := r.example()
	for _, q := range []Request{
		at, at.with("resourceVersion", "0"), at.with("resourceVersion", "1"), at.with("resourceVersion", "a"), at.with("resourceVersion", "-1"), from(r.Last() + 1000000),
		from(r.Listed).with("allowWatchBookmarks", "true"), from(r.Listed).with("limit", "1"), from(r.Listed).with("continue", "x"),
		from(r.Listed).with("resourceVersionMatch", "Exact"), from(r.Listed).with("resourceVersionMatch", "NotOlderThan"),
		from(r.Listed).with("labelSelector", "K in ("), from(r.Listed).with("fieldSelector", "spec.no=1"), from(r.Listed).with("allowWatchBookmarks", "maybe"),
		from(r.Listed).accept(asKubectl), from(r.Listed).accept(asTyped), from(r.Listed).accept(asOne), from(r.Listed).accept(asYAML), from(r.Listed).accept(asTable).with("includeObject", "Object"),
		from(r.Listed).header("Accept-Encoding", "gzip"), at.with("fieldSelector", "metadata.name="+o.Name), from(r.Listed).with("fieldSelector", "metadata.name="+o.Name),
		at.accept(asKubectl), at.accept(asTyped), from(r.Listed).with("pretty", "true"),
	} {
		all = append(all, q.watch())
	}
	for _, s := range r.labelSelectors()[:20] {
		all = append(all, from(r.Listed).with("labelSelector", s).watch())
	}
	for _, s := range append([]string{"metadata.namespace=shop", "metadata.namespace!=shop"}, known[r.String()]...) {
		all = append(all, from(r.Listed).with("fieldSelector", s).watch())
	}
	for _, raw := range []string{"watch", "watch=1", "watch=t", "watch=yes", "watch=0", "watch=", "watch=true&watch=false", "WATCH=true"} {
		q := get(topic, r.Path("")+"?"+raw).with("timeoutSeconds", "1").with("resourceVersion", fmt.Sprint(r.Listed))
		q.Stream = true
		all = append(all, q)
	}
	for _, raw := range []string{"timeoutSeconds=a", "timeoutSeconds=1.5", "timeoutSeconds=99999999999999999999"} {
		all = append(all, get(topic, r.Path("")+"?watch=true&"+raw))
	}
	// The paths from before the parameter.
	root, rest, _ := strings.Cut(r.Path(""), "/"+r.Resource.Resource)
	old := []string{root + "/watch/" + r.Resource.Resource + rest, root + "/watch/" + r.Resource.Resource + "/" + o.Name}
	if r.Namespaced {
		old = append(old, root+"/watch/namespaces/"+o.Namespace+"/"+r.Resource.Resource, root+"/watch/namespaces/"+o.Namespace+"/"+r.Resource.Resource+"/"+o.Name)
		// This is one of namespaces, which a busy server lists at another version than this resource.
		q := get(topic, root+"/watch/namespaces/"+o.Namespace).with("resourceVersion", "0").with("timeoutSeconds", "1")
		q.Stream = true
		all = append(all, q)
	}
	for _, path := range old {
		for _, version := range []uint64{0, r.Listed} {
			q := get(topic, path).with("resourceVersion", fmt.Sprint(version)).with("timeoutSeconds", "1")
			q.Stream = true
			all = append(all, q)
		}
	}
	if r.Namespaced {
		for _, namespace := range []string{"default", "shop", "no-such-namespace"} {
			q := get(topic, r.Path(namespace))
			all = append(all, q.watch(), q.with("resourceVersion", fmt.Sprint(r.Listed)).watch())
		}
	}
	return all
}

// watchListRequests watch with initial events (KEP-3157), in every combination of what goes with them.
func watchListRequests(r *Resource) (all []Request) {
	versions := []string{"", "0", fmt.Sprint(r.Last()), fmt.Sprint(r.Listed), "1"}
	if slices.Contains([]string{"nodes", "pods", "noderolls.ops.example.com"}, r.String()) {
		versions = append(versions, "1000000000", "a")
	}
	for _, version := range versions {
		for _, initial := range []string{"true", "false"} {
			for _, match := range []string{"NotOlderThan", "Exact", ""} {
				for _, bookmarks := range []string{"true", ""} {
					q := get("watchlist", r.Path("")).with("sendInitialEvents", initial)
					for _, p := range [][2]string{{"resourceVersion", version}, {"resourceVersionMatch", match}, {"allowWatchBookmarks", bookmarks}} {
						if p[1] != "" {
							q = q.with(p[0], p[1])
						}
					}
					all = append(all, q.watch())
				}
			}
		}
	}
	full := get("watchlist", r.Path("")).with("sendInitialEvents", "true").with("resourceVersionMatch", "NotOlderThan").with("allowWatchBookmarks", "true")
	for _, form := range []string{asTable, asTyped, asOne, asKubectl} {
		all = append(all, full.watch().accept(form))
	}
	all = append(all, full.with("labelSelector", r.labelSelectors()[0]).watch(), full.with("labelSelector", "no-such-label").watch(), full.with("limit", "1").watch(), full,
		get("watchlist", r.Path("")).with("sendInitialEvents", "maybe").watch())
	if r.Namespaced {
		q := get("watchlist", r.Path("shop"))
		q.Query = full.Query
		all = append(all, q.watch())
	}
	return all
}
