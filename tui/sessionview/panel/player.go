package panel

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Player shows the position in a recording, in place of the composer, and moves it.
type Player struct {
	styles *ui.Styles
	player remote.Player
}

// NewPlayer returns the bar of a session, or nil if it is no recording.
func NewPlayer(styles *ui.Styles, session remote.Session) *Player {
	if player, ok := session.(remote.Player); ok {
		return &Player{styles, player}
	}
	return nil
}

// Now returns the time of the recording.
func (b *Player) Now() time.Time { return b.player.Now() }

// Playing reports whether the position changes.
func (b *Player) Playing() bool {
	p := b.player.Playback()
	return !p.Paused && !p.Ended
}

// View returns the position, and in a second row the keys.
func (b *Player) View(width, rows int) []string {
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
	if transcript.Width(state+text) > width {
		text = fmt.Sprintf(" · %d/%d · %s/%s · %s", p.Turn, p.Turns, at, length, speed)
	}
	line := " " + style.Render(state) + text
	if room := width - transcript.Width(line) - 1; room > 4 {
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
	hint := keys.Hint(keymap.PlayPause, pause, keymap.Previous, "previous turn", keymap.Next, "next turn",
		keymap.PlayFaster, "faster", keymap.PlaySlower, "slower", keymap.FocusNext, "transcript",
		keymap.ListFind, "find")
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

// Press handles a key of the player. It returns the action that the view carries out then: a move of
// the position shows the end of the transcript, where playing continues. It reports false for other keys.
func (b *Player) Press(key string) (action keymap.Action, handled bool) {
	switch action := b.styles.Keys.InList(keymap.Player, key); action {
	case keymap.PlayPause:
		b.player.TogglePause()
	case keymap.PlayFaster:
		b.player.ChangeSpeed(1)
	case keymap.PlaySlower:
		b.player.ChangeSpeed(-1)
	case keymap.Previous:
		b.player.SeekTurn(-1)
		return keymap.Bottom, true
	case keymap.Next:
		b.player.SeekTurn(1)
		return keymap.Bottom, true
	case keymap.First:
		b.player.SeekStart()
		return keymap.Bottom, true
	case keymap.Last:
		b.player.SeekEnd()
		return keymap.Bottom, true
	case keymap.ListFind:
		return keymap.Find, true
	case keymap.ListHelp:
		return keymap.Help, true
	default:
		return "", false
	}
	return "", true
}
