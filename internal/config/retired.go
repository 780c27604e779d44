package config

import (
	"bytes"
	"encoding/json"
	"strings"

	"agentctl/internal/retired"
)

// A retiredReader finds the members of a JSON text whose names are retired.
type retiredReader struct {
	find    func(name string) (retired.Name, bool)
	text    []byte // with spaces in place of these members
	decoder *json.Decoder
	found   []retired.Name
}

// withoutRetired returns a JSON text with spaces in place of the members that find reports as
// retired, and their names. Everything else keeps its place. In a text that is not JSON, only members before
// the error are replaced.
func withoutRetired(text []byte, find func(name string) (retired.Name, bool)) ([]byte, []retired.Name) {
	r := &retiredReader{find: find, text: bytes.Clone(text), decoder: json.NewDecoder(bytes.NewReader(text))}
	_ = r.value("") // who parses the text gets the error
	return r.text, r.found
}

// value reads a value. key is its name, with dots below an object.
func (r *retiredReader) value(key string) error {
	if next := bytes.TrimLeft(r.text[r.decoder.InputOffset():], ": \t\r\n"); len(next) == 0 || next[0] != '{' {
		var any json.RawMessage
		return r.decoder.Decode(&any)
	}
	_, err := r.decoder.Token()
	for first := true; err == nil && r.decoder.More(); {
		start := r.decoder.InputOffset() // before the comma, if there is one
		var token json.Token
		if token, err = r.decoder.Token(); err != nil {
			return err
		}
		name, _ := token.(string) // the decoder wants one
		full := strings.TrimPrefix(key+"."+name, ".")
		n, isRetired := r.find(full)
		if first && !isRetired {
			r.blank(start, start+int64(bytes.IndexByte(r.text[start:], '"'))) // the comma after a retired member
			first = false
		}
		if err = r.value(full); err == nil && isRetired {
			r.blank(start, r.decoder.InputOffset())
			r.found = append(r.found, n)
		}
	}
	if err == nil {
		_, err = r.decoder.Token()
	}
	return err
}

// blank replaces the text between two offsets with spaces, except for line ends.
func (r *retiredReader) blank(start, end int64) {
	for i := start; i < end; i++ {
		if r.text[i] != '\n' {
			r.text[i] = ' '
		}
	}
}
