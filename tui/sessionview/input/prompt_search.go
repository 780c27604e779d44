package input

import (
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// promptSearchRows is the number of matches on the screen.
const promptSearchRows = 5

// takePromptIntent puts an earlier message into the composer.
type takePromptIntent struct{ text string }

// olderPromptsIntent requests older messages.
type olderPromptsIntent struct{}

// newPromptSearch returns a docked overlay that searches the user's earlier messages. prompts returns
// them, the newest first, and grows at its end. The newest match is next to the text field. The
// composer keeps its text until the user takes a match.
func newPromptSearch(s *ui.Styles, prompts func() []string) ui.Overlay {
	var p *ui.Picker[string]
	p = ui.NewPicker(s, ui.List[string]{
		Title: func(at, rows, width int) string { return promptTitle(s, rows-at, rows, width) },
		Rows: func(text string) []string {
			found := matchingPrompts(prompts(), text)
			slices.Reverse(found)
			return found
		},
		ID: func(text string) string { return text },
		Draw: func(text string, selected bool, width int) []string {
			return []string{promptLine(s, text, selected, width)}
		},
		Choose: func(text string) ui.Response { return ui.Response{Close: true, Intent: takePromptIntent{text}} },
		Press: func(key string) (ui.Response, bool) {
			if s.Keys.At(keymap.Global, key) != keymap.SearchPrompts {
				return ui.Response{}, false
			}
			return p.Act(keymap.Up)
		},
		Before: func() ui.Response { return ui.Response{Intent: olderPromptsIntent{}} },
		Label:  ui.FindLabel, Upwards: true, Docked: promptSearchRows,
	})
	return p
}

// matchingPrompts returns the messages with the words of a text, without words all.
func matchingPrompts(prompts []string, text string) []string {
	if strings.TrimSpace(text) == "" {
		return slices.Clone(prompts)
	}
	query, err := protocol.ParseQuery(text)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(prompts), func(prompt string) bool { return !query.Match(prompt) })
}

// promptTitle returns the number of the selected match, the newest first, and the keys.
func promptTitle(s *ui.Styles, number, matches, width int) string {
	title := "earlier messages · no match"
	if matches > 0 {
		title = fmt.Sprintf("earlier messages · %d of %d", number, matches)
	}
	hint := ui.Prefixed(keymap.Separator, s.Keys.Hint(keymap.SearchPrompts, "older")) + " · enter takes it · esc back"
	return title + s.Dim.Render(ui.FitHints(hint, max(0, width-len(title)-4)))
}

// promptLine draws a message.
func promptLine(s *ui.Styles, text string, selected bool, width int) string {
	line := transcript.CleanLine(text)
	if selected {
		return s.Selected.Render(ui.Fit(" ▸ "+line, width))
	}
	return ui.Fit("   "+line, width)
}
