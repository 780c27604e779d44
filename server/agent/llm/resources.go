package llm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/llm/model"
)

// maxResources bounds the resources of one message.
const maxResources = 8

// addResources adds the resources that a message of a user mentions as @SERVER:URI. A message of
// another agent reads no resources: no user chose them. Failures are reported to users and to the
// model.
func (t *turnRun) addResources(ctx context.Context, from *protocol.Message, m *model.Message) error {
	names := mentions(from.Text)
	if len(names) == 0 || from.By != nil && from.By.AgentSession() != "" {
		return nil
	}
	_, toolbox, err := t.agent.open(ctx)
	if err != nil {
		return err
	}
	resources, ok := toolbox.(Resources)
	if !ok {
		return nil
	}
	if err := prepare(ctx, toolbox); err != nil {
		return err
	}
	known := resources.Resources()
	for _, name := range names {
		if !slices.ContainsFunc(known, func(r protocol.Resource) bool { return r.Name == name }) {
			name = strings.TrimRight(name, ".,;:!?)]}'\"")
		}
		parts, err := resources.ReadResource(ctx, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			text := fmt.Sprintf("@%s was not read: %v", name, err)
			if err := t.notice(protocol.LevelWarning, text); err != nil {
				return err
			}
			parts = model.Texts(model.User, "["+text+"]").Parts
		}
		m.Parts = append(m.Parts, parts...)
	}
	return nil
}

// mentions returns the words of a text that may name resources, each once.
func mentions(text string) (names []string) {
	for word := range strings.FieldsSeq(text) {
		name, ok := strings.CutPrefix(strings.TrimLeft(word, "("), "@")
		if server, uri, named := strings.Cut(name, ":"); !ok || !named || server == "" || uri == "" {
			continue
		}
		if len(names) < maxResources && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// resources returns the resources that users can mention.
func (a *Agent) resources() []protocol.Resource {
	a.mu.Lock()
	toolbox := a.toolbox
	a.mu.Unlock()
	if r, ok := toolbox.(Resources); ok {
		return r.Resources()
	}
	return nil
}
