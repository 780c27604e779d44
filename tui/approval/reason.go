package approval

import (
	"strings"

	"agentctl/internal/format"
	"agentctl/tui/review"
)

// reason is what the user writes about a decision.
type reason struct {
	text     string
	comments review.Comments // on the changes
	review   *review.View    // in which they are written, or nil
}

// full returns the reason that the user wrote, then the comments on the changes, one a line.
func (r *reason) full() string { return strings.Trim(r.text+"\n"+r.comments.Text(), "\n") }

// commenting reports whether a comment is being written.
func (r *reason) commenting() bool { return r.review != nil && r.review.Commenting() }

// saveComment saves the comment that is being written, if any.
func (r *reason) saveComment() {
	if r.review != nil {
		r.review.SaveComment()
	}
}

// label returns the label of the reason after the name of its key: how many comments are sent with it.
func (r *reason) label() string {
	if n := r.comments.Len(); n > 0 {
		return " reason with " + format.Count(n, "comment") + ":"
	}
	return " reason:"
}
