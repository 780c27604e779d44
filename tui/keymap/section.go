package keymap

import (
	"slices"
	"strings"
)

// Section holds the keys of one place, as the help screen and docs/screen.md list them.
type Section struct {
	Scope Scope
	Rows  []Row
}

// Row is a line of the help: keys in display form, and what they do.
type Row struct {
	Keys, About string
}

// fixed lists the keys that cannot be rebound, first in their section.
var fixed = []struct {
	scope Scope
	row   Row
}{
	{Global, Row{Keys: "ctrl+c twice", About: "leave; the session continues"}},
	{Composer, Row{Keys: "alt+enter, ctrl+j", About: "new line"}},
	{Composer, Row{Keys: "ctrl+c", About: "clear the draft"}},
	{Composer, Row{Keys: "ctrl+d", About: "delete a character; when empty: leave"}},
	{Composer, Row{Keys: "esc esc", About: "edit your last message"}},
	{Composer, Row{Keys: "ctrl+w, ctrl+u", About: "delete; ctrl+y inserts it"}},
	{Composer, Row{Keys: "! first", About: "shell command on this machine"}},
	{Composer, Row{Keys: "/ first", About: "commands"}},
	{Composer, Row{Keys: "// first", About: "command of the agent"}},
	{Composer, Row{Keys: "@ in a word", About: "files"}},
	{Composer, Row{Keys: "alt+1 … alt+9", About: "choose an option of the request"}},
	{Lists, Row{Keys: "text", About: "filters, in a list with a field"}},
	{Approval, Row{Keys: "1 … 9", About: "choose; enter confirms"}},
}

// FirstPage is the maximum number of rows of the first page of the help.
const FirstPage = 20

// essential are the actions of each place on the first page of the help, then the actions of every place.
var (
	essential = map[Scope][]Action{
		Global:     {Send, SendSteer, Cancel, EarlierMessage, SearchPrompts, OpenEditor, PasteImage},
		Lists:      {Up, Down, Choose, ListFind, Back},
		Player:     {PlayPause, PlayFaster, PlaySlower, Previous, Next, ListFind},
		Approval:   {Allow, AllowAlways, DenyRequest, WriteReason, ViewWhole, Edit, Previous, Next, Back},
		Queue:      {Edit, Remove, QueueMoveUp, QueueMoveDown, QueueSendNow, QueueSteer, HoldQueue, Back},
		Plan:       {Remove, TaskRestart, Back},
		Transcript: {Toggle, ViewWhole, ListFiles, ListFind, Copy, EnterCopyMode, Previous, NextStep, Back},
		Sessions: {
			Choose, DecideRequest, NewSession, ListFind, MarkSession, SendSessions, Edit, Remove, TogglePreview,
		},
		Context: {Remove, Back},
		Review: {
			PagerPageDown, ReviewUnread, Previous, Next, NextStep, ListFiles, ReviewComment, ListFind, Back,
		},
		Pager: {PagerPageDown, ListFind, NextMatch, PreviousMatch, Back},
	}
	everywhere = []Action{
		OpenPalette, ShowSessions, NextPending, JumpSession, FocusNext, Interrupt, ReleaseQueue, Find, ShowChanges, Help,
	}
)

// First returns the first page of the help of a place: at most [FirstPage] rows.
func (m *Map) First(place Scope) []Section {
	title := place
	if place == Global {
		title = Composer
	}
	here := Section{title, m.rowsWith(essential[place])}
	return []Section{here, {Global, append(m.rowsWith(everywhere), fixed[0].row)}}
}

// rowsWith returns the rows of actions with keys.
func (m *Map) rowsWith(actions []Action) []Row {
	var out []Row
	for _, a := range actions {
		if keys := m.Keys(a); len(keys) > 0 {
			out = append(out, Row{strings.Join(keys, ", "), DefinitionOf(a).About})
		}
	}
	return out
}

// Sections returns the keys of all places in the order of the help screen, the given place first.
// An action without a key is listed by its command.
func (m *Map) Sections(first Scope) []Section {
	scopes := []Scope{}
	add := func(s Scope) {
		if !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	if first != "" {
		add(first)
	}
	for _, d := range m.rows {
		add(d.Scope)
	}
	for i := range fixed {
		add(fixed[i].scope)
	}
	out := make([]Section, len(scopes))
	for i, s := range scopes {
		out[i] = Section{s, m.rowsOf(s)}
	}
	return out
}

// rowsOf returns the rows of one place: the fixed keys, then the keys of its actions.
func (m *Map) rowsOf(s Scope) []Row {
	var out []Row
	for i := range fixed {
		if fixed[i].scope == s {
			out = append(out, fixed[i].row)
		}
	}
	for _, d := range m.rows {
		if d.Scope != s {
			continue
		}
		keys := m.Keys(d.Action)
		if len(keys) == 0 && d.command != nil {
			keys = []string{"/" + d.command.name}
		}
		if len(keys) > 0 {
			out = append(out, Row{strings.Join(keys, ", "), d.About})
		}
	}
	return out
}
