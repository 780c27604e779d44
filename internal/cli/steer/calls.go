package steer

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/format"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
)

// calls are the verbs that send one command.
var calls = call.Table{
	{
		Verb: verb.Verb{
			Group: verb.GroupSteer, Sends: protocol.DoInterrupt, Trial: "fix",
			Needs: []verb.FlagFeature{
				{Flag: "queue=hold", Feature: codec.InterruptHold},
				{Flag: "queue=clear", Feature: codec.InterruptClear},
			},
		},
		Use:   "interrupt SESSION",
		Short: "Interrupt the current turn",
		Long: `Interrupt the current turn and wait until it has ended. Its output so far is kept.
--queue selects what happens to queued messages: keep runs the next one, hold holds them until
"agentctl queue release", clear removes them.`,
		Example: "  agentctl interrupt fix\n  agentctl interrupt fix --queue hold",
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
	{
		Verb:  verb.Verb{Sends: protocol.DoQueueEdit, Trial: "fix m1 text"},
		Use:   "queue edit SESSION MESSAGE [TEXT|-]",
		Short: "Replace the text of a queued message",
		Long: "Replace the text of a queued message. Without TEXT, or with -, the text is read " +
			"from stdin.",
		Example:  "  agentctl queue edit fix m_12 \"and add a test\"",
		Complete: inSession(completion.Messages),
		Data: func(in *call.Input) (any, error) {
			return protocol.QueueEditData{MessageID: in.Arg(0), Text: in.Arg(1)}, nil
		},
	},
	{
		Verb:     verb.Verb{Sends: protocol.DoQueueRemove, Trial: "fix m1"},
		Use:      "queue rm SESSION MESSAGE…",
		Short:    "Remove queued messages",
		Long:     "Remove queued messages. It fails at the first message that has started or was removed.",
		Example:  "  agentctl queue rm fix m_12",
		Complete: inSession(completion.Messages),
		Data: func(in *call.Input) (any, error) {
			return protocol.QueueRemoveData{MessageID: in.Arg(0)}, nil
		},
		Run: func(c *call.Call) error {
			res, err := call.Send[protocol.QueueRemoveResult](c)
			if err == nil && !res.Removed {
				return protocol.Errorf(protocol.CodeNotFound, "message %s is not queued: it has started or was removed",
					c.Data.(protocol.QueueRemoveData).MessageID)
			}
			return err
		},
	},
	{
		Verb:     verb.Verb{Sends: protocol.DoQueueMove, Trial: "fix m1 0"},
		Use:      "queue mv SESSION MESSAGE INDEX",
		Short:    "Move a queued message",
		Long:     "Move a queued message to INDEX in the queue. 0 is the next message to run.",
		Example:  "  agentctl queue mv fix m_12 0",
		Complete: inSession(completion.Messages),
		Data: func(in *call.Input) (any, error) {
			index, err := strconv.Atoi(in.Arg(1))
			if err != nil || index < 0 {
				return nil, exit.Usagef("invalid INDEX %q: want 0 or more", in.Arg(1))
			}
			return protocol.QueueMoveData{MessageID: in.Arg(0), Index: index}, nil
		},
	},
	{
		Verb:  verb.Verb{Sends: protocol.DoQueueHold, Trial: "fix"},
		Use:   "queue hold SESSION [MESSAGE]",
		Short: "Hold the queue",
		Long: `Hold the queue until "agentctl queue release". With MESSAGE, hold only that message,
for 30 s: for editors while a user edits it.`,
		Example:  "  agentctl queue hold fix",
		Complete: inSession(completion.Messages),
		Data:     func(in *call.Input) (any, error) { return protocol.QueueHoldData{MessageID: in.Arg(0)}, nil },
		Run:      call.Print(func(w io.Writer, res *protocol.QueueHoldResult) { fmt.Fprintln(w, res.Hold) }),
	},
	{
		Verb:  verb.Verb{Sends: protocol.DoQueueRelease, Trial: "fix h1"},
		Use:   "queue release SESSION [HOLD]",
		Short: "Release the queue",
		Long: "Release one hold or, without HOLD, all holds but the edits of other users. Then the " +
			"queue runs.",
		Example:  "  agentctl queue release fix",
		Complete: inSession(completion.Holds),
		Data:     func(in *call.Input) (any, error) { return protocol.QueueReleaseData{Hold: in.Arg(0)}, nil },
		Run: func(c *call.Call) error {
			res, err := call.Send[protocol.QueueReleaseResult](c)
			if err != nil {
				return err
			}
			res.Released = output.NonNil(res.Released)
			return c.CLI.Print(res, func(w io.Writer) {
				for _, hold := range res.Released {
					fmt.Fprintln(w, hold)
				}
			})
		},
	},
	{
		Verb:     verb.Verb{Sends: protocol.DoRulesRevoke, Trial: "fix rule1"},
		Use:      "rules revoke SESSION RULE…",
		Short:    "Revoke approval rules",
		Long:     "Revoke approval rules. The agent asks again for what they allowed.",
		Example:  "  agentctl rules revoke fix u_1",
		Complete: inSession(completion.Rules),
		Data:     func(in *call.Input) (any, error) { return protocol.RulesRevokeData{Rule: in.Arg(0)}, nil },
	},
	{
		Verb:     verb.Verb{Sends: protocol.DoTaskCancel, Trial: "fix t1"},
		Use:      "task cancel SESSION TASK",
		Short:    "Cancel a task",
		Long:     "Cancel a task of the plan. The other tasks continue.",
		Example:  "  agentctl task cancel fix t2",
		Complete: inSession(completion.Tasks),
		Data:     func(in *call.Input) (any, error) { return protocol.TaskIDData{Task: in.Arg(0)}, nil },
	},
	{
		Verb:  verb.Verb{Sends: protocol.DoTaskRestart, Trial: "fix t1"},
		Use:   "task restart SESSION TASK",
		Short: "Restart a task",
		Long: "Restart a task of the plan. If the turn of the plan is over, an agent that keeps\n" +
			"results, such as a pipeline, runs the plan again without its completed tasks.",
		Example:  "  agentctl task restart fix t2",
		Complete: inSession(completion.Tasks),
		Data:     func(in *call.Input) (any, error) { return protocol.TaskIDData{Task: in.Arg(0)}, nil },
	},
	{
		Verb:    verb.Verb{Group: verb.GroupSteer, Sends: protocol.DoCompact, Trial: "fix"},
		Use:     "compact SESSION",
		Short:   "Compact the agent's context",
		Long:    "Compact the agent's context, and print its size before and after.",
		Example: "  agentctl compact fix",
		Run: call.Print(func(w io.Writer, res *protocol.CompactResult) {
			tokens := func(n int64) string { return strconv.FormatInt(n, 10) }
			fmt.Fprintln(w, cmp.Or(describe.Compaction(&res.Compacted, tokens), "compacted"))
		}),
	},
	{
		Verb:  verb.Verb{Group: verb.GroupSteer, Sends: protocol.DoUndo, Trial: "fix"},
		Use:   "undo SESSION",
		Short: "Let the agent forget its last turn, and restore its files",
		Long: `Let the agent forget its last turn, and restore the files that its tools changed in it. A file
that was changed since stays as it is and is named. Effects of commands stay. The transcript keeps
the turn.`,
		Example: "  agentctl undo fix",
		Key:     true,
		Data:    func(*call.Input) (any, error) { return protocol.Empty{}, nil },
		Run: call.Print(func(w io.Writer, res *protocol.UndoResult) {
			fmt.Fprintf(w, "forgot  %s\n", format.JoinLines(transcript.Clean(res.Message.Text)))
			for _, path := range res.Restored {
				fmt.Fprintf(w, "restored  %s\n", transcript.Clean(path))
			}
			for _, path := range res.Kept {
				fmt.Fprintf(w, "kept, changed since  %s\n", transcript.Clean(path))
			}
		}),
	},
	{
		Verb:  verb.Verb{Group: verb.GroupSteer, Sends: protocol.DoRetry, Trial: "fix"},
		Use:   "retry SESSION",
		Short: "Send the last message again, as if for the first time",
		Long: `Let the agent forget its last turn and send the message of that turn again. Files stay as they
are: "agentctl undo" restores them.`,
		Example: "  agentctl retry fix",
		Key:     true,
		Data:    func(*call.Input) (any, error) { return protocol.Empty{}, nil },
		Run: call.Print(func(w io.Writer, res *protocol.SendResult) {
			fmt.Fprintf(w, "%s %s\n", res.Status, res.MessageID)
		}),
	},
	{
		Verb:  verb.Verb{Group: verb.GroupSteer, Sends: protocol.DoConfigure, Trial: "fix mode ask"},
		Use:   "set SESSION SETTING VALUE",
		Short: "Change a setting of the agent",
		Long: `Change a setting of the session's agent: mode, model, or another one that "agentctl options"
lists. It holds from the next message on, also after a restart of the agent or the server. A value
that the agent does not offer is refused with the choices.`,
		Example:  "  agentctl set fix mode plan\n  agentctl set fix model opus",
		Complete: completion.Setting,
		Data: func(in *call.Input) (any, error) {
			return protocol.ConfigureData{Setting: in.Arg(0), Value: in.Arg(1)}, nil
		},
		Run: func(c *call.Call) error {
			if _, err := call.Send[protocol.Empty](c); err != nil {
				return err
			}
			set := c.Data.(protocol.ConfigureData)
			return c.CLI.Print(set, func(w io.Writer) {
				fmt.Fprintf(w, "%s is %s\n", output.OneLine(set.Setting, 0), output.OneLine(set.Value, 0))
			})
		},
	},
}

// inSession completes the session, and the second argument from its state.
func inSession(pick func(*protocol.State) []cobra.Completion) func(*verb.Context) cobra.CompletionFunc {
	return func(cli *verb.Context) cobra.CompletionFunc { return completion.InSession(cli, pick) }
}
