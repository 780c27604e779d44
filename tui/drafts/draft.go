package drafts

import (
	"slices"

	"agentctl/internal/attachment"
)

// Draft is an unsent message of a session.
type Draft struct {
	Text  string            `json:"text"`
	Shell bool              `json:"shell,omitempty"` // a shell command of the user, not a message
	Files []attachment.File `json:"files,omitempty"`
}

// Empty reports whether there is neither text nor file.
func (d *Draft) Empty() bool { return d.Text == "" && len(d.Files) == 0 }

// Equal reports whether two drafts have the same text and files.
func (d *Draft) Equal(other Draft) bool {
	same := func(a, b attachment.File) bool { return a.Name == b.Name && a.Size == b.Size }
	return d.Text == other.Text && d.Shell == other.Shell && slices.EqualFunc(d.Files, other.Files, same)
}
