package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

// decideOptions are those of approve, deny and explain.
type decideOptions struct {
	app *app

	Session  string
	Request  string
	Decision protocol.Decision
	Always   bool
	Stop     bool
	Reason   string
	Option   string
	Answers  []string
	Input    string
	Replan   bool
}

const decideLong = `
Without REQUEST the only one that waits is meant. The first decision on a request wins: a later one fails with the code conflict and
names who decided.`

func newApprove(a *app, run func(context.Context, *decideOptions) error) *cobra.Command {
	o := &decideOptions{app: a, Decision: protocol.AllowOnce}
	cmd := &cobra.Command{
		Use:   "approve SESSION [REQUEST]",
		Short: "Allow what an agent asks for",
		Long: "Allow what an agent asks for, once; with --always from now on, as far as the request says (see \"agentctl rules\")." + decideLong + `

--answer and --input carry what the request takes: answers to questions, edited tasks of a plan, an edited patch. In JSON a file is
{"tasks": […], "answers": {"QUESTION": ["ANSWER"]}, "patch": "…"}, each where it applies.`,
		Example: "  agentctl approve fix\n  agentctl approve fix r_3 --always\n  agentctl approve fix --answer database=postgres",
	}
	a.decides(cmd, o, run)
	f := cmd.Flags()
	f.BoolVar(&o.Always, "always", false, "allow it from now on without asking")
	f.StringArrayVar(&o.Answers, "answer", nil, "`K=V` answers question K; may be repeated")
	f.StringVar(&o.Input, "input", "", "`FILE` (or -) with JSON, or with an edited patch")
	return cmd
}

func newDeny(a *app, run func(context.Context, *decideOptions) error) *cobra.Command {
	o := &decideOptions{app: a, Decision: protocol.Deny}
	cmd := &cobra.Command{
		Use:   "deny SESSION [REQUEST]",
		Short: "Refuse what an agent asks for",
		Long: "Refuse what an agent asks for; the agent goes on without it and hears the reason. With --stop its turn ends and the queue is held." +
			decideLong,
		Example: "  agentctl deny fix --reason \"use the staging database\"\n  agentctl deny fix r_3 --stop",
	}
	a.decides(cmd, o, run)
	f := cmd.Flags()
	f.BoolVar(&o.Stop, "stop", false, "end the turn and hold the queue")
	f.BoolVar(&o.Replan, "replan", false, "of a plan: make a new one, as --reason says")
	f.StringVar(&o.Input, "input", "", "`FILE` (or -) with input in JSON")
	return cmd
}

func newExplain(a *app, run func(context.Context, *decideOptions) error) *cobra.Command {
	o := &decideOptions{app: a, Decision: protocol.Explain}
	cmd := &cobra.Command{
		Use:     "explain SESSION [REQUEST]",
		Short:   "Let an agent say why it asks",
		Long:    "Let an agent say why it asks and print that. The request still waits for a decision." + decideLong,
		Example: "  agentctl explain fix",
	}
	a.decides(cmd, o, run)
	return cmd
}

// decides gives a verb what all three share.
func (a *app) decides(cmd *cobra.Command, o *decideOptions, run func(context.Context, *decideOptions) error) {
	cmd.Args = takes(1, 2)
	cmd.ValidArgsFunction = a.within(pendingRequests)
	cmd.RunE = does(a, o, func(args []string) error {
		o.Session = args[0]
		if len(args) > 1 {
			o.Request = args[1]
		}
		return o.check()
	}, run)
	cmd.Flags().StringVar(&o.Reason, "reason", "", "`TEXT` that the agent hears")
	cmd.Flags().StringVar(&o.Option, "option", "", "`ID` of the option to take, as the request lists them")
}

func (o *decideOptions) check() error {
	if o.Always {
		o.Decision = protocol.AllowAlways
	}
	if o.Stop {
		o.Decision = protocol.DenyStop
	}
	if o.Option != "" && (o.Always || o.Stop) {
		return usagef("--option already says what is decided: leave --always and --stop out")
	}
	_, err := readAnswers(o.Answers)
	return err
}

// readAnswers reads K=V answers; a question may have several.
func readAnswers(list []string) (map[string][]string, error) {
	var m map[string][]string
	for _, kv := range list {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return nil, usagef("--answer is K=V, not %q", kv)
		}
		if m == nil {
			m = map[string][]string{}
		}
		m[k] = append(m[k], v)
	}
	return m, nil
}

// input reads what the decision carries; nil, when nothing.
func (o *decideOptions) input() (*protocol.ApprovalInput, error) {
	in := &protocol.ApprovalInput{Replan: o.Replan}
	given := o.Replan
	if o.Input != "" {
		b, err := o.app.readFile(o.Input)
		if err != nil {
			return nil, usagef("--input: %w", err)
		}
		given = true
		if !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
			in.Patch = string(b)
		} else if err := protocol.DecodeStrict(b, in); err != nil {
			return nil, usagef("--input %s: %w", o.Input, err)
		}
	}
	given = given || len(o.Answers) > 0
	more, err := readAnswers(o.Answers)
	if err != nil || !given {
		return nil, err
	}
	for k, v := range more {
		if in.Answers == nil {
			in.Answers = map[string][]string{}
		}
		in.Answers[k] = append(in.Answers[k], v...)
	}
	return in, nil
}

func runDecide(ctx context.Context, o *decideOptions) error {
	in, err := o.input()
	if err != nil {
		return err
	}
	data := protocol.ApproveData{Request: o.Request, Decision: o.Decision, Option: o.Option, Reason: o.Reason, Input: in}
	if o.Option != "" {
		data.Decision = "" // the option stands for one
	}
	l, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	res, err := ask[protocol.ApproveResult](l, protocol.DoApprove, o.Session, data)
	if err != nil {
		return err
	}
	if res.Outcome == "" && res.Decision == protocol.Explain {
		return o.explained(l, &res)
	}
	return o.app.emit(res, func(w io.Writer) {
		fmt.Fprintf(w, "%s %s\n", res.Request, res.Outcome)
		if res.Rule != nil {
			fmt.Fprintf(w, "rule %s: %s\n", res.Rule.ID, oneLine(res.Rule.Scope, 0))
		}
	})
}

// explained prints the newest explanation of a request that still waits.
func (o *decideOptions) explained(l *link, res *protocol.ApproveResult) error {
	r, err := l.snapshot(o.Session)
	if err != nil {
		return err
	}
	view := struct {
		protocol.ApproveResult
		Text string `json:"text"`
	}{ApproveResult: *res}
	if a := r.Snapshot.State.PendingApproval(res.Request); a != nil && len(a.Explained) > 0 {
		view.Text = a.Explained[len(a.Explained)-1]
	}
	return o.app.emit(view, func(w io.Writer) { fmt.Fprintln(w, view.Text) })
}
