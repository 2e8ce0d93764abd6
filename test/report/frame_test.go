package report

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// BenchmarkFrame pans, zooms and scrolls the report of 1,000 nodes with 30 pods each, and measures the scripts of each frame. The
// limit is 8 ms.
func BenchmarkFrame(b *testing.B) {
	file := made(b, "--simulate", "percentage", "--set", "nodes=1000", "--set", "pods=30000")
	tab := opened(b, file)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			tab.do(chromedp.Reload(), chromedp.WaitReady(chromedp.CSS(`html[data-ready="true"]`)))
		}
		if info, err := os.Stat(file); err == nil {
			b.ReportMetric(float64(info.Size())/(1<<20), "MiB")
		}
		b.ReportMetric(value[float64](tab, `performance.getEntriesByName("opened")[0].duration`), "script-ms")
	})
	// The reader zooms in to a tenth of the roll, opens some nodes, and then moves.
	for _, rows := range []string{"compact", "normal", "tall"} {
		var frames []float64
		b.Run(rows, func(b *testing.B) {
			tab.call(func(ctx context.Context, target *chromedp.Target) error {
				_, err := cdp.Call(ctx, target, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
				return err
			})
			var cpu float64
			for b.Loop() {
				before := tab.scripts()
				frames = run(tab, chromedp.Evaluate[[]float64](moves, chromedp.EvalAwaitPromise))
				cpu = tab.scripts() - before
			}
			b.ReportMetric(cpu*1000/float64(len(frames)), "cpu-ms/frame")
			slices.Sort(frames)
			b.ReportMetric(frames[len(frames)/2], "ms/frame")
			b.ReportMetric(frames[len(frames)*99/100], "p99-ms/frame")
			b.ReportMetric(frames[len(frames)-1], "most-ms/frame")
		})
		tab.press("p")
	}
}

func (b *tab) call(f func(ctx context.Context, target *chromedp.Target) error) {
	b.t.Helper()
	b.do(chromedp.Func(f))
}

// scripts is the CPU time that the page's scripts have taken so far, in seconds: what else runs on the machine isn't in it.
func (b *tab) scripts() (seconds float64) {
	b.t.Helper()
	b.call(func(ctx context.Context, target *chromedp.Target) error {
		all, err := cdp.Call(ctx, target, performance.GetMetrics, cdp.Empty{})
		for _, m := range all.Metrics {
			if m.Name == "ScriptDuration" {
				seconds = m.Value
			}
		}
		return err
	})
	return seconds
}

// moves makes 300 frames: zooms, pans by the wheel, and scrolls, and returns how long the scripts of each took.
const moves = `(async () => {
	const scroll = document.getElementById("scroll"), next = () => new Promise((done) => requestAnimationFrame(done));
	const wheel = (o) => scroll.dispatchEvent(new WheelEvent("wheel", {clientX: 600, clientY: 400, cancelable: true, ...o}));
	scroll.focus();
	performance.clearMeasures("frame");
	for (let i = 0; i < 100; i++) { wheel({deltaY: i < 50 ? -60 : 60, ctrlKey: true}); await next(); }
	for (let i = 0; i < 20; i++) { wheel({deltaY: -60, ctrlKey: true}); await next(); }
	for (let i = 0; i < 80; i++) { wheel({deltaX: i < 40 ? 120 : -120}); await next(); }
	for (let i = 0; i < 100; i++) { scroll.scrollTop += i < 50 ? 240 : -200; await next(); }
	for (let i = 0; i < 20; i++) { wheel({deltaY: 60, ctrlKey: true}); await next(); }
	await next();
	return performance.getEntriesByName("frame").map((e) => e.duration);
})()`

// TestPictures makes a picture of each scenario's report, for people to look at: in NODESIM_PICTURES, or of one scenario only.
func TestPictures(t *testing.T) {
	folder, scenarios := os.Getenv("NODESIM_PICTURES"), []string{"stuck-drain"}
	if folder == "" {
		folder = t.TempDir()
	} else {
		scenarios = shipped(t)
	}
	for _, name := range scenarios {
		t.Run(name, func(t *testing.T) {
			tab := report(t, "--simulate", name)
			tab.press("f")
			value[bool](tab, "true")
			if err := os.WriteFile(filepath.Join(folder, name+".png"), run(tab, chromedp.CaptureScreenshot()), 0o600); err != nil {
				t.Fatal(err)
			}
			tab.quiet()
		})
	}
}

// TestPicturesOfTheDocs makes the pictures of docs/report.md and of the README, in NODESIM_DOCS.
func TestPicturesOfTheDocs(t *testing.T) {
	folder := os.Getenv("NODESIM_DOCS")
	if folder == "" {
		folder = t.TempDir()
	}
	shoot := func(b *tab, name string) {
		t.Helper()
		value[bool](b, "true")
		if err := os.WriteFile(filepath.Join(folder, name+".png"), run(b, chromedp.CaptureScreenshot()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	one := stuck(t)
	one.do(chromedp.EmulateViewport(1200, 640))
	shoot(one, "report")
	one.press("f")
	one.search("ip-10-0-0-4")
	one.press("n\r")
	shoot(one, "report-node")
	one.quiet()
	both := sideBySide(t)
	both.do(chromedp.EmulateViewport(1200, 700))
	both.press("cc")
	shoot(both, "report-diff")
	both.quiet()
}

// TestSizeOfFortyNodes holds a report of 40 nodes to its size. How long it takes to open is in the benchmark.
func TestSizeOfFortyNodes(t *testing.T) {
	info, err := os.Stat(made(t, "--simulate", "percentage", "--set", "nodes=40"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 2<<20 {
		t.Errorf("found a report of %d bytes: want at most 2 MiB", info.Size())
	}
}
