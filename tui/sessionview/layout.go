package sessionview

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

const (
	minTranscriptRows = 3  // left to the transcript by the panels
	planRows          = 6  // of the tasks on a low screen
	minApprovalRows   = 14 // of an approval, at the cost of the transcript
)

// layout returns the lines of the screen and the cursor: the transcript with the side column beside
// it, panels, the composer and the status line below. Rows are assigned from the bottom up.
func (v *View) layout(width, height int) ([]string, *tea.Cursor) {
	lines, cursor := v.mainLayout(width, height-1)
	if height > 1 {
		lines = append(lines, v.lastLine(width))
	}
	return lines, cursor
}

// mainLayout returns the lines above the status line, and the cursor. The transcript is as wide as
// beside a side column, so that a column that comes or goes wraps no text again.
func (v *View) mainLayout(width, height int) ([]string, *tea.Cursor) {
	side := v.panels.side.Width(width)
	v.statusLine.BesideFiles = side > 0
	left := max(height, 1)
	var composer []string
	var cursor *tea.Cursor
	if v.panels.player != nil {
		composer = v.panels.player.View(width, max(1, left/3))
	} else {
		composer, cursor = v.input.View(width, max(1, left/3))
	}
	left -= len(composer)
	var rule []string
	if left > minTranscriptRows && len(composer) > 0 {
		rule = []string{v.composerRule(width)}
		left--
	}
	least := minTranscriptRows
	take := func(lines []string) []string {
		lines = lines[:min(len(lines), max(0, left-least))]
		left -= len(lines)
		return lines
	}
	beside := func(at place) int { // cells of the side column and its gap
		if side > 0 && at < atConnection {
			return side + 1
		}
		return 0
	}
	var shown [places][]string
	typing := false
	show := func(stage []placed) {
		for i := range stage {
			p, rows := &stage[i], left-least
			if p.hidden != nil && p.hidden(side > 0, typing) {
				continue
			}
			if p.limit != nil {
				rows = min(rows, p.limit(height))
			}
			shown[p.at] = take(p.View(width-beside(p.at), rows))
		}
	}
	show(v.panels.stages[beforeDocked])
	var docked []string
	var dockedCursor *tea.Cursor
	if o := v.overlays.Docked(); o != nil {
		docked, dockedCursor = o.View(width, max(0, left-least))
		docked = take(docked)
	}
	typing = dockedCursor != nil
	show(v.panels.stages[afterDocked])
	approval, approvalCursor := v.panels.decision.Lines(width, max(left-minTranscriptRows, min(left, minApprovalRows)))
	left -= len(approval)
	if len(approval) > 0 && v.focus != onQueue && v.focus != onPlan {
		least = max(least, height/3) // what led to the request comes before plan and queue
	}
	show(v.panels.stages[afterApproval])
	panels, rest := slices.Concat(shown[:atConnection]...), slices.Concat(shown[atConnection:]...)
	gap := func(before, after []string) (blank []string) { // between blocks on grounds, if there is room
		if left > height/3 && len(before) > 0 && len(after) > 0 && v.Styles.Grounds() {
			blank, left = []string{""}, left-1
		}
		return blank
	}
	below := slices.Concat(approval, gap(approval, slices.Concat(rest, docked)), rest)
	panels = append(panels, gap(panels, below)...)
	space := gap([]string{""}, slices.Concat(panels, below, docked))
	transcript := v.transcript.Lines(v.panels.side.Beyond(width), left)
	above := slices.Concat(transcript, space, panels)
	if side > 0 {
		above = v.panels.side.Beside(above, width-side, side)
	}
	for i, line := range composer {
		composer[i] = v.Styles.Keys.MarkRow(inputRows, i, line)
	}
	screen := slices.Concat(above, below, docked, rule)
	switch {
	case approvalCursor != nil && v.focus == onApproval:
		cursor = approvalCursor
		cursor.Y += len(above)
	case dockedCursor != nil && len(docked) > dockedCursor.Y:
		cursor = dockedCursor
		cursor.Y += len(above) + len(below)
	case cursor != nil:
		cursor.Y += len(screen)
	}
	return slices.Concat(screen, v.Styles.Ground(composer, width)), cursor
}

// composerRule returns the line above the composer.
func (v *View) composerRule(width int) string {
	s := v.Styles
	if title := v.input.Title(); title != "" {
		return s.Rule(title, width)
	}
	title, copying := v.transcript.Below(), v.transcript.CopyHint()
	switch {
	case copying != "":
		title = copying
	case v.focus == onTranscript:
		hint := v.transcript.Hint()
		if title != "" {
			hint = title + ui.Prefixed(keymap.Separator, hint)
		}
		title = s.Dim.Render(ui.FitHints(hint, width-4))
	case title != "":
		title = s.Dim.Render(title)
	}
	return s.Rule(title, width)
}

// lastLine returns the status line, the keys of a docked overlay or the question whether to leave.
func (v *View) lastLine(width int) string {
	if line := v.screen.LeaveLine(width); line != "" {
		return line
	}
	if o, ok := v.overlays.Docked().(interface{ KeyHint() string }); ok && o.KeyHint() != "" && v.status.Text == "" {
		return v.Styles.Dim.Render(ui.Fit(" "+o.KeyHint(), width))
	}
	return v.statusLine.View(width, v.focus.helpHint(v.Styles.Keys))
}
