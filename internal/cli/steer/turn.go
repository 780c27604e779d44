package steer

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/tui/transcript"
)

var interruptVerb = verb.Verb{
	Use:   "interrupt SESSION",
	Short: "Interrupt the current turn",
	Long: `Interrupt the current turn and wait until it has ended. Its output so far is kept.
--queue selects what happens to queued messages: keep runs the next one, hold holds them until
"agentctl queue release", clear removes them.`,
	Example: "  agentctl interrupt fix\n  agentctl interrupt fix --queue hold",
	Group:   verb.GroupSteer, Sends: protocol.DoInterrupt, Trial: "fix", Needs: []verb.FlagFeature{
		{Flag: "queue=hold", Feature: codec.InterruptHold},
		{Flag: "queue=clear", Feature: codec.InterruptClear},
	},
	Complete: completion.Sessions,

	Do: &call.Command{
		Flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.String("queue", protocol.QueueKeep, "`ACTION`: keep, hold or clear the queue")
			f.String("turn", "", "interrupt only if `TURN` is the current turn")
			verb.RequireValues(f, "turn")
			verb.CompleteValues(cmd, "queue", []string{protocol.QueueKeep, protocol.QueueHold, protocol.QueueClear})
		},
		Data: func(in *call.Input) (any, error) {
			data := protocol.InterruptData{Turn: in.String("turn"), Queue: in.String("queue")}
			switch data.Queue {
			case protocol.QueueKeep, protocol.QueueHold, protocol.QueueClear:
				return data, nil
			}
			return nil, exit.Usagef("invalid --queue %q: want keep, hold or clear", data.Queue)
		},
		Run: call.Print(func(w io.Writer, res *protocol.InterruptResult) {
			if res.Interrupted {
				fmt.Fprintf(w, "interrupted %s\n", res.Turn)
			} else {
				fmt.Fprintln(w, "no turn was running")
			}
		}),
	},
}

var undoVerb = verb.Verb{
	Use:   "undo SESSION",
	Short: "Let the agent forget its last turn, and restore its files",
	Long: `Let the agent forget its last turn, and restore the files that its tools changed in it. A file
that was changed since stays as it is and is named. Effects of commands stay. The transcript keeps
the turn.`,
	Example: "  agentctl undo fix",
	Group:   verb.GroupSteer, Sends: protocol.DoUndo, Trial: "fix",
	Complete: completion.Sessions,

	Do: &call.Command{
		Key:  true,
		Data: func(*call.Input) (any, error) { return protocol.Empty{}, nil },
		Run: call.Print(func(w io.Writer, res *protocol.UndoResult) {
			for _, m := range append([]protocol.Message{res.Message}, res.Steered...) {
				fmt.Fprintf(w, "forgot  %s\n", format.JoinLines(transcript.Clean(m.Text)))
			}
			for _, path := range res.Restored {
				fmt.Fprintf(w, "restored  %s\n", transcript.Clean(path))
			}
			for _, path := range res.Kept {
				fmt.Fprintf(w, "kept, changed since  %s\n", transcript.Clean(path))
			}
		}),
	},
}

var retryVerb = verb.Verb{
	Use:   "retry SESSION",
	Short: "Send the last message again, as if for the first time",
	Long: `Let the agent forget its last turn and send the message of that turn again, then those that joined
it. Files stay as they are: "agentctl undo" restores them.`,
	Example: "  agentctl retry fix",
	Group:   verb.GroupSteer, Sends: protocol.DoRetry, Trial: "fix",
	Complete: completion.Sessions,

	Do: &call.Command{
		Key:  true,
		Data: func(*call.Input) (any, error) { return protocol.Empty{}, nil },
		Run: call.Print(func(w io.Writer, res *protocol.SendResult) {
			fmt.Fprintf(w, "%s %s\n", res.Status, res.MessageID)
		}),
	},
}
