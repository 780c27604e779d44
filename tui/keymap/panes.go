package keymap

import "strings"

// Actions of sessions side by side. They work in every part of the screen.
const (
	SplitRight   Action = "pane.split-right"
	SplitBelow   Action = "pane.split-below"
	PaneLeft     Action = "pane.left"
	PaneRight    Action = "pane.right"
	PaneUp       Action = "pane.up"
	PaneDown     Action = "pane.down"
	NextPane     Action = "pane.next"
	ZoomPane     Action = "pane.zoom"
	WiderPane    Action = "pane.wider"
	NarrowerPane Action = "pane.narrower"
	TallerPane   Action = "pane.taller"
	ShorterPane  Action = "pane.shorter"
	ClosePane    Action = "pane.close"
)

// OnPanes reports whether an action is one of sessions side by side.
func (a Action) OnPanes() bool { return strings.HasPrefix(string(a), "pane.") }

// Splits reports whether an action shows a further session.
func (a Action) Splits() bool { return a == SplitRight || a == SplitBelow }
