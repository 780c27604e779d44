package sessionview

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// playerBar shows the position in a recording, in place of the composer.
type playerBar struct {
	styles *ui.Styles
	player remote.Player
}

// newPlayerBar returns the bar of a session, or nil if it is no recording.
func newPlayerBar(styles *ui.Styles, session remote.Session) *playerBar {
	if player, ok := session.(remote.Player); ok {
		return &playerBar{styles, player}
	}
	return nil
}

// playing reports whether the position changes by itself.
func (b *playerBar) playing() bool {
	p := b.player.Playback()
	return !p.Paused && !p.Ended
}

// view returns the position, and in a second row the keys.
func (b *playerBar) view(width, rows int) []string {
	p := b.player.Playback()
	state, style := "playing", &b.styles.Success
	switch {
	case p.Ended:
		state, style = "end", &b.styles.Dim
	case p.Paused:
		state, style = "paused", &b.styles.Warning
	}
	at, length, speed := playTime(p.At), playTime(p.Length), speedText(p.Speed)
	text := fmt.Sprintf(" · turn %d of %d · %s / %s · %s ", p.Turn, p.Turns, at, length, speed)
	if ansi.StringWidth(state+text) > width {
		text = fmt.Sprintf(" · %d/%d · %s/%s · %s", p.Turn, p.Turns, at, length, speed)
	}
	line := " " + style.Render(state) + text
	if room := width - ansi.StringWidth(line) - 1; room > 4 {
		done := room
		if p.Length > 0 {
			done = int(float64(room) * float64(p.At) / float64(p.Length))
		}
		line += strings.Repeat("━", done) + b.styles.Dim.Render(strings.Repeat("─", room-done))
	}
	lines := []string{ui.Fit(line, width)}
	if rows < 2 {
		return lines
	}
	pause := "pause"
	switch {
	case p.Ended:
		pause = "play again"
	case p.Paused:
		pause = "continue"
	}
	keys := b.styles.Keys
	hint := keys.Hint(keymap.PlayPause, pause, keymap.PlayPrevious, "previous turn", keymap.PlayNext, "next turn",
		keymap.PlayFaster, "faster", keymap.PlaySlower, "slower", keymap.FocusNext, "transcript",
		keymap.PlayFind, "find")
	return append(lines, b.styles.Dim.Render(" "+ui.FitHints(hint, width-1)))
}

// playTime returns a time in a recording as minutes and seconds, with hours if it has any.
func playTime(d time.Duration) string {
	s := int(d / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%02d:%02d", s/60, s%60)
}

func speedText(speed float64) string {
	if speed == 0 {
		return "as fast as possible"
	}
	return strconv.FormatFloat(speed, 'g', -1, 64) + "×"
}

// pressPlayer handles a key while the player has the focus.
func (v *View) pressPlayer(key string) tea.Cmd {
	player := v.panels.player.player
	switch v.Styles.Keys.At(keymap.Player, key) {
	case keymap.PlayPause:
		player.TogglePause()
	case keymap.PlayFaster:
		player.ChangeSpeed(1)
	case keymap.PlaySlower:
		player.ChangeSpeed(-1)
	case keymap.PlayPrevious:
		v.seek(func() { player.SeekTurn(-1) })
	case keymap.PlayNext:
		v.seek(func() { player.SeekTurn(1) })
	case keymap.PlayFromStart:
		v.seek(player.SeekStart)
	case keymap.PlayToEnd:
		v.seek(player.SeekEnd)
	case keymap.PlayFind:
		v.overlays.Push(v.transcript.openSearch())
	case keymap.PlayOutline:
		return v.showOutline()
	case keymap.PlayHelp:
		v.showHelp()
	}
	return nil
}

// seek moves the position and shows the end of the transcript, where playing continues.
func (v *View) seek(move func()) {
	move()
	v.transcript.view.List.ScrollToBottom()
}

// readingActions are the actions everywhere that change nothing: those of a recording.
var readingActions = map[keymap.Action]bool{
	keymap.Help: true, keymap.FocusNext: true, keymap.FocusPrevious: true, keymap.ToggleLast: true,
	keymap.PreviousTurn: true, keymap.NextTurn: true, keymap.Find: true, keymap.Redraw: true, keymap.Suspend: true,
	keymap.ShowSessions: true, keymap.ShowOutline: true,
}

// pressReplay handles a key of a recording. A recording takes no text and no decision.
func (v *View) pressReplay(key string) tea.Cmd {
	if v.focus == onTranscript && v.transcript.copyMode.active {
		if cmd, handled := v.transcript.pressCopyMode(key); handled {
			return cmd
		}
	}
	if v.focus == onComposer && v.Styles.Keys.At(keymap.Player, key) != "" {
		return v.pressPlayer(key)
	}
	action := v.Styles.Keys.At(keymap.Global, key)
	if v.scroll(action) {
		return nil
	}
	switch {
	case readingActions[action]:
		cmd, _ := v.pressGlobal(key)
		return cmd
	case action != "":
		v.status.Text = "not available in a replay"
	case v.focus == onTranscript:
		return v.pressTranscript(key)
	}
	return nil
}
