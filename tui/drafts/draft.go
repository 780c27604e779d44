package drafts

import (
	"slices"
	"strings"

	"agentctl/internal/attachment"
)

// Draft is an unsent message of a session.
type Draft struct {
	Text  string            `json:"text"`
	Shell bool              `json:"shell,omitempty"` // a shell command of the user, not a message
	Files []attachment.File `json:"files,omitempty"`
}

// Empty reports whether there is no text or file.
func (d *Draft) Empty() bool { return d.Text == "" && len(d.Files) == 0 }

// Add adds a text at the end of the draft, which is a message then.
func (d *Draft) Add(text string) {
	if d.Shell {
		d.Text, d.Shell = "! "+d.Text, false
	}
	d.Text = strings.TrimLeft(d.Text+"\n\n"+text, "\n")
}

// Equal reports whether two drafts have the same text and files.
func (d *Draft) Equal(other Draft) bool {
	same := func(a, b attachment.File) bool { return a.Name == b.Name && a.Size == b.Size }
	return d.Text == other.Text && d.Shell == other.Shell &&
		slices.EqualFunc(d.Files, other.Files, same)
}
