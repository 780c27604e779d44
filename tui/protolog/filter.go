package protolog

import (
	"bytes"
	"strconv"
	"strings"
)

// Direction is which way messages go.
type Direction uint8

// The directions of a filter.
const (
	Both Direction = iota
	Sent
	Received
)

// Next is the next direction, round and round.
func (d Direction) Next() Direction { return (d + 1) % 3 }

// A Filter says which messages are shown; the zero one shows all. Notes of the
// connection pass any direction and type.
type Filter struct {
	Direction Direction
	Type      string // a message's type; "": any
	Query     string // all of which a message holds, whatever their case; those after a minus it does not
}

// IsZero is true when everything passes.
func (f *Filter) IsZero() bool { return *f == Filter{} }

// String says what is shown.
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

// passes tells whether a message is shown. words are the filter's, in lower case.
func (f *Filter) passes(m *Message, words [][]byte) bool {
	if !m.Note {
		if f.Direction != Both && m.Sent != (f.Direction == Sent) || f.Type != "" && m.Type() != f.Type {
			return false
		}
	}
	if len(words) == 0 {
		return true
	}
	text := bytes.ToLower(m.Text)
	kind := strings.ToLower(m.Label)
	for _, w := range words {
		wanted := w[0] != '-' || len(w) == 1
		if !wanted {
			w = w[1:]
		}
		if wanted != (bytes.Contains(text, w) || strings.Contains(kind, string(w))) {
			return false
		}
	}
	return true
}

func (f *Filter) words() [][]byte { return bytes.Fields(bytes.ToLower([]byte(f.Query))) }
