package steer

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/turn"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Verbs are the verbs of this package.
var Verbs = []*verb.Verb{
	&sendVerb, &waitVerb, &queueVerb, &interruptVerb, &approvalsVerb, &approveVerb, &denyVerb, &explainVerb,
	&rulesVerb, &planVerb, &taskVerb, &setVerb, &compactVerb, &undoVerb, &retryVerb,
}

type sendOptions struct {
	verb.Options

	Session string
	Text    []string
	turn.WaitFlags
	Front  bool
	Steer  bool
	Time   sendTime
	Attach []string
	Key    string
}

var sendVerb = verb.Verb{
	Use:   "send SESSION [TEXT|-]",
	Short: "Send a message to a session",
	Long: `Send a message. It starts a turn or, while one runs, is queued; with --steer the agent gets it in
that turn, if it can. Without TEXT, or with -, it is read from stdin. With --wait, the exit code is
the result of its turn: 0 completed, 7 failed or ended by a denial, 130 interrupted or removed from
the queue, 6 as soon as a person is needed. --follow also prints the answer. With -o json, both end
with an object of type outcome. See docs/scripts.md.`,
	Example: `  agentctl send fix "make the tests pass"
  agentctl send fix --follow "what did you change?"
  agentctl send fix "what is wrong here?" --attach screen.png --attach app.log
  agentctl send fix -w -o json "add a test" | jq 'select(.reason).files'
  agentctl send fix --steer "use the v2 API instead"
  agentctl send fix --at 23:00 "update the dependencies"
  git diff | agentctl send fix --wait --timeout 10m; echo $?`,
	Group: verb.GroupSteer, Sends: protocol.DoSend, Waits: true,
	Needs: []verb.FlagFeature{
		{Flag: "front", Feature: codec.SendFront},
		{Flag: "steer", Feature: codec.SendSteer},
		{Flag: "attach", Feature: codec.SendParts},
		{Flag: "at", Feature: codec.SendAt},
		{Flag: "in", Feature: codec.SendAt},
	},
	Trial:    "fix hello --follow",
	Complete: completion.Sessions,

	Do: &verb.Steps[sendOptions]{
		Flags: func(o *sendOptions, cmd *cobra.Command) {
			o.AddFlags(cmd)
			f := cmd.Flags()
			f.BoolVar(&o.Front, "front", false, "queue the message first")
			f.BoolVar(&o.Steer, "steer", false, "deliver the message in the current turn")
			f.StringVar(&o.Time.At, "at", "", "send the message at `TIME`")
			f.DurationVar(&o.Time.In, "in", 0, "send the message after a `TIME` such as 2h")
			verb.RequireValues(f, "at")
			turn.AddAttachFlag(cmd, &o.Attach)
			verb.AddKeyFlag(cmd, &o.Key)
		},
		Read: func(o *sendOptions, args []string) error {
			o.Session, o.Text = args[0], args[1:]
			if err := o.Check(); err != nil {
				return err
			}
			at, err := o.Time.notBefore(time.Now())
			if at != nil && (o.Wait || o.Follow || o.Front || o.Steer) {
				return exit.Usagef("--at and --in exclude --wait, --follow, --front and --steer")
			}
			if o.Time.In != 0 && o.Key != "" {
				return exit.Usagef("--in is another time for each retry: pass --at with --key")
			}
			return err
		},
		Run: runSend,
	},
}

// text returns the text of the message. With attachments, stdin is read only for -.
func (o *sendOptions) text(ctx context.Context) (string, error) {
	if len(o.Text) == 0 && len(o.Attach) > 0 {
		return "", nil
	}
	text, err := o.CLI.Input().ReadText(ctx, o.Text)
	if err == nil && text == "" && len(o.Attach) == 0 {
		err = exit.Usagef("the message is empty")
	}
	return text, err
}

func runSend(ctx context.Context, o *sendOptions) error {
	files, err := turn.ReadAttachments(o.Attach)
	if err != nil {
		return err
	}
	text, err := o.text(ctx)
	if err != nil {
		return err
	}
	c, done, err := o.Connect(ctx, o.CLI)
	if err != nil {
		return err
	}
	defer done()
	parts, err := turn.MessageParts(text, files, c.Local)
	if err != nil {
		return err
	}
	at, err := o.Time.notBefore(time.Now())
	if err != nil {
		return err
	}
	d := protocol.SendData{Text: text, Parts: parts, Front: o.Front, NotBefore: at}
	if o.Steer {
		d.Delivery = protocol.DeliverSteer
	}
	return o.Send(o.CLI, c, protocol.DoSend, o.Session, o.Key, d)
}
