package replay

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"

	"agentctl/protocol"
)

// IDs maps the ids of a conversation to those that stand for them in a run.
type IDs struct {
	fields []string // names of the fields that hold ids
	local  func(id string) bool
	conn   string // of the local ids
	now    map[string]string
}

// NewIDs returns a map without ids for a grammar.
func NewIDs(g *Grammar) *IDs {
	return &IDs{fields: g.IDs, local: g.LocalIDs, now: map[string]string{}}
}

// Of returns the ids of a connection: those that all connections share, and its own.
func (ids *IDs) Of(conn int) *IDs {
	of := *ids
	of.conn = strconv.Itoa(conn)
	return &of
}

// key returns the key of an id in now.
func (ids *IDs) key(recorded string) string {
	if ids.local != nil && ids.local(recorded) {
		return ids.conn + "/" + recorded
	}
	return recorded
}

// Set makes now stand for an id of the conversation.
func (ids *IDs) Set(recorded, now string) { ids.now[ids.key(recorded)] = now }

// Known reports whether an id stands for one of the conversation.
func (ids *IDs) Known(recorded string) bool {
	_, ok := ids.now[ids.key(recorded)]
	return ok
}

// Get returns the id that stands for one of the conversation; without one, the same.
func (ids *IDs) Get(recorded string) string {
	if now, ok := ids.now[ids.key(recorded)]; ok {
		return now
	}
	return recorded
}

// Learn compares a message of the conversation with the one in its place in the run. Fields that
// hold ids in both stand for each other. The first id stays.
func (ids *IDs) Learn(recorded, now any) { ids.learn("", recorded, now) }

func (ids *IDs) learn(field string, recorded, now any) {
	switch r := recorded.(type) {
	case map[string]any:
		if n, ok := now.(map[string]any); ok {
			for name := range r {
				ids.learn(name, r[name], n[name])
			}
		}
	case []any:
		if n, ok := now.([]any); ok {
			for i := range min(len(r), len(n)) {
				ids.learn(field, r[i], n[i])
			}
		}
	case string:
		if n, ok := now.(string); ok && !ids.Known(r) && slices.Contains(ids.fields, field) {
			ids.Set(r, n)
		}
	}
}

// Rewrite replaces the ids in a frame's JSON values. All other bytes stay. A frame that is not JSON
// is returned as it is.
func (ids *IDs) Rewrite(frame string) string {
	d := json.NewDecoder(strings.NewReader(frame))
	var out strings.Builder
	in := []container{{}} // the objects and lists around a token
	for at := int64(0); ; at = d.InputOffset() {
		t, err := d.Token()
		if err == io.EOF {
			return out.String() + frame[at:]
		}
		if err != nil {
			return frame
		}
		token := frame[at:d.InputOffset()]
		last := &in[len(in)-1]
		text, isText := t.(string)
		switch isKey := last.object && !last.value; {
		case t == json.Delim('}') || t == json.Delim(']'):
			in = in[:len(in)-1]
		case isKey:
			last.field, last.value = text, true
		default:
			last.value = false
			if t == json.Delim('{') || t == json.Delim('[') {
				in = append(in, container{object: t == json.Delim('{'), field: last.field})
			} else if isText && slices.Contains(ids.fields, last.field) && ids.Known(text) {
				token = token[:strings.IndexByte(token, '"')] + string(protocol.MustEncode(ids.Get(text)))
			}
		}
		out.WriteString(token)
	}
}

// A container is an object or a list.
type container struct {
	object bool
	field  string // that the next value belongs to
	value  bool   // of an object: the next token begins a value
}
