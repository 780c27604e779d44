package protolog

import (
	"bytes"
	"strconv"
	"strings"
)

// Direction is a direction of messages.
type Direction uint8

// Directions of messages. Both matches messages of either direction.
const (
	Both Direction = iota
	Sent
	Received
)

// Next returns the direction after d, in a cycle.
func (d Direction) Next() Direction { return (d + 1) % 3 }

// Filter selects messages. The zero value selects all. Notes match any direction and type.
type Filter struct {
	Direction Direction
	Type      string // a result of Message.Type; "" for any
	Query     string // words that must all occur, in any case; a word after a minus must not occur
}

// IsZero reports whether the filter selects all messages.
func (f *Filter) IsZero() bool { return *f == Filter{} }

// String describes the filter for the screen.
func (f *Filter) String() string {
	var out []string
	switch f.Direction {
	case Sent:
		out = append(out, "→ sent")
	case Received:
		out = append(out, "← received")
	case Both:
	}
	if f.Type != "" {
		out = append(out, f.Type)
	}
	if f.Query != "" {
		out = append(out, strconv.Quote(f.Query))
	}
	return strings.Join(out, ", ")
}

// matches reports whether the filter selects m. terms is the result of f.queryTerms.
func (f *Filter) matches(m *Message, terms [][]byte) bool {
	if !m.Note {
		if f.Direction != Both && m.Sent != (f.Direction == Sent) || f.Type != "" && m.Type() != f.Type {
			return false
		}
	}
	if len(terms) == 0 {
		return true
	}
	text := bytes.ToLower(m.Text)
	label := strings.ToLower(m.Label)
	for _, w := range terms {
		wanted := w[0] != '-' || len(w) == 1
		if !wanted {
			w = w[1:]
		}
		if wanted != (bytes.Contains(text, w) || strings.Contains(label, string(w))) {
			return false
		}
	}
	return true
}

// queryTerms returns the words of Query in lower case.
func (f *Filter) queryTerms() [][]byte { return bytes.Fields(bytes.ToLower([]byte(f.Query))) }
