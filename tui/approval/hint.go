package approval

import (
	"cmp"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// hint returns the keys that work now on the form of a request. others: another request is pending.
func (d *decider) hint(r *protocol.Approval, f *Form, focused, others bool) string {
	keys := d.styles.Keys
	switch {
	case f.sending != "":
		return ""
	case f.awaits.reason != nil:
		return "enter sends · esc discard"
	case f.edit.field != nil:
		return "enter done · alt+enter new line · esc discard"
	case f.Typing():
		return "enter done · esc discard"
	case !focused:
		return strings.TrimPrefix(ui.Prefixed(keymap.Separator, keys.Hint(keymap.FocusNext, "decides"))+
			" · alt+1…9 chooses", keymap.Separator)
	case !d.guard.armed:
		return "a moment …"
	case f.awaits.always != nil:
		return keys.Hint(keymap.Allow, "allow always", keymap.Back, "back")
	}
	var hint []string
	view := "view"
	if f.card.changes.Changes != nil {
		view = "review"
	}
	seen := f.card.complete(formRow{})
	if !seen {
		hint = append(hint, keys.Hint(keymap.ViewWhole, view+" the rest"))
	}
	hint = append(hint, f.decisionHint(r), "1…9 choose", keys.Hint(keymap.Choose, "confirm"))
	pairs := []any{keymap.WriteReason, "reason"}
	if seen {
		pairs = append(pairs, keymap.ViewWhole, view)
	}
	if editable(r) {
		pairs = append(pairs, keymap.Edit, "edit")
	}
	if others {
		pairs = append(pairs, keymap.Next, "other")
	}
	hint = append(hint, keys.Hint(pairs...), keys.Hint(keymap.Back, "back"))
	return strings.Join(slices.DeleteFunc(hint, func(s string) bool { return s == "" }), keymap.Separator)
}

// decisionHint returns the keys that deny and, after all of the request was on the screen, allow it,
// with the names of what they decide, if the request offers that. A click selects the row of the option,
// and a second one confirms it.
func (f *Form) decisionHint(r *protocol.Approval) string {
	var hint []string
	add := func(list string, action keymap.Action, kind protocol.Decision, name string) {
		o := f.options.ofKind(kind)
		if key := f.styles.Keys.Key(action); key != "" && o != nil {
			row := slices.Index(f.rows.all, o.row)
			hint = append(hint, f.styles.Keys.MarkRow(list, row, key+" "+cmp.Or(name, strings.ToLower(o.name()))))
		}
	}
	seen := f.card.complete(formRow{})
	if seen && r.Page != nil {
		add(PageRows, keymap.Open, protocol.AllowOnce, "open")
	}
	if seen && r.Offers(protocol.AllowOnce) {
		add(Rows, keymap.Allow, protocol.AllowOnce, "")
	}
	if r.Offers(protocol.Deny) {
		add(Rows, keymap.DenyRequest, protocol.Deny, "")
	}
	return strings.Join(hint, keymap.Separator)
}
