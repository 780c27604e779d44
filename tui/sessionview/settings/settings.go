package settings

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/sessionview/replica"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Menu is the menu of the agent's settings, such as mode and model.
type Menu struct {
	styles   *ui.Styles
	replica  *replica.Session
	commands *request.Sender
	pending  map[string]string // setting ID → label of the requested value
}

// New returns the menu of a session.
func New(s *ui.Styles, r *replica.Session, c *request.Sender) *Menu {
	return &Menu{styles: s, replica: r, commands: c, pending: map[string]string{}}
}

// Actions returns the actions that show the menus and the form. overlays takes them.
func Actions(s *ui.Styles, r *replica.Session, c *request.Sender, overlays *ui.Stack) panel.Actions {
	push := func(listing ui.Listing, selected string) {
		overlays.Push(ui.NewMenu(s, listing, selected, func() string { return c.Status.Text }))
	}
	// show opens the menu of the values of one setting above the menu of all, or only that if the agent
	// has no choices for it.
	show := func(id string) func() {
		return func() {
			push(New(s, r, c), "")
			if values, value, ok := New(s, r, c).Values(id); ok {
				push(values, value)
				return
			}
			c.Status.Text = "the agent has no setting " + id
		}
	}
	rename := func(name string) panel.Result { return panel.Result{Push: NewRename(s, r, c, overlays, name)} }
	return panel.Actions{
		keymap.ShowSettings:  panel.Do(func() { push(New(s, r, c), "") }),
		keymap.ShowRules:     panel.Do(func() { push(NewRules(s, r, c), "") }),
		keymap.SetMode:       panel.Do(show("mode")),
		keymap.SetModel:      panel.Do(show("model")),
		keymap.RenameSession: {Run: rename, Text: true},
	}
}

// Values returns the menu of the values of one setting, and the value that it has. ok is false if
// the agent has no choices for it.
func (s *Menu) Values(id string) (menu ui.Listing, value string, ok bool) {
	set := s.setting(id)
	if set == nil || len(set.Choices) == 0 {
		return nil, "", false
	}
	return &valueMenu{Menu: s, id: id}, set.Value, true
}

// Title implements [ui.Listing].
func (s *Menu) Title() string {
	state := s.replica.State
	agent := state.Agent
	if o := state.Options; o != nil && o.Name != "" {
		agent = o.Name + " " + o.Version
	}
	return s.styles.Bold.Render("settings") + " · " + format.JoinLines(transcript.Clean(agent))
}

// Empty implements [ui.Listing].
func (s *Menu) Empty() string { return "this agent has no settings" }

// Hint implements [ui.Listing].
func (s *Menu) Hint() string { return "↑↓ · " + s.styles.Keys.Hint(keymap.Choose, "change") }

// Entries implements [ui.Listing].
func (s *Menu) Entries() []ui.Entry {
	options := s.replica.State.Options
	if options == nil {
		return nil
	}
	out := make([]ui.Entry, len(options.Settings))
	for i := range options.Settings {
		set := &options.Settings[i]
		label, details := set.Value, ""
		if c := describe.SettingChoice(set, set.Value); c != nil {
			label, details = cmp.Or(c.Label, c.ID), c.About
		}
		text := cmp.Or(set.Name, set.ID) + ": " + label
		if to, ok := s.pending[set.ID]; ok {
			text += " → " + to + " …"
		}
		out[i] = ui.Entry{
			ID: set.ID, Text: format.JoinLines(transcript.Clean(text)), Details: format.JoinLines(transcript.Clean(details)),
		}
	}
	return out
}

// Act implements [ui.Listing]. It opens the menu of the setting's values.
func (s *Menu) Act(id, key string) ui.Response {
	if s.styles.Keys.At(keymap.Lists, key) != keymap.Choose {
		return ui.Response{}
	}
	values, value, ok := s.Values(id)
	if !ok {
		s.commands.Status.Text = "the agent offers no choices for this setting"
		return ui.Response{}
	}
	return ui.Response{Push: ui.NewMenu(s.styles, values, value, func() string { return s.commands.Status.Text })}
}

// setting returns the setting with an ID, or nil.
func (s *Menu) setting(id string) *protocol.Setting {
	options := s.replica.State.Options
	if options == nil {
		return nil
	}
	if i := slices.IndexFunc(options.Settings, func(set protocol.Setting) bool { return set.ID == id }); i >= 0 {
		return &options.Settings[i]
	}
	return nil
}

// valueMenu is the menu of the values of one setting.
type valueMenu struct {
	*Menu
	id string
}

// Title implements [ui.Listing].
func (v *valueMenu) Title() string {
	name := v.id
	if set := v.setting(v.id); set != nil {
		name = cmp.Or(set.Name, set.ID)
	}
	return v.styles.Bold.Render(format.JoinLines(transcript.Clean(name)))
}

// Empty implements [ui.Listing].
func (v *valueMenu) Empty() string { return "the agent no longer has this setting" }

// Hint implements [ui.Listing].
func (v *valueMenu) Hint() string { return "↑↓ · " + v.styles.Keys.Hint(keymap.Choose, "set") }

// Entries implements [ui.Listing].
func (v *valueMenu) Entries() []ui.Entry {
	set := v.setting(v.id)
	if set == nil {
		return nil
	}
	out := make([]ui.Entry, len(set.Choices))
	for i := range set.Choices {
		choice := &set.Choices[i]
		mark := "( ) "
		if choice.ID == set.Value {
			mark = "(•) "
		}
		text := mark + format.JoinLines(transcript.Clean(cmp.Or(choice.Label, choice.ID)))
		out[i] = ui.Entry{ID: choice.ID, Text: text, Details: format.JoinLines(transcript.Clean(choice.About))}
	}
	return out
}

// Act implements [ui.Listing]. The new value is shown as pending until the answer arrives.
func (v *valueMenu) Act(id, key string) ui.Response {
	if v.styles.Keys.At(keymap.Lists, key) != keymap.Choose {
		return ui.Response{}
	}
	set := v.setting(v.id)
	if set == nil || set.Value == id {
		return ui.Response{Close: true}
	}
	v.pending[set.ID] = id
	if c := describe.SettingChoice(set, id); c != nil {
		v.pending[set.ID] = cmp.Or(c.Label, id)
	}
	data := protocol.ConfigureData{Setting: set.ID, Value: id}
	return ui.Response{Close: true, Cmd: v.commands.Send(protocol.DoConfigure, data, nil, func(err error) tea.Cmd {
		delete(v.pending, data.Setting)
		return v.commands.Report(err)
	})}
}
