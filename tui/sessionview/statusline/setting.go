package statusline

import (
	"cmp"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// maxSettingWidth is the maximum width of a setting in the status line, in cells.
const maxSettingWidth = 32

// settingText returns the label of a setting's value, or its name and value if the value has no
// label. It returns "" for the default.
func settingText(set *protocol.Setting) string {
	if set.Value == "" || set.Value == set.Default {
		return ""
	}
	text := cmp.Or(set.Name, set.ID) + " " + set.Value
	if c := describe.SettingChoice(set, set.Value); c != nil && c.Label != "" {
		text = c.Label
	}
	return ui.Fit(format.JoinLines(transcript.Clean(text)), maxSettingWidth)
}

// asks is the policy that decides nothing in place of a user.
const asks = "ask"

// policyText returns the sign of a policy that decides in place of the user, or "".
func policyText(state *protocol.State) string {
	name := state.Policy()
	if name == "" || name == asks {
		return ""
	}
	return "policy " + ui.Fit(format.JoinLines(transcript.Clean(name)), maxSettingWidth)
}
