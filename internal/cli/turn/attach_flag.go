package turn

import (
	"errors"

	"github.com/spf13/cobra"

	"agentctl/internal/attachment"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

// AddAttachFlag adds --attach.
func AddAttachFlag(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVar(files, "attach", nil, "attach `FILE`, an image or any other; repeatable")
}

// ReadAttachments reads files. An error is wrong usage: nothing was sent.
func ReadAttachments(names []string) ([]attachment.File, error) {
	var list []attachment.File
	for _, name := range names {
		a, err := attachment.Read(name)
		if err != nil {
			return nil, exit.Usagef("--attach %s: %w", name, err)
		}
		list = append(list, a)
	}
	return list, nil
}

// MessageParts returns files as parts of a message with a text.
func MessageParts(text string, list []attachment.File, local bool) ([]protocol.Part, error) {
	parts, err := attachment.Parts(text, list, local)
	var tooLarge *attachment.TooLargeError
	if errors.As(err, &tooLarge) {
		return nil, exit.Errorf(exit.Failure, protocol.CodeTooLarge, "--attach %w", err).
			WithHint("put the file where the agent can read it, and name it in the message")
	}
	return parts, err
}
