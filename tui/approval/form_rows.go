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
	rowText         // text of a question, above its rows; it cannot be selected
	rowChoice
	rowAnswer
	rowTask
	rowEdit
	rowOption
	rowReason
	rowAbove // no row: a text in the line above the card
)

// asks reports whether the row belongs to a question.
func (r formRow) asks() bool { return r.kind == rowChoice || r.kind == rowAnswer }

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

// selectQuestion selects the first row of a question.
func (l *formRows) selectQuestion(question int) {
	if at := slices.IndexFunc(l.all, func(r formRow) bool { return r.asks() && r.question == question }); at >= 0 {
		l.selected = at
	}
}

// leaveQuestion selects the row of a text in a question, or else the first row after it.
func (l *formRows) leaveQuestion(question int) {
	for at := l.selected; at < len(l.all); at++ {
		if r := l.all[at]; !r.asks() || r.question != question {
			l.selected = at
			return
		}
	}
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
