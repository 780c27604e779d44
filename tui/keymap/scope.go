package keymap

// Scope is a part of the screen with its own keys. Its value is its heading on the help screen.
type Scope string

// The scopes.
const (
	Global     Scope = "Everywhere"
	Lists      Scope = "Lists"
	Composer   Scope = "Composer"
	Player     Scope = "Player (attach --replay)"
	Approval   Scope = "Approval (tab)"
	Queue      Scope = "Queue (tab)"
	Plan       Scope = "Plan (tab)"
	Transcript Scope = "Transcript (tab)"
	CopyMode   Scope = "Copy mode (space in the transcript)"
	Sessions   Scope = "Sessions"
	Context    Scope = "Context"
	Review     Scope = "Review of changes"
	Pager      Scope = "Pager"
	Tour       Scope = "Tour"
	Panes      Scope = "Sessions side by side (alt+w first)"
)
