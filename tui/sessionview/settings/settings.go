package settings

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Settings are the menus of the agent's settings, such as mode and model.
type Settings struct {
	panel.Base
	pending map[string]string // setting ID → label of the requested value
}

// New returns the menus of a session.
func New(b panel.Base) *Settings { return &Settings{b, map[string]string{}} }

// Actions returns the actions that show the menus and the form. overlays takes them.
func Actions(b panel.Base, overlays *ui.Stack) panel.Actions {
	// show opens the menu of the values of one setting above the menu of all, or only that if the agent
	// has no choices for it.
	show := func(id string) func() {
		return func() {
			all := New(b)
			overlays.Push(all.Menu())
			if values := all.Values(id); values != nil {
				overlays.Push(values)
				return
			}
			b.Commands.Status.Text = "the agent has no setting " + id
		}
	}
	rename := func(name string) panel.Result { return panel.Result{Push: NewRename(b, overlays, name)} }
	return panel.Actions{
		keymap.ShowSettings:  panel.Do(func() { overlays.Push(New(b).Menu()) }),
		keymap.ShowRules:     panel.Do(func() { overlays.Push(NewRules(b)) }),
		keymap.SetMode:       panel.Do(show("mode")),
		keymap.SetModel:      panel.Do(show("model")),
		keymap.RenameSession: {Run: rename, Text: true},
	}
}

// Menu returns the menu of all settings.
func (s *Settings) Menu() *ui.Menu {
	return ui.NewMenu(s.Styles, ui.List[ui.Entry]{
		Title:  func(int, int, int) string { return s.title() },
		Empty:  func(string) string { return " this agent has no settings" },
		Hint:   s.Styles.ChooseHint("change"),
		Status: s.status,
		Rows:   func(string) []ui.Entry { return s.entries() },
		Choose: func(e ui.Entry) ui.Response {
			if values := s.Values(e.ID); values != nil {
				return ui.Response{Push: values}
			}
			s.Commands.Status.Text = "the agent offers no choices for this setting"
			return ui.Response{}
		},
	})
}

// Values returns the menu of the values of one setting, or nil if the agent has no choices for it.
func (s *Settings) Values(id string) *ui.Menu {
	set := s.setting(id)
	if set == nil || len(set.Choices) == 0 {
		return nil
	}
	m := ui.NewMenu(s.Styles, ui.List[ui.Entry]{
		Title: func(int, int, int) string {
			name := id
			if set := s.setting(id); set != nil {
				name = cmp.Or(set.Name, id)
			}
			return s.Styles.Bold.Render(transcript.CleanLine(name))
		},
		Empty:  func(string) string { return " the agent no longer has this setting" },
		Hint:   s.Styles.ChooseHint("set"),
		Status: s.status,
		Rows:   func(string) []ui.Entry { return s.valueEntries(id) },
		Choose: func(e ui.Entry) ui.Response { return ui.Response{Close: true, Cmd: s.set(id, e.ID)} },
	})
	m.Select(set.Value)
	return m
}

// status returns the status message of the screen.
func (s *Settings) status() string { return s.Commands.Status.Text }

// title returns the title of the menu of all settings.
func (s *Settings) title() string {
	state := s.Replica.State
	agent := state.Agent
	if o := state.Options; o != nil && o.Name != "" {
		agent = o.Name + " " + o.Version
	}
	title := s.Styles.Bold.Render("settings") + " · " + transcript.CleanLine(agent)
	if state.Sandbox.Shown() {
		title += " · sandbox " + transcript.CleanLine(state.Sandbox.String())
	}
	if len(state.MCPServers) > 0 {
		title += " · mcp " + transcript.CleanLine(strings.Join(state.MCPServers, ", "))
	}
	return title
}

// entries returns the settings.
func (s *Settings) entries() []ui.Entry {
	options := s.Replica.State.Options
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
			ID: set.ID, Text: transcript.CleanLine(text), Details: transcript.CleanLine(details),
		}
	}
	return out
}

// setting returns the setting with an ID, or nil.
func (s *Settings) setting(id string) *protocol.Setting {
	options := s.Replica.State.Options
	if options == nil {
		return nil
	}
	if i := slices.IndexFunc(options.Settings, func(set protocol.Setting) bool { return set.ID == id }); i >= 0 {
		return &options.Settings[i]
	}
	return nil
}

// valueEntries returns the values of a setting.
func (s *Settings) valueEntries(id string) []ui.Entry {
	set := s.setting(id)
	if set == nil {
		return nil
	}
	out := make([]ui.Entry, len(set.Choices))
	for i := range set.Choices {
		choice := &set.Choices[i]
		text := ui.Radio(choice.ID == set.Value, transcript.CleanLine(cmp.Or(choice.Label, choice.ID)))
		out[i] = ui.Entry{ID: choice.ID, Text: text, Details: transcript.CleanLine(choice.About)}
	}
	return out
}

// set sets a setting to a value, unless it has it. The new value is shown as pending until the answer
// arrives.
func (s *Settings) set(id, value string) tea.Cmd {
	set := s.setting(id)
	if set == nil || set.Value == value {
		return nil
	}
	s.pending[id] = value
	if c := describe.SettingChoice(set, value); c != nil {
		s.pending[id] = cmp.Or(c.Label, value)
	}
	data := protocol.ConfigureData{Setting: id, Value: value}
	return s.Commands.Send(protocol.DoConfigure, data, nil, func(err error) tea.Cmd {
		delete(s.pending, id)
		return s.Commands.Report(err)
	})
}
