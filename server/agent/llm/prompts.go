package llm

import (
	"context"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/llm/model"
)

// follow emits the options again when the commands of the tools change.
func (a *Agent) follow(t Toolbox) {
	p, ok := t.(Prompts)
	if !ok {
		return
	}
	p.Notify(a.tryEmitOptions)
}

// tryEmitOptions emits the options after a change of their choices. A failure is logged.
func (a *Agent) tryEmitOptions() {
	if err := a.emitOptions(); err != nil {
		a.host.Logf("options of %s: %v", a.options.Name, err)
	}
}

// commands returns the commands of the tools.
func (a *Agent) commands() []protocol.SlashCommand {
	a.mu.Lock()
	toolbox := a.toolbox
	a.mu.Unlock()
	if p, ok := toolbox.(Prompts); ok {
		return p.Commands()
	}
	return nil
}

// expand replaces a command at the start of the text of a message with its expansion. Other messages stay
// as they are.
func (t *turnRun) expand(ctx context.Context, text string, m *model.Message) error {
	text, isCommand := strings.CutPrefix(text, "/")
	if !isCommand {
		return nil
	}
	_, toolbox, err := t.agent.open(ctx)
	if err != nil {
		return err
	}
	prompts, ok := toolbox.(Prompts)
	if !ok {
		return nil
	}
	if err := prepare(ctx, toolbox); err != nil {
		return err
	}
	name, rest, _ := strings.Cut(text, " ")
	parts, err := prompts.Expand(ctx, name, rest)
	switch {
	case err != nil:
		return protocol.Errorf(protocol.CodeAgentFailed, "%v", err)
	case parts != nil:
		m.Parts = append(parts, m.Parts[1:]...) // the first is the text
	}
	return nil
}

// prepare waits for the tools of the next request.
func prepare(ctx context.Context, t Toolbox) error {
	if p, ok := t.(Preparer); ok {
		return p.Prepare(ctx)
	}
	return nil
}
