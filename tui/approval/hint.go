package approval

import (
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
	var pairs []any
	view := "view"
	if f.card.changes.Changes != nil {
		view = "review"
	}
	seen := f.card.complete(formRow{})
	if !seen {
		pairs = append(pairs, keymap.ViewWhole, view+" the rest")
	}
	pairs = append(pairs, f.decisionKeys(r)...)
	hint := []string{keys.Hint(pairs...), "1…9 choose", keys.Hint(keymap.Choose, "confirm")}
	pairs = []any{keymap.WriteReason, "reason"}
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

// decisionKeys returns the keys that deny and, after all of the request was on the screen, allow it,
// with the names of what they decide, if the request offers that.
func (f *Form) decisionKeys(r *protocol.Approval) []any {
	var pairs []any
	add := func(action keymap.Action, kind protocol.Decision) {
		if r.Offers(kind) {
			pairs = append(pairs, action, strings.ToLower(f.options.ofKind(kind).name()))
		}
	}
	if f.card.complete(formRow{}) {
		if r.Page != nil {
			pairs = append(pairs, keymap.Open, "open")
		}
		add(keymap.Allow, protocol.AllowOnce)
	}
	add(keymap.DenyRequest, protocol.Deny)
	return pairs
}
