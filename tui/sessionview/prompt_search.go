package sessionview

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// promptSearchRows is the number of matches on the screen.
const promptSearchRows = 5

// promptSearch is a docked overlay that searches the user's earlier messages, the newest first. The
// composer keeps its text until the user takes a match.
type promptSearch struct {
	styles   *ui.Styles
	input    *ui.TextInput
	prompts  func() []string // newest first; grows at its end
	selected int             // index of the selected match
}

// takePromptIntent puts an earlier message into the composer.
type takePromptIntent struct{ text string }

// olderPromptsIntent requests older messages.
type olderPromptsIntent struct{}

// searchPrompts opens the search.
func (v *View) searchPrompts() {
	if v.composer.Editing != "" {
		v.status.Text = "a queued message is edited"
		return
	}
	v.setFocus(onComposer)
	prompts := func() []string { return v.composer.History(v.replica.conn.By) }
	v.overlays.Push(&promptSearch{styles: v.Styles, input: v.Styles.NewTextInput(""), prompts: prompts})
}

// takePrompt replaces the draft, which stays in the history.
func (v *View) takePrompt(text string) {
	v.composer.EndRecall()
	v.composer.KeepInHistory()
	v.composer.SetText(text)
}

// Scope implements [ui.Overlay].
func (p *promptSearch) Scope() keymap.Scope { return keymap.Global }

// FullScreen implements [ui.Overlay].
func (p *promptSearch) FullScreen() bool { return false }

// matches returns the messages with the words of the input, without words all.
func (p *promptSearch) matches() []string {
	if strings.TrimSpace(p.input.Value()) == "" {
		return p.prompts()
	}
	query, err := protocol.ParseQuery(p.input.Value())
	if err != nil {
		return nil
	}
	var out []string
	for _, text := range p.prompts() {
		if query.Match(text) {
			out = append(out, text)
		}
	}
	return out
}

// Update implements [ui.Overlay].
func (p *promptSearch) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return p.press(msg)
	case tea.PasteMsg:
		p.input.Paste(msg.Content)
		p.selected = 0
	case tea.MouseMsg:
		return ui.Response{Pass: true}
	}
	return ui.Response{}
}

// press handles a key.
func (p *promptSearch) press(msg tea.KeyPressMsg) ui.Response {
	key, matches := msg.String(), p.matches()
	switch {
	case key == "esc":
		return ui.Response{Close: true}
	case key == "enter":
		if p.selected >= len(matches) {
			return ui.Response{}
		}
		return ui.Response{Close: true, Intent: takePromptIntent{matches[p.selected]}}
	case key == "up", p.styles.Keys.At(keymap.Global, key) == keymap.SearchPrompts:
		if p.selected >= len(matches)-1 {
			return ui.Response{Intent: olderPromptsIntent{}}
		}
		p.selected++
	case key == "down":
		p.selected = max(0, p.selected-1)
	default:
		before := p.input.Value()
		p.input.Press(msg)
		if p.input.Value() != before {
			p.selected = 0
		}
	}
	return ui.Response{}
}

// View implements [ui.Overlay]. The newest match is at the bottom, next to the input.
func (p *promptSearch) View(width, height int) ([]string, *tea.Cursor) {
	matches := p.matches()
	title := "earlier messages · no match"
	if len(matches) > 0 {
		title = fmt.Sprintf("earlier messages · %d of %d", p.selected+1, len(matches))
	}
	hint := ui.Prefixed(keymap.Separator, p.styles.Keys.Hint(keymap.SearchPrompts, "older")) +
		" · enter takes it · esc back"
	out := []string{p.styles.Rule(title+p.styles.Dim.Render(ui.FitHints(hint, max(0, width-len(title)-4))), width)}
	rows := min(promptSearchRows, max(0, height-2))
	first := max(0, p.selected-rows+1)
	for i := min(len(matches), first+rows) - 1; i >= first; i-- {
		line := format.JoinLines(transcript.Clean(matches[i]))
		if i == p.selected {
			out = append(out, p.styles.Selected.Render(ui.Fit(" ▸ "+line, width)))
			continue
		}
		out = append(out, ui.Fit("   "+line, width))
	}
	out = append(out, p.styles.InputLine(ui.FindLabel, p.input, width))
	return out, ui.InputCursor(ui.FindLabel, p.input, len(out)-1)
}
