package form

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"agentctl/internal/safetext"
	"agentctl/protocol"
)

type field struct {
	question protocol.Question
	boolean  bool
	values   []string // of the choices; nil: the field has none
	note     string   // the name of the field for other answers than the choices; empty: none
	noteOf   string   // the field whose note it is; empty: none
}

const fieldKeywords = "type title description minLength maxLength pattern format default enum enumNames oneOf minimum " +
	"maximum minItems maxItems uniqueItems items writeOnly"

func parseField(name string, schema json.RawMessage, hints Reader) (*field, error) {
	invisible := func(r rune) bool { return safetext.IsInvisible(r) || safetext.IsBlank(r) }
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, invisible) {
		return nil, errors.New("its name cannot be shown")
	}
	o, err := readObject(schema)
	if err != nil {
		return nil, err
	}
	x := &field{question: protocol.Question{ID: name, Text: name}}
	q := &x.question
	kind, writeOnly := "", false
	err = errors.Join(o.read("type", &kind), o.read("title", &q.Text), o.read("description", &q.About),
		o.read("writeOnly", &writeOnly))
	if err != nil {
		return nil, err
	}
	q.Text = cmp.Or(q.Text, name)
	hint := hints(name, q.Text, o.values["_meta"])
	x.noteOf = hint.NoteOf
	more, err := o.unknown(fieldKeywords)
	if err != nil {
		return nil, err
	}
	q.About = lines(append([]string{q.About}, more...)...)
	switch kind {
	case "string":
		err = x.parseString(&o)
		secret := q.Format == "password" || writeOnly || hint.Secret || namesSecret(name) || namesSecret(q.Text)
		if q.Secret = secret && x.values == nil; q.Secret && q.Format == "password" {
			q.Format = ""
		}
	case "integer", "number":
		q.Type = kind
		err = x.parseNumber(&o)
	case "boolean":
		x.boolean, q.Closed = true, true
		x.values = []string{"true", "false"}
		q.Choices = []protocol.Choice{{ID: "true", Label: "Yes"}, {ID: "false", Label: "No"}}
		var value *bool
		if err = o.read("default", &value); value != nil {
			q.Default = []string{strconv.FormatBool(*value)}
		}
	case "array":
		err = x.parseList(&o)
	default:
		err = fmt.Errorf("its type %.80q is not known", kind)
	}
	if err != nil {
		return nil, err
	}
	if len(q.Text) > maxTitle || len(q.About) > maxText || len(q.Pattern) > maxText || len(q.Format) > maxTitle ||
		len(strings.Join(q.Default, "")) > maxText {
		return nil, errors.New("its text is too long")
	}
	return x, nil
}

func (x *field) parseString(o *object) error {
	q := &x.question
	var least, most *uint32
	var value *string
	err := errors.Join(o.read("minLength", &least), o.read("maxLength", &most), o.read("pattern", &q.Pattern),
		o.read("format", &q.Format), o.read("default", &value), x.parseChoices(o, "oneOf"))
	if err != nil {
		return err
	}
	q.Min, q.Max = float(least), float(most)
	if value != nil {
		q.Default = []string{*value}
	}
	if x.values == nil {
		return nil
	}
	if q.Min != nil || q.Max != nil || q.Pattern != "" || q.Format != "" {
		return errors.New("it has choices and restricts its text")
	}
	q.Closed = true
	return x.defaultChoices()
}

func (x *field) parseNumber(o *object) error {
	q := &x.question
	var value *json.Number
	err := errors.Join(o.read("minimum", &q.Min), o.read("maximum", &q.Max), o.read("default", &value))
	if err != nil || value == nil {
		return err
	}
	if q.Default = []string{value.String()}; q.Type == protocol.FieldInteger {
		_, err = protocol.ParseNumber(value.String(), q.Type)
	}
	return err
}

func (x *field) parseList(o *object) error {
	q := &x.question
	var least, most *uint64
	var raw json.RawMessage
	err := errors.Join(o.read("minItems", &least), o.read("maxItems", &most), o.read("items", &raw),
		o.read("default", &q.Default))
	if err != nil {
		return err
	}
	items, err := readObject(raw)
	if err != nil {
		return fmt.Errorf("items: %w", err)
	}
	if more, err := items.unknown("type enum anyOf oneOf enumNames"); err != nil || more != nil {
		return cmpError(err, "its items are not only choices")
	}
	kind, titled := "string", "anyOf"
	if items.values["anyOf"] == nil {
		titled = "oneOf"
	}
	err = errors.Join(items.read("type", &kind), x.parseChoices(&items, titled))
	if err != nil || kind != "string" || x.values == nil {
		return cmpError(err, "it is a list without choices")
	}
	q.Min, q.Max = float(least), float(most)
	q.Many, q.Closed = true, true
	return x.defaultChoices()
}

// emptyChoice is the id of the choice whose value is empty.
const emptyChoice = "(empty)"

// parseChoices reads the choices: texts in enum, or texts with titles under another name.
func (x *field) parseChoices(o *object, titled string) error {
	var values, titles []string
	var options []json.RawMessage
	err := errors.Join(o.read("enum", &values), o.read("enumNames", &titles), o.read(titled, &options))
	if err != nil {
		return err
	}
	if o.values["enum"] == nil && o.values[titled] == nil {
		return nil
	}
	if len(values)+len(options) > maxChoices || len(values) > 0 && len(options) > 0 || len(titles) > len(values) {
		return fmt.Errorf("it has %d choices, more than %d, or two lists of them", len(values)+len(options), maxChoices)
	}
	x.values = []string{}
	for i, value := range values {
		label := value
		if i < len(titles) {
			label = titles[i]
		}
		if err := x.addChoice(value, label, ""); err != nil {
			return err
		}
	}
	for _, raw := range options {
		option, err := readObject(raw)
		if err != nil {
			return err
		}
		var value *string
		label, about := "", ""
		more, unknown := option.unknown("const title description type")
		err = errors.Join(unknown, option.read("const", &value), option.read("title", &label),
			option.read("description", &about))
		if err != nil || value == nil || more != nil {
			return cmpError(err, "a choice is not a text")
		}
		if err := x.addChoice(*value, cmp.Or(label, *value), about); err != nil {
			return err
		}
	}
	if len(x.values) == 0 {
		return errors.New("it has no choices")
	}
	return nil
}

func (x *field) addChoice(value, label, about string) error {
	if slices.Contains(x.values, value) || value == emptyChoice {
		return fmt.Errorf("it has the choice %.80q twice", value)
	}
	if len(value) > maxText || len(label) > maxTitle || len(about) > maxText {
		return errors.New("a choice is too long")
	}
	x.values = append(x.values, value)
	id := cmp.Or(value, emptyChoice)
	x.question.Choices = append(x.question.Choices, protocol.Choice{ID: id, Label: cmp.Or(label, id), About: about})
	return nil
}

// defaultChoices checks that the default answers are choices, and makes them ids.
func (x *field) defaultChoices() error {
	for i, value := range x.question.Default {
		if !slices.Contains(x.values, value) {
			return fmt.Errorf("its default %.80q is no choice", value)
		}
		x.question.Default[i] = cmp.Or(value, emptyChoice)
	}
	return nil
}

// plain reports whether the field takes any text.
func (x *field) plain() bool {
	f := &x.question.Field
	return x.values == nil && f.Type == "" && !f.Required && !f.Secret && f.Default == nil && f.Min == nil &&
		f.Max == nil && f.Format == "" && f.Pattern == ""
}

// addTo adds checked answers as the value of the field, if there are any.
func (x *field) addTo(content map[string]any, given []string) error {
	name := x.question.ID
	var chosen, texts []string
	for _, answer := range given {
		i := slices.IndexFunc(x.question.Choices, func(c protocol.Choice) bool { return c.ID == answer })
		if i < 0 {
			texts = append(texts, answer)
		} else {
			chosen = append(chosen, x.values[i])
		}
	}
	text := strings.Join(texts, "\n")
	switch {
	case len(given) == 0:
	case x.boolean:
		content[name] = chosen[0] == "true"
	case x.question.Type == protocol.FieldInteger:
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		content[name] = n
		return err //nolint:wrapcheck // checked before
	case x.question.Type == protocol.FieldNumber:
		n, err := protocol.ParseNumber(text, x.question.Type)
		content[name] = n
		return err
	case x.values == nil:
		content[name] = text
	default:
		if x.question.Many && chosen != nil {
			content[name] = chosen
		} else if chosen != nil {
			content[name] = chosen[0]
		}
		if texts != nil && x.note != "" {
			content[x.note] = text
		}
	}
	return nil
}

func float[T uint32 | uint64](n *T) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

// lines joins the texts that are not empty, one a line.
func lines(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n")
}

// namesSecret reports whether a name or a title is one of a credential.
func namesSecret(name string) bool {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
	for _, word := range []string{"password", "passwd", "passphrase", "apikey", "privatekey", "credential"} {
		if strings.Contains(letters, word) {
			return true
		}
	}
	return strings.HasSuffix(letters, "token") || strings.HasSuffix(letters, "secret") || letters == "pin"
}
