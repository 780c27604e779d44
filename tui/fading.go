package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// wordLasts is how long a word for the person stands, unless a key takes it away.
const wordLasts = 6 * time.Second

// fading lets a word go once it has stood for long enough. While there is no word
// there is no timer.
type fading struct {
	word  string    // that stands
	until time.Time // and how long
	woken bool      // a wake-up for it is under way
}

// fadeMsg is the wake-up.
type fadeMsg struct{ of *fading }

// anew makes the next word stand for its whole time, were it the same.
func (f *fading) anew() { f.word = "" }

// fade looks at the word that is there now; gone tells that it took it away.
func (f *fading) fade(word *string, now time.Time, after func(time.Duration, tea.Msg) tea.Cmd) (cmd tea.Cmd, gone bool) {
	if *word != f.word {
		f.word, f.until = *word, now.Add(wordLasts)
	}
	left := f.until.Sub(now)
	switch {
	case f.word == "":
		return nil, false
	case left <= 0:
		*word, f.word = "", ""
		return nil, true
	case f.woken:
		return nil, false
	}
	f.woken = true
	return after(left, fadeMsg{f}), false
}

// fade lets the words on the screen go, but for the one that tells of a trip under way.
func (m *model) fade() tea.Cmd {
	var ours, wires tea.Cmd
	var gone bool
	if m.trip == nil {
		ours, gone = m.fading.fade(&m.word, m.now(), m.after)
		m.dirty = m.dirty || gone
	}
	wires, gone = m.wire.fade(m.after)
	m.dirty = m.dirty || gone
	return tea.Batch(ours, wires)
}

func (d *desk) fade() tea.Cmd {
	ours, gone := d.fading.fade(&d.word, d.now(), d.after)
	d.dirty = d.dirty || gone
	wires, gone := d.wire.fade(d.after)
	d.dirty = d.dirty || gone
	return tea.Batch(ours, wires)
}

func (w *wire) fade(after func(time.Duration, tea.Msg) tea.Cmd) (cmd tea.Cmd, gone bool) {
	if w == nil {
		return nil, false
	}
	return w.fading.fade(&w.word, w.now(), after)
}
