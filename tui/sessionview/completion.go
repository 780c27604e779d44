package sessionview

import (
	"strings"
	"unicode"

	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// completionRows is the most commands that are shown at once.
const completionRows = 6

// completion offers the agent's commands while the first word of a message begins like one.
type completion struct {
	styles   *ui.Styles
	selected int
	word     string // of the last offer; another word starts at the first command
	closed   string // a word without offers: the user closed them
}

// offers returns the commands that begin with what is typed.
func (c *completion) offers(word string, options *protocol.Options) []protocol.SlashCommand {
	if options == nil || word == c.closed || !strings.HasPrefix(word, "/") || strings.ContainsFunc(word, unicode.IsSpace) {
		return nil
	}
	var out []protocol.SlashCommand
	for _, o := range options.Commands {
		if strings.HasPrefix(strings.ToLower(slash(o)), strings.ToLower(word)) {
			out = append(out, o)
		}
	}
	if c.word != word {
		c.word, c.selected = word, 0
	}
	c.selected = min(c.selected, max(0, len(out)-1))
	return out
}

// press handles the keys of the completion. Enter is not among them: it sends what is typed. text replaces
// what is typed, unless it is empty.
func (c *completion) press(key, word string, offers []protocol.SlashCommand) (text string, handled bool) {
	if len(offers) == 0 {
		return "", false
	}
	switch key {
	case "up":
		c.selected = max(0, c.selected-1)
	case "down":
		c.selected = min(len(offers)-1, c.selected+1)
	case "tab":
		return slash(offers[c.selected]) + " ", true
	case "esc":
		c.closed = word
	default:
		return "", false
	}
	return "", true
}

// slash returns a command as it is typed.
func slash(c protocol.SlashCommand) string {
	return "/" + strings.TrimPrefix(ui.OneLine(transcript.Clean(c.Name)), "/")
}

// view returns the offers.
func (c *completion) view(offers []protocol.SlashCommand, width int) []string {
	if len(offers) == 0 {
		return nil
	}
	lines := make([]string, len(offers))
	for i, o := range offers {
		line := "   " + slash(o)
		rest := ""
		if o.Hint != "" {
			rest += " " + ui.OneLine(transcript.Clean(o.Hint))
		}
		if o.About != "" {
			rest += " — " + ui.OneLine(transcript.Clean(o.About))
		}
		if i == c.selected {
			lines[i] = c.styles.Selected.Render(ui.Fit(" ▸ "+line[3:]+rest, width))
			continue
		}
		lines[i] = ui.Fit(line+c.styles.Dim.Render(rest), width)
	}
	lines, _ = ui.Window(lines, c.selected, completionRows)
	title := ui.Count(len(offers), "command") + c.styles.Dim.Render(" · tab completes · ↑↓ · esc closes")
	return append([]string{c.styles.Rule(title, width)}, lines...)
}
