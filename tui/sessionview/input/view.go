package input

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// View returns the lines of the composer and its cursor. The prompt has the accent colour while keys
// write. An empty composer has no lines while another view has the keys.
func (in *Input) View(width, rows int) ([]string, *tea.Cursor) {
	if in.Elsewhere && in.composer.Empty() && !in.composer.Shell {
		return nil, nil
	}
	lines, cursor := in.composer.View(width, rows)
	takesText := in.focused && !in.Elsewhere
	if prompt, text, ok := strings.Cut(strings.TrimPrefix(lines[0], " ")+" ", " "); ok && takesText && len(prompt) == 1 {
		if in.composer.Empty() && !in.composer.Shell {
			text = in.Styles.Dim.Render(ui.FitHints(placeholder(in.Replica.State, in.Styles.Keys), width-ui.Indent))
		}
		lines[0] = " " + in.Styles.User.Render(prompt) + " " + text
	}
	return lines, cursor
}

// placeholder returns the text shown in place of an empty message: its receiver, the key that sends it into
// the turn that runs, and the characters that begin something else.
func placeholder(state *protocol.State, keys *keymap.Map) string {
	verb, steer, status := "Message ", "", state.Status()
	if status == protocol.Running || status == protocol.Waiting {
		verb = "Queue a message for "
		if state.Options.Has(protocol.FeatureSteer) {
			steer = ui.Prefixed(keymap.Separator, keys.Hint(keymap.SendSteer, "into the turn"))
		}
	}
	agent := cmp.Or(transcript.CleanLine(describe.Agent(state.Agent)), "the agent")
	return verb + agent + steer + " · / commands · @ files · ! shell"
}

// Title returns the title of the rule above the composer while a queued message or a shell command is
// written, or "".
func (in *Input) Title() string {
	switch {
	case in.composer.Editing != "":
		return in.edit.title()
	case in.composer.Shell && in.focused:
		return shellTitle(in.Styles, in.directory())
	}
	return ""
}

// shellDirectoryWidth is the maximum width of the directory in the title of the composer, so that
// the keys fit a terminal of 80 columns.
const shellDirectoryWidth = 28

// shellTitle returns the title of the composer while a shell command is written.
func shellTitle(s *ui.Styles, dir string) string {
	where := "current directory"
	if dir != "" {
		where = ui.FitLeft(transcript.CleanLine(dir), shellDirectoryWidth)
	}
	hint := ui.Prefixed(keymap.Separator, s.Keys.Hint(keymap.Send, "runs", keymap.Cancel, "back"))
	return s.Warning.Render("shell on this machine") + s.Dim.Render(" · "+where+hint)
}

// FileLines returns the suggested files and the attachments.
func (in *Input) FileLines(width int) []string {
	return slices.Concat(in.completion.Files(width), in.attachments.view(width))
}

// CommandLines returns the lines of the list of commands, or nil.
func (in *Input) CommandLines(width int) []string {
	return in.completion.Commands(in.completed(in.composer.Text), width)
}
