package sessionview

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
)

// readingActions are the actions everywhere that change nothing, for a recording.
var readingActions = map[keymap.Action]bool{
	keymap.Help: true, keymap.FocusNext: true, keymap.FocusPrevious: true, keymap.ToggleLast: true,
	keymap.PreviousTurn: true, keymap.NextTurn: true, keymap.Find: true, keymap.Redraw: true, keymap.Suspend: true,
	keymap.ShowSessions: true, keymap.ShowOutline: true,
	keymap.PageUp: true, keymap.PageDown: true, keymap.Top: true, keymap.Bottom: true,
}

// pressReplay handles a key of a recording. A recording takes no text and no decision.
func (v *View) pressReplay(key string) tea.Cmd {
	if v.focus == onTranscript {
		if cmd, handled := v.transcript.PressCopyMode(key); handled {
			return cmd
		}
	}
	if v.focus == onComposer {
		if action, handled := v.panels.player.Press(key); handled {
			cmd, _ := v.act(action, "")
			return cmd
		}
	}
	action := v.Styles.Keys.At(keymap.Global, key)
	switch {
	case readingActions[action]:
		cmd, _ := v.act(action, "")
		return cmd
	case action != "":
		v.status.Text = "not available in a replay"
	case v.focus == onTranscript:
		return v.applyResult(v.transcript.Press(key))
	}
	return nil
}
