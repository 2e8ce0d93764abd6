package tables

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// What is in a cell for a list that is empty, and for a setting that isn't there.
const (
	none  = "<none>"
	unset = "<unset>"
)

// arguments are the words after a function's name in columns.tsv; those that aren't there are "".
type arguments []string

func (a arguments) at(i int) string {
	if i < len(a) {
		return a[i]
	}
	return ""
}

// cells are the functions that columns.tsv names: those of any kind here, and those of one kind or family in the files
// that are called after them.
var cells = map[string]func(o *object, a arguments) any{
	// name; nameOfDefault ANNOTATION...: marks a class that one of the annotations makes its cluster's default.
	"name":          plain(func(o *object) string { return o.Name }),
	"nameOfDefault": nameOfDefault,
	// created; age PATH FALLBACK; seconds PATH FALLBACK: a moment, how long ago one was, a number of seconds as a duration.
	"created": plain(func(o *object) string { return stamp(o.CreationTimestamp) }),
	"age":     age,
	"seconds": seconds,
	// text PATH FALLBACK; or PATH FALLBACK: the fallback is for a missing text, with or for an empty one as well.
	"text": func(o *object, a arguments) any { return o.text(a.at(0), a.at(1)) },
	"or":   func(o *object, a arguments) any { return cmp.Or(o.text(a.at(0), ""), a.at(1)) },
	// number PATH FALLBACK; orNumber PATH FALLBACK; flag PATH FALLBACK: as text and or. Numbers are 0 and flags false.
	"number":   func(o *object, a arguments) any { return get(o, a.at(0), a.number(1)) },
	"orNumber": func(o *object, a arguments) any { return cmp.Or(get(o, a.at(0), int64(0)), a.number(1)) },
	"flag":     func(o *object, a arguments) any { return get(o, a.at(0), a.at(1) == "true") },
	// member OBJECT FIELD FALLBACK; within OBJECT FIELD NUMBER; pair OBJECT FIELD FIELD FALLBACK: of an object that may be
	// missing a text, a number where 0 is the default too, and two texts with a slash between them.
	"member": member,
	"within": within,
	"pair":   pair,
	// count PATH...; list PATH FALLBACK; few PATH FALLBACK: how many there are, and texts, all or the first three.
	"count": size,
	"list":  func(o *object, a arguments) any { return cmp.Or(strings.Join(o.list(a.at(0)), ","), a.at(1)) },
	"few":   func(o *object, a arguments) any { return cmp.Or(firstFew(o.list(a.at(0)), 3, ","), a.at(1)) },
	// labels PATH; selector PATH; quantity PATH; limit PATH; groupResource PATH: values of Kubernetes' own types.
	"labels": func(o *object, a arguments) any { return labels.FormatLabels(read[map[string]string](o, a.at(0))) },
	"selector": func(o *object, a arguments) any {
		return metav1.FormatLabelSelector(read[*metav1.LabelSelector](o, a.at(0)))
	},
	"quantity":      func(o *object, a arguments) any { return quantity(o, a.at(0)) },
	"limit":         limit,
	"groupResource": groupResource,
	// condition TYPE FIELD FALLBACK; lastTrue FALLBACK TYPE...: a field of a type's first condition, the last type that is
	// true.
	"condition": conditionField,
	"lastTrue":  lastTrue,

	"health":             health,
	"ready":              plain(ready),
	"suspended":          plain(suspended),
	"controller":         plain(controller),
	"controllerSelector": plain(controllerSelector),
	"deploymentSelector": plain(deploymentSelector),
	"quota":              quota,
	"groupPolicy":        plain(groupPolicy),
	"groupStatus":        plain(groupStatus),

	"endpoints":        plain(endpoints),
	"slicePorts":       plain(slicePorts),
	"ingressHosts":     plain(ingressHosts),
	"ingressAddresses": plain(ingressAddresses),
	"ingressPorts":     plain(ingressPorts),
	"parameters":       plain(parameters),
	"parent":           plain(parent),

	"volumePhase":   plain(volumePhase),
	"volumeClass":   plain(volumeClass),
	"accessModes":   func(o *object, a arguments) any { return accessModes(o, a.at(0)) },
	"claimCapacity": plain(claimCapacity),
	"claimModes":    plain(claimModes),
	"tokenRequests": plain(tokenRequests),
	"encodings":     plain(encodings),

	"subjects":  subjects,
	"paramRef":  plain(paramRef),
	"signing":   plain(signing),
	"issuance":  plain(issuance),
	"available": plain(available),
	"shares":    plain(shares),

	"claimState":    plain(claimState),
	"poolSum":       poolSum,
	"poolStatus":    plain(poolStatus),
	"poolCompleted": plain(poolCompleted),
}

// plain is a function without arguments.
func plain[T any](cell func(*object) T) func(*object, arguments) any {
	return func(o *object, _ arguments) any { return cell(o) }
}

func (a arguments) number(i int) int64 {
	n, _ := strconv.ParseInt(a.at(i), 10, 64) // 0 where there is none
	return n
}

func nameOfDefault(o *object, annotations arguments) any {
	for _, annotation := range annotations {
		if o.Annotations[annotation] == "true" {
			return o.Name + " (default)"
		}
	}
	return o.Name
}

func age(o *object, a arguments) any {
	if !o.has(a.at(0)) {
		return a.at(1)
	}
	return since(read[metav1.Time](o, a.at(0)), o.now)
}

func seconds(o *object, a arguments) any {
	if !o.has(a.at(0)) {
		return a.at(1)
	}
	return duration.HumanDuration(time.Duration(get(o, a.at(0), int64(0))) * time.Second)
}

func member(o *object, a arguments) any {
	if !o.has(a.at(0)) {
		return a.at(2)
	}
	return o.text(a.at(0)+"."+a.at(1), "")
}

func within(o *object, a arguments) any {
	if !o.has(a.at(0)) {
		return none
	}
	return cmp.Or(get(o, a.at(0)+"."+a.at(1), int64(0)), a.number(2))
}

func pair(o *object, a arguments) any {
	if !o.has(a.at(0)) {
		return a.at(3)
	}
	return o.text(a.at(0)+"."+a.at(1), "") + "/" + o.text(a.at(0)+"."+a.at(2), "")
}

// size adds up the elements of lists and the members of objects.
func size(o *object, paths arguments) any {
	n := 0
	for _, path := range paths {
		switch value := o.all(path)[0].(type) {
		case []any:
			n += len(value)
		default:
			n += len(mustBe[map[string]any](o, path, value))
		}
	}
	return int64(n)
}

// firstFew joins up to most of the words and counts the rest.
func firstFew(words []string, most int, separator string) string {
	if len(words) <= most {
		return strings.Join(words, separator)
	}
	return fmt.Sprintf("%s + %d more...", strings.Join(words[:most], separator), len(words)-most)
}

func quantity(o *object, path string) string {
	q := read[resource.Quantity](o, path)
	return q.String()
}

// limit is a number or a percentage of pods.
func limit(o *object, a arguments) any {
	if of := read[*intstr.IntOrString](o, a.at(0)); of != nil {
		return of.String()
	}
	return "N/A"
}

func groupResource(o *object, a arguments) any {
	of := read[metav1.GroupResource](o, a.at(0))
	return of.String()
}

func conditionField(o *object, a arguments) any {
	for i, c := range o.conditions() {
		if c.Type == a.at(0) {
			return o.list(".status.conditions[*]." + a.at(1))[i]
		}
	}
	return a.at(2)
}

func lastTrue(o *object, a arguments) any {
	last := a.at(0)
	for _, c := range o.conditions() {
		for _, of := range a[1:] {
			if c.Type == of && c.isTrue() {
				last = of
			}
		}
	}
	return last
}
