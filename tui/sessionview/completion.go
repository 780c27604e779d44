package sessionview

import (
	"strings"
	"unicode"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// completionRows is the maximum number of commands shown at once.
const completionRows = 6

// completion suggests the agent's commands while the message is a single word that begins with a
// slash.
type completion struct {
	styles    *ui.Styles
	selected  int
	word      string // of the last suggestions; another word selects the first command
	dismissed string // the word whose suggestions the user closed
}

// suggestions returns the commands that begin with word, ignoring case. It updates the selection.
func (c *completion) suggestions(word string, options *protocol.Options) []protocol.SlashCommand {
	isCommand := strings.HasPrefix(word, "/") && !strings.ContainsFunc(word, unicode.IsSpace)
	if options == nil || word == c.dismissed || !isCommand {
		return nil
	}
	var out []protocol.SlashCommand
	for _, o := range options.Commands {
		if text := strings.ToLower(commandText(o)); strings.HasPrefix(text, strings.ToLower(word)) ||
			strings.HasPrefix(text, "//") && strings.HasPrefix(text[1:], strings.ToLower(word)) {
			out = append(out, o)
		}
	}
	if c.word != word {
		c.word, c.selected = word, 0
	}
	c.selected = min(c.selected, max(0, len(out)-1))
	return out
}

// press handles the keys of the completion. Enter is not one of them: it sends the message. A text
// that is not empty replaces the message.
func (c *completion) press(key, word string, suggestions []protocol.SlashCommand) (text string, handled bool) {
	if len(suggestions) == 0 {
		return "", false
	}
	switch key {
	case "up":
		c.selected = max(0, c.selected-1)
	case "down":
		c.selected = min(len(suggestions)-1, c.selected+1)
	case "tab":
		return commandText(suggestions[c.selected]) + " ", true
	case "esc":
		c.dismissed = word
	default:
		return "", false
	}
	return "", true
}

// commandText returns a command as it is typed.
func commandText(c protocol.SlashCommand) string {
	return remote.SlashCommand(ui.OneLine(transcript.Clean(c.Name)))
}

// view returns a title and the suggestions around the selected one, or nil without suggestions.
func (c *completion) view(suggestions []protocol.SlashCommand, width int) []string {
	if len(suggestions) == 0 {
		return nil
	}
	lines := make([]string, len(suggestions))
	for i, o := range suggestions {
		line := "   " + commandText(o)
		details := ""
		if o.Hint != "" {
			details += " " + ui.OneLine(transcript.Clean(o.Hint))
		}
		if o.About != "" {
			details += " — " + ui.OneLine(transcript.Clean(o.About))
		}
		if i == c.selected {
			lines[i] = c.styles.Selected.Render(ui.Fit(" ▸ "+line[3:]+details, width))
			continue
		}
		lines[i] = ui.Fit(line+c.styles.Dim.Render(details), width)
	}
	lines, _ = ui.Window(lines, c.selected, completionRows)
	title := ui.Count(len(suggestions), "command") + c.styles.Dim.Render(" · tab completes · ↑↓ · esc closes")
	return append([]string{c.styles.Rule(title, width)}, lines...)
}
