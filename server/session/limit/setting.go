package limit

import (
	"maps"
	"slices"
	"strconv"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// Choose returns the continuations that a value of the setting means. For a value that is no such
// number the error has the code invalid_message.
func Choose(value string) (n int, err error) {
	n, err = strconv.Atoi(value)
	if err != nil || n < 0 || n > protocol.MaxContinuations {
		return 0, protocol.Errorf(protocol.CodeInvalidMessage,
			"%s: %.40q is not a number from 0 to %d", protocol.ContinueSetting, value, protocol.MaxContinuations)
	}
	return n, nil
}

// Take moves the setting from the settings of a new session. chosen is false if they lack it.
func Take(settings map[string]string) (value string, left map[string]string, chosen bool) {
	if value, chosen = settings[protocol.ContinueSetting]; !chosen {
		return "", settings, false
	}
	left = maps.Clone(settings)
	delete(left, protocol.ContinueSetting)
	return value, left, true
}

// AddSetting returns the settings of the agent with the choice as the last one. It replaces a setting
// of the same id.
func AddSetting(o protocol.Options, c *agent.AfterLimit) protocol.Options {
	own := protocol.Setting{
		ID: protocol.ContinueSetting, Name: "Continue after a usage limit", Value: "0", Default: "0",
		Choices: []protocol.Choice{
			{ID: "0", Label: "Never"},
			{ID: "1", Label: "Once"},
			{ID: "3", Label: "3 times"},
			{ID: "10", Label: "10 times"},
		},
	}
	if c != nil {
		own.Value = strconv.Itoa(c.Most)
		if !slices.ContainsFunc(own.Choices, func(ch protocol.Choice) bool { return ch.ID == own.Value }) {
			own.Choices = append(own.Choices, protocol.Choice{ID: own.Value, Label: own.Value + " times"})
		}
	}
	settings := slices.DeleteFunc(slices.Clone(o.Settings), func(set protocol.Setting) bool {
		return set.ID == protocol.ContinueSetting
	})
	o.Settings = append(settings, own)
	return o
}
