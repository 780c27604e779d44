package tui

import (
	"cmp"
	"slices"

	"agentctl/tui/keymap"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// settings lists what the agent lets people set: its mode, its model.
type settings struct {
	look   *look
	asking map[string]string // setting → label of the value that is asked for
}

func (m *model) showSettings() {
	m.menu = &menu{look: m.look, of: &settings{look: m.look, asking: map[string]string{}}}
}

func (l *settings) title(s *protocol.State) string {
	agent := s.Agent
	if o := s.Options; o != nil && o.Name != "" {
		agent = o.Name + " " + o.Version
	}
	return l.look.bold.Render("settings") + " · " + oneLine(transcript.Clean(agent))
}

func (l *settings) none() string { return "this agent has nothing to set" }

func (l *settings) hint() string { return "↑↓ · " + l.look.keys.Hint(keymap.Choose, "changes") }

func (l *settings) entries(s *protocol.State) []entry {
	if s.Options == nil {
		return nil
	}
	out := make([]entry, len(s.Options.Settings))
	for i := range s.Options.Settings {
		set := &s.Options.Settings[i]
		label, about := set.Value, ""
		if c := slices.IndexFunc(set.Choices, func(c protocol.Choice) bool { return c.ID == set.Value }); c >= 0 {
			label, about = cmp.Or(set.Choices[c].Label, set.Value), set.Choices[c].About
		}
		text := cmp.Or(set.Name, set.ID) + ": " + label
		if to, ok := l.asking[set.ID]; ok {
			text += " → " + to + " …"
		}
		out[i] = entry{set.ID, oneLine(transcript.Clean(text)), oneLine(transcript.Clean(about))}
	}
	return out
}

func (l *settings) act(m *model, id, key string) tea.Cmd {
	if l.look.keys.At(keymap.Lists, key) != keymap.Choose {
		return nil
	}
	set := settingOf(m.state, id)
	if set == nil || len(set.Choices) == 0 {
		m.word = "the agent names nothing to choose from"
		return nil
	}
	m.menu = &menu{look: l.look, of: &choices{settings: l, setting: id}, chosen: set.Value, back: m.menu}
	return nil
}

func settingOf(s *protocol.State, id string) *protocol.Setting {
	if s.Options == nil {
		return nil
	}
	if i := slices.IndexFunc(s.Options.Settings, func(set protocol.Setting) bool { return set.ID == id }); i >= 0 {
		return &s.Options.Settings[i]
	}
	return nil
}

// choices lists what one setting can be.
type choices struct {
	*settings
	setting string
}

func (c *choices) title(s *protocol.State) string {
	name := c.setting
	if set := settingOf(s, c.setting); set != nil {
		name = cmp.Or(set.Name, set.ID)
	}
	return c.look.bold.Render(oneLine(transcript.Clean(name)))
}

func (c *choices) none() string { return "the agent does not have this setting any more" }

func (c *choices) hint() string { return "↑↓ · " + c.look.keys.Hint(keymap.Choose, "sets it") }

func (c *choices) entries(s *protocol.State) []entry {
	set := settingOf(s, c.setting)
	if set == nil {
		return nil
	}
	out := make([]entry, len(set.Choices))
	for i := range set.Choices {
		choice := &set.Choices[i]
		mark := "( ) "
		if choice.ID == set.Value {
			mark = "(•) "
		}
		out[i] = entry{choice.ID, mark + oneLine(transcript.Clean(cmp.Or(choice.Label, choice.ID))), oneLine(transcript.Clean(choice.About))}
	}
	return out
}

// act sets the value. Until that is answered the settings show what is asked for.
func (c *choices) act(m *model, id, key string) tea.Cmd {
	if c.look.keys.At(keymap.Lists, key) != keymap.Choose {
		return nil
	}
	m.menu = m.menu.back
	set := settingOf(m.state, c.setting)
	if set == nil || set.Value == id {
		return nil
	}
	label := id
	if i := slices.IndexFunc(set.Choices, func(o protocol.Choice) bool { return o.ID == id }); i >= 0 {
		label = cmp.Or(set.Choices[i].Label, id)
	}
	c.asking[set.ID] = label
	setting := set.ID
	return m.do(protocol.DoConfigure, protocol.ConfigureData{Setting: setting, Value: id}, nil, func(err error) tea.Cmd {
		delete(c.asking, setting)
		return m.tell(err)
	})
}
