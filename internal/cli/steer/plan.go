package steer

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/turn"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
)

var planVerb = verb.Verb{
	Use:   "plan SESSION",
	Short: "Show the plan of a session, or run given tasks",
	Long: `Show the newest plan of a session, one task per line: id, status, title, and the tasks before it. A
plan that waits for your confirmation is shown as the request has it. With -o json the plan is one
object, which "agentctl approve --input" and "agentctl plan run" read.`,
	Example: `  agentctl plan fix
  agentctl plan fix --jq 'del(.tasks[1])' | agentctl approve fix --input -
  agentctl plan fix -o json | agentctl plan run fix`,
	Group: verb.GroupSteer, Reads: true, Sends: protocol.DoSnapshot,
	Below:    []*verb.Verb{&planRunVerb},
	Trial:    "fix",
	Complete: completion.Sessions,

	Do: &call.Command{Run: printPlan},
}

func printPlan(c *call.Call) error {
	r, err := c.Snapshot()
	if err != nil {
		return err
	}
	p, request := newestPlan(r.Snapshot.State)
	if p == nil {
		return protocol.Errorf(protocol.CodeNotFound, "the session has no plan")
	}
	if err := c.CLI.Out.Print(p, func(w io.Writer) { writePlan(w, p) }); err != nil {
		return err
	}
	if request != "" {
		c.CLI.Out.Notef("waits for a decision: agentctl approve %s %s", c.CLI.Call.Session, request)
	}
	return nil
}

// newestPlan returns the plan of a session, with the tasks of the pending request to confirm it if
// there is one; nil: the session has no plan.
func newestPlan(s *protocol.State) (p *protocol.Plan, request string) {
	for i := range s.Approvals {
		a := &s.Approvals[i]
		if a.Kind != protocol.ApprovePlan || len(a.Tasks) == 0 {
			continue
		}
		p := protocol.Plan{Status: protocol.StatusPending}
		if s.Plan != nil {
			p = *s.Plan
		}
		p.Tasks = a.Tasks
		return &p, a.Request
	}
	return s.Plan, ""
}

func writePlan(w io.Writer, p *protocol.Plan) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range p.Tasks {
		of := &p.Tasks[i]
		after := ""
		if len(of.After) > 0 {
			after = "after " + strings.Join(of.After, ", ")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n",
			output.Cell(of.ID, 20), output.Cell(of.Status, 0), output.Cell(of.Title, 72), output.OneLine(after, 72))
	}
	_ = t.Flush() // w keeps its error
}

type planRunOptions struct {
	verb.Options

	Session string
	File    string
	turn.WaitFlags
	Key string
}

var planRunVerb = verb.Verb{
	Use:   "run SESSION [FILE|-]",
	Short: "Run given tasks without planning",
	Long: `Run the tasks of a file, or of stdin, without a planner and without confirmation. The file has a
plan as "agentctl plan -o json" prints it. While a turn runs, the tasks are queued. A pipeline does
not repeat completed tasks. --wait, --follow and --key work as in "agentctl send". See
docs/scripts.md.`,
	Example: "  agentctl plan run fix tasks.json\n  agentctl plan run fix tasks.json --wait --timeout 1h",
	Sends:   protocol.DoPlanRun, Waits: true,
	Trial:    "fix nonsense",
	Complete: completion.SessionAndFile,

	Do: &verb.Steps[planRunOptions]{
		Flags: func(o *planRunOptions, cmd *cobra.Command) {
			o.AddFlags(cmd)
			verb.AddKeyFlag(cmd, &o.Key)
		},
		Read: func(o *planRunOptions, args []string) error {
			o.Session, o.File = args[0], "-"
			if len(args) > 1 {
				o.File = args[1]
			} else if output.IsTerminal(o.CLI.Stdin) {
				return exit.Usagef("no tasks: pass FILE, or - to read stdin")
			}
			return o.Check()
		},
		Run: runPlanRun,
	},
}

// plan reads the tasks.
func (o *planRunOptions) plan(ctx context.Context) (*protocol.PlanRunData, error) {
	b, err := o.CLI.Input().ReadFile(ctx, o.File)
	if err != nil {
		return nil, exit.Usagef("%w", err)
	}
	name := o.File
	if name == "-" {
		name = "stdin"
	}
	var p protocol.Plan
	if err := protocol.DecodeStrict(b, &p); err != nil {
		return nil, exit.Usagef("%s is no plan: %w", name, err).WithHint("see: agentctl plan run --help")
	}
	if len(p.Tasks) == 0 {
		return nil, exit.Usagef("%s has no tasks", name)
	}
	return &protocol.PlanRunData{Tasks: p.Tasks, Question: p.Question, Summary: p.Summary}, nil
}

func runPlanRun(ctx context.Context, o *planRunOptions) error {
	data, err := o.plan(ctx)
	if err != nil {
		return err
	}
	c, done, err := o.Connect(ctx, o.CLI)
	if err != nil {
		return err
	}
	defer done()
	return o.Send(o.CLI, c, protocol.DoPlanRun, o.Session, o.Key, data)
}
