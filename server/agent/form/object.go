package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// An object is the members of a JSON object, in their order. Members that are null are left out.
type object struct {
	names  []string
	values map[string]json.RawMessage
}

// readObject reads an object. A name twice can be read in more than one way, so it is refused.
func readObject(raw json.RawMessage) (object, error) {
	o := object{values: map[string]json.RawMessage{}}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return o, errors.New("it is no object")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		name, _ := t.(string)
		var value json.RawMessage
		if err == nil {
			err = d.Decode(&value)
		}
		switch {
		case err != nil:
			return o, errors.New("it is no JSON")
		case seen[name]:
			return o, fmt.Errorf("it has %.80q twice", name)
		}
		if seen[name] = true; string(value) != "null" {
			o.names, o.values[name] = append(o.names, name), value
		}
	}
	return o, nil
}

// read decodes a member into v, which stays as it is without the member.
func (o *object) read(name string, v any) error {
	raw, ok := o.values[name]
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("its %s is of another type", name)
	}
	return nil
}

// annotations are the keywords that say nothing to users.
const annotations = "$comment $id $schema _meta deprecated examples readOnly"

// unknown returns the members without the known ones and annotations, as lines of text. It returns
// an error for one that is no simple value: it may be a part of the form.
func (o *object) unknown(known string) (lines []string, err error) {
	for _, name := range o.names {
		value := o.values[name]
		switch {
		case slices.Contains(strings.Fields(known+" "+annotations), name), strings.HasPrefix(name, "x-"):
		case value[0] == '{', value[0] == '[':
			return nil, fmt.Errorf("%.80q in it is not known", name)
		default:
			lines = append(lines, name+": "+strings.Trim(string(value), `"`))
		}
	}
	return lines, nil
}
