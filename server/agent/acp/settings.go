package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// settings holds the name, commands and settings of the agent. It is safe for concurrent use.
type settings struct {
	mu       sync.Mutex
	options  protocol.Options       // shares no slice with emitted
	kinds    map[string]settingKind // by setting id
	emitted  protocol.Options       // last options emitted
	emitting bool                   // a goroutine emits
	ready    bool                   // the ACP session is open: emit changes
}

// settingKind selects the call that changes a setting.
type settingKind int

const (
	modeSetting settingKind = iota
	modelSetting
	selectSetting
	boolSetting // a boolean config option
)

// Ids of settings with their own calls.
const (
	modeID  = "mode"
	modelID = "model"
)

// updateSettings applies f and emits changed options if the ACP session is open. It emits without
// the lock, since Emit may block. One goroutine emits at a time, so the newest options come last;
// it also emits changes made by others while it ran.
func (c *client) updateSettings(f func(s *settings)) {
	s := &c.settings
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s)
	if s.emitting {
		return
	}
	s.emitting = true
	for s.ready && !reflect.DeepEqual(s.options, s.emitted) {
		o := s.options
		o.Settings, o.Commands = slices.Clone(o.Settings), slices.Clone(o.Commands)
		s.emitted = o
		s.mu.Unlock()
		c.emit(agent.Event{Type: protocol.AgentOptions, Data: o})
		s.mu.Lock()
	}
	s.emitting = false
}

// restoreSettings sets the options of a new or restored ACP session and applies the saved settings.
// first: it is the first process of the session.
func (c *client) restoreSettings(ctx context.Context, r sessionResult, saved state, first bool) error {
	c.updateSettings(func(s *settings) { s.reset(r) })
	if err := c.leaveStartMode(ctx, saved, first); err != nil {
		return err
	}
	for _, id := range c.settings.sortIDs(saved.Settings) {
		value := saved.Settings[id]
		if c.settings.value(id) == value {
			continue
		}
		if _, _, err := c.configure(ctx, id, value); err != nil {
			if ctx.Err() != nil {
				return err
			}
			c.host.Logf("restore setting %s of %s: %v", id, c.config.Name, err)
		}
	}
	c.updateSettings(func(s *settings) { s.ready = true })
	return nil
}

// leaveStartMode leaves a mode in which the agent decides requests itself, unless a user chose it.
func (c *client) leaveStartMode(ctx context.Context, saved state, first bool) error {
	mode := c.known().StartModes[c.settings.value(modeID)]
	if mode == "" || !first || saved.Settings[modeID] != "" {
		return nil
	}
	_, _, err := c.configure(ctx, modeID, mode)
	return err
}

// configure changes a setting, named as protocol.ChooseSetting takes it, and waits for the response of
// the agent. It returns the ids of the setting and the value.
func (c *client) configure(ctx context.Context, name, text string) (id, value string, err error) {
	kind, id, value, err := c.settings.choose(name, text)
	if err != nil {
		return "", "", err
	}
	method, params := "session/set_config_option", any(setConfigParams{Session: c.session, ID: id, Value: value})
	switch kind {
	case modeSetting:
		method, params = "session/set_mode", setModeParams{c.session, value}
	case modelSetting:
		method, params = "session/set_model", setModelParams{c.session, value}
	case selectSetting:
	case boolSetting:
		params = setConfigParams{Session: c.session, ID: id, Type: "boolean", Value: value == "true"}
	}
	var r sessionResult // a response without options changes only this setting
	if err := c.call(ctx, method, params, &r); err != nil {
		return "", "", err
	}
	c.updateSettings(func(s *settings) {
		s.set(id, value)
		s.applyConfig(r.Config)
	})
	return id, value, nil
}

func (s *settings) reset(r sessionResult) {
	s.options.Settings, s.kinds = nil, map[string]settingKind{}
	if r.Modes != nil {
		m := protocol.Setting{ID: modeID, Name: "Mode", Value: r.Modes.Current}
		for _, c := range r.Modes.Available {
			m.Choices = append(m.Choices, protocol.Choice{ID: c.ID, Label: c.Name, About: c.Description})
		}
		s.upsert(m, modeSetting)
	}
	if r.Models != nil {
		m := protocol.Setting{ID: modelID, Name: "Model", Value: r.Models.Current}
		for _, c := range r.Models.Available {
			m.Choices = append(m.Choices, protocol.Choice{ID: c.ID, Label: c.Name, About: c.Description})
		}
		s.upsert(m, modelSetting)
	}
	s.applyConfig(r.Config)
	if r.Commands != nil {
		s.setCommands(r.Commands)
	}
}

// applyConfig replaces all config options. An option with the category mode or model replaces the
// older setting of that name.
func (s *settings) applyConfig(list []configOption) {
	if list == nil {
		return
	}
	s.options.Settings = slices.DeleteFunc(s.options.Settings, func(o protocol.Setting) bool {
		h := s.kinds[o.ID]
		return h == selectSetting || h == boolSetting ||
			slices.ContainsFunc(list, func(c configOption) bool { return c.Category == o.ID })
	})
	for _, c := range list {
		o := protocol.Setting{ID: c.ID, Name: c.Name}
		kind := selectSetting
		var on bool
		if json.Unmarshal(c.Value, &o.Value) != nil && json.Unmarshal(c.Value, &on) == nil {
			o.Value = strconv.FormatBool(on)
		}
		if c.Type == "boolean" {
			kind = boolSetting
			o.Choices = []protocol.Choice{{ID: "true", Label: "On"}, {ID: "false", Label: "Off"}}
		}
		o.Choices = append(o.Choices, flattenChoices(c.Options)...)
		s.upsert(o, kind)
	}
}

// flattenChoices flattens groups of choices.
func flattenChoices(list []configChoice) []protocol.Choice {
	var out []protocol.Choice
	for _, c := range list {
		if c.Options != nil {
			out = append(out, flattenChoices(c.Options)...)
			continue
		}
		out = append(out, protocol.Choice{ID: c.Value, Label: c.Name, About: c.Description})
	}
	return out
}

// upsert adds a setting or replaces the setting with the same id.
func (s *settings) upsert(o protocol.Setting, kind settingKind) {
	if s.kinds == nil {
		s.kinds = map[string]settingKind{}
	}
	s.kinds[o.ID] = kind
	if i := s.index(o.ID); i >= 0 {
		s.options.Settings[i] = o
		return
	}
	s.options.Settings = append(s.options.Settings, o)
}

func (s *settings) index(id string) int {
	return slices.IndexFunc(s.options.Settings, func(o protocol.Setting) bool { return o.ID == id })
}

// sortIDs returns the ids of saved settings in the order of the agent, since a setting may change
// the choices of a later one. Unknown ids come last.
func (s *settings) sortIDs(saved map[string]string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	place := func(id string) int {
		if i := s.index(id); i >= 0 {
			return i
		}
		return len(s.options.Settings)
	}
	return slices.SortedFunc(maps.Keys(saved), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	})
}

func (s *settings) set(id, value string) {
	if i := s.index(id); i >= 0 {
		s.options.Settings[i].Value = value
	}
}

func (s *settings) value(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(id); i >= 0 {
		return s.options.Settings[i].Value
	}
	return ""
}

// choose returns the kind and the id of a setting, and the id of its value, as protocol.ChooseSetting.
func (s *settings) choose(name, text string) (kind settingKind, id, value string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	set, value, err := protocol.ChooseSetting(s.options.Settings, name, text)
	if err != nil {
		return 0, "", "", err
	}
	return s.kinds[set.ID], set.ID, value, nil
}

// setAgent sets the name and version of the agent.
func (s *settings) setAgent(name string, agent *implementation) {
	s.options.Name = name
	if agent == nil {
		return
	}
	s.options.Version, s.options.Name = agent.Version, cmp.Or(agent.Title, agent.Name, name)
}

func (s *settings) setCommands(list []availableCommand) {
	s.options.Commands = nil
	for _, c := range list {
		slash := protocol.SlashCommand{Name: c.Name, About: c.Description}
		if c.Input != nil {
			slash.Hint = c.Input.Hint
		}
		s.options.Commands = append(s.options.Commands, slash)
	}
}
