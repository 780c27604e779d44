package create

import (
	"context"
	"errors"

	"agentctl/internal/attachment"
	"agentctl/internal/cli/turn"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
)

// maxInlineContext is the size in bytes of the largest input that becomes part of the prompt's
// text; a larger one is attached as a file.
const maxInlineContext = 32 << 10

// contextName is the name of the attached input.
const contextName = "stdin.txt"

// A runMessage is a prompt with the context that was piped in.
type runMessage struct {
	text  string
	files []attachment.File
}

// readMessage reads the prompt, the input and the attachments.
func (o *runOptions) readMessage(ctx context.Context) (*runMessage, error) {
	files, err := turn.ReadAttachments(o.Attach)
	if err != nil {
		return nil, err
	}
	m := &runMessage{files: files}
	if len(o.Prompt) == 0 || o.Prompt[0] == "-" {
		if m.text, err = o.CLI.Input().ReadText(ctx, o.Prompt); err == nil && m.text == "" {
			err = exit.Usagef(`no prompt: agentctl run "PROMPT"`)
		}
		return m, err
	}
	m.text = o.Prompt[0]
	if m.text == "" && len(files) == 0 {
		return nil, exit.Usagef(`no prompt: agentctl run "PROMPT"`)
	}
	if output.IsTerminal(o.CLI.Stdin) {
		return m, nil
	}
	b, err := o.CLI.Input().ReadAll(ctx, protocol.MaxMessage)
	switch {
	case err != nil:
		return nil, err
	case len(b) == 0:
	case len(b) <= maxInlineContext:
		m.text += "\n\n" + string(b)
	default:
		m.files = append(m.files, attachment.FromBytes(contextName, b))
	}
	return m, nil
}

// parts returns the attachments as parts of the message.
func (m *runMessage) parts(local bool) ([]protocol.Part, error) {
	parts, err := attachment.Parts(m.text, m.files, local)
	var tooLarge *attachment.TooLargeError
	if errors.As(err, &tooLarge) {
		return nil, exit.Errorf(exit.Failure, protocol.CodeTooLarge, "%w", err).
			WithHint("write it to a file, and name the file in the prompt")
	}
	return parts, err
}
