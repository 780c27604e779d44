package acp

import (
	"cmp"
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// modeSetting is the setting that version 1 also has as modes.
const modeSetting = "mode"

// configOptions returns the settings that have choices.
func configOptions(version int, o *protocol.Options) []object {
	list := []object{}
	if o == nil {
		return list
	}
	id := "id"
	if version == 2 {
		id = "configId"
	}
	for i := range o.Settings {
		set := &o.Settings[i]
		if len(set.Choices) == 0 {
			continue
		}
		choices := []object{}
		for _, choice := range set.Choices {
			choices = append(choices, withAbout(object{
				"value": choice.ID, "name": cmp.Or(choice.Label, choice.ID),
			}, choice.About))
		}
		option := object{
			id: set.ID, "name": cmp.Or(set.Name, set.ID), "type": "select", "currentValue": set.Value, "options": choices,
		}
		if set.ID == modeSetting || set.ID == "model" {
			option["category"] = set.ID
		}
		list = append(list, option)
	}
	return list
}

func withAbout(o object, about string) object {
	if about != "" {
		o["description"] = about
	}
	return o
}

// modesOf returns the modes of version 1; nil: the agent has none.
func modesOf(o *protocol.Options) object {
	if o == nil {
		return nil
	}
	i := slices.IndexFunc(o.Settings, func(s protocol.Setting) bool {
		return s.ID == modeSetting && len(s.Choices) > 0
	})
	if i < 0 {
		return nil
	}
	list := []object{}
	for _, choice := range o.Settings[i].Choices {
		list = append(list, withAbout(object{"id": choice.ID, "name": cmp.Or(choice.Label, choice.ID)}, choice.About))
	}
	return object{"currentModeId": o.Settings[i].Value, "availableModes": list}
}

// commandList returns the commands of the agent.
func commandList(version int, o *protocol.Options) []object {
	list := []object{}
	if o == nil {
		return list
	}
	for _, command := range o.Commands {
		v := object{"name": command.Name, "description": command.About}
		input := object{"hint": command.Hint}
		if version == 2 {
			v["type"], input["type"] = "command", "text"
		}
		if command.Hint != "" {
			v["input"] = input
		}
		list = append(list, v)
	}
	return list
}

func (c *Conn) setMode(r *request) {
	p, ok := decode[struct {
		Session string `json:"sessionId"`
		Mode    string `json:"modeId"`
	}](&c.client, r)
	if ok {
		c.configure(r, p.Session, modeSetting, p.Mode, func(*session) object { return object{} })
	}
}

func (c *Conn) setConfigOption(r *request) {
	p, ok := decode[struct {
		Session string          `json:"sessionId"`
		Setting string          `json:"configId"`
		Value   json.RawMessage `json:"value"`
	}](&c.client, r)
	if !ok {
		return
	}
	var value string
	if json.Unmarshal(p.Value, &value) != nil {
		value = string(p.Value) // a boolean
	}
	c.configure(r, p.Session, p.Setting, value, func(s *session) object {
		options := &protocol.Options{}
		if s.State.Options != nil {
			*options = *s.State.Options
			options.Settings = slices.Clone(options.Settings)
		}
		for i := range options.Settings { // the event with the value may follow
			if options.Settings[i].ID == p.Setting {
				options.Settings[i].Value = value
			}
		}
		return object{"configOptions": configOptions(c.version, options)}
	})
}

// configure changes a setting of an open session.
func (c *Conn) configure(r *request, id, setting, value string, result func(*session) object) {
	s := c.sessions[id]
	if s == nil {
		c.refuse(r.ID, protocol.CodeNoSession, "the session is not open")
		return
	}
	d := protocol.ConfigureData{Setting: setting, Value: value}
	c.change(r, protocol.DoConfigure, s.Session, d, func() object { return result(s) })
}
