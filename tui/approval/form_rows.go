package approval

import "slices"

// formRow identifies a row of a form.
type formRow struct {
	kind     rowKind
	question int
	index    int // of the choice, task or option
}

// rowKind is the kind of a row of a form.
type rowKind uint8

const (
	rowNone rowKind = iota
	rowText         // text of a question; the form has no such row
	rowChoice
	rowAnswer
	rowTask
	rowEdit
	rowOption
	rowReason
)

// formRows are the rows of a form, one of them selected.
type formRows struct {
	all      []formRow
	selected int // index; -1: none
}

// current returns the selected row, or the zero row.
func (l *formRows) current() formRow {
	if l.selected < 0 {
		return formRow{}
	}
	return l.all[l.selected]
}

// move moves the selection by a number of rows, within the form.
func (l *formRows) move(by int) { l.selected = min(max(l.selected+by, 0), len(l.all)-1) }

// selectRow selects a row. It returns false if the form has no such row.
func (l *formRows) selectRow(row formRow) bool {
	at := slices.Index(l.all, row)
	if at >= 0 {
		l.selected = at
	}
	return at >= 0
}

// setEdited adds the row of an edited text before the options and selects it, or removes it.
func (l *formRows) setEdited(edited bool) {
	row := formRow{kind: rowEdit}
	at := slices.Index(l.all, row)
	switch {
	case !edited:
		if at >= 0 {
			l.all = slices.Delete(l.all, at, at+1)
		}
		l.selected = min(l.selected, len(l.all)-1)
		return
	case at < 0:
		at = slices.IndexFunc(l.all, func(r formRow) bool { return r.kind == rowOption })
		l.all = slices.Insert(l.all, at, row)
	}
	l.selected = at
}
