package tui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
)

// amendable tells that what is asked for can be changed before it is allowed.
func amendable(r *protocol.Approval) bool { return r.Editable && r.Patch != "" || len(r.Tasks) > 0 }

// amend has the person change the patch, or the chosen task.
func (m *model) amend(r *protocol.Approval, f *form) tea.Cmd {
	request := r.Request
	switch row := f.rows[f.at]; {
	case row.kind == rowTask:
		t := &f.tasks[row.index]
		f.write(cmp.Or(f.titles[t.ID], t.Title))
	case r.Patch != "" && !r.Editable:
		m.word = "this agent takes no edited patch: deny it and say what to change"
	case r.Patch != "":
		patch := r.Patch
		return m.editText("diff", f.latest(r), func(text string) {
			if f := m.approvals.forms[request]; f != nil {
				f.amend(patch, text)
			}
		})
	case len(r.Tasks) > 0:
		m.word = "choose a task to edit it"
	default:
		m.word = "there is nothing to edit in this request"
	}
	return nil
}

// amend takes an edited patch. One that says what the agent asked for, or
// nothing, is none.
func (f *form) amend(asked, text string) {
	f.err = ""
	at := slices.IndexFunc(f.rows, func(r row) bool { return r.kind == rowPatch })
	if same := strings.TrimRight(text, "\n"); same == strings.TrimRight(asked, "\n") || same == "" {
		f.patch, f.offered = nil, false
		if at >= 0 {
			f.rows = slices.Delete(f.rows, at, at+1)
		}
		f.at = min(f.at, len(f.rows)-1)
		return
	}
	f.patch, f.offered = &text, true
	if at < 0 {
		at = slices.IndexFunc(f.rows, func(r row) bool { return r.kind == rowOption })
		f.rows = slices.Insert(f.rows, at, row{kind: rowPatch})
	}
	f.at = at
}

// latest is the patch to edit on: what was made of it, if anything.
func (f *form) latest(r *protocol.Approval) string {
	if f.patch != nil {
		return *f.patch
	}
	return r.Patch
}

// amended is the request as it would be allowed.
func (f *form) amended(r *protocol.Approval) *protocol.Approval {
	if f.patch == nil || !f.offered {
		return r
	}
	changed := *r
	changed.Patch = *f.patch
	return &changed
}
