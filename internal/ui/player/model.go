package player

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/nodesim/nodesim/internal/ui/render"
)

// Options are what a Model is made for.
type Options struct {
	Panel  render.Options // their size comes with each Shown
	Keys   bool           // there are keys to press
	Report string         // the file that the prompt of a report proposes
}

// Model is what is on the screen. The zero value shows nothing; New makes one.
type Model struct {
	options       Options
	shown         Shown
	width, height int

	help   bool
	notice string

	browsing bool   // the rows are looked through
	selected string // the key of a row
	filter   string // of the rows
	search   string // what was searched last
	details  bool   // of the selected node
	first    int    // the line of the details that is shown first

	prompt prompt

	findings []Finding
	asked    bool // for the findings; they may not have come
	wanted   int  // the step to a finding that waits for them
	finding  int  // the one that was gone to last, from 1 on
}

// New returns a Model that has seen nothing.
func New(o Options) Model { return Model{options: o} }

// Init implements tea.Model.
func (m Model) Init() tea.Cmd { return nil }

// Node names the node whose details the next Shown should have; "" is none.
func (m Model) Node() string {
	if !m.details {
		return ""
	}
	return m.nodeOf(m.selected)
}

// nodeOf is the node of a row: in a roll of pods the one on which the pod is.
func (m Model) nodeOf(key string) string {
	if !m.shown.Frame.Pods {
		return key
	}
	for i := range m.shown.Frame.Snapshot.Pods {
		v := &m.shown.Frame.Snapshot.Pods[i]
		if v.Name == key || v.Namespace+"/"+v.Name == key {
			return v.Node
		}
	}
	return ""
}

// Update implements tea.Model.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case Shown:
		if details := m.shown.Details; msg.Details == nil && details != nil && details.Node == m.Node() {
			msg.Details = details // nobody has looked again since
		}
		m.shown, m.width, m.height = msg, msg.Width, msg.Height
	case Said:
		m.notice = string(msg)
	case Found:
		return m.found(msg)
	case tea.PasteMsg:
		if m.prompt.open() {
			m.prompt = m.prompt.with(msg.Content)
		}
	case tea.KeyPressMsg:
		m.notice = ""
		if m.prompt.open() {
			return m.typed(msg)
		}
		if msg.Mod.Contains(tea.ModAlt) && msg.Code <= unicode.MaxRune && unicode.IsPrint(msg.Code) {
			return m.back().pressed(unmodified(msg))
		}
		return m.pressed(msg)
	}
	return m, nil
}

// unmodified is a key without alt: an escape key and another one that came together, as over a slow line.
func unmodified(key tea.KeyPressMsg) tea.KeyPressMsg {
	r := key.Code
	if key.Mod.Contains(tea.ModShift) {
		r = unicode.ToUpper(r)
	}
	return tea.KeyPressMsg{Code: r, Text: string(r)}
}

// answer is the command that says a message.
func answer(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// pressed obeys a key.
func (m Model) pressed(key tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	word := key.String()
	if move, is := tapeKeys[word]; is {
		return m, answer(Press(move))
	}
	switch word {
	case "q", "Q", "ctrl+c":
		return m, answer(Press(KeyQuit))
	case "?", "h":
		m.help = !m.help
	case "/", "&", ":":
		m.prompt = prompt{kind: word}
		if word == "&" {
			m.prompt.text = m.filter
		}
	case "r":
		if m.options.Report == "" {
			m.notice = "report: want a tape in a file, which can be read a second time"
			return m, nil
		}
		m.prompt = prompt{kind: word, text: m.options.Report}
	case "f":
		return m.nextFinding(1)
	case "F":
		return m.nextFinding(-1)
	case "esc":
		return m.back(), nil
	case "enter", "ctrl+j": // a terminal that isn't raw sends a line feed
		if m.browsing && m.nodeOf(m.selected) != "" {
			m.details, m.first = !m.details, 0
		}
	case "up", "down":
		if !m.browsing {
			return m, answer(Press(map[string]Key{"up": KeyFarForward, "down": KeyFarBack}[word]))
		}
		return m.moved(word), nil
	case "j", "k", "pgup", "pgdown", "home", "end", "g", "G":
		return m.moved(word), nil
	}
	return m, nil
}

// back leaves what was entered last.
func (m Model) back() Model {
	switch {
	case m.details:
		m.details = false
	case m.filter != "":
		m.filter = ""
	default:
		m.browsing, m.selected = false, ""
	}
	return m
}

// moved selects another row or, in the details, shows other lines.
func (m Model) moved(word string) Model {
	rows, of := render.Room(m.frame(), m.panel())
	page := max(rows-1, 1)
	by := map[string]int{
		"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -page, "pgdown": page,
		"home": -of, "g": -of, "end": of, "G": of,
	}[word]
	if m.details {
		m.first = max(min(m.first+by, of-rows), 0)
		return m
	}
	keys := render.Keys(m.shown.Frame, m.filter)
	at, is := 0, m.selected != ""
	if is {
		at = slices.Index(keys, m.selected)
		if at < 0 { // it has gone: its place counts
			at, _ = slices.BinarySearch(keys, m.selected)
			if by > 0 {
				at--
			}
		}
		at += by
	} else if by > 1 {
		at = by - 1
	}
	m.browsing, m.selected = true, ""
	if len(keys) > 0 {
		m.selected = keys[max(min(at, len(keys)-1), 0)]
	}
	return m
}

// searched selects the next row that has the words.
func (m Model) searched(words string) Model {
	if words != "" {
		m.search = words
	}
	if m.search == "" {
		return m
	}
	all := render.Keys(m.shown.Frame, m.filter)
	match := map[string]bool{}
	for _, key := range render.Keys(m.shown.Frame, m.search) {
		match[key] = true
	}
	at := slices.Index(all, m.selected)
	for i := range all {
		if key := all[(at+1+i)%len(all)]; match[key] {
			m.browsing, m.selected, m.first = true, key, 0
			return m
		}
	}
	m.notice = "no row has " + m.search
	return m
}

// filtered leaves the rows that have the words.
func (m Model) filtered(words string) Model {
	m.filter, m.details = strings.TrimSpace(words), false
	m.browsing = m.browsing || m.filter != ""
	if keys := render.Keys(m.shown.Frame, m.filter); !slices.Contains(keys, m.selected) {
		m.selected = ""
		if m.filter != "" && len(keys) > 0 {
			m.selected = keys[0]
		}
	}
	if m.filter == "" && m.selected == "" {
		m.browsing = false
	}
	return m
}
