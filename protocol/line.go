package protocol

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Levels of a line, in addition to the levels of a notice.
const (
	LevelSuccess = "success"
	LevelError   = "error"
)

// A Line is an event in words, for readers that show it as one line of text.
type Line struct {
	Level string // LevelInfo, LevelSuccess, LevelWarning or LevelError
	Sign  string // a character to show before the text; "": none
	Text  string // with words of agents and users, as they are
}

func (l Line) String() string {
	if l.Sign == "" {
		return l.Text
	}
	return l.Sign + " " + l.Text
}

// Line returns the event in words. ok is false for types without a line: their readers show more than
// a line, or nothing. The line of an unknown type, of a newer server, says so.
func (e *Event) Line() (_ Line, ok bool) {
	row := eventTypes[e.Type]
	if row == nil {
		return Line{Level: LevelInfo, Sign: "?", Text: string(e.Type) + ", an event that this version does not know"}, true
	}
	if row.line == nil {
		return Line{}, false
	}
	return row.line(e), true
}

// dataOf returns the data of an event for its words. Of data that cannot be decoded the rest counts.
func dataOf[T any](e *Event) *T {
	d := new(T)
	_ = json.Unmarshal(e.Data, d)
	return d
}

// after returns text with ": " before it, or "" if text is empty.
func after(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// suffix returns the part of a type after the dot.
func (t Type) suffix() string {
	_, s, _ := strings.Cut(string(t), ".")
	return s
}
