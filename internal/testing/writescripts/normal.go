package writescripts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	moment  = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	address = regexp.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`)
	uid     = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	// masked is a UID in whose place no name can be found, as db-2 can be in 8ddb-21c527bfef4b.
	masked  = regexp.MustCompile(`<UID \d+>`)
	version = regexp.MustCompile(`"(resourceVersion|containerID|imageID)":"[^"]*"`)
	zone    = regexp.MustCompile(`\beu-central-1[abc]\b`)
	token   = regexp.MustCompile(`kube-api-access-[a-z0-9]{5}`)
	// suffix is what is generated at a name's end, hashes included (k8s.io/apimachinery, pkg/util/rand, SafeEncodeString).
	suffix = regexp.MustCompile(`(-[bcdfghjklmnpqrstvwxz2456789]{5,10})+\b`)
	// A ReplicaSet that is gone is still named by what its Deployment says.
	set     = regexp.MustCompile(`(ReplicaSet \\?"[a-z-]+)-[bcdfghjklmnpqrstvwxz2456789]{5,10}\b`)
	port    = regexp.MustCompile(`"nodePort":\d+`)
	step    = regexp.MustCompile(` from \d+ to \d+$`)
	record  = regexp.MustCompile(`in record \(\d+\)`)
	refused = regexp.MustCompile(`(ods? \\"[a-z0-9-]+-)[bcdfghjklmnpqrstvwxz2456789]{5}(\\" is)`)
	// A pod that fits nowhere counts the nodes of other scripts, too.
	unfit = regexp.MustCompile(`\b0/\d+ nodes are available: [^"]*`)
	count = regexp.MustCompile(`\b\d+ (node\(s\)|Insufficient|Preemption|No preemption)`)
)

// normal is what of the objects doesn't depend on chance, on time or on what else the cluster has.
func (c *Cluster) normal(objects []map[string]any) Rest {
	for _, o := range objects {
		if m, is := o["metadata"].(map[string]any); is {
			delete(m, "managedFields")
			if m["ownerReferences"] != nil { // how often its controller has written it is up to when it did
				delete(m, "generation")
				if status, is := o["status"].(map[string]any); is && text(o, "kind") != "Pod" {
					delete(status, "observedGeneration")
				}
			}
		}
	}
	for _, o := range objects {
		// A virtual kubelet at a speed may post a pod's end before its address.
		if status, is := o["status"].(map[string]any); is && (status["phase"] == "Succeeded" || status["phase"] == "Failed") {
			delete(status, "podIP")
			delete(status, "podIPs")
		}
	}
	names := c.hashes(objects)
	texts := make([]string, len(objects))
	masks := map[string]string{}
	for i, o := range objects {
		b, err := json.Marshal(o)
		if err != nil {
			panic(err) // it was decoded from JSON
		}
		texts[i] = uid.ReplaceAllStringFunc(string(b), func(id string) string {
			if masks[id] == "" {
				masks[id] = fmt.Sprintf("<UID %d>", len(masks))
			}
			return masks[id]
		})
	}
	names = append(names, c.generated(objects, texts, names)...)
	// A name may begin as another one does.
	slices.SortStableFunc(names, func(a, b rename) int { return cmp.Compare(len(b.from), len(a.from)) })
	of := map[string]string{}
	for i := range texts {
		texts[i] = replaced(texts[i], names)
	}
	decoded := make([]map[string]any, len(texts))
	for i, s := range texts {
		if err := json.Unmarshal([]byte(s), &decoded[i]); err != nil {
			panic(err) // names have no quotes
		}
		of[text(decoded[i], "metadata", "uid")] = fmt.Sprintf("%s/%s", text(decoded[i], "kind"), c.general(text(decoded[i], "metadata", "name")))
	}
	r := Rest{Fields: map[string]string{}}
	for i, s := range texts {
		s = masked.ReplaceAllStringFunc(s, func(id string) string { return "uid:" + of[id] })
		o := map[string]any{}
		if err := json.Unmarshal([]byte(c.general(s)), &o); err != nil {
			panic(err)
		}
		r.flatten(fmt.Sprintf("%s %s ", text(decoded[i], "kind"), c.general(text(decoded[i], "metadata", "name"))), "", o)
	}
	return r
}

// general replaces what any text may have.
func (c *Cluster) general(s string) string {
	s = moment.ReplaceAllString(s, "TIME")
	s = address.ReplaceAllString(s, "IP")
	s = version.ReplaceAllString(s, `"$1":"some"`)
	s = token.ReplaceAllString(s, "kube-api-access-#")
	s = unfit.ReplaceAllStringFunc(s, reasons)
	s = set.ReplaceAllString(s, "$1-#")
	s = port.ReplaceAllString(s, `"nodePort":"some"`)
	s = record.ReplaceAllString(s, "in record (some)")
	s = refused.ReplaceAllString(s, "$1#$2")
	s = strings.ReplaceAll(s, c.namespace, "NS")
	for i, n := range c.nodes {
		// Of nodes that the script does nothing to, the scheduler takes any.
		name := "NODE"
		if c.touched[i] {
			name = "NODE-" + strconv.Itoa(i)
		}
		s = strings.ReplaceAll(s, n, name)
	}
	s = zone.ReplaceAllString(s, "ZONE")
	s = strings.ReplaceAll(s, c.slot, "SLOT")
	return masked.ReplaceAllString(uid.ReplaceAllString(s, "uid"), "uid") // a name may have one, as pvc-UID
}

// reasons are those for which a pod fits nowhere, without the numbers of nodes and without the nodes of other scripts.
func reasons(s string) string {
	fit, preempt, _ := strings.Cut(s, "preemption: ")
	_, fit, _ = strings.Cut(fit, ": ")
	var all []string
	for _, one := range strings.FieldsFunc(fit, func(r rune) bool { return r == ',' || r == '.' }) {
		one = strings.TrimSpace(count.ReplaceAllString(one, "$1"))
		if one != "" && one != "node(s) didn't match Pod's node affinity/selector" && one != "no new claims to deallocate" {
			all = append(all, one)
		}
	}
	slices.Sort(all)
	out := "fits nowhere: " + strings.Join(all, ", ")
	if strings.Contains(preempt, "No preemption victims found") {
		out += "; no preemption victims"
	}
	return out
}

// A rename is a name that chance has made, and what stands for it.
type rename struct{ from, to string }

func replaced(s string, names []rename) string {
	for _, n := range names {
		s = strings.ReplaceAll(s, n.from, n.to)
	}
	return s
}

// hashes stand for those of pod templates, in the order of the revisions.
func (c *Cluster) hashes(objects []map[string]any) (names []rename) {
	type revision struct {
		owner, hash string
		number      int
	}
	var all []revision
	for _, o := range objects {
		name := text(o, "metadata", "name")
		switch text(o, "kind") {
		case "ReplicaSet":
			if h := text(o, "metadata", "labels", "pod-template-hash"); h != "" {
				n, _ := strconv.Atoi(text(o, "metadata", "annotations", "deployment.kubernetes.io/revision")) // 0 where there is none
				all = append(all, revision{strings.TrimSuffix(name, h), h, n})
			}
		case "ControllerRevision":
			if i := strings.LastIndex(name, "-"); i >= 0 {
				n, _ := o["revision"].(float64)
				all = append(all, revision{name[:i], name[i+1:], int(n)})
			}
		}
	}
	slices.SortFunc(all, func(a, b revision) int {
		return cmp.Or(cmp.Compare(a.owner, b.owner), cmp.Compare(a.number, b.number), cmp.Compare(a.hash, b.hash))
	})
	// What only pods have comes last, by their age.
	var rest []map[string]any
	for _, o := range objects {
		if text(o, "kind") == "Pod" {
			rest = append(rest, o)
		}
	}
	slices.SortStableFunc(rest, func(a, b map[string]any) int {
		return cmp.Compare(text(a, "metadata", "creationTimestamp"), text(b, "metadata", "creationTimestamp"))
	})
	for _, p := range rest {
		for _, l := range []string{"pod-template-hash", "controller-revision-hash"} {
			h := text(p, "metadata", "labels", l)
			h = h[strings.LastIndex(h, "-")+1:]
			if h != "" && !slices.ContainsFunc(all, func(r revision) bool { return r.hash == h }) {
				all = append(all, revision{hash: h})
			}
		}
	}
	for i, r := range all {
		names = append(names, rename{r.hash, "H" + strconv.Itoa(i+1)})
	}
	return names
}

// generated stand for the names that end by chance, numbered in the order of what else the objects say.
func (c *Cluster) generated(objects []map[string]any, texts []string, hashes []rename) (names []rename) {
	type one struct{ base, name, key string }
	var all []one
	for i, o := range objects {
		base, name := text(o, "metadata", "generateName"), text(o, "metadata", "name")
		if base == "" || !strings.HasPrefix(name, base) {
			continue
		}
		key := strings.ReplaceAll(texts[i], name, "")
		key = replaced(c.general(masked.ReplaceAllString(key, "")), hashes)
		all = append(all, one{replaced(base, hashes), name, key})
	}
	slices.SortFunc(all, func(a, b one) int {
		return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.key, b.key), cmp.Compare(a.name, b.name))
	})
	n := map[string]int{}
	for _, o := range all {
		n[o.base]++
		names = append(names, rename{o.name, o.base + "#" + strconv.Itoa(n[o.base])})
	}
	return names
}

// flatten takes the leaves of a value. What a list holds is found by its type or name, where it has one.
func (r Rest) flatten(object, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			r.Fields[object+path] = "{}"
		}
		for name, v := range v {
			if strings.ContainsAny(name, "./") {
				name = "[" + name + "]"
			} else if path != "" {
				name = "." + name
			}
			r.flatten(object, path+name, v)
		}
	case []any:
		if len(v) == 0 {
			r.Fields[object+path] = "[]"
		}
		if strings.HasSuffix(path, "endpoints") || strings.HasSuffix(path, "ddresses") { // in no order
			slices.SortFunc(v, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		for i, v := range v {
			r.flatten(object, fmt.Sprintf("%s[%s]", path, key(path, i, v)), v)
		}
	default:
		r.Fields[object+path] = fmt.Sprint(v)
	}
}

// key is what an item of a list is found by.
func key(path string, place int, item any) string {
	for _, name := range []string{"type", "name"} {
		if s, is := field(item, name).(string); is && s != "" && !strings.HasSuffix(path, "ownerReferences") {
			return s
		}
	}
	return strconv.Itoa(place)
}
