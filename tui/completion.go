package tui

import (
	"strings"
	"unicode"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// completionRows is the most commands that show at once.
const completionRows = 6

// completion offers the agent's commands while the first word of a message is
// one that begins like them.
type completion struct {
	chosen int
	word   string // that was completed last; another starts at the first command
	closed string // a word that nothing is offered for
}

// offered are the commands that the word written so far begins.
func (m *model) offered() []protocol.SlashCommand {
	word := m.composer.area.Value()
	if m.focus != onComposer || m.composer.editing != "" || m.state.Options == nil || word == m.completion.closed ||
		!strings.HasPrefix(word, "/") || strings.ContainsFunc(word, unicode.IsSpace) {
		return nil
	}
	var out []protocol.SlashCommand
	for _, c := range m.state.Options.Commands {
		if strings.HasPrefix(strings.ToLower(slash(c)), strings.ToLower(word)) {
			out = append(out, c)
		}
	}
	if m.completion.word != word {
		m.completion.word, m.completion.chosen = word, 0
	}
	m.completion.chosen = min(m.completion.chosen, max(0, len(out)-1))
	return out
}

// completionKey handles the keys that are the completion's own while something
// is offered. Enter is not: it sends what is written.
func (m *model) completionKey(key string) bool {
	offered := m.offered()
	if len(offered) == 0 {
		return false
	}
	c := &m.completion
	switch key {
	case "up":
		c.chosen = max(0, c.chosen-1)
	case "down":
		c.chosen = min(len(offered)-1, c.chosen+1)
	case "tab":
		m.composer.write(slash(offered[c.chosen]) + " ")
	case "esc":
		c.closed = m.composer.area.Value()
	default:
		return false
	}
	return true
}

// slash is a command as it is written.
func slash(c protocol.SlashCommand) string {
	return "/" + strings.TrimPrefix(oneLine(transcript.Clean(c.Name)), "/")
}

// Render is what is offered.
func (c *completion) Render(l *look, offered []protocol.SlashCommand, width int) []string {
	if len(offered) == 0 {
		return nil
	}
	lines := make([]string, len(offered))
	for i, o := range offered {
		line := "   " + slash(o)
		rest := ""
		if o.Hint != "" {
			rest += " " + oneLine(transcript.Clean(o.Hint))
		}
		if o.About != "" {
			rest += " — " + oneLine(transcript.Clean(o.About))
		}
		if i == c.chosen {
			lines[i] = l.chosen.Render(fit(" ▸ "+line[3:]+rest, width))
			continue
		}
		lines[i] = fit(line+l.dim.Render(rest), width)
	}
	lines, _ = window(lines, c.chosen, completionRows)
	title := count(len(offered), "command") + l.dim.Render(" · tab completes · ↑↓ · esc closes")
	return append([]string{l.rule(title, width)}, lines...)
}
