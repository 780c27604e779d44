package split

import (
	"encoding/json"
	"errors"
)

// errInvalid is the error of stored data that is no layout.
var errInvalid = errors.New("invalid layout of sessions")

// storedLayout is the stored form of a layout.
type storedLayout struct {
	Focus  string `json:"focus"`
	Zoomed bool   `json:"zoomed,omitempty"`
	Root   *node  `json:"root,omitempty"`
}

// MarshalJSON returns the stored form.
func (l Layout) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedLayout{l.focus, l.zoomed, l.root})
}

// UnmarshalJSON reads the stored form. It returns an error for data that is no layout.
func (l *Layout) UnmarshalJSON(data []byte) error {
	var s storedLayout
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if !s.Root.valid() {
		return errInvalid
	}
	read := Layout{s.Root, s.Focus, s.Zoomed}
	seen := map[string]bool{}
	for _, session := range read.Sessions() {
		if session == "" || seen[session] {
			return errInvalid
		}
		seen[session] = true
	}
	if len(seen) > MaxPanes || len(seen) > 0 && !seen[s.Focus] || len(seen) < 2 && s.Zoomed {
		return errInvalid
	}
	*l = read
	return nil
}

// valid reports whether each node of a stored tree has two sides, or none.
func (n *node) valid() bool {
	if n == nil || n.First == nil && n.Second == nil {
		return true
	}
	return n.First != nil && n.Second != nil && n.Share > 0 && n.Share < 1 && n.First.valid() && n.Second.valid()
}
