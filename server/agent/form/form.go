package form

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"agentctl/protocol"
)

// Limits of a form. One beyond them is refused: nothing of it is left out.
const (
	maxSchema  = 64 << 10 // bytes
	maxFields  = 32
	maxChoices = 100
	maxName    = 128
	maxTitle   = 500
	maxText    = 4 << 10 // other texts of a field
	MaxMessage = 16 << 10
)

// A Form is a form with its fields in their order.
type Form struct {
	About string // its title and description; empty: it has none

	fields   []*field
	required []string
}

// Hints are what agents say about a field in their own ways.
type Hints struct {
	Secret bool   // its answer is a secret
	NoteOf string // the field with choices whose other answers it takes; empty: none
}

// A Reader reads the hints about a field with a name and a title. meta is its metadata, or empty.
type Reader func(name, title string, meta json.RawMessage) Hints

// Parse reads a schema of type object. The errors are for users and agents. hints may be nil.
func Parse(schema json.RawMessage, hints Reader) (*Form, error) {
	if hints == nil {
		hints = func(string, string, json.RawMessage) Hints { return Hints{} }
	}
	f, err := parse(schema, hints)
	if err != nil {
		return nil, fmt.Errorf("the form cannot be shown: %w", err)
	}
	return f, nil
}

func parse(schema json.RawMessage, hints Reader) (*Form, error) {
	if len(schema) > maxSchema {
		return nil, fmt.Errorf("its schema has %d bytes, more than %d", len(schema), maxSchema)
	}
	if len(schema) == 0 || string(schema) == "null" {
		return &Form{}, nil
	}
	root, err := readObject(schema)
	if err != nil {
		return nil, err
	}
	kind, title, about := "object", "", ""
	properties := json.RawMessage("{}")
	var required []string
	var open bool
	err = errors.Join(root.read("type", &kind), root.read("title", &title), root.read("description", &about),
		root.read("properties", &properties), root.read("required", &required),
		root.read("additionalProperties", &open))
	if err != nil {
		return nil, err
	}
	more, err := root.unknown("type title description properties required additionalProperties")
	if err != nil || kind != "object" || more != nil {
		return nil, cmpError(err, "it is not an object of simple fields")
	}
	if len(title) > maxTitle || len(about) > maxText {
		return nil, errors.New("its text is too long")
	}
	members, err := readObject(properties)
	if err != nil {
		return nil, err
	}
	if len(members.names) > maxFields {
		return nil, fmt.Errorf("it has %d fields, more than %d", len(members.names), maxFields)
	}
	f := &Form{About: lines(title, about), required: required}
	for _, name := range members.names {
		x, err := parseField(name, members.values[name], hints)
		if err != nil {
			return nil, fmt.Errorf("field %.80q: %w", name, err)
		}
		x.question.Required = slices.Contains(required, name)
		f.fields = append(f.fields, x)
	}
	for _, name := range required {
		if f.field(name) == nil {
			return nil, fmt.Errorf("it requires %.80q, which is no field", name)
		}
	}
	f.joinNotes()
	return f, nil
}

// cmpError returns err, or else an error with a text.
func cmpError(err error, text string) error {
	if err == nil {
		err = errors.New(text)
	}
	return err
}

func (f *Form) field(name string) *field {
	for _, x := range f.fields {
		if x.question.ID == name {
			return x
		}
	}
	return nil
}

// joinNotes makes the text field of a choice a part of its question: answers beside the choices.
func (f *Form) joinNotes() {
	f.fields = slices.DeleteFunc(f.fields, func(note *field) bool {
		if !note.plain() {
			return false
		}
		for _, x := range f.fields {
			q := &x.question
			if x.values == nil || x.boolean || x.note != "" || note.noteOf != q.ID {
				continue
			}
			x.note, q.Closed = note.question.ID, false
			q.About = lines(q.About, note.question.Text+": "+cmp.Or(note.question.About, note.question.ID))
			return true
		}
		return false
	})
}

// RequiredFirst puts the required fields first, as the schema lists them, for a schema whose fields
// have no order.
func (f *Form) RequiredFirst() {
	place := func(x *field) int {
		if i := slices.Index(f.required, x.question.ID); i >= 0 {
			return i
		}
		return len(f.required)
	}
	slices.SortStableFunc(f.fields, func(a, b *field) int { return place(a) - place(b) })
}

// Questions returns a question for each field.
func (f *Form) Questions() []protocol.Question {
	var list []protocol.Question
	for _, x := range f.fields {
		list = append(list, x.question)
		if q := &list[len(list)-1]; q.Secret && q.Default != nil {
			q.Default, q.Required = nil, false // the default is a secret too
		}
	}
	return list
}

// Content returns answers as the content of the form, with the defaults of fields without one. An
// answer that does not fit is an error with the field's name.
func (f *Form) Content(answers map[string][]string) (map[string]any, error) {
	content := map[string]any{}
	for _, x := range f.fields {
		given, err := x.question.Check(answers[x.question.ID])
		if err != nil {
			return nil, err
		}
		if len(given) == 0 {
			given = x.question.Default
		}
		if err := x.addTo(content, given); err != nil {
			return nil, err
		}
	}
	return content, nil
}
