package ui

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/nodesim/nodesim/internal/app/control"
	"github.com/nodesim/nodesim/internal/ui/player"
	"github.com/nodesim/nodesim/internal/ui/render"
)

// panelProgram runs a player.Model on a screen, in a program of Bubble Tea.
//
// Bubble Tea reads what is typed and keeps the loop. It has neither the terminal nor a renderer: its raw mode would take
// ctrl-z and ctrl-c from the shell's job control, and a Screen paints whole lines, which stay whole where a terminal
// disagrees about the width of a character.
type panelProgram struct {
	terminal Terminal
	screen   *render.Screen
	program  *tea.Program
	keys     chan player.Key
	moves    chan Move
	shown    chan player.Shown // the last one that the program hasn't taken yet
	asked    sync.WaitGroup    // findings and reports that are on their way
	asking   func() context.Context

	// Of the program's goroutine alone.
	model         player.Model
	width, height int

	mu   sync.Mutex
	node string // whose details are shown
	err  error  // of the screen
}

// mostWaiting is how many keys may wait for the tape: more are dropped.
const mostWaiting = 64

// startPanel begins; rest ends it and returns why it couldn't be painted. What was asked for may take longer.
func startPanel(ctx context.Context, t Terminal, screen *render.Screen) (p *panelProgram, rest func() error) {
	p = &panelProgram{terminal: t, screen: screen, keys: make(chan player.Key, mostWaiting), moves: make(chan Move, mostWaiting), shown: make(chan player.Shown, 1)}
	p.model = player.New(player.Options{Panel: t.Options, Keys: t.Typed != nil, Report: t.ReportName})
	ctx, cancel := context.WithCancel(ctx)
	p.asking = func() context.Context { return ctx }
	options := []tea.ProgramOption{
		tea.WithOutput(io.Discard), tea.WithoutRenderer(), tea.WithFPS(1), tea.WithoutSignalHandler(), tea.WithoutCatchPanics(),
		tea.WithColorProfile(colorprofile.NoTTY), // a panel's is in its Options; Bubble Tea would ask the environment
		tea.WithInput(nil),
	}
	quiet := make(chan struct{})
	if t.Typed != nil {
		options = append(options, tea.WithInput(&typedReader{done: quiet, typed: t.Typed}))
	}
	p.program = tea.NewProgram(teaModel{p}, options...)
	var running sync.WaitGroup
	running.Go(func() {
		if _, err := p.program.Run(); err != nil {
			p.fail(err)
		}
	})
	var passing sync.WaitGroup
	passing.Go(func() {
		for shown := range p.shown {
			p.program.Send(shown)
		}
	})
	return p, func() error {
		close(p.shown)
		passing.Wait()
		close(quiet) // before the loop ends, which takes what is typed
		p.program.Quit()
		running.Wait()
		cancel()
		return p.failed()
	}
}

// show hands over what the tape shows, and returns why what came before couldn't be painted. It is for one goroutine. A
// terminal that takes nothing, after ctrl-s, doesn't hold up the tape: what wasn't painted by then never is.
func (p *panelProgram) show(shown player.Shown) error {
	select {
	case <-p.shown:
	default:
	}
	p.shown <- shown
	return p.failed()
}

// say shows why a key couldn't be obeyed, until the next one.
func (p *panelProgram) say(err error) { p.program.Send(player.Said(err.Error())) }

// looksAt is the node whose details are shown; "" is none.
func (p *panelProgram) looksAt() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.node
}

func (p *panelProgram) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *panelProgram) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}

// teaModel is a panelProgram as Bubble Tea calls it.
type teaModel struct{ *panelProgram }

// Init implements tea.Model.
func (m teaModel) Init() tea.Cmd { return nil }

// Update implements tea.Model. What the Model's commands say is done here, so that keys take effect in their order.
func (m teaModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	next, cmd := m.model.Update(msg)
	m.model = next.(player.Model)
	if cmd != nil {
		m.do(cmd())
	}
	m.mu.Lock()
	m.node = m.model.Node()
	m.mu.Unlock()
	return m, nil
}

// View implements tea.Model: it paints.
func (m teaModel) View() tea.View {
	if width, height := m.model.Size(); width != m.width || height != m.height {
		m.width, m.height = width, height
		m.screen.Invalidate()
	}
	view := m.model.View()
	if view.Content == "" { // nothing was shown yet
		return view
	}
	if err := m.screen.Draw(view.Content); err != nil {
		m.fail(err)
	}
	return view
}

// do does what the Model says, or begins to.
func (p *panelProgram) do(msg tea.Msg) {
	switch msg := msg.(type) {
	case player.Press:
		select {
		case p.keys <- player.Key(msg):
		default: // too many wait: a key is no promise
		}
	case player.Seek:
		p.move(seekText(string(msg)))
	case player.SeekTo:
		p.move(func(ctx context.Context, c *control.Control) error {
			c.Pause()
			return c.Seek(ctx, msg.Position())
		})
	case player.FindFindings:
		p.answer(func(ctx context.Context) tea.Msg {
			found, err := p.terminal.Findings(ctx)
			return player.Found{Findings: found, Err: err}
		})
	case player.WriteReport:
		p.answer(func(ctx context.Context) tea.Msg {
			if err := p.terminal.Report(ctx, string(msg)); err != nil {
				return player.Said(err.Error())
			}
			return player.Said("wrote " + string(msg))
		})
	}
}

func (p *panelProgram) move(m Move) {
	select {
	case p.moves <- m:
	default:
	}
}

// answer tells the Model later.
func (p *panelProgram) answer(of func(context.Context) tea.Msg) {
	p.asked.Go(func() { p.program.Send(of(p.asking())) })
}

// seekText goes where a user has written, and says where that lies outside of the tape.
func seekText(text string) Move {
	return func(ctx context.Context, c *control.Control) error {
		target, err := control.ParseTarget(clockText(text))
		if err != nil {
			return err
		}
		note, err := c.SeekTo(ctx, target)
		if err == nil && note != "" {
			err = errors.New(note)
		}
		return err
	}
}

// clockText spells a position as the status line shows it, 1:32 or 1:02:03, as a duration; any other text stays.
func clockText(text string) string {
	switch parts := strings.Split(text, ":"); len(parts) {
	case 2:
		return parts[0] + "m" + parts[1] + "s"
	case 3:
		return parts[0] + "h" + parts[1] + "m" + parts[2] + "s"
	}
	return text
}

// typedReader is what is typed as a stream, until done is closed.
type typedReader struct {
	done  <-chan struct{}
	typed <-chan []byte
	rest  []byte
}

// Read implements io.Reader.
func (r *typedReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		select {
		case r.rest = <-r.typed:
		case <-r.done:
			return 0, io.EOF
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
