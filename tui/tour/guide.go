package tour

import (
	"fmt"
	"strings"

	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// A Guide leads through the steps. Observe, Skip and View belong to the event loop of the program;
// the caller uses Leave while no program runs.
type Guide struct {
	link  Link
	step  int
	ready bool // the current step
	away  bool // the list of sessions is on the screen, and the step needs a session
}

// A Link is the connection that a step breaks. Its methods do not block.
type Link interface {
	Cut()
	Restore()
}

// NewGuide returns a guide at the first step.
func NewGuide(l Link) *Guide { return &Guide{link: l} }

// Observe compares the state of the program with the current step, and takes the next step if it is done.
func (g *Guide) Observe(s *Screen) {
	step := &Steps[g.step]
	g.ready = g.ready || step.ready == nil || step.ready(s)
	if g.ready && step.done != nil && step.done(s) {
		g.next()
	}
	g.away = s.Session == nil && !Steps[g.step].list
}

// Skip takes the next step.
func (g *Guide) Skip() { g.next() }

// Leave reports whether the user was asked to leave and is to return. The guide then continues.
func (g *Guide) Leave() bool {
	leaves := Steps[g.step].Leaves()
	if leaves {
		g.next()
	}
	return leaves
}

// next starts the next step. The last one stays.
func (g *Guide) next() {
	if Steps[g.step].cut {
		g.link.Restore()
	}
	g.step, g.ready = min(g.step+1, len(Steps)-1), false
	if Steps[g.step].cut {
		g.link.Cut()
	}
}

// minHeight is the height of a screen from which the panel has all its rows.
const minHeight = 12

// Rows returns the number of rows of the panel on a screen of the given height.
func Rows(height int) int {
	if height < minHeight {
		return 1
	}
	return 3
}

// View returns the panel: a rule with the progress and the keys that skip and leave, and the text.
func (g *Guide) View(s *ui.Styles, width, height int) []string {
	text := ui.Wrap(g.text(s.Keys), max(width-2, 1))
	rows := Rows(height)
	if rows == 1 {
		return []string{s.User.Render(ui.Fit(" "+strings.Join(text, " "), width))}
	}
	title := fmt.Sprintf("tour %d/%d", g.step+1, len(Steps))
	if !Steps[g.step].Ends() {
		title += ui.Prefixed(keymap.Separator, s.Keys.Hint(keymap.SkipStep, "skips"))
	}
	out := []string{s.Rule(s.User.Render(title+keymap.Separator+"ctrl+c twice leaves"), width)}
	for i := range rows - 1 {
		line := ""
		if i < len(text) {
			line = " " + text[i]
		}
		out = append(out, ui.Fit(line, width))
	}
	return out
}

// text returns the text of the current step with the user's keys.
func (g *Guide) text(keys *keymap.Map) string {
	step := &Steps[g.step]
	text := step.Text
	if g.away {
		return fmt.Sprintf("Press %s to open the session again: the tour continues there.", keys.Key(keymap.Choose))
	}
	if !g.ready && step.Wait != "" {
		text = step.Wait
	}
	for i, action := range step.Actions {
		key := keys.Key(action)
		if key == "" {
			key = fmt.Sprintf("(no key: %s)", action)
		}
		text = strings.ReplaceAll(text, fmt.Sprintf("{%d}", i), key)
	}
	return text
}
