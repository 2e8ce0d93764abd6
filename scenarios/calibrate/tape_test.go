package calibrate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nodesim/nodesim/scenarios/calibrate"
	"github.com/nodesim/nodesim/timeline"
)

// A script is a tape, one event a line: what happens to a node, a pod or a machine at a second. tapeOf knows the words.
//
//	0 list                          the lists with which the tape begins are over
//	0 there a                       a Node that is ready
//	1 node a                        a Node is created, with the taint of one that joins
//	1 initialized a | ready a | cordon a | taint a | gone a
//	1 says Node/a kubelet Starting  an Event; of a pod Pod/web Pulled MESSAGE; with @N its own time is N
//	1 pod web on a | admit web | run web | serve web | delete web | end web | drop web
//	1 gap nodes | sync nodes
//	1 claim a | launched a | registered a | ending a | ended a
//	1 refused web
//	9 end
func tapeOf(t *testing.T, times, script string) *timeline.Reader {
	t.Helper()
	return tapeAt(t, time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC), "times: "+times, script)
}

// tapeAt is a tape that begins at a time, and whose header says more of its source.
func tapeAt(t *testing.T, start time.Time, source, script string) *timeline.Reader {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: nodesim.dev/v1
kind: Timeline
metadata: {name: written, start: "%s"}
source: {kind: recording, %s}
scope: {provider: karpenter}
resources:
- {group: "", version: v1, kind: Node, resource: nodes, namespaced: false}
- {group: "", version: v1, kind: Pod, resource: pods, namespaced: true}
- {group: "", version: v1, kind: Event, resource: events, namespaced: true}
- {group: karpenter.sh, version: v1, kind: NodeClaim, resource: nodeclaims, namespaced: false}
`, start.Format(time.RFC3339), source)
	const owned = `"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"u","controller":true}]`
	objects, version := map[string]map[string]string{}, 0
	for line := range strings.Lines(script) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		at, what := words[0], words[1]
		put := func(kind, resource, name string, change map[string]string) {
			version++
			key := resource + "/" + name
			typ := "MODIFIED"
			if objects[key] == nil {
				typ, objects[key] = "ADDED", map[string]string{"metadata": `"x":0`, "spec": `"x":0`, "status": `"x":0`}
			}
			for part, text := range change {
				objects[key][part] = text
			}
			where := ""
			if kind == "Pod" || kind == "Event" {
				where = `"namespace":"default",`
			}
			o := objects[key]
			rest := ""
			if kind == "Event" {
				rest = "," + o["rest"]
			}
			fmt.Fprintf(&b, `--- {"at":"%ss","type":"%s","resource":"%s",%s"name":"%s","uid":"u-%s","rv":"%d","object":{"metadata":{%s},"spec":{%s},"status":{%s}%s}}`+"\n",
				at, typ, resource, where, name, name, version, o["metadata"], o["spec"], o["status"], rest)
		}
		remove := func(resource, name, where string) {
			version++
			delete(objects, resource+"/"+name)
			fmt.Fprintf(&b, `--- {"at":"%ss","type":"DELETED","resource":"%s",%s"name":"%s","rv":"%d"}`+"\n", at, resource, where, name, version)
		}
		ready := func(is string) string { return `"conditions":[{"type":"Ready","status":"` + is + `"}]` }
		container := func(state, is string) string {
			return `"startTime":"2026-11-20T22:00:00Z","phase":"Running","containerStatuses":[{"name":"web","ready":` + is + `,"state":` + state + `}]`
		}
		const joining = `"taints":[{"key":"node.cloudprovider.kubernetes.io/uninitialized","effect":"NoSchedule"}]`
		const running = `{"running":{"startedAt":"2026-11-20T22:00:00Z"}}`
		switch name := words[len(words)-1]; what {
		case "list":
			for _, r := range []string{"nodes", "pods", "events", "nodeclaims"} {
				fmt.Fprintf(&b, `--- {"at":"%ss","type":"SYNC","resource":"%s","rv":"%d"}`+"\n", at, r, version)
			}
		case "sync":
			fmt.Fprintf(&b, `--- {"at":"%ss","type":"SYNC","resource":"%s","rv":"%d"}`+"\n", at, name, version)
		case "gap":
			fmt.Fprintf(&b, `--- {"at":"%ss","type":"GAP","resource":"%s","rv":"%d","reason":"410"}`+"\n", at, name, version)
		case "node":
			put("Node", "nodes", name, map[string]string{"spec": joining, "status": ready("False")})
		case "there":
			put("Node", "nodes", name, map[string]string{"status": ready("True")})
		case "initialized":
			put("Node", "nodes", name, map[string]string{"spec": `"x":1`})
		case "ready":
			put("Node", "nodes", name, map[string]string{"status": ready("True")})
		case "cordon":
			put("Node", "nodes", name, map[string]string{"spec": `"unschedulable":true`})
		case "taint":
			put("Node", "nodes", name, map[string]string{"spec": `"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]`})
		case "gone":
			remove("nodes", name, "")
		case "pod":
			put("Pod", "pods", words[2], map[string]string{"spec": `"nodeName":"` + name + `"`, "metadata": owned})
		case "admit":
			put("Pod", "pods", name, map[string]string{"status": container(`{"waiting":{"reason":"ContainerCreating"}}`, "false")})
		case "run":
			put("Pod", "pods", name, map[string]string{"status": container(running, "false")})
		case "serve":
			put("Pod", "pods", name, map[string]string{"status": container(running, "true")})
		case "delete":
			put("Pod", "pods", name, map[string]string{"metadata": owned + `,"deletionTimestamp":"2026-11-20T22:00:00Z","deletionGracePeriodSeconds":30`})
		case "end":
			if len(words) == 2 {
				fmt.Fprintf(&b, `--- {"at":"%ss","type":"END","events":%d}`+"\n", at, strings.Count(b.String(), "\n---"))
				continue
			}
			put("Pod", "pods", name, map[string]string{"status": strings.Replace(container(`{"terminated":{"exitCode":0}}`, "false"), "Running", "Succeeded", 1)})
		case "drop":
			remove("pods", name, `"namespace":"default",`)
		case "claim":
			put("NodeClaim", "nodeclaims", name, nil)
		case "launched":
			put("NodeClaim", "nodeclaims", name, map[string]string{"status": `"conditions":[{"type":"Launched","status":"True"}]`})
		case "registered":
			put("NodeClaim", "nodeclaims", name, map[string]string{"status": `"nodeName":"` + name + `","conditions":[{"type":"Launched","status":"True"}]`})
		case "ending":
			put("NodeClaim", "nodeclaims", name, map[string]string{"status": `"nodeName":"` + name + `","conditions":[{"type":"InstanceTerminating","status":"True"}]`})
		case "ended":
			remove("nodeclaims", name, "")
		case "refused":
			fmt.Fprintf(&b, `--- {"at":"%ss","type":"REFUSED","resource":"pods","namespace":"default","name":"%s","reason":"429"}`+"\n", at, name)
		case "says":
			about, stamp := strings.Split(words[2], "/"), at
			reason, message := words[3], strings.Join(words[4:], " ")
			component := "kubelet"
			if rest, own := strings.CutPrefix(message, "@"); own {
				stamp, message = rest, ""
			}
			when, err := time.ParseDuration(stamp + "s")
			if err != nil {
				t.Fatal(err)
			}
			seen := start.Add(when).Format(time.RFC3339)
			put("Event", "events", fmt.Sprintf("event-%d", version), map[string]string{"rest": fmt.Sprintf(
				`"involvedObject":{"kind":%q,"namespace":"default","name":%q,"fieldPath":"spec.containers{web}"},"reason":%q,"message":%q,"source":{"component":%q},"lastTimestamp":%q,"count":1`,
				about[0], about[1], reason, message, component, seen)})
		default:
			t.Fatalf("script: %q: no such word", what)
		}
	}
	r, err := timeline.NewReader(strings.NewReader(b.String()), timeline.Name("written"))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWhatIsASample(t *testing.T) {
	for _, c := range []struct {
		name, script string
		times        string
		want         string // "TIMING samples+unfinished median", each of one sample or more
	}{
		{name: "a node joins", script: `
			0 list
			1 says Node/a Starting
			5 node a
			6.5 initialized a
			19 ready a`,
			want: "register 1 4.078s, cloudInitialize 1 1.5s, becomeReady 1 14s"},
		{name: "a node of the list, which was there", script: `
			0 node a
			0 list
			1 initialized a
			3 ready a`},
		{name: "no sample across a gap", script: `
			0 list
			1 node a
			2 gap pods
			3 sync pods
			9 ready a
			10 node b
			11 gap nodes
			12 node c
			12 sync nodes
			20 ready c
			21 node d
			24 ready d`,
			want: "becomeReady 1 3s"},
		{name: "a node that isn't ready yet", script: `
			0 list
			1 node a
			4 ready a
			5 node b
			25 end`,
			want: "becomeReady 1+1 3s"},
		{name: "a node that went before it was ready would have taken longer", script: `
			0 list
			1 node a
			5 gone a
			6 node b
			9 ready b`,
			want: "becomeReady 1+1 3s"},
		{name: "a node that isn't initialized yet", script: `
			0 list
			1 node a
			2.5 initialized a
			15 ready a
			16 node b
			20 end`,
			want: "cloudInitialize 1+1 1.5s, becomeReady 1+1 14s"},
		{name: "only what hadn't ended", script: `
			0 list
			1 node a
			25 end`},
		{name: "an Event that a recorder kept counts by its own time", script: `
			0 list
			9 node a
			9 says Node/a Starting @5
			20 ready a`,
			want: "register 1 3.5s, becomeReady 1 11s"},
		{name: "an Event that is much too late counts for nothing", script: `
			0 list
			99 node a
			99 says Node/a Starting @5
			110 ready a`,
			want: "becomeReady 1 11s"},
		{name: "whole seconds", times: "derived", script: `
			0 list
			1 says Node/a Starting
			5 node a
			6 initialized a
			19 ready a`,
			want: "register 1 4.078s, becomeReady 1 14s"},
		{name: "a NodeClaim", script: `
			0 list
			1 claim a
			3 launched a
			40 says Node/a Starting
			44 node a
			45 registered a
			60 ready a
			90 ending a
			125 ended a`,
			want: "boot 1 36.923s, terminate 1 30s, register 1 4.078s, becomeReady 1 16s"},
		{name: "a NodeClaim that was launched before the tape", script: `
			0 launched a
			0 list
			44 node a
			45 registered a
			60 ready a`,
			want: "becomeReady 1 16s"},
		{name: "a NodeClaim that went before its machine had booted", script: `
			0 list
			1 claim a
			3 launched a
			33 ended a
			40 claim b
			42 launched b
			79 says Node/b Starting
			83 node b
			84 registered b
			99 ready b`,
			want: "boot 1+1 36.923s, register 1 4.078s, becomeReady 1 16s"},
		{name: "a graceful shutdown isn't the provider's", script: `
			0 registered a
			0 list
			1 node a
			2 ready a
			3 pod web on a
			90 ending a
			100 end web
			135 ended a`,
			want: "terminate 1 30s, becomeReady 1 1s"},
		{name: "a pod starts and stops", script: `
			0 there a
			0 list
			1 pod web on a
			2 admit web
			4 says Pod/web Pulling Pulling image "web:1"
			7 says Pod/web Pulled Successfully pulled image "web:1" in 2.9s (2.9s including waiting). Image size: 40000000 bytes.
			8 says Pod/web Started Started container web
			8.5 run web
			12 serve web
			20 delete web
			21 says Pod/web Killing Stopping container web
			25 end web
			27 drop web`,
			want: "sandbox 1 1.923s, imagePull 1 1.9s, containerStart 1 1s, containerReady 1 3.803s, killDelay 1 923ms, appStop 1 3.728s, finalDelete 1 2s"},
		{name: "a container without a probe, and one that is killed when its grace is over", script: `
			0 there a
			0 list
			1 pod web on a
			2 admit web
			4 says Pod/web Pulled Container image "web:1" already present on machine
			5 says Pod/web Started Started container web
			5.3 serve web
			20 delete web
			21 says Pod/web Killing Stopping container web
			51.5 end web
			52 drop web`,
			want: "sandbox 1 1.923s, containerStart 1 1s, killDelay 1 923ms, finalDelete 1 500ms"},
		{name: "a pull that another one has begun, and those of a node that joins", script: `
			0 there a
			0 list
			1 pod one on a
			1 pod two on a
			2 says Pod/one Pulling Pulling image "web:1"
			3 says Pod/two Pulling Pulling image "web:1"
			9 says Pod/one Pulled Successfully pulled image "web:1" in 7s (7s including waiting).
			9 says Pod/two Pulled Successfully pulled image "web:1" in 6s (6s including waiting).
			10 node b
			11 pod three on b
			12 says Pod/three Pulling Pulling image "web:1"
			15 ready b
			40 says Pod/three Pulled Successfully pulled image "web:1" in 28s (28s including waiting).`,
			want: "becomeReady 1 5s, imagePull 1 7s"},
		{name: "pulls that had not ended count less their image's size, where that is known", script: `
			0 there a
			0 there b
			0 there c
			0 list
			1 pod one on a
			2 says Pod/one Pulling Pulling image "web:1"
			5 says Pod/one Pulled Successfully pulled image "web:1" in 2.9s (2.9s including waiting). Image size: 40000000 bytes.
			6 pod two on b
			7 says Pod/two Pulling Pulling image "web:1"
			8 pod three on b
			9 says Pod/three Pulling Pulling image "large:1"
			12 pod four on c
			12.5 says Pod/four Pulling Pulling image "web:1"
			13 end`,
			want: "imagePull 1+1 1.9s"},
		{name: "a pod that has ended and isn't deleted yet", script: `
			0 there a
			0 pod web on a
			0 pod api on a
			0 list
			20 delete web
			21 says Pod/web Killing Stopping container web
			25 end web
			27 drop web
			30 delete api
			31 says Pod/api Killing Stopping container web
			35 end api
			38 end`,
			want: "killDelay 2 923ms, appStop 2 3.728s, finalDelete 1+1 2s"},
		{name: "a pod that waits for the network of its node", script: `
			0 list
			1 node a
			1 pod web on a
			2 admit web
			14 ready a
			15 says Pod/web Pulled Container image "web:1" already present on machine`,
			want: "becomeReady 1 13s"},
		{name: "a cordon", script: `
			0 there a
			0 list
			5 cordon a
			5.02 taint a`,
			want: "conditionTaint 1 20ms"},
		{name: "a roller that looks", script: `
			0 there old
			0 list
			1 node a
			11 ready a
			13 cordon old
			20 gone old`,
			want: "becomeReady 1 10s, rollerPoll 1 2s"},
		{name: "a roller that had begun to wait when the node came", script: `
			0 there old
			0 list
			1 node a
			11 ready a
			41 cordon old
			50 end`,
			want: "becomeReady 1 10s, rollerPoll 1 40s"},
		{name: "many cordons at once, and one while another node joins or drains", script: `
			0 there x
			0 there y
			0 there z
			0 list
			1 node a
			11 ready a
			12 cordon x
			12.1 cordon y
			20 node b
			30 ready b
			31 cordon z
			40 end`,
			want: "becomeReady 2 10s"},
		{name: "pods that are replaced", script: `
			0 pod one on a
			0 pod two on a
			0 pod three on a
			0 list
			1 delete one
			1.5 delete two
			2 pod four on b
			2 pod five on b
			3 pod six on b
			9 delete three
			99 pod seven on b`,
			want: "controllerReact 1 1s"},
		{name: "evictions that were refused", script: `
			0 pod web on a
			0 list
			1 refused web
			6 refused web
			300 refused web`,
			want: "evictionRetry 1 5s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.times == "" {
				c.times = "observed"
			}
			var cal calibrate.Calibration
			read(t, &cal, "written", tapeOf(t, c.times, c.script))
			var got []string
			for _, m := range cal.Result().Measured {
				n := fmt.Sprint(m.Samples)
				if m.Unfinished > 0 {
					n += fmt.Sprintf("+%d", m.Unfinished)
				}
				got = append(got, fmt.Sprintf("%s %s %s", m.Name, n, m.Found.Median.Round(time.Millisecond)))
			}
			if all := strings.Join(got, ", "); all != c.want {
				t.Errorf("found %s\n want %s", all, c.want)
			}
		})
	}
}

// What several tapes of one cluster have counts once: those of groups that are rolled at the same time, and a tape that is given twice.
func TestWhatSeveralTapesHave(t *testing.T) {
	const known = "times: observed, cluster: c"
	const whole, later = "0 list\n70 node a\n85 ready a\n", "0 list\n10 node a\n25 ready a\n"
	began := time.Date(2026, 11, 20, 22, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name          string
		first, second string
		after         time.Duration // the second tape begins
		of, ofSecond  string
		want          string // "samples+unfinished on tapes"
	}{
		{"the same node", whole, later, time.Minute, known, known, "1+0 on 1"},
		{"the same tape", whole, whole, 0, known, known, "1+0 on 1"},
		{"the first one ends while the node joins", "0 list\n70 node a\n80 end", later, time.Minute, known, known, "1+0 on 1"},
		{"the second one ends while the node joins", whole, "0 list\n10 node a\n20 end", time.Minute, known, known, "1+0 on 1"},
		{"both end while another node joins", whole + "95 node b\n100 end", later + "35 node b\n50 end", time.Minute, known, known, "1+1 on 1"},
		{"two nodes at once", whole + "85 node b\n85 node c\n99 ready b\n99 ready c", later + "25 node b\n25 node c\n39 ready b\n39 ready c", time.Minute, known, known, "3+0 on 1"},
		{"another moment", whole, later, time.Hour, known, known, "2+0 on 2"},
		{"another cluster", whole, later, time.Minute, known, "times: observed, cluster: d", "2+0 on 2"},
		{"no cluster that is known", whole, later, time.Minute, "times: observed", "times: observed", "2+0 on 2"},
		{"whole seconds", whole, later, time.Minute, "times: derived, cluster: c", "times: derived, cluster: c", "2+0 on 2"},
	} {
		var cal calibrate.Calibration
		read(t, &cal, "first", tapeAt(t, began, c.of, c.first))
		read(t, &cal, "second", tapeAt(t, began.Add(c.after), c.ofSecond, c.second))
		got := ""
		for _, m := range cal.Result().Measured {
			if m.Name == "becomeReady" {
				got = fmt.Sprintf("%d+%d on %d", m.Samples, m.Unfinished, len(m.Tapes))
			}
		}
		if got != c.want {
			t.Errorf("%s: found %s samples of becomeReady, want %s", c.name, got, c.want)
		}
	}
}
