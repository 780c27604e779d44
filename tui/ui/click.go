package ui

import (
	"math"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/edit"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// Clickable are the marked texts on the screen; see [keymap.Map.Mark].
type Clickable struct {
	drawn   string // with its marks
	content string // without them
	areas   []area
	blocked time.Time // a click before it acts on nothing
}

// area is the cells of a marked text.
type area struct {
	y, from, to int
	target      *keymap.Target
}

// Draw returns what is drawn without its marks, and records where they are.
func (c *Clickable) Draw(content string) string {
	if content == c.drawn {
		return c.content
	}
	c.drawn, c.areas, c.blocked = content, nil, time.Time{}
	var out strings.Builder
	for y, line := range strings.Split(content, "\n") {
		if y > 0 {
			out.WriteByte('\n')
		}
		x := 0
		var target *keymap.Target
		for ok := true; ok; {
			var text string
			var next *keymap.Target
			text, next, line, ok = keymap.CutMark(line)
			from := x
			if out.WriteString(text); ok || target != nil {
				x += transcript.Width(text)
			}
			switch {
			case target == nil:
			case !target.New.IsZero():
				c.blocked = target.New
			default:
				to := x
				if line == "" && len(target.Keys) == 0 {
					to = math.MaxInt // the rest of the row belongs to it
				}
				c.areas = append(c.areas, area{y, from, to, target})
			}
			target = next
		}
	}
	c.content = out.String()
	return c.content
}

// New returns the time before which a click acts on nothing, because a request on the screen is new.
func (c *Clickable) New() time.Time { return c.blocked }

// At returns the target of the marked text at a cell, or nil.
func (c *Clickable) At(x, y int) *keymap.Target {
	i := slices.IndexFunc(c.areas, func(a area) bool { return y == a.y && x >= a.from && x < a.to })
	if i < 0 {
		return nil
	}
	return c.areas[i].target
}

// Click returns the messages in the place of a click: keys for one on a hint, a RowMsg for one on a row,
// else the click.
func (c *Clickable) Click(msg tea.MouseClickMsg) (out []tea.Msg) {
	switch target := c.At(msg.X, msg.Y); {
	case target == nil || msg.Button != tea.MouseLeft:
		return []tea.Msg{msg}
	case len(target.Keys) == 0:
		return []tea.Msg{RowMsg{List: target.List, Row: target.Row}}
	default:
		for _, key := range target.Keys {
			out = append(out, edit.KeyPress(key))
		}
		return out
	}
}

// RowMsg is input: a click on a row of a list (see [keymap.Map.MarkRow]), or a turn of the wheel over it.
type RowMsg struct {
	List  string
	Row   int
	Wheel int // the number of rows, negative for up; 0: a click
}

// Target returns the row that the mouse selects in a list, with a row selected before.
func (m RowMsg) Target(selected int) int {
	if m.Wheel == 0 {
		return m.Row
	}
	return selected + m.Wheel
}
