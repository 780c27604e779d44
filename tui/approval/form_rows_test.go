package approval

import (
	"slices"
	"testing"
)

func TestTheRowOfAnEditStandsBeforeTheOptions(t *testing.T) {
	task, option := formRow{rowTask, 0, 0}, formRow{rowOption, 0, 0}
	edit, reason := formRow{kind: rowEdit}, formRow{kind: rowReason}
	for _, c := range []struct {
		before   []formRow
		selected int
		edited   bool
		after    []formRow
		current  formRow
	}{
		{[]formRow{option, reason}, -1, true, []formRow{edit, option, reason}, edit},
		{[]formRow{task, option, reason}, 2, true, []formRow{task, edit, option, reason}, edit},
		{[]formRow{edit, option, reason}, 2, true, []formRow{edit, option, reason}, edit},
		{[]formRow{edit, option, reason}, 2, false, []formRow{option, reason}, reason},
		{[]formRow{edit, option, reason}, 0, false, []formRow{option, reason}, option},
		{[]formRow{option, reason}, -1, false, []formRow{option, reason}, formRow{}},
	} {
		l := formRows{all: slices.Clone(c.before), selected: c.selected}
		l.setEdited(c.edited)
		if !slices.Equal(l.all, c.after) || l.current() != c.current {
			t.Errorf("%+v: got %+v with %+v selected", c, l.all, l.current())
		}
	}
}

func TestTheSelectionStaysInTheForm(t *testing.T) {
	for _, c := range []struct{ selected, by, want int }{
		{-1, 1, 0}, {-1, -1, 0}, {0, -1, 0}, {0, 1, 1}, {1, 5, 1}, {1, -9, 0},
	} {
		l := formRows{all: []formRow{{rowOption, 0, 0}, {kind: rowReason}}, selected: c.selected}
		if l.move(c.by); l.selected != c.want {
			t.Errorf("%d from %d: got %d, want %d", c.by, c.selected, l.selected, c.want)
		}
	}
	l := formRows{all: []formRow{{kind: rowReason}}}
	if l.selectRow(formRow{rowOption, 0, 3}) || l.selected != 0 {
		t.Error("a row that the form lacks is selected")
	}
}
