package tui

import (
	"fmt"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/tui/diff"
	"agentctl/tui/transcript"
)

// grace is how long no key may be pressed after a request came on the screen
// before it takes keys: what was in flight was not meant for it.
const grace = 600 * time.Millisecond

// expiresSoon is when the countdown of a request turns red.
const expiresSoon = 30 * time.Second

// approvals is the panel of requests that wait for a decision, one at a time.
type approvals struct {
	look    *look
	request string // on the screen
	armed   bool
	waits   bool // there is no connection to decide through
	forms   map[string]*form

	// What the last drawing had room for.
	rows  int  // of the form
	whole bool // it is all there, under something of what it is about
}

// follow keeps the panel in step with what is pending; live tells that it came
// just now. It reports whether another request is on the screen now, which then
// has to be armed.
func (a *approvals) follow(pending []protocol.Approval, now time.Time, live bool) (fresh bool) {
	for request := range a.forms {
		if find(pending, request) < 0 {
			delete(a.forms, request)
		}
	}
	for i := range pending {
		if a.forms[pending[i].Request] == nil {
			f := newForm(a.look, &pending[i])
			if live {
				f.came = now
			}
			a.forms[pending[i].Request] = f
		}
	}
	if find(pending, a.request) >= 0 {
		return false
	}
	a.request, a.armed = "", false
	if len(pending) > 0 {
		a.request = pending[0].Request
		return true
	}
	return false
}

// turn shows another of the pending requests.
func (a *approvals) turn(pending []protocol.Approval, by int) {
	if n := len(pending); n > 0 {
		a.request = pending[(find(pending, a.request)+by+n)%n].Request
	}
}

// current is the request on the screen and its form, or nil.
func (a *approvals) current(pending []protocol.Approval) (*protocol.Approval, *form) {
	i := find(pending, a.request)
	if i < 0 {
		return nil, nil
	}
	return &pending[i], a.forms[a.request]
}

func find(pending []protocol.Approval, request string) int {
	for i := range pending {
		if pending[i].Request == request {
			return i
		}
	}
	return -1
}

// Render is at most rows lines; the chosen row of the form is always among
// them, and write is the line where text is written, or -1.
func (a *approvals) Render(pending []protocol.Approval, now time.Time, width, rows int, focused bool) (out []string, write int) {
	a.rows, a.whole = 0, false
	r, f := a.current(pending)
	if r == nil || rows < 1 {
		return nil, -1
	}
	title := a.look.warn.Render("approval")
	if len(pending) > 1 {
		title += fmt.Sprintf(" %d of %d", find(pending, r.Request)+1, len(pending))
	}
	title += " · " + oneLine(transcript.Clean(r.Kind)) + a.expiry(r, f, now) + a.look.dim.Render(" · asked "+a.look.clock(r.Asked))
	title += a.look.dim.Render(a.hint(r, f, focused, len(pending)))
	form, at := f.Render(width, focused)
	if f.sending != "" {
		sending := "sending: "
		if a.waits {
			sending = "waits for the connection: "
		}
		form, at = []string{a.look.warn.Render(fit("   "+sending+f.sending+" …", width))}, 0
	}
	if f.err != "" {
		form = append(form, a.look.bad.Render(fit("   "+oneLine(transcript.Clean(f.err)), width)))
	}
	about, hidden := a.about(f.amended(r), f, width, rows)
	// What the decision is about goes before the options, which can be reached
	// by their keys.
	if room := max(rows-1-len(form), rows/2); hidden > 0 || len(about) > room {
		keep := min(len(about), max(0, room-1))
		more := a.look.warn.Render(fit("   … "+count(hidden+len(about)-keep, "line")+" more: v views all", width))
		about = append(about[:keep:keep], more)
	}
	all := len(form)
	form, at = window(form, at, rows-1-len(about))
	a.rows = len(form)
	a.whole = a.rows == all && len(about) > 0
	if a.whole && 2+len(about)+len(form) <= rows {
		about = append(about, "") // numbers of lines are no numbers of options
	}
	out = slices.Concat([]string{a.look.rule(title, width)}, about, form)
	out = out[:min(len(out), rows)]
	if f.input == nil {
		return out, -1
	}
	return out, len(out) - len(form) + at
}

// window is at most n of the lines, around one of them.
func window(lines []string, at, n int) ([]string, int) {
	if n = max(n, 0); len(lines) <= n {
		return lines, at
	}
	first := max(0, min(at-n/2, len(lines)-n))
	return lines[first : first+n], at - first
}

// expiry counts down to when nobody can decide any more. Of a request that was
// seen to come only its time is taken from the server, whose clock may be another.
func (a *approvals) expiry(r *protocol.Approval, f *form, now time.Time) string {
	if r.Expires == nil {
		return ""
	}
	left := r.Expires.Sub(now)
	if !f.came.IsZero() {
		left = r.Expires.Sub(r.Asked) - now.Sub(f.came)
	}
	switch {
	case left <= 0:
		return a.look.bad.Render(" · expires now")
	case left <= expiresSoon:
		return a.look.bad.Render(fmt.Sprintf(" · expires in %ds", seconds(left)))
	}
	return a.look.warn.Render(" · expires in " + took(time.Duration(seconds(left))*time.Second))
}

func (a *approvals) hint(r *protocol.Approval, f *form, focused bool, pending int) string {
	keys := a.look.keys
	switch {
	case f.sending != "":
		return ""
	case !a.armed:
		return " · a moment …"
	case f.input != nil:
		return " · enter done · esc discard"
	case !focused && keys.key(doNextPart) == "":
		return " · a number"
	case !focused:
		return prefixed(between, keys.key(doNextPart)) + ", or a number"
	}
	pairs := []any{doReason, "reason", doExamine, "view"}
	if amendable(r) {
		pairs = append(pairs, doAmend, "edit")
	}
	if pending > 1 {
		pairs = append(pairs, doNextRequest, "other")
	}
	return prefixed(" · ", keys.hint(pairs...))
}

// prefixed is s after something, unless there is no s.
func prefixed(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

// aboutLines is how many lines of changes are laid out to be decided on; all of
// them are a key away.
const aboutLines = 200

// about is what the decision is about, of at most so many rows, and how many
// lines of it are left out.
// Nothing of it is hidden: characters that would not show are made visible.
func (a *approvals) about(r *protocol.Approval, f *form, width, rows int) (out []string, hidden int) {
	changes := f.changed(r)
	add := func(lines []string, dress func(string) string) {
		room := max(0, min(len(lines), rows-len(out)))
		hidden += len(lines) - room
		for _, line := range lines[:room] {
			out = append(out, "   "+dress(line))
		}
	}
	for _, p := range passages(r, f.patched) {
		text := transcript.NewText()
		if p.pre {
			text = transcript.NewPreformatted()
		}
		text.Append(transcript.Reveal(p.text))
		dress := a.look.passage(p.role)
		got, _ := text.Lines(width - indent)
		add(got, dress)
	}
	if changes != nil {
		lines, more := changes.Lines(max(1, width-indent), aboutLines, a.look.split(width))
		add(lines, a.look.dress)
		hidden += more
	}
	return out, hidden
}

// changed is what a request changes, or nil; it is laid out once.
func (f *form) changed(r *protocol.Approval) *changes {
	if f.changes == nil || f.laid != r.Patch {
		f.laid = r.Patch
		f.changes, f.patched = changesOf(r)
	}
	return f.changes
}

// changesOf is what a request changes, or nil. A patch that cannot be read shows
// as it is.
func changesOf(r *protocol.Approval) (c *changes, patched bool) {
	files, patched := diff.Parse(transcript.Reveal(r.Patch))
	if !patched {
		files = nil
	}
	if files = append(files, comparisons(r.Content, transcript.Reveal)...); len(files) > 0 {
		c = newChanges(files)
	}
	return c, patched
}

// passage is one piece of what a request says.
type passage struct {
	role role
	pre  bool
	text string
}

type role uint8

const (
	isText role = iota
	isTitle
	isCommand
	isDetail
)

func (l *look) passage(r role) func(string) string {
	switch r {
	case isTitle:
		return func(s string) string { return l.bold.Render(s) }
	case isDetail:
		return func(s string) string { return l.dim.Render(s) }
	}
	return func(s string) string { return s }
}

// passages are what a request says, but for the diffs in its content, which show
// as changes, and for its patch where that does, too.
func passages(r *protocol.Approval, patched bool) []passage {
	out := []passage{{isTitle, false, r.Title}}
	add := func(role role, pre bool, before, text string) {
		if text != "" {
			out = append(out, passage{role, pre, before + text})
		}
	}
	add(isCommand, true, "$ ", r.Command)
	add(isDetail, true, "in ", r.CWD)
	add(isText, false, "why: ", r.Why)
	for _, p := range r.Paths {
		add(isDetail, true, "touches ", p)
	}
	if !patched {
		add(isText, true, "", r.Patch)
	}
	for i := range r.Content {
		if r.Content[i].Type != "diff" {
			add(isText, true, "", contentText(&r.Content[i]))
		}
	}
	if r.Command == "" && r.Patch == "" && len(r.Content) == 0 && len(r.Input) > 0 {
		add(isCommand, true, "", readable(r.Input))
	}
	for _, e := range r.Explained {
		add(isText, false, "explained: ", e)
	}
	return out
}
