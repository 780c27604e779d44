package retired

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Kind is where users wrote a name.
type Kind string

// The kinds of names.
const (
	Setting       Kind = "setting"        // in config.json, with dots below an object: worktree.path
	ServerSetting Kind = "server setting" // in server.json, likewise
	Action        Kind = "action"         // below keys in config.json
	Verb          Kind = "verb"           // a command of agentctl
)

// A Name is a name without a meaning.
type Name struct {
	Kind    Kind
	Name    string
	Since   string // year and month of the version without it
	Instead string // what takes its place, or why nothing does; short, without a full stop
}

// String returns one line for users.
func (n Name) String() string {
	return fmt.Sprintf("%s %q was removed in %s: %s", n.Kind, n.Name, n.Since, n.Instead)
}

// Find returns the retired name of the kind. ok is false if no version knew the name, or this one
// still does.
func (k Kind) Find(name string) (n Name, ok bool) {
	i := slices.IndexFunc(Names(), func(n Name) bool { return n.Kind == k && n.Name == name })
	if i < 0 {
		return Name{}, false
	}
	return Names()[i], true
}

// Names returns all retired names. Rows are never removed: files of users outlive versions.
var Names = sync.OnceValue(func() []Name {
	return append([]Name{
		{
			Verb, "top", "2026-11",
			"agentctl watch --columns name,status,turn,rate,lag; agentctl ls --columns name,status,turn,lag prints them once",
		},
		{Action, "transcript.point", "2026-11", "nothing; say which item you mean in a message"},
		{Action, "review.copy-comments", "2026-11", "nothing; comments are sent with a decision or as a message"},
		{Action, "go-to-pointer", "2026-11", "nothing; users no longer point at items"},
		{Action, "copy.block", "2026-11", "copy.begin and list.down; list.copy copies a code block"},
		{Action, "images", "2026-11", "\"images\" in config.json: auto or off"},
		{Action, "wire", "2026-11", "agentctl attach --wire FILE"},
		{Action, "wire.find", "2026-11", "agentctl attach --wire FILE, and jq or a pager on the file"},
		{Action, "wire.direction", "2026-11", "agentctl attach --wire FILE, and jq or a pager on the file"},
		{Action, "wire.type", "2026-11", "agentctl attach --wire FILE, and jq or a pager on the file"},
		{Action, "wire.pause", "2026-11", "agentctl attach --wire FILE"},
		{Action, "wire.copy", "2026-11", "agentctl attach --wire FILE"},
		{Action, "wire.save", "2026-11", "agentctl attach --wire FILE"},
		{Action, "wire.page-up", "2026-11", "agentctl attach --wire FILE"},
		{Action, "wire.page-down", "2026-11", "agentctl attach --wire FILE"},
		{Action, "wire.leave", "2026-11", "agentctl attach --wire FILE"},
		{Action, "sessions-column", "2026-11", "F2 lists the sessions, alt+w and v or s show others side by side"},
		{Action, "previous-session", "2026-11", "alt+g jumps to a session by name, F8 to the next one that needs you"},
		{Action, "next-session", "2026-11", "alt+g jumps to a session by name, F8 to the next one that needs you"},
		{Action, "outline.jump", "2026-11", "list.choose"},
		{Action, "outline.up", "2026-11", "list.up"},
		{Action, "outline.down", "2026-11", "list.down"},
		{Action, "outline.page-up", "2026-11", "list.page-up"},
		{Action, "outline.page-down", "2026-11", "list.page-down"},
		{Action, "outline.close", "2026-11", "list.back, or the key of outline"},
		{Action, "review.fold", "2026-11", "nothing; list.files shows one file of a review"},
		{Setting, "composer", "2026-11", "ctrl+g opens a message or text field in $VISUAL or $EDITOR, such as vi; text fields have the keys of emacs"},
	}, sharedActions()...)
})

// sharedActions returns the actions of single places that actions of all places replaced.
func sharedActions() (out []Name) {
	for _, r := range []struct{ instead, names string }{
		{"pager.page-down", "review.page-down"},
		{"page-up", "list.page-up pager.page-up review.page-up queue.page-up composer.scroll-up"},
		{"page-down", "list.page-down queue.page-down composer.scroll-down"},
		{"list.find", "pager.find review.find transcript.find sessions.filter found.find player.find"},
		{"list.next-match", "pager.next review.next-match transcript.older-place"},
		{"list.previous-match", "pager.previous review.previous-match transcript.newer-place"},
		{"list.layout", "pager.sides review.layout transcript.sides"},
		{"list.help", "sessions.help transcript.help player.help"},
		{"list.remove", "queue.remove plan.cancel rules.revoke review.remove-comment sessions.end"},
		{"list.previous", "review.previous-file approval.previous transcript.previous-turn player.previous-turn form.previous-choice question.previous"},
		{"list.next", "review.next-file approval.next transcript.next-turn player.next-turn form.next-choice question.next"},
		{"list.first", "player.start"},
		{"list.last", "player.end"},
		{"list.previous-step", "review.previous-hunk transcript.previous-tool transcript.previous-approval transcript.previous-error"},
		{"list.next-step", "review.next-hunk transcript.next-tool transcript.next-approval transcript.next-error"},
		{"list.view", "approval.view transcript.view review.close pager.leave"},
		{"list.edit", "queue.edit approval.edit sessions.rename transcript.open-source"},
		{"list.open", "approval.open transcript.open-file sessions.open"},
		{"list.copy", "transcript.copy-code"},
		{"list.choose", "copy.take form.submit question.confirm"},
		{"list.files", "review.files transcript.changes"},
		{"list.fold", "sessions.children"},
		{"list.down", "form.next"},
		{"list.up", "form.previous"},
		{"list.back", "form.cancel question.cancel"},
		{"composer.earlier", "earlier-message"},
		{"composer.later", "later-message"},
		{"suspend", "composer.restore"},
		{"nothing; ctrl+d cannot be rebound", "composer.delete-or-leave"},
		{"queue.hold", "hold queue.release"},
		{"/clear", "queue.clear"},
		{"/theme", "next-theme"},
		{"outline", "transcript.outline player.outline"},
		{"find", "sessions.find"},
		{"interrupt", "sessions.interrupt"},
		{"pane.larger", "pane.wider pane.taller"},
		{"pane.smaller", "pane.narrower pane.shorter"},
	} {
		for name := range strings.FieldsSeq(r.names) {
			out = append(out, Name{Action, name, "2026-11", r.instead})
		}
	}
	return out
}
