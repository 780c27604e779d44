package main

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
)

// decisionOptions are the options of approve, deny and explain.
type decisionOptions struct {
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

const decisionLong = `

Without REQUEST, the session must have one pending request. The first decision on a request wins; a
later one fails with code conflict and names the winner.`

// addDecision adds the arguments and flags that approve, deny and explain share.
func (a *app) addDecision(cmd *cobra.Command, o *decisionOptions, run func(context.Context, *decisionOptions) error) {
	cmd.Args = rangeArgs(1, 2)
	cmd.ValidArgsFunction = a.completeInSession(requestCompletions)
	cmd.RunE = runE(a, o, func(args []string) error {
		o.Session = args[0]
		if len(args) > 1 {
			o.Request = args[1]
		}
		return o.check()
	}, run)
	cmd.Flags().StringVar(&o.Reason, "reason", "", "reason `TEXT` for the agent")
	cmd.Flags().StringVar(&o.Option, "option", "", "choose the option `ID` of the request")
}

func (o *decisionOptions) check() error {
	if o.Always {
		o.Decision = protocol.AllowAlways
	}
	if o.Stop {
		o.Decision = protocol.DenyStop
	}
	if o.Option != "" && (o.Always || o.Stop) {
		return exit.Usagef("--option is a decision: omit --always and --stop")
	}
	_, err := parseAnswers(o.Answers)
	return err
}

// parseAnswers parses K=V answers. A question may have several.
func parseAnswers(answers []string) (map[string][]string, error) {
	var m map[string][]string
	for _, kv := range answers {
		k, v, err := parsePair("--answer", kv)
		if err != nil {
			return nil, err
		}
		if m == nil {
			m = map[string][]string{}
		}
		m[k] = append(m[k], v)
	}
	return m, nil
}

// input returns the input of the decision, or nil.
func (o *decisionOptions) input() (*protocol.ApprovalInput, error) {
	in := &protocol.ApprovalInput{Replan: o.Replan}
	given := o.Replan
	if o.Input != "" {
		b, err := o.app.readFile(o.Input)
		if err != nil {
			return nil, exit.Usagef("--input: %w", err)
		}
		given = true
		if !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
			in.Patch = string(b)
		} else if err := protocol.DecodeStrict(b, in); err != nil {
			return nil, exit.Usagef("--input %s: %w", o.Input, err)
		}
	}
	given = given || len(o.Answers) > 0
	answers, err := parseAnswers(o.Answers)
	if err != nil || !given {
		return nil, err
	}
	for k, v := range answers {
		if in.Answers == nil {
			in.Answers = map[string][]string{}
		}
		in.Answers[k] = append(in.Answers[k], v...)
	}
	return in, nil
}

func runDecision(ctx context.Context, o *decisionOptions) error {
	in, err := o.input()
	if err != nil {
		return err
	}
	data := protocol.ApproveData{
		Request: o.Request, Decision: o.Decision, Option: o.Option, Reason: o.Reason, Input: in,
	}
	if o.Option != "" {
		data.Decision = "" // the option has one
	}
	c, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	res, err := call[protocol.ApproveResult](c, protocol.DoApprove, o.Session, data)
	if err != nil {
		return err
	}
	if res.Outcome == "" && res.Decision == protocol.Explain {
		return o.printExplanation(c, &res)
	}
	return o.app.print(res, func(w io.Writer) {
		fmt.Fprintf(w, "%s %s\n", res.Request, res.Outcome)
		if res.Rule != nil {
			fmt.Fprintf(w, "rule %s: %s\n", res.Rule.ID, output.OneLine(res.Rule.Scope, 0))
		}
	})
}
