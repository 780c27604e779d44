package transcript

// selectionBar replaces the first column of a selected item's lines. Items leave that column blank.
const selectionBar = "▌"

type selection struct {
	item   ID
	active bool
}

// Selected returns the selected item, if there is one.
func (l *List) Selected() (ID, bool) {
	return l.selection.item, l.selection.active && l.Len() > 0
}

// ClearSelection removes the selection.
func (l *List) ClearSelection() { l.selection.active = false }

// SelectItem selects an item and scrolls it into the window.
func (l *List) SelectItem(id ID) {
	if l.Len() == 0 {
		return
	}
	l.setSelection(id)
	l.ensureItemVisible(l.selection.item)
}

// MoveSelection selects the item the given number of items after the selected one, or before it if
// by is negative. With no selection, it selects the last item in the window.
func (l *List) MoveSelection(by int) {
	if l.Len() == 0 {
		return
	}
	if !l.selection.active {
		last := l.Last()
		l.VisitVisible(func(id ID, _, _ int) { last = id })
		l.SelectItem(last)
		return
	}
	l.SelectItem(l.selection.item + ID(by))
}

// SelectLine selects an item and scrolls one of its lines to the middle of the window.
func (l *List) SelectLine(id ID, line int) {
	if l.Len() == 0 {
		return
	}
	l.setSelection(id)
	at := l.Clamp(Point{l.selection.item, line})
	l.setTop(l.MovePoint(at, -(l.height / 2)))
}

// setSelection selects an item, or the first or last one if the ID is out of range.
func (l *List) setSelection(id ID) {
	l.selection = selection{item: min(max(id, l.First()), l.Last()), active: true}
}
