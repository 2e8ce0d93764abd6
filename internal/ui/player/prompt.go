package player

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/nodesim/nodesim/internal/ui/render"
)

// A prompt takes a line of text, for what its key has asked.
type prompt struct {
	kind string // the key; "" where nothing is asked
	text string
}

// longestText is more than anybody types, in bytes.
const longestText = 256

func (p prompt) open() bool { return p.kind != "" }

// with is the prompt with more text.
func (p prompt) with(text string) prompt {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
	if len(p.text)+len(text) <= longestText {
		p.text += text
	}
	return p
}

// line is what stands on a screen of so many cells: of a long text the end, where typing goes on.
func (p prompt) line(width int) string {
	before := map[string]string{"/": "search: ", "&": "filter: ", ":": "go to: ", "r": "write the report to: "}[p.kind]
	return before + render.Tail(p.text+"_", width-len(before)-2) // and a margin
}

// typed takes a key into the prompt.
func (m Model) typed(key tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	switch word := key.String(); word {
	case "esc", "ctrl+c":
		m.prompt = prompt{}
	case "enter", "ctrl+j":
		p := m.prompt
		m.prompt = prompt{}
		return m.asks(p)
	case "backspace", "ctrl+h":
		if m.prompt.text == "" {
			m.prompt = prompt{}
			break
		}
		_, size := utf8.DecodeLastRuneInString(m.prompt.text)
		m.prompt.text = m.prompt.text[:len(m.prompt.text)-size]
	case "ctrl+u":
		m.prompt.text = ""
	default:
		m.prompt = m.prompt.with(key.Text)
	}
	return m, nil
}

// asks does what the text of a prompt asks.
func (m Model) asks(p prompt) (tea.Model, tea.Cmd) {
	text := strings.TrimSpace(p.text)
	switch p.kind {
	case "/":
		return m.searched(text), nil
	case "&":
		return m.filtered(text), nil
	case ":":
		if text != "" {
			return m, answer(Seek(text))
		}
	case "r":
		if text != "" {
			m.notice = "writing " + text + " …"
			return m, answer(WriteReport(text))
		}
	}
	return m, nil
}
