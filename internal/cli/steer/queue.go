package steer

import (
	"fmt"
	"io"
	"strconv"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

var queueVerb = verb.Verb{
	Use:   "queue SESSION",
	Short: "List and edit queued messages",
	Long: `List the messages that wait for the current turn to end, one per line, the next one
first, then the scheduled ones with their times ("agentctl send --at"). All users of a session share
its queue. "queue rm" cancels a scheduled message, and "queue edit" keeps its time.`,
	Example: `  agentctl queue fix
  agentctl queue edit fix m_12 "and add a test"
  agentctl queue mv fix m_12 0
  agentctl queue steer fix m_12
  agentctl queue hold fix && agentctl queue release fix`,
	Group: verb.GroupSteer, Reads: true, Sends: protocol.DoSnapshot,
	Below: []*verb.Verb{&queueEditVerb, &queueRmVerb, &queueMvVerb, &queueSteerVerb, &queueHoldVerb, &queueReleaseVerb},
	Lacks: func(d *codec.Dialect) error {
		if d.HidesQueue {
			return codec.Unsupported(d.Name, "showing the queue", "its servers do not show it")
		}
		return nil
	},
	Trial:    "fix",
	Complete: completion.Sessions,

	Do: &call.Command{Run: printQueue},
}

func printQueue(c *call.Call) error {
	r, err := c.Snapshot()
	if err != nil {
		return err
	}
	s := r.Snapshot.State
	for i := range s.Queue {
		err := c.CLI.Out.Print(&s.Queue[i], func(w io.Writer) { fmt.Fprintln(w, output.Queued(i, &s.Queue[i])) })
		if err != nil {
			return err
		}
	}
	err = output.PrintEach(c.CLI.Out, s.Scheduled, func(w io.Writer, m *protocol.Message) {
		fmt.Fprintln(w, output.Scheduled(m))
	})
	if err != nil {
		return err
	}
	for _, h := range s.Holds {
		c.CLI.Out.Notef("held: %s %s by %s", h.ID, h.Reason, output.Actor(h.By))
	}
	return nil
}

var queueEditVerb = verb.Verb{
	Use:   "edit SESSION MESSAGE [TEXT|-]",
	Short: "Replace the text of a queued message",
	Long: "Replace the text of a queued message. Without TEXT, or with -, the text is read " +
		"from stdin.",
	Example: "  agentctl queue edit fix m_12 \"and add a test\"",
	Sends:   protocol.DoQueueEdit, Trial: "fix m1 text",
	Complete: completion.InSession(completion.Messages),

	Do: &call.Command{
		Data: func(in *call.Input) (any, error) {
			return protocol.QueueEditData{MessageID: in.Arg(0), Text: in.Arg(1)}, nil
		},
	},
}

var queueRmVerb = verb.Verb{
	Use:     "rm SESSION MESSAGE…",
	Short:   "Remove queued messages",
	Long:    "Remove queued messages. It fails at the first message that has started or was removed.",
	Example: "  agentctl queue rm fix m_12",
	Sends:   protocol.DoQueueRemove, Trial: "fix m1",
	Complete: completion.InSession(completion.Messages),

	Do: &call.Command{
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
}

var queueMvVerb = verb.Verb{
	Use:     "mv SESSION MESSAGE INDEX",
	Short:   "Move a queued message",
	Long:    "Move a queued message to INDEX in the queue. 0 is the next message to run.",
	Example: "  agentctl queue mv fix m_12 0",
	Sends:   protocol.DoQueueMove, Trial: "fix m1 0",
	Complete: completion.InSession(completion.Messages),

	Do: &call.Command{
		Data: func(in *call.Input) (any, error) {
			index, err := strconv.Atoi(in.Arg(1))
			if err != nil || index < 0 {
				return nil, exit.Usagef("invalid INDEX %q: want 0 or more", in.Arg(1))
			}
			return protocol.QueueMoveData{MessageID: in.Arg(0), Index: index}, nil
		},
	},
}

var queueSteerVerb = verb.Verb{
	Use:   "steer SESSION MESSAGE",
	Short: "Deliver a queued message in the current turn",
	Long: `Deliver a queued message in the turn that runs, at the agent's next safe point. Where that is not
possible, because the agent takes no messages during a turn or the queue is held, it is moved to the
front, and a note says why. "queue mv" makes it an ordinary message again.`,
	Example: "  agentctl queue steer fix m_12",
	Sends:   protocol.DoQueueSteer, Trial: "fix m1",
	Complete: completion.InSession(completion.Messages),

	Do: &call.Command{
		Data: func(in *call.Input) (any, error) { return protocol.QueueSteerData{MessageID: in.Arg(0)}, nil },
		Run: func(c *call.Call) error {
			res, err := call.Send[protocol.SendResult](c)
			if err != nil {
				return err
			}
			if res.Reason != "" {
				c.CLI.Out.Notef("queued first: %s", output.OneLine(res.Reason, 300))
			}
			return c.CLI.Out.Print(res, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", res.Status, res.MessageID) })
		},
	},
}

var queueHoldVerb = verb.Verb{
	Use:   "hold SESSION [MESSAGE]",
	Short: "Hold the queue",
	Long: `Hold the queue until "agentctl queue release". With MESSAGE, hold only that message,
for 30 s: for editors while a user edits it.`,
	Example: "  agentctl queue hold fix",
	Sends:   protocol.DoQueueHold, Trial: "fix",
	Complete: completion.InSession(completion.Messages),

	Do: &call.Command{
		Data: func(in *call.Input) (any, error) { return protocol.QueueHoldData{MessageID: in.Arg(0)}, nil },
		Run:  call.Print(func(w io.Writer, res *protocol.QueueHoldResult) { fmt.Fprintln(w, res.Hold) }),
	},
}

var queueReleaseVerb = verb.Verb{
	Use:   "release SESSION [HOLD]",
	Short: "Release the queue",
	Long: "Release one hold or, without HOLD, all holds but the edits of other users. Then the " +
		"queue runs.",
	Example: "  agentctl queue release fix",
	Sends:   protocol.DoQueueRelease, Trial: "fix h1",
	Complete: completion.InSession(completion.Holds),

	Do: &call.Command{
		Data: func(in *call.Input) (any, error) { return protocol.QueueReleaseData{Hold: in.Arg(0)}, nil },
		Run: func(c *call.Call) error {
			res, err := call.Send[protocol.QueueReleaseResult](c)
			if err != nil {
				return err
			}
			res.Released = output.NonNil(res.Released)
			return c.CLI.Out.Print(res, func(w io.Writer) {
				for _, hold := range res.Released {
					fmt.Fprintln(w, hold)
				}
			})
		},
	},
}
