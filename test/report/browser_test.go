package report

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browser is the one that all tests share; each has a tab of its own.
var browser context.Context

func TestMain(m *testing.M) { os.Exit(withBrowser(m)) }

func withBrowser(m *testing.M) int {
	program := ""
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" || os.Getenv("NODESIM") == "" {
		fmt.Fprintln(os.Stderr, "want Chromium in PATH (Debian's chromium-headless-shell), and NODESIM with the path of the program; make browser sees to both")
		return 1
	}
	// Tests may run as root, where Chromium has no sandbox.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(1400, 800))
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	var end context.CancelFunc
	browser, end = chromedp.NewContext(allocated)
	defer end()
	if err := chromedp.Do(browser); err != nil {
		fmt.Fprintln(os.Stderr, "start Chromium:", err)
		return 1
	}
	return m.Run()
}

// a tab shows one report and keeps what the browser says of it.
type tab struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	requests []string // all but the page's own
	problems []string // exceptions, messages of the console, dialogs
}

// report makes a report with the program and opens it.
func report(t testing.TB, args ...string) *tab {
	t.Helper()
	return opened(t, made(t, args...))
}

// made makes a report with the program.
func made(t testing.TB, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "roll.html")
	out, err := exec.CommandContext(t.Context(), os.Getenv("NODESIM"), append(append([]string{"report"}, args...), "--out", file)...).CombinedOutput()
	if err != nil {
		t.Fatalf("nodesim report %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return file
}

func opened(t testing.TB, file string) *tab {
	t.Helper()
	ctx, closed := chromedp.NewContext(browser)
	t.Cleanup(closed)
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute) // ends a hang
	t.Cleanup(cancel)
	at := "file://" + file
	b := &tab{t: t, ctx: ctx}
	err := chromedp.Listen(ctx, func(ev any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch ev := ev.(type) {
		case *network.EventRequestWillBeSent:
			if ev.Request.URL != at && ev.Request.URL != "data:," {
				b.requests = append(b.requests, ev.Request.URL)
			}
		case *runtime.EventExceptionThrown:
			b.problems = append(b.problems, fmt.Sprint(ev.ExceptionDetails.Text, ev.ExceptionDetails.Exception))
		case *runtime.EventConsoleAPICalled:
			b.problems = append(b.problems, fmt.Sprint("console: ", ev.Args))
		case *log.EventEntryAdded:
			b.problems = append(b.problems, ev.Entry.Text)
		case *page.EventJavascriptDialogOpening:
			b.problems = append(b.problems, "dialog: "+ev.Message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(at), chromedp.WaitReady(chromedp.CSS(`html[data-ready="true"]`)))
	return b
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) { run(b, chromedp.Steps(steps...)) }

// run runs an action in the tab.
func run[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, action)
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.t.Fatalf("%v; the browser says: %s", err, strings.Join(b.problems, "; "))
	}
	return v
}

// value is what an expression of JavaScript is, after the next frame.
func value[T any](b *tab, expression string) T {
	b.t.Helper()
	const frames = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`
	run(b, chromedp.Evaluate[bool](frames, chromedp.EvalAwaitPromise))
	return run(b, chromedp.Evaluate[T](expression))
}

// js runs statements.
func (b *tab) js(statements string) {
	b.t.Helper()
	run(b, chromedp.Evaluate[bool](fmt.Sprintf("(() => { %s; return true; })()", statements)))
}

func (b *tab) text(id string) string {
	b.t.Helper()
	return value[string](b, fmt.Sprintf(`document.getElementById(%q).textContent`, id))
}

// press types keys into the lanes.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.Focus(chromedp.CSS("#scroll")), chromedp.KeyEvent(keys))
}

// quiet fails where the page asked for anything, or the browser complained.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) > 0 {
		b.t.Errorf("found requests to %s: want none", strings.Join(b.requests, ", "))
	}
	if len(b.problems) > 0 {
		b.t.Errorf("the browser complains: %s", strings.Join(b.problems, "; "))
	}
}

// shipped are the scenarios that come with nodesim.
func shipped(t testing.TB) (names []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), os.Getenv("NODESIM"), "simulate", "--list", "-o", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []struct{ Name string }
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Name != "empty" {
			names = append(names, s.Name)
		}
	}
	return names
}
