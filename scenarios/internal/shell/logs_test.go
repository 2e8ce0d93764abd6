package shell_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"

	"github.com/nodesim/nodesim/scenarios/virtualnode/api"
)

func ExampleScripted_Logs() {
	s, _, _ := scripted(40 * time.Second)
	log, err := s.Logs(context.Background(), "shop", "web-0", "app", api.ContainerLogOpts{Timestamps: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = log.Close() }()
	text, err := io.ReadAll(log)
	fmt.Print(string(text), err)
	// Output:
	// 2026-11-20T22:21:09.000000000Z started shop/web:1.2 as container app of pod shop/web-0 on node ip-10-0-1-10
	// 2026-11-20T22:21:11.000000000Z ready
	// 2026-11-20T22:21:25.341841000Z heartbeat 1: 31 requests in 15s, slowest 36 ms
	// 2026-11-20T22:21:39.132329000Z heartbeat 2: 33 requests in 15s, slowest 32 ms
	// <nil>
}

func read(t *testing.T, after time.Duration, change func(*corev1.Pod), o api.ContainerLogOpts) (string, error) {
	t.Helper()
	s, pods, _ := scripted(after)
	if change != nil {
		pods.change(change)
	}
	log, err := s.Logs(t.Context(), "shop", "web-0", "app", o)
	if err != nil {
		return "", err
	}
	defer func() { _ = log.Close() }()
	text, err := io.ReadAll(log)
	return string(text), err
}

func TestLogOptions(t *testing.T) {
	whole, err := read(t, time.Minute, nil, api.ContainerLogOpts{})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(whole, "\n"), "\n")
	last := lines[len(lines)-1] + "\n"
	if !strings.HasPrefix(last, "heartbeat ") || len(lines) < 5 {
		t.Fatalf("the log is\n%s", whole)
	}
	for name, c := range map[string]struct {
		o    api.ContainerLogOpts
		want string
	}{
		"tail":            {api.ContainerLogOpts{Tail: 1}, last},
		"tail of more":    {api.ContainerLogOpts{Tail: 1000}, whole},
		"no tail":         {api.ContainerLogOpts{NoTail: true}, ""},
		"since time":      {api.ContainerLogOpts{SinceTime: start.Add(2 * time.Second)}, strings.Join(lines[1:], "") + "\n"},
		"since seconds":   {api.ContainerLogOpts{SinceSeconds: 59}, strings.Join(lines[1:], "") + "\n"},
		"since tomorrow":  {api.ContainerLogOpts{SinceTime: start.AddDate(0, 0, 1)}, ""},
		"tail is first":   {api.ContainerLogOpts{Tail: 2, SinceSeconds: 1}, ""},
		"limit":           {api.ContainerLogOpts{LimitBytes: len(lines[0]) + 3}, lines[0] + "rea"},
		"limit of a tail": {api.ContainerLogOpts{LimitBytes: 20, Tail: 1, Timestamps: true, Follow: true}, "2026-11-20T22:21:54."},
	} {
		got, err := read(t, time.Minute, nil, c.o)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

func TestLogsOfOtherStates(t *testing.T) {
	ended := terminate(start.Add(20*time.Second), 137, "OOMKilled")
	restarted := func(pod *corev1.Pod) {
		ended(pod)
		c := &pod.Status.ContainerStatuses[0]
		c.LastTerminationState, c.State = c.State, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(start.Add(30 * time.Second))}}
	}
	waiting := func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	}
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		o      api.ContainerLogOpts
		first  string
		last   string
		err    string
	}{
		"ended":              {ended, api.ContainerLogOpts{Follow: true}, "started shop/web:1.2", "ended with exit code 137 OOMKilled", ""},
		"restarted":          {restarted, api.ContainerLogOpts{}, "started", "heartbeat", ""},
		"before the restart": {restarted, api.ContainerLogOpts{Previous: true}, "started", "ended with exit code 137 OOMKilled", ""},
		"no life before":     {nil, api.ContainerLogOpts{Previous: true}, "", "", `previous terminated container "app" in pod "web-0" not found`},
		"waiting":            {waiting, api.ContainerLogOpts{}, "", "", `container "app" in pod "web-0" is waiting to start: ContainerCreating`},
		"unknown": {func(pod *corev1.Pod) { pod.Status = corev1.PodStatus{} }, api.ContainerLogOpts{}, "", "",
			`container "app" in pod "web-0" is not available`},
		"gone": {func(pod *corev1.Pod) { pod.Name = "web-1" }, api.ContainerLogOpts{}, "", "", `pod "web-0" does not exist`},
	} {
		got, err := read(t, time.Minute, c.change, c.o)
		if c.err != "" {
			if err == nil || err.Error() != c.err {
				t.Errorf("%s: %v, want %s", name, err, c.err)
			}
			continue
		}
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		if err != nil || !strings.HasPrefix(lines[0], c.first) || !strings.HasPrefix(lines[len(lines)-1], c.last) {
			t.Errorf("%s: %v\n%s\nwant %s … %s", name, err, got, c.first, c.last)
		}
	}
}

// An old log keeps its newest lines and answers at once.
func TestLogsRotate(t *testing.T) {
	got, err := read(t, 3650*24*time.Hour, nil, api.ContainerLogOpts{})
	if n := strings.Count(got, "\n"); err != nil || n < 9_999 || n > 10_003 {
		t.Errorf("%d lines, %v, want 10000 heartbeats and a few more", n, err)
	}
}

// What a log says when it is followed is what it says when it is read later.
func TestFollowedLogs(t *testing.T) {
	s, pods, clock := scripted(5 * time.Second)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	log, err := s.Logs(ctx, "shop", "web-0", "app", api.ContainerLogOpts{Follow: true, Timestamps: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	go func() {
		for second := 6; ctx.Err() == nil; second++ {
			untilWaiting(ctx, clock)
			switch second {
			case 40:
				pods.change(func(pod *corev1.Pod) {
					pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = ptr.To(metav1.NewTime(start.Add(70*time.Second))), ptr.To(int64(30))
				})
			case 45:
				pods.change(terminate(start.Add(45*time.Second), 0, "Completed"))
			}
			clock.Step(time.Second)
		}
	}()
	followed, err := io.ReadAll(log)
	cancel()
	if err != nil {
		t.Fatal(err)
	}
	later, err := s.Logs(t.Context(), "shop", "web-0", "app", api.ContainerLogOpts{Timestamps: true})
	if err != nil {
		t.Fatal(err)
	}
	want, err := io.ReadAll(later)
	if err != nil || string(followed) != string(want) {
		t.Errorf("followed:\n%s\nread, %v:\n%s", followed, err, want)
	}
	for _, text := range []string{"received SIGTERM, 30s until SIGKILL\n", "ended with exit code 0 Completed\n"} {
		if !strings.Contains(string(followed), text) {
			t.Errorf("found no %q in\n%s", text, followed)
		}
	}
}

// untilWaiting returns when something waits for the clock, or the context ends.
func untilWaiting(ctx context.Context, clock *clocktesting.FakeClock) {
	ticker := time.NewTicker(100 * time.Microsecond)
	defer ticker.Stop()
	for !clock.HasWaiters() && ctx.Err() == nil {
		<-ticker.C
	}
}

// Close ends a Read that waits; so does the end of a pod that leaves no word.
func TestFollowEnds(t *testing.T) {
	for name, end := range map[string]func(io.Closer, *changingPods, *clocktesting.FakeClock){
		"close": func(c io.Closer, _ *changingPods, _ *clocktesting.FakeClock) { _ = c.Close() },
		"gone": func(_ io.Closer, pods *changingPods, clock *clocktesting.FakeClock) {
			pods.change(func(pod *corev1.Pod) { pod.Name = "web-1" })
			clock.Step(time.Second)
		},
		"another of that name": func(_ io.Closer, pods *changingPods, clock *clocktesting.FakeClock) {
			pods.change(func(pod *corev1.Pod) { pod.UID = "other" })
			clock.Step(time.Second)
		},
	} {
		s, pods, clock := scripted(3 * time.Second)
		log, err := s.Logs(t.Context(), "shop", "web-0", "app", api.ContainerLogOpts{Follow: true})
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(log)
		for range 2 {
			if _, err := in.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		ended := make(chan error, 1)
		go func() {
			_, err := in.ReadString('\n')
			ended <- err
		}()
		untilWaiting(t.Context(), clock)
		end(log, pods, clock)
		if err := <-ended; err == nil {
			t.Errorf("%s: found another line, want the end", name)
		}
		_ = log.Close()
	}
}
