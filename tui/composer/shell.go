package composer

import (
	"charm.land/bubbles/v2/textarea"

	"agentctl/tui/transcript"
)

// SetShell empties the composer and sets whether it holds a shell command of the user instead of a
// message. Commands have a separate history.
func (c *Composer) SetShell(on bool) {
	c.history.end()
	if on != c.Shell {
		c.history, c.other = c.other, c.history
	}
	c.Shell = on
	c.area.Reset()
	c.area.setPrompt(on)
}

// EndShell turns the composer back to messages. The command stays in the history of commands.
func (c *Composer) EndShell() {
	c.KeepInHistory()
	c.SetShell(false)
}

// promptWidth puts the text below the text of the transcript.
const promptWidth = 3

// setPrompt shows the kind of the text before its first line.
func (t *longText) setPrompt(shell bool) {
	first := "> "
	if shell {
		first = "! "
	}
	t.SetPromptFunc(promptWidth, func(p textarea.PromptInfo) string {
		if p.LineNumber == 0 {
			return first
		}
		return ""
	})
}

// RestoreShell replaces an empty message by an unsent shell command. It reports whether it did.
func (c *Composer) RestoreShell(command string) bool {
	if c.Editing != "" || c.Shell || !c.Empty() {
		return false
	}
	c.SetShell(true)
	c.SetText(transcript.Clean(command))
	return true
}
