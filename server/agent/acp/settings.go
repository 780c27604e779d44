package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"sync"

	"agentctl/protocol"
	"agentctl/server/session"
)

// settings is what the agent says it is and lets people set. Safe for concurrent use.
type settings struct {
	mu    sync.Mutex
	now   protocol.Options
	how   map[string]setting // by the setting's id
	told  protocol.Options   // as emitted last
	ready bool               // the conversation stands: what changes is told
}

// setting says which call sets a setting.
type setting int

const (
	byMode setting = iota
	byModel
	byConfig
	bySwitch // a config option that is true or false
)

// Ids of the settings that have calls of their own.
const (
	modeID  = "mode"
	modelID = "model"
)

// change applies f and tells what is new, once the conversation stands. emit runs without the lock: it may block.
func (l *link) change(f func(s *settings)) {
	s := &l.settings
	s.mu.Lock()
	f(s)
	news := s.ready && !reflect.DeepEqual(s.now, s.told)
	var o protocol.Options
	if news {
		o = s.now
		o.Settings, o.Commands = slices.Clone(o.Settings), slices.Clone(o.Commands)
		s.told = o
	}
	s.mu.Unlock()
	if !news {
		return
	}
	if err := l.host.Emit(session.Event{Type: protocol.AgentOptions, Data: o}); err != nil {
		l.host.Logf("options of %s: %v", l.config.Name, err)
	}
}

// settle takes the options of a conversation that was just begun or taken up, and sets again what people had set.
func (l *link) settle(ctx context.Context, r sessionResult, kept state) error {
	l.change(func(s *settings) { s.begin(r) })
	for _, id := range l.settings.order(kept.Settings) {
		value := kept.Settings[id]
		if l.settings.value(id) == value {
			continue
		}
		if err := l.configure(ctx, id, value); err != nil {
			if ctx.Err() != nil {
				return err
			}
			l.host.Logf("set %s of %s again: %v", id, l.config.Name, err)
		}
	}
	l.change(func(s *settings) { s.ready = true })
	return nil
}

// configure sets a setting and waits until the agent has taken it.
func (l *link) configure(ctx context.Context, id, value string) error {
	how, err := l.settings.check(id, value)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	switch how {
	case byMode:
		raw, err = l.conn.Call(ctx, "session/set_mode", setMode{l.session, value})
	case byModel:
		raw, err = l.conn.Call(ctx, "session/set_model", setModel{l.session, value})
	case byConfig:
		raw, err = l.conn.Call(ctx, "session/set_config_option", setConfig{Session: l.session, ID: id, Value: value})
	case bySwitch:
		raw, err = l.conn.Call(ctx, "session/set_config_option",
			setConfig{Session: l.session, ID: id, Type: "boolean", Value: value == "true"})
	}
	if err != nil {
		return err
	}
	var r sessionResult
	_ = read(raw, &r) // an answer that tells no options changes none but this
	l.change(func(s *settings) {
		s.set(id, value)
		s.config(r.Config)
	})
	return nil
}

func (s *settings) begin(r sessionResult) {
	s.now.Settings, s.how = nil, map[string]setting{}
	if r.Modes != nil {
		m := protocol.Setting{ID: modeID, Name: "Mode", Value: r.Modes.Current}
		for _, c := range r.Modes.Available {
			m.Choices = append(m.Choices, protocol.Choice{ID: c.ID, Label: c.Name, About: c.Description})
		}
		s.put(m, byMode)
	}
	if r.Models != nil {
		m := protocol.Setting{ID: modelID, Name: "Model", Value: r.Models.Current}
		for _, c := range r.Models.Available {
			m.Choices = append(m.Choices, protocol.Choice{ID: c.ID, Label: c.Name, About: c.Description})
		}
		s.put(m, byModel)
	}
	s.config(r.Config)
}

// config takes the agent's config options, always whole. One for the mode or the model replaces the older way to set it.
func (s *settings) config(list []configSetting) {
	if list == nil {
		return
	}
	s.now.Settings = slices.DeleteFunc(slices.Clone(s.now.Settings), func(o protocol.Setting) bool {
		h := s.how[o.ID]
		return h == byConfig || h == bySwitch || slices.ContainsFunc(list, func(c configSetting) bool { return c.Category == o.ID })
	})
	for _, c := range list {
		o := protocol.Setting{ID: c.ID, Name: c.Name}
		how := byConfig
		var on bool
		if json.Unmarshal(c.Value, &o.Value) != nil && json.Unmarshal(c.Value, &on) == nil {
			o.Value = "false"
			if on {
				o.Value = "true"
			}
		}
		if c.Type == "boolean" {
			how = bySwitch
			o.Choices = []protocol.Choice{{ID: "true", Label: "On"}, {ID: "false", Label: "Off"}}
		}
		o.Choices = append(o.Choices, choices(c.Options)...)
		s.put(o, how)
	}
}

// choices flattens groups.
func choices(list []configChoice) []protocol.Choice {
	var out []protocol.Choice
	for _, c := range list {
		if c.Options != nil {
			out = append(out, choices(c.Options)...)
			continue
		}
		out = append(out, protocol.Choice{ID: c.Value, Label: c.Name, About: c.Description})
	}
	return out
}

// put adds a setting or replaces the one of its id.
func (s *settings) put(o protocol.Setting, how setting) {
	if s.how == nil {
		s.how = map[string]setting{}
	}
	s.how[o.ID] = how
	if i := s.index(o.ID); i >= 0 {
		s.now.Settings = slices.Clone(s.now.Settings)
		s.now.Settings[i] = o
		return
	}
	s.now.Settings = append(slices.Clone(s.now.Settings), o)
}

func (s *settings) index(id string) int {
	return slices.IndexFunc(s.now.Settings, func(o protocol.Setting) bool { return o.ID == id })
}

// order lists the settings that people had set as the agent lists them, for one may decide what another can be. Last come those
// that it does not have yet.
func (s *settings) order(kept map[string]string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	place := func(id string) int {
		if i := s.index(id); i >= 0 {
			return i
		}
		return len(s.now.Settings)
	}
	return slices.SortedFunc(maps.Keys(kept), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	})
}

func (s *settings) set(id, value string) {
	if i := s.index(id); i >= 0 {
		s.now.Settings = slices.Clone(s.now.Settings)
		s.now.Settings[i].Value = value
	}
}

func (s *settings) value(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(id); i >= 0 {
		return s.now.Settings[i].Value
	}
	return ""
}

// check finds how to set a setting, or what is wrong with the wish.
func (s *settings) check(id, value string) (setting, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.index(id)
	if i < 0 {
		var known []string
		for _, o := range s.now.Settings {
			known = append(known, o.ID)
		}
		return 0, protocol.Errorf(protocol.CodeNotFound, "the agent has no setting %q; it has %q", id, known)
	}
	choices := s.now.Settings[i].Choices
	if len(choices) > 0 && !slices.ContainsFunc(choices, func(c protocol.Choice) bool { return c.ID == value }) {
		var known []string
		for _, c := range choices {
			known = append(known, c.ID)
		}
		return 0, protocol.Errorf(protocol.CodeInvalidMessage, "%q is no choice for %s; choose one of %q", value, id, known)
	}
	return s.how[id], nil
}

func (s *settings) named(name string, agent *implementation) {
	s.now.Name = name
	if agent == nil {
		return
	}
	s.now.Version = agent.Version
	for _, n := range []string{agent.Title, agent.Name} {
		if n != "" {
			s.now.Name = n
			return
		}
	}
}

func (s *settings) commands(u *update) {
	s.now.Commands = nil
	for _, c := range u.Commands {
		slash := protocol.SlashCommand{Name: c.Name, About: c.Description}
		if c.Input != nil {
			slash.Hint = c.Input.Hint
		}
		s.now.Commands = append(s.now.Commands, slash)
	}
}
