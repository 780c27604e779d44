package main

import (
	"errors"

	"github.com/spf13/cobra"

	"agentctl/internal/attachment"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

// addAttachFlag adds --attach.
func addAttachFlag(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVar(files, "attach", nil, "attach `FILE`, an image or any other; repeatable")
}

// readAttachments reads files. An error is wrong usage: nothing was sent.
func readAttachments(names []string) ([]attachment.File, error) {
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

// messageParts returns files as parts of a message with a text.
func messageParts(text string, list []attachment.File, local bool) ([]protocol.Part, error) {
	parts, err := attachment.Parts(text, list, local)
	var tooLarge *attachment.TooLargeError
	if errors.As(err, &tooLarge) {
		return nil, exit.Errorf(exit.Failure, protocol.CodeTooLarge, "--attach %w", err).
			WithHint("put the file where the agent can read it, and name it in the message")
	}
	return parts, err
}
