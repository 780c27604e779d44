package protocol

import (
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Commands about labels.
const (
	DoLabel Verb = "label"
)

var labelCommands = []CommandType{
	{
		Verb: DoLabel, Data: of[LabelData], Result: of[LabelResult],
		Role: RoleOperator, Session: true, Changes: true,
		Words:    "labels of sessions",
		Examples: [2]string{`{"labels":{"k":"v"}}`, `{"labels":{"k":"w"}}`},
		Routes: []Route{
			{
				Name: "changeLabels", Method: "PATCH", Path: "/api/sessions/{id}/labels",
				Summary: "Set labels; an empty value removes one.", Fixed: map[string]string{"replace": "false"},
			},
			{
				Name: "replaceLabels", Method: "PUT", Path: "/api/sessions/{id}/labels",
				Summary: "Replace all labels.", Fixed: map[string]string{"replace": "true"},
			},
		},
	},
}

// Limits of a session's labels.
const (
	MaxLabels     = 32
	MaxLabelKey   = 63  // bytes
	MaxLabelValue = 256 // bytes
)

// Labels that lists understand. Any value counts.
const (
	LabelArchived = "archived" // the session is left out, unless it waits for a user
	LabelPinned   = "pinned"   // the session comes first in its group
)

// Archived reports whether the session is left out of lists.
func (a *Attributes) Archived() bool { return a.Labels[LabelArchived] != "" }

// Pinned reports whether the session comes first in lists.
func (a *Attributes) Pinned() bool { return a.Labels[LabelPinned] != "" }

// ChangeLabels returns labels with the changes applied: an empty value removes the label. It
// changes neither map, and returns nil for no labels.
func ChangeLabels(labels, changes map[string]string) map[string]string {
	if len(changes) == 0 {
		return labels
	}
	out := make(map[string]string, len(labels)+len(changes))
	maps.Copy(out, labels)
	for key, value := range changes {
		if value == "" {
			delete(out, key)
			continue
		}
		out[key] = value
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// CheckLabels returns an error with the code invalid_message if labels are not valid: there are
// more than MaxLabels, a key is not one to MaxLabelKey letters, digits and inner "-", "_", ".", "/"
// of ASCII, or a value is longer than MaxLabelValue bytes or no line of printable text.
func CheckLabels(labels map[string]string) error {
	if len(labels) > MaxLabels {
		return Errorf(CodeInvalidMessage, "%d labels, more than %d: remove some", len(labels), MaxLabels)
	}
	for key, value := range labels {
		if !validLabelKey(key) {
			return Errorf(CodeInvalidMessage, "the label key %.80q is not valid: use at most %d letters, digits "+
				"and inner - _ . /", key, MaxLabelKey)
		}
		if len(value) > MaxLabelValue || !utf8.ValidString(value) || strings.ContainsFunc(value, notPrintable) {
			return Errorf(CodeInvalidMessage, "the value of the label %s is not valid: use a line of at most %d "+
				"bytes", key, MaxLabelValue)
		}
	}
	return nil
}

func notPrintable(r rune) bool { return !unicode.IsPrint(r) }

// validLabelKey reports whether a key has the form that CheckLabels describes.
func validLabelKey(key string) bool {
	if key == "" || len(key) > MaxLabelKey {
		return false
	}
	for i := range len(key) {
		c := key[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case strings.IndexByte("-_./", c) < 0, i == 0, i == len(key)-1:
			return false
		}
	}
	return true
}

// LabelData changes labels. An empty value removes the label. CheckLabels states the limits.
type LabelData struct {
	Labels  map[string]string `json:"labels"`
	Replace bool              `json:"replace,omitempty"` // remove all other labels
}

// LabelResult holds all labels of the session after the change.
type LabelResult struct {
	Labels map[string]string `json:"labels"`
}
