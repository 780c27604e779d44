package llm

import "agentctl/protocol"

// Texts for the model about what the user edited.
const (
	editedPatch   = "The user edited the patch before it was applied. Applied was:\n"
	editedCommand = "The user edited the command before it ran. Run was:\n"
)

// editsOf returns what an answer changes of a request.
func editsOf(a *protocol.Approval, in *protocol.ApprovalInput) (e Edits) {
	if in == nil {
		return e
	}
	e.Answers = in.Answers
	if e.Tasks = in.Tasks; in.Patch != a.Patch {
		e.Patch = in.Patch
	}
	if in.Command != a.Command {
		e.Command = in.Command
	}
	return e
}

// described tells the model of the edits, or is empty.
func (e *Edits) described() string {
	switch {
	case e.Patch != "":
		return editedPatch + e.Patch + "\n\n"
	case e.Command != "":
		return editedCommand + e.Command + "\n\n"
	}
	return ""
}
