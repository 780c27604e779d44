package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"agentctl/protocol"
)

// Limits of a server's questions.
const (
	maxFields     = 10
	maxOptions    = 50
	maxFormSchema = 64 << 10
	maxMessage    = 2000
	maxFieldText  = 500
)

// A form holds a server's questions to users: fields of simple types.
type form struct {
	message string
	fields  []field
}

// A field is one value of a form.
type field struct {
	name     string
	required bool

	Type        string
	Title       string
	Description string
	Format      string
	Default     any
	Minimum     *float64
	Maximum     *float64
	MinLength   *int
	MaxLength   *int
	Enum        []string
	EnumNames   []string
	OneOf       []titled // choices
	Items       struct {
		Enum  []string
		AnyOf []titled
	} // choices; several may be selected
}

// A titled is a choice with a text for people.
type titled struct{ Const, Title string }

// newForm reads the questions of a server. The required fields come first, in their order, then the
// others by name: the protocol does not order them.
func newForm(p *sdk.ElicitParams) (*form, error) {
	if p.Mode == "url" || p.URL != "" {
		return nil, errors.New("it wants a page to be opened")
	}
	b, err := json.Marshal(p.RequestedSchema)
	if err != nil || len(b) > maxFormSchema {
		return nil, fmt.Errorf("a schema of %d bytes, more than %d", len(b), maxFormSchema)
	}
	var schema struct {
		Properties map[string]field
		Required   []string
	}
	if err := json.Unmarshal(b, &schema); err != nil {
		return nil, errors.New("fields of an unknown kind")
	}
	f := &form{message: p.Message}
	for name, x := range schema.Properties {
		x.name, x.required = name, slices.Contains(schema.Required, name)
		if err := x.check(); err != nil {
			return nil, err
		}
		f.fields = append(f.fields, x)
	}
	if len(f.fields) > maxFields {
		return nil, fmt.Errorf("%d fields, more than %d", len(f.fields), maxFields)
	}
	if len(f.fields) == 0 { // asks for no more than a yes
		f.fields = []field{{name: "", required: true, Type: "boolean", Title: "Continue?"}}
	}
	slices.SortFunc(f.fields, func(a, b field) int {
		if a.required && b.required {
			return slices.Index(schema.Required, a.name) - slices.Index(schema.Required, b.name)
		}
		if a.required != b.required {
			return map[bool]int{true: -1, false: 1}[a.required]
		}
		return strings.Compare(a.name, b.name)
	})
	return f, nil
}

// check returns an error for a field that users cannot be asked for.
func (x *field) check() error {
	switch {
	case !slices.Contains([]string{"string", "number", "integer", "boolean", "array"}, x.Type):
		return fmt.Errorf("field %.80q has the type %.80q", x.name, x.Type)
	case x.Type == "array" && len(x.choices()) == 0:
		return fmt.Errorf("field %.80q is a list without choices", x.name)
	case len(x.choices()) > maxOptions:
		return fmt.Errorf("field %.80q has %d choices, more than %d", x.name, len(x.choices()), maxOptions)
	}
	return nil
}

// choices returns the values to choose from; none: any value of the type.
func (x *field) choices() []titled {
	switch {
	case x.Type == "boolean":
		return []titled{{"true", "Yes"}, {"false", "No"}}
	case len(x.OneOf) > 0:
		return x.OneOf
	case len(x.Items.AnyOf) > 0:
		return x.Items.AnyOf
	}
	var list []titled
	for i, value := range append(slices.Clone(x.Enum), x.Items.Enum...) {
		title := value
		if i < len(x.EnumNames) {
			title = x.EnumNames[i]
		}
		list = append(list, titled{value, title})
	}
	return list
}

// question returns the field as a question of users. Its choices have numbers as ids.
func (x *field) question() protocol.Question {
	var notes []string
	if !x.required {
		notes = append(notes, "optional")
	}
	if x.Type == "number" || x.Type == "integer" {
		notes = append(notes, x.Type)
	}
	if x.Format != "" {
		notes = append(notes, x.Format)
	}
	if x.Default != nil {
		notes = append(notes, fmt.Sprintf("default %v", x.Default))
	}
	text := cmp.Or(x.Title, x.name)
	if x.Description != "" {
		text += ": " + x.Description
	}
	text = cut(text, maxFieldText)
	if notes != nil {
		text += " (" + cut(strings.Join(notes, ", "), 200) + ")"
	}
	q := protocol.Question{ID: cmp.Or(x.name, "continue"), Text: text, Many: x.Type == "array"}
	for i, c := range x.choices() {
		q.Choices = append(q.Choices, protocol.Choice{
			ID: strconv.Itoa(i + 1), Label: cut(cmp.Or(c.Title, c.Const), maxFieldText),
		})
	}
	return q
}

// content returns the answers as values, or why they do not fit. nil without a problem: users said
// no.
func (f *form) content(answers map[string][]string) (content map[string]any, problem string) {
	content = map[string]any{}
	for i := range f.fields {
		x := &f.fields[i]
		given := slices.DeleteFunc(slices.Clone(answers[x.question().ID]), func(s string) bool {
			return strings.TrimSpace(s) == ""
		})
		if len(given) == 0 {
			if x.required && x.Default == nil {
				return nil, cmp.Or(x.Title, x.name) + " is required"
			}
			continue
		}
		value, err := x.value(given)
		if err != nil {
			return nil, cmp.Or(x.Title, x.name) + ": " + err.Error()
		}
		if x.name == "" && value == false {
			return nil, ""
		}
		if x.name != "" {
			content[x.name] = value
		}
	}
	return content, ""
}

// value returns answers as the value of the field.
func (x *field) value(given []string) (any, error) {
	if list := x.choices(); list != nil {
		var values []string
		for _, answer := range given {
			i := slices.IndexFunc(list, func(c titled) bool {
				return strings.EqualFold(c.Title, answer) || c.Const == answer
			})
			if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(list) { // the id of a choice
				i = n - 1
			}
			if i < 0 {
				return nil, fmt.Errorf("%.80q is not a choice", answer)
			}
			values = append(values, list[i].Const)
		}
		switch x.Type {
		case "array":
			return values, nil
		case "boolean":
			return values[0] == "true", nil
		}
		return values[0], nil
	}
	text := strings.Join(given, "\n")
	if x.Type == "string" {
		n := utf8.RuneCountInString(text)
		switch {
		case x.MinLength != nil && n < *x.MinLength:
			return nil, fmt.Errorf("want at least %d characters", *x.MinLength)
		case x.MaxLength != nil && n > *x.MaxLength:
			return nil, fmt.Errorf("want at most %d characters", *x.MaxLength)
		}
		return text, nil
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	switch {
	case err != nil || x.Type == "integer" && n != float64(int64(n)):
		return nil, fmt.Errorf("%.80q is not of type %s", text, x.Type)
	case x.Minimum != nil && n < *x.Minimum:
		return nil, fmt.Errorf("want at least %g", *x.Minimum)
	case x.Maximum != nil && n > *x.Maximum:
		return nil, fmt.Errorf("want at most %g", *x.Maximum)
	case x.Type == "integer":
		return int64(n), nil
	}
	return n, nil
}
