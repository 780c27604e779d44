package keymap

import (
	"strconv"
	"strings"
	"time"
)

// A mark is a control sequence without effect before a text that a click acts on. It has no width and
// passes all drawing. Text from elsewhere has none: it is drawn without its control sequences.
const (
	markBegin = "\x1b[99:"
	markEnd   = 'm'
)

// Prefixes of targets that are no keys.
const (
	rowPrefix = "\x00"
	newPrefix = "\x01"
)

// SetClickable makes hints and rows clickable from now on.
func (m *Map) SetClickable(on bool) { m.clickable = on }

// Mark returns a text with a mark: a click on it presses the first key of an action. Keys that decide a
// request are not pressed by one click.
func (m *Map) Mark(a Action, text string) string {
	keys := m.byAction[a]
	if len(keys) == 0 || a == Allow || a == AllowAlways || a == DenyRequest {
		return text
	}
	target := keys[0]
	if prefix := m.byAction[PanePrefix]; a.OnPanes() && len(prefix) > 0 {
		target = prefix[0] + " " + target
	}
	return m.mark(target, text)
}

// MarkFixed marks the entries of a hint of keys that text fields always have: enter, esc and tab.
func (m *Map) MarkFixed(hint string) string {
	entries := strings.Split(hint, Separator)
	for i, entry := range entries {
		if key, _, _ := strings.Cut(entry, " "); key == "enter" || key == "esc" || key == "tab" {
			entries[i] = m.mark(key, entry)
		}
	}
	return strings.Join(entries, Separator)
}

// MarkRow returns a line of a list that a click selects as its row n. The name of the list is "" in
// an overlay.
func (m *Map) MarkRow(list string, n int, line string) string {
	return m.mark(rowPrefix+strconv.Itoa(n)+" "+list, line)
}

// MarkNew returns a line of a request that is new: a click acts on nothing before a time.
func (m *Map) MarkNew(until time.Time, line string) string {
	return m.mark(newPrefix+strconv.FormatInt(until.UnixMilli(), 10), line)
}

// mark puts a mark with a target around a text.
func (m *Map) mark(target, text string) string {
	if !m.clickable || text == "" {
		return text
	}
	var out strings.Builder
	for _, b := range []byte(target) {
		out.WriteString(":" + strconv.Itoa(int(b)))
	}
	return markBegin + strings.TrimPrefix(out.String(), ":") + string(markEnd) + text + markBegin + string(markEnd)
}

// Target is what a click on a marked text acts on: keys that it presses one after the other, or a row of
// a list if there are none. It acts on nothing before the time New.
type Target struct {
	Keys []string
	List string
	Row  int
	New  time.Time
}

// CutMark splits a line at its first mark. The target is nil at the end of a marked text. ok is false for
// a line without marks.
func CutMark(line string) (before string, target *Target, after string, ok bool) {
	before, rest, ok := strings.Cut(line, markBegin)
	if !ok {
		return line, nil, "", false
	}
	codes, after, _ := strings.Cut(rest, string(markEnd))
	if codes == "" {
		return before, nil, after, true
	}
	var text []byte
	for code := range strings.SplitSeq(codes, ":") {
		b, _ := strconv.ParseUint(code, 10, 8)
		text = append(text, byte(b))
	}
	if until, ok := strings.CutPrefix(string(text), newPrefix); ok {
		ms, _ := strconv.ParseInt(until, 10, 64)
		return before, &Target{New: time.UnixMilli(ms)}, after, true
	}
	row, isRow := strings.CutPrefix(string(text), rowPrefix)
	if !isRow {
		return before, &Target{Keys: strings.Fields(row)}, after, true
	}
	number, list, _ := strings.Cut(row, " ")
	n, _ := strconv.Atoi(number)
	return before, &Target{List: list, Row: n}, after, true
}
