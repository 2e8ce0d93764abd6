package workloads

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/nodesim/nodesim/scenarios/internal/kube"
)

// jobStories are what happens to Jobs. A line is something that happens: "succeed 2" and "fail 1 42" end the oldest pods,
// "index 3 fail 1" those of an index, "ready" has all that run be Ready, "leave" has those go that are being deleted,
// "patch" is a client's, "wait" lets time pass. What begins with "=" is the status then, with "!" an Event that there was.
// What is wanted is what the real controller does in pkg/controller/job/job_controller_test.go and test/integration/job.
var jobStories = []struct{ name, spec, story string }{
	{"one pod", ``, `
		wait 5s
		= active 1 ready 0 terminating 0 succeeded 0 failed 0
		! SuccessfulCreate: Created pod: j-
		ready
		wait 2s
		= active 1 ready 1 terminating 0 succeeded 0 failed 0
		succeed 1
		wait 2s
		= active 0 ready 0 terminating 0 succeeded 1 failed 0; SuccessCriteriaMet=True CompletionsReached; Complete=True CompletionsReached
		! Completed: Job completed
		freed`},
	{"parallelism below completions", `"parallelism":2,"completions":5`, `
		wait 5s
		= active 2 ready 0 terminating 0 succeeded 0 failed 0
		succeed 2
		wait 5s
		= active 2 ready 0 terminating 0 succeeded 2 failed 0
		succeed 2
		wait 5s
		= active 1 ready 0 terminating 0 succeeded 4 failed 0
		succeed 1
		wait 5s
		= active 0 ready 0 terminating 0 succeeded 5 failed 0; SuccessCriteriaMet=True CompletionsReached; Complete=True CompletionsReached`},
	{"work queue", `"parallelism":3`, `
		wait 5s
		= active 3 ready 0 terminating 0 succeeded 0 failed 0
		succeed 1
		wait 5s
		= active 2 ready 0 terminating 0 succeeded 1 failed 0
		succeed 2
		wait 5s
		= active 0 ready 0 terminating 0 succeeded 3 failed 0; SuccessCriteriaMet=True CompletionsReached; Complete=True CompletionsReached`},
	{"backoff", `"backoffLimit":1`, `
		wait 5s
		fail 1
		wait 9s
		= active 0 ready 0 terminating 0 succeeded 0 failed 1
		wait 4s
		= active 1 ready 0 terminating 0 succeeded 0 failed 1
		fail 1
		wait 3s
		= active 0 ready 0 terminating 0 succeeded 0 failed 2; FailureTarget=True BackoffLimitExceeded; Failed=True BackoffLimitExceeded
		! BackoffLimitExceeded: Job has reached the specified backoff limit
		freed`},
	{"the pods that are left end with the Job", `"parallelism":2,"completions":2,"backoffLimit":0`, `
		wait 5s
		ready
		fail 1
		wait 3s
		= active 0 ready 0 terminating 1 succeeded 0 failed 2; FailureTarget=True BackoffLimitExceeded
		! SuccessfulDelete: Deleted pod: j-
		leave
		wait 3s
		= active 0 ready 0 terminating 0 succeeded 0 failed 2; FailureTarget=True BackoffLimitExceeded; Failed=True BackoffLimitExceeded`},
	{"deadline", `"activeDeadlineSeconds":30`, `
		wait 10s
		ready
		wait 19s
		= active 1 ready 1 terminating 0 succeeded 0 failed 0
		wait 3s
		= active 0 ready 0 terminating 1 succeeded 0 failed 1; FailureTarget=True DeadlineExceeded
		leave
		wait 3s
		= active 0 ready 0 terminating 0 succeeded 0 failed 1; FailureTarget=True DeadlineExceeded; Failed=True DeadlineExceeded
		! DeadlineExceeded: Job was active longer than specified deadline`},
	{"suspended and resumed", `"suspend":true`, `
		wait 5s
		= active 0 ready 0 terminating 0 succeeded 0 failed 0; Suspended=True JobSuspended
		! Suspended: Job suspended
		patch {"spec":{"suspend":false}}
		wait 5s
		= active 1 ready 0 terminating 0 succeeded 0 failed 0; Suspended=False JobResumed
		! Resumed: Job resumed
		ready
		patch {"spec":{"suspend":true}}
		wait 5s
		= active 0 ready 0 terminating 1 succeeded 0 failed 0; Suspended=True JobSuspended`},
	{"indexes", `"completionMode":"Indexed","parallelism":3,"completions":5`, `
		wait 5s
		= active 3 ready 0 terminating 0 succeeded 0 failed 0
		! SuccessfulCreate: Created pod: j-0-
		index 1 succeed
		wait 5s
		= active 3 ready 0 terminating 0 succeeded 1 failed 0 completed 1
		index 0 succeed
		index 2 succeed
		index 3 succeed
		wait 5s
		= active 1 ready 0 terminating 0 succeeded 4 failed 0 completed 0-3
		index 4 succeed
		wait 5s
		= active 0 ready 0 terminating 0 succeeded 5 failed 0 completed 0-4; SuccessCriteriaMet=True CompletionsReached; Complete=True CompletionsReached`},
	{"an index that fails", `"completionMode":"Indexed","parallelism":3,"completions":3,"backoffLimitPerIndex":1`, `
		wait 5s
		index 1 fail 1
		wait 9s
		= active 2 ready 0 terminating 0 succeeded 0 failed 0 failedIndexes ""
		wait 5s
		= active 3 ready 0 terminating 0 succeeded 0 failed 1 failedIndexes ""
		index 1 fail 1
		wait 5s
		= active 2 ready 0 terminating 0 succeeded 0 failed 2 failedIndexes "1"
		index 0 succeed
		index 2 succeed
		wait 5s
		= active 0 ready 0 terminating 0 succeeded 2 failed 2 completed 0,2 failedIndexes "1"; FailureTarget=True FailedIndexes; Failed=True FailedIndexes
		! FailedIndexes: Job has failed indexes`},
	{"too many failed indexes", `"completionMode":"Indexed","parallelism":3,"completions":3,"backoffLimitPerIndex":0,"maxFailedIndexes":1`, `
		wait 5s
		index 1 fail 1
		index 2 fail 1
		wait 5s
		= active 0 ready 0 terminating 0 succeeded 0 failed 3 failedIndexes "1,2"; FailureTarget=True MaxFailedIndexesExceeded; Failed=True MaxFailedIndexesExceeded`},
	{"a policy that fails the Job", `"podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"containerName":"c","operator":"In","values":[42]}}]}`, `
		wait 5s
		fail 1 42
		wait 5s
		= active 0 ready 0 terminating 0 succeeded 0 failed 1; FailureTarget=True PodFailurePolicy; Failed=True PodFailurePolicy
		! PodFailurePolicy: Container c for pod shop/j-`},
	{"a policy that ignores a failure", `"backoffLimit":0,"podFailurePolicy":{"rules":[{"action":"Ignore","onExitCodes":{"operator":"In","values":[42]}}]}`, `
		wait 5s
		fail 1 42
		wait 20s
		= active 1 ready 0 terminating 0 succeeded 0 failed 0
		fail 1 1
		wait 5s
		= active 0 ready 0 terminating 0 succeeded 0 failed 1; FailureTarget=True BackoffLimitExceeded; Failed=True BackoffLimitExceeded`},
	{"a policy of success", `"completionMode":"Indexed","parallelism":3,"completions":3,"successPolicy":{"rules":[{"succeededIndexes":"0,2"}]}`, `
		wait 5s
		index 0 succeed
		wait 5s
		= active 2 ready 0 terminating 0 succeeded 1 failed 0 completed 0
		index 2 succeed
		wait 5s
		= active 0 ready 0 terminating 0 succeeded 2 failed 0 completed 0,2; SuccessCriteriaMet=True SuccessPolicy; Complete=True SuccessPolicy`},
	{"managed by another", `"managedBy":"example.com/other"`, `
		wait 10s
		= active 0 ready -1 terminating -1 succeeded 0 failed 0`},
	{"more parallelism, and less", `"parallelism":1,"completions":6`, `
		wait 5s
		patch {"spec":{"parallelism":4}}
		wait 5s
		= active 4 ready 0 terminating 0 succeeded 0 failed 0
		patch {"spec":{"parallelism":2}}
		wait 5s
		= active 2 ready 0 terminating 0 succeeded 0 failed 0`},
}

func TestJobs(t *testing.T) {
	for _, c := range jobStories {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			comma := ","
			if c.spec == "" {
				comma = ""
			}
			r.put("jobs", "j", `{"kind":"Job","apiVersion":"batch/v1","spec":{`+c.spec+comma+
				`"selector":{"matchLabels":{"batch.kubernetes.io/controller-uid":"uid-j"}},"template":{"metadata":{"labels":{"batch.kubernetes.io/controller-uid":"uid-j"}},`+podSpec+`}}}`)
			for line := range strings.Lines(c.story) {
				if line = strings.TrimSpace(line); line != "" {
					r.job(line)
				}
			}
		})
	}
}

// job does a line of a story.
func (r *rig) job(line string) {
	r.t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	words := strings.Fields(rest)
	number := func(i int) int {
		if i >= len(words) {
			return 1
		}
		n, err := strconv.Atoi(words[i])
		if err != nil {
			r.t.Fatalf("%s: %v", line, err)
		}
		return n
	}
	switch verb {
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			r.t.Fatal(err)
		}
		r.pass(d)
	case "ready":
		r.ready(r.running()...)
	case "succeed":
		for _, p := range r.running()[:number(0)] {
			r.end(p, "Succeeded", 0)
		}
	case "fail":
		for _, p := range r.running()[:number(0)] {
			r.end(p, "Failed", number(1))
		}
	case "index":
		for _, p := range r.running() {
			if indexOf(p) != number(0) {
				continue
			}
			if words[1] == "succeed" {
				r.end(p, "Succeeded", 0)
			} else {
				r.end(p, "Failed", number(2))
			}
			return
		}
		r.t.Errorf("%s: no such pod runs", line)
	case "leave":
		r.leave()
	case "patch":
		r.put("jobs", "j", rest)
	case "freed":
		for _, p := range r.env.API.Pods() {
			if p.HasFinalizer(jobTracking) {
				r.t.Errorf("pod %s has the finalizer still", p.Name)
			}
		}
	case "=":
		job := &batchv1.Job{}
		if r.read("jobs", "j", job); jobLine(job) != rest {
			r.t.Errorf("at %s: %s\nwant     %s", r.env.Now(), jobLine(job), rest)
		}
	case "!":
		if !slices.ContainsFunc(r.events, func(e string) bool { return strings.HasPrefix(e, rest) }) {
			r.t.Errorf("at %s: no Event %q among\n%s", r.env.Now(), rest, strings.Join(r.events, "\n"))
		}
	default:
		r.t.Fatalf("%q: what is that?", line)
	}
}

// A pod of an Indexed Job knows its index.
func TestPodsKnowTheirIndex(t *testing.T) {
	r := newRig(t)
	r.put("jobs", "j", `{"spec":{"completionMode":"Indexed","completions":1,"backoffLimitPerIndex":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},`+podSpec+`}}}`)
	r.pass(5 * time.Second)
	p := r.running()[0]
	got := fmt.Sprint(strings.HasPrefix(p.Name, "j-0-"), p.Labels.Get(batchv1.JobCompletionIndexAnnotation), p.Annotations, p.Finalizers)
	want := "true0[{batch.kubernetes.io/job-completion-index 0} {batch.kubernetes.io/job-index-failure-count 0}] [batch.kubernetes.io/job-tracking]"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A finished Job goes some time after its end, and its pods first.
func TestFinishedJobsExpire(t *testing.T) {
	r := newRig(t)
	r.put("jobs", "j", `{"spec":{"ttlSecondsAfterFinished":60,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},`+podSpec+`}}}`)
	r.pass(5 * time.Second)
	r.end(r.running()[0], "Succeeded", 0)
	r.pass(50 * time.Second)
	job := &batchv1.Job{}
	if r.read("jobs", "j", job); job.DeletionTimestamp != nil {
		t.Error("it goes too early")
	}
	r.pass(20 * time.Second)
	if r.read("jobs", "j", job); job.DeletionTimestamp == nil || !slices.Equal(job.Finalizers, []string{"foregroundDeletion"}) {
		t.Errorf("deleted %v, held by %v", job.DeletionTimestamp, job.Finalizers)
	}
}

func TestIntervals(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"0", "0"}, {"0,1", "0,1"}, {"0-2", "0-2"}, {"0,1,2", "0-2"}, {"1,3-5,7,8,20", "1,3-5,7,8"}, {"x,2,3-y", "2"},
	} {
		if got := parseIndexes(c.text, 10).String(); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	if got := (intervals{{1, 3}, {7, 7}}).merge(intervals{{0, 0}, {4, 5}, {9, 9}}).String(); got != "0-5,7,9" {
		t.Error(got)
	}
}

// What a Job's pod leaves of its Job's pods when the Job is gone doesn't stay for ever.
func TestPodsOfNoJobAreFreed(t *testing.T) {
	r := newRig(t)
	p := &kube.Pod{
		Meta:     kube.Meta{Namespace: "shop", Name: "p", Finalizers: []string{jobTracking}, Owner: &kube.Owner{APIVersion: "batch/v1", Kind: "Job", Name: "gone", UID: "gone"}},
		Template: &kube.Template{}, Phase: "Running",
	}
	if err := r.env.API.CreatePod(p); err != nil {
		t.Fatal(err)
	}
	r.pass(5 * time.Second)
	if len(p.Finalizers) > 0 {
		t.Errorf("finalizers %v", p.Finalizers)
	}
}
