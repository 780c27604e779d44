package edit

import (
	"slices"
	"strings"
	"unicode"
)

// maxUndo is the number of changes that can be undone in vi mode.
const maxUndo = 100

// vi edits a text with the keys of vi. It is in insert mode first, where it handles no key.
type vi struct {
	normal   bool
	pending  string // operator or g that waits for a motion
	register string // deleted text
	lines    bool   // the register holds whole lines
	undo     []viText
}

// viText is a text with a cursor, an index of a rune.
type viText struct {
	text   []rune
	cursor int
}

// enter starts normal mode. The cursor moves onto the last inserted character.
func (v *vi) enter(t viText) viText {
	v.normal, v.pending = true, ""
	if t.cursor > t.lineStart(t.cursor) {
		t.cursor--
	}
	return t
}

// press handles a key of normal mode.
func (v *vi) press(key string, t viText) viText {
	before := viText{slices.Clone(t.text), t.cursor}
	operator := v.pending
	v.pending = ""
	switch {
	case operator == "g":
		if key == "g" {
			t.cursor = 0
		}
	case operator != "":
		t = v.operate(operator, key, t)
	case key == "u":
		return v.undoLast(t)
	default:
		t = v.command(key, t)
	}
	if v.pending == "" && string(before.text) != string(t.text) {
		v.remember(before)
	}
	if v.normal {
		t.cursor = t.clamp(t.cursor)
	}
	return t
}

// remember adds a text to those that can be restored.
func (v *vi) remember(t viText) {
	v.undo = append(v.undo, t)
	v.undo = v.undo[max(0, len(v.undo)-maxUndo):]
}

// undoLast restores the text before the last change.
func (v *vi) undoLast(t viText) viText {
	for n := len(v.undo); n > 0; n-- {
		last := v.undo[n-1]
		v.undo = v.undo[:n-1]
		if string(last.text) != string(t.text) {
			last.cursor = last.clamp(last.cursor)
			return last
		}
	}
	return t
}

// insert starts insert mode with the cursor at an index.
func (v *vi) insert(t viText, cursor int) viText {
	v.normal = false
	v.remember(viText{slices.Clone(t.text), t.cursor})
	t.cursor = min(max(cursor, 0), len(t.text))
	return t
}

// command handles a key that follows no operator.
func (v *vi) command(key string, t viText) viText {
	start, end := t.lineStart(t.cursor), t.lineEnd(t.cursor)
	switch key {
	case "d", "c", "y", "g":
		v.pending = key
	case "i":
		return v.insert(t, t.cursor)
	case "a":
		return v.insert(t, min(t.cursor+1, end))
	case "I":
		return v.insert(t, t.firstNonBlank(start))
	case "A":
		return v.insert(t, end)
	case "o":
		return v.insert(t.replace(end, end, "\n"), end+1)
	case "O":
		return v.insert(t.replace(start, start, "\n"), start)
	case "x":
		return v.cut(t, t.cursor, min(t.cursor+1, end))
	case "X":
		return v.cut(t, max(t.cursor-1, start), t.cursor)
	case "D":
		return v.cut(t, t.cursor, end)
	case "C":
		t = v.cut(t, t.cursor, end)
		return v.insert(t, t.cursor)
	case "p", "P":
		return v.put(key == "p", t)
	default:
		if to, ok := t.motion(key); ok {
			t.cursor = to
		}
	}
	return t
}

// operate applies an operator to the text up to a motion, or to the line if the key repeats it.
func (v *vi) operate(operator, key string, t viText) viText {
	start, end := t.lineStart(t.cursor), t.lineEnd(t.cursor)
	cursor := t.cursor
	if key == operator {
		v.register, v.lines = string(t.text[start:end])+"\n", true
		switch {
		case operator == "y":
			return t
		case operator == "c":
			return v.insert(t.replace(start, end, ""), start)
		case end < len(t.text):
			end++
		case start > 0:
			start--
		}
		t = t.replace(start, end, "")
		t.cursor = t.firstNonBlank(t.lineStart(min(start, len(t.text))))
		return t
	}
	if operator == "c" && key == "w" { // as in vi, the space after the word stays
		key = "e"
	}
	to, ok := t.motion(key)
	if !ok || key == "j" || key == "k" || key == "G" {
		return t
	}
	if key == "e" || key == "$" {
		to = min(to+1, len(t.text))
	}
	if key == "w" { // not beyond the line
		to = min(to, max(end, cursor))
	}
	if operator == "y" {
		v.register, v.lines = string(t.text[min(cursor, to):max(cursor, to)]), false
		return t
	}
	t = v.cut(t, min(cursor, to), max(cursor, to))
	if operator == "c" {
		return v.insert(t, t.cursor)
	}
	return t
}

// cut moves a range into the register.
func (v *vi) cut(t viText, from, to int) viText {
	if from < to {
		v.register, v.lines = string(t.text[from:to]), false
	}
	return t.replace(from, to, "")
}

// put inserts the register after the cursor or before it.
func (v *vi) put(after bool, t viText) viText {
	at, text := t.cursor, v.register
	switch {
	case text == "":
		return t
	case v.lines && !after:
		at = t.lineStart(t.cursor)
	case v.lines:
		at, text = t.lineEnd(t.cursor), "\n"+strings.TrimSuffix(text, "\n")
	case after:
		at = min(at+1, t.lineEnd(t.cursor))
	}
	n := len([]rune(text))
	t = t.replace(at, at, text)
	switch {
	case v.lines && after:
		t.cursor = at + 1
	case !v.lines:
		t.cursor = at + n - 1
	}
	return t
}

// replace replaces a range. The cursor is at its start.
func (t viText) replace(from, to int, with string) viText {
	text := slices.Concat(t.text[:from], []rune(with), t.text[to:])
	return viText{text, from}
}

// lineStart and lineEnd return the ends of the line at an index, without its newline.
func (t viText) lineStart(at int) int {
	for at > 0 && t.text[at-1] != '\n' {
		at--
	}
	return at
}

func (t viText) lineEnd(at int) int {
	for at < len(t.text) && t.text[at] != '\n' {
		at++
	}
	return at
}

// firstNonBlank returns the first character of a line that is not a space.
func (t viText) firstNonBlank(start int) int {
	at := start
	for at < len(t.text) && (t.text[at] == ' ' || t.text[at] == '\t') {
		at++
	}
	return at
}

// clamp returns a cursor of normal mode: on a character of its line, if the line has one.
func (t viText) clamp(at int) int {
	at = min(max(at, 0), len(t.text))
	if at > t.lineStart(at) && at == t.lineEnd(at) {
		at--
	}
	return at
}

// motion returns the destination of a motion.
func (t viText) motion(key string) (to int, ok bool) {
	start, end := t.lineStart(t.cursor), t.lineEnd(t.cursor)
	switch key {
	case "h", "backspace":
		return max(t.cursor-1, start), true
	case "l", "space":
		return min(t.cursor+1, end), true
	case "0":
		return start, true
	case "^":
		return t.firstNonBlank(start), true
	case "$":
		return max(end-1, start), true
	case "j":
		if end == len(t.text) {
			return t.cursor, true
		}
		return min(end+1+t.cursor-start, t.lineEnd(end+1)), true
	case "k":
		if start == 0 {
			return t.cursor, true
		}
		return min(t.lineStart(start-1)+t.cursor-start, start-1), true
	case "w":
		return t.nextWord(), true
	case "b":
		return t.previousWord(), true
	case "e":
		return t.wordEnd(), true
	case "G":
		return t.firstNonBlank(t.lineStart(len(t.text))), true
	}
	return 0, false
}

// kind returns the kind of a character: 0 for space, 1 for letters and digits, 2 for others.
func kind(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return 0
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_':
		return 1
	}
	return 2
}

// nextWord returns the start of the next word.
func (t viText) nextWord() int {
	at := t.cursor
	for at < len(t.text) && kind(t.text[at]) == kind(t.text[t.cursor]) && kind(t.text[at]) != 0 {
		at++
	}
	for at < len(t.text) && kind(t.text[at]) == 0 {
		at++
	}
	return at
}

// previousWord returns the start of the word before the cursor.
func (t viText) previousWord() int {
	at := t.cursor
	for at > 0 && kind(t.text[at-1]) == 0 {
		at--
	}
	for from := at; at > 0 && kind(t.text[at-1]) == kind(t.text[from-1]); {
		at--
	}
	return at
}

// wordEnd returns the last character of the word after the cursor.
func (t viText) wordEnd() int {
	at := t.cursor + 1
	for at < len(t.text) && kind(t.text[at]) == 0 {
		at++
	}
	for at+1 < len(t.text) && kind(t.text[at+1]) == kind(t.text[at]) {
		at++
	}
	return min(at, max(len(t.text)-1, 0))
}
