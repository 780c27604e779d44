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

// prepare waits for the tools of the next request.
func prepare(ctx context.Context, t Toolbox) error {
	if s, ok := t.(Servers); ok {
		return s.Prepare(ctx)
	}
	return nil
}

// servers opens the tools and waits for their servers; nil: they have none.
func (t *turnRun) servers(ctx context.Context) (Servers, error) {
	_, toolbox, err := t.agent.open(ctx)
	if err != nil {
		return nil, err
	}
	s, ok := toolbox.(Servers)
	if !ok {
		return nil, nil
	}
	return s, s.Prepare(ctx)
}

// expand replaces a command at the start of the text of a message with its expansion. Other messages stay
// as they are.
func (t *turnRun) expand(ctx context.Context, text string, m *model.Message) error {
	text, isCommand := strings.CutPrefix(text, "/")
	if !isCommand {
		return nil
	}
	servers, err := t.servers(ctx)
	if servers == nil || err != nil {
		return err
	}
	name, rest, _ := strings.Cut(text, " ")
	parts, err := servers.Expand(ctx, name, rest)
	switch {
	case err != nil:
		return protocol.Errorf(protocol.CodeAgentFailed, "%v", err)
	case parts != nil:
		m.Parts = append(parts, m.Parts[1:]...) // the first is the text
	}
	return nil
}

// addResources adds the resources that a message of a user mentions as @SERVER:URI. A message of
// another agent reads no resources: no user chose them. Failures are reported to users and to the
// model.
func (t *turnRun) addResources(ctx context.Context, from *protocol.Message, m *model.Message) error {
	names := mentions(from.Text)
	if len(names) == 0 || from.By != nil && from.By.AgentSession() != "" {
		return nil
	}
	servers, err := t.servers(ctx)
	if servers == nil || err != nil {
		return err
	}
	known := servers.Resources()
	for _, name := range names {
		if !slices.ContainsFunc(known, func(r protocol.Resource) bool { return r.Name == name }) {
			name = strings.TrimRight(name, ".,;:!?)]}'\"")
		}
		parts, err := servers.ReadResource(ctx, name)
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
