package catalog

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/acp/unidiff"
)

// An Edit is a request to change files.
type Edit struct {
	Call    string             // the agent's id of the call
	Changes []protocol.Content // diffs, as users see them
}

// An EditField reports whether the value of an argument is what the changes of an edit show. args
// has the argument.
type EditField func(e *Edit, args *protocol.Arguments, value json.RawMessage) bool

// Unseen returns the arguments of an edit without those whose value its changes show. Arguments that
// can be read in several ways, or of which none is shown, are returned as they are.
func (a *Agent) Unseen(e *Edit, input json.RawMessage) json.RawMessage {
	args := protocol.ReadArguments(input)
	fields := args.Fields()
	for name, value := range args.Fields() {
		if shown := a.EditFields[name]; shown != nil && len(e.Changes) > 0 && shown(e, &args, value) {
			delete(fields, name)
		}
	}
	if len(fields) == len(args.Fields()) {
		return input
	}
	return protocol.MustEncode(fields)
}

// change returns the one change of an edit, or nil.
func (e *Edit) change() *protocol.Content {
	if len(e.Changes) != 1 {
		return nil
	}
	return &e.Changes[0]
}

func oldText(c *protocol.Content) string {
	if c.Old == nil {
		return ""
	}
	return *c.Old
}

// text returns the text that a value is.
func text(value json.RawMessage) (s string, ok bool) {
	return s, len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &s) == nil
}

// isPath accepts the path of the changed file.
func isPath(e *Edit, _ *protocol.Arguments, value json.RawMessage) bool {
	c := e.change()
	s, ok := text(value)
	return c != nil && ok && s == c.Path
}

// isDiff accepts a unified diff of the change.
func isDiff(e *Edit, _ *protocol.Arguments, value json.RawMessage) bool {
	c := e.change()
	s, ok := text(value)
	return c != nil && ok && isDiffOf(s, c)
}

// isReplacement accepts both texts of a replacement that turns the old content of the file into
// the new one. The arguments have the names before and after.
func isReplacement(before, after string) EditField {
	return func(e *Edit, args *protocol.Arguments, _ json.RawMessage) bool {
		from, hasFrom := args.Text(before)
		to, hasTo := args.Text(after)
		c := e.change()
		return c != nil && hasFrom && hasTo && (replaces(oldText(c), from, to, c.New) || replacesAll(c, from, to))
	}
}

// isReplaceAll accepts the switch that a text is replaced everywhere, if it is off or the change
// has all replacements.
func isReplaceAll(before, after string) EditField {
	return func(e *Edit, args *protocol.Arguments, value json.RawMessage) bool {
		from, hasFrom := args.Text(before)
		to, hasTo := args.Text(after)
		c := e.change()
		return string(value) == "false" ||
			c != nil && string(value) == "true" && hasFrom && hasTo && replacesAll(c, from, to)
	}
}

// replacesAll reports whether a change replaces a text everywhere.
func replacesAll(c *protocol.Content, from, to string) bool {
	return from != "" && strings.ReplaceAll(oldText(c), from, to) == c.New
}

// isFalse accepts a switch that is off.
func isFalse(_ *Edit, _ *protocol.Arguments, value json.RawMessage) bool {
	return string(value) == "false"
}

// maxPlaces is the number of places at which replaces looks for a replacement.
const maxPlaces = 100

// replaces reports whether a text becomes another if from is replaced by to in one place.
func replaces(text, from, to, want string) bool {
	if from == "" || len(text)-len(from) != len(want)-len(to) {
		return from == "" && text == "" && to == want
	}
	first, last := 0, 0 // places before which, and after which, both texts are the same
	for last < min(len(text)-len(from), len(want)-len(to)) && text[last] == want[last] {
		last++
	}
	for first = len(text) - len(from); first > 0 && text[first+len(from)-1] == want[first+len(to)-1]; {
		first--
	}
	for n, at := 0, first; n < maxPlaces && at <= last; n, at = n+1, at+1 {
		found := strings.Index(text[at:last+len(from)], from)
		if found < 0 {
			return false
		}
		if at += found; strings.HasPrefix(want[at:], to) {
			return true
		}
	}
	return false
}

// changeOf returns the change of a file, or nil.
func (e *Edit) changeOf(path string) *protocol.Content {
	at := slices.IndexFunc(e.Changes, func(c protocol.Content) bool { return c.Path == path })
	if at < 0 {
		return nil
	}
	return &e.Changes[at]
}

// isDiffOf reports whether a unified diff has the change of a file and nothing else: it turns the
// old content into the new one, or, if the change is a part of the file, has one hunk in which it
// replaces the old text by the new one.
func isDiffOf(diff string, c *protocol.Content) bool {
	old := oldText(c)
	hunks, ok := unidiff.Parse(diff, unidiff.File{Path: c.Path, Added: old == ""})
	if !ok || len(hunks) == 0 {
		return false
	}
	if changed, ok := unidiff.Apply(old, hunks); ok && changed == c.New {
		return true
	}
	// Some diffs do not show whether the last line has an end.
	cut := func(lines []string) string { return strings.TrimSuffix(strings.Join(lines, ""), "\n") }
	before, after := cut(hunks[0].Before), cut(hunks[0].After)
	return len(hunks) == 1 && (replaces(before, old, c.New, after) ||
		replaces(before, strings.TrimSuffix(old, "\n"), strings.TrimSuffix(c.New, "\n"), after))
}
