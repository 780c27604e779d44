package steer

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/plain"
)

// decisionOptions are the options of approve, deny and explain.
type decisionOptions struct {
	verb.Options

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
	Yes      bool
}

// addFlags adds the flags that approve, deny and explain share.
func (o *decisionOptions) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.Reason, "reason", "", "reason `TEXT` for the agent")
	cmd.Flags().StringVar(&o.Option, "option", "", "choose the option `ID` of the request")
	verb.RequireValues(cmd.Flags(), "option")
}

func (o *decisionOptions) read(args []string) error {
	o.Session = args[0]
	if len(args) > 1 {
		o.Request = args[1]
	}
	return o.check()
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
	for _, kv := range o.Answers {
		if _, err := strconv.Atoi(kv); err == nil { // a choice of the only question
			continue
		}
		if _, _, err := verb.ParsePair("--answer", kv); err != nil {
			return err
		}
	}
	return nil
}

// answers returns the answers of --answer, K=V each. If the request is known, K is the id or the
// number of a question, V may be the number of a choice, and the number of a choice alone answers
// the only question.
func (o *decisionOptions) answers(a *protocol.Approval) (map[string][]string, error) {
	var m map[string][]string
	for _, kv := range o.Answers {
		var question string
		var given []string
		if a != nil && len(a.Questions) > 0 {
			var err error
			if question, given, err = a.ParseAnswer(kv); err != nil {
				return nil, exit.Usagef("--answer: %w", err)
			}
		} else {
			k, v, err := verb.ParsePair("--answer", kv)
			if err != nil {
				return nil, err
			}
			question, given = k, []string{v}
		}
		if m == nil {
			m = map[string][]string{}
		}
		m[question] = append(m[question], given...)
	}
	return m, nil
}

// An inputFile is the file of --input. It may be a plan as "agentctl plan -o json" prints it: its
// tasks count.
type inputFile struct {
	*protocol.ApprovalInput

	Status   string `json:"status"`
	Question string `json:"question"`
	Summary  string `json:"summary"`
}

// input returns the input of the decision on a, or nil. a is nil if the request is not known.
func (o *decisionOptions) input(ctx context.Context, a *protocol.Approval) (*protocol.ApprovalInput, error) {
	in := &protocol.ApprovalInput{Replan: o.Replan}
	given := o.Replan
	if o.Input != "" {
		b, err := o.CLI.Input().ReadFile(ctx, o.Input)
		if err != nil {
			return nil, exit.Usagef("--input: %w", err)
		}
		given = true
		if !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
			in.Patch = string(b)
		} else if err := protocol.DecodeStrict(b, &inputFile{ApprovalInput: in}); err != nil {
			return nil, exit.Usagef("--input %s: %w", o.Input, err)
		}
	}
	given = given || len(o.Answers) > 0
	answers, err := o.answers(a)
	if err != nil || !given {
		return nil, err
	}
	if a == nil {
		a = &protocol.Approval{}
	}
	more := a.InputOf(answers)
	in.Answers, in.Secrets = joinAnswers(in.Answers, more.Answers), joinAnswers(in.Secrets, more.Secrets)
	return in, nil
}

// joinAnswers adds answers to others.
func joinAnswers(to, more map[string][]string) map[string][]string {
	if to == nil {
		return more
	}
	for question, answers := range more {
		to[question] = append(to[question], answers...)
	}
	return to
}

// wholePage returns the request with the whole URL of the page that it asks to open, if there is one
// and the user may open it.
func wholePage(c *connection.Conn, session string, a *protocol.Approval) *protocol.Approval {
	if a == nil || a.Page == nil || !a.Page.Hidden {
		return a
	}
	data := protocol.OpenPageData{Request: a.Request}
	r, err := connection.Call[protocol.OpenPageResult](c, protocol.DoOpenPage, session, data)
	if err != nil {
		return a
	}
	if page, err := protocol.ParsePage(r.PageURL); err == nil && page.Public().URL == a.Page.URL {
		whole := *a
		whole.Page = page
		return &whole
	}
	return a
}

// pending returns the request that the decision is about, or nil if this client does not know it:
// then the server decides what is wrong.
func (o *decisionOptions) pending(c *connection.Conn) *protocol.Approval {
	r, err := c.Snapshot(o.Session)
	if err != nil {
		return nil
	}
	s := r.Snapshot.State
	if o.Request == "" && len(s.Approvals) == 1 {
		return &s.Approvals[0]
	}
	return s.PendingApproval(o.Request)
}

// checkOffered returns an error if the request has no option for the decision. The error shows
// which ones it has.
func (o *decisionOptions) checkOffered(a *protocol.Approval) error {
	switch {
	case o.Option != "":
		ids := make([]string, len(a.Options))
		for i := range a.Options {
			if ids[i] = a.Options[i].ID; ids[i] == o.Option {
				return nil
			}
		}
		return exit.Unsupportedf("request %s has no option %q; its options are: %s", a.Request, o.Option,
			strings.Join(ids, ", "))
	case !a.Offers(o.Decision):
		return exit.Unsupportedf("request %s: %s", a.Request, describe.NotOffered(a, o.Decision))
	case o.Replan && a.Kind != protocol.ApprovePlan:
		return exit.Unsupportedf("request %s is no plan: omit --replan, and give a --reason", a.Request)
	}
	return nil
}

func runDecision(ctx context.Context, o *decisionOptions) error {
	c, err := connection.Open(ctx, o.CLI)
	if err != nil {
		return err
	}
	defer c.Close()
	a := o.pending(c)
	if a != nil {
		if err := o.checkOffered(a); err != nil {
			return err
		}
	}
	in, err := o.input(ctx, a)
	if err != nil {
		return err
	}
	if o.Decision == protocol.AllowOnce {
		a = wholePage(c, o.Session, a)
	}
	if o.asks() {
		if err := o.confirm(ctx, a); err != nil {
			return err
		}
	}
	data := protocol.ApproveData{
		Request: o.Request, Decision: o.Decision, Option: o.Option, Reason: o.Reason, Input: in,
	}
	if o.Option != "" {
		data.Decision = "" // the option has one
	}
	res, err := connection.Call[protocol.ApproveResult](c, protocol.DoApprove, o.Session, data)
	if err != nil {
		return err
	}
	if res.Outcome == "" && res.Decision == protocol.Explain {
		return o.printExplanation(c, &res)
	}
	return o.CLI.Out.Print(res, func(w io.Writer) {
		fmt.Fprintf(w, "%s %s\n", res.Request, res.Outcome)
		if a != nil && a.Page != nil && res.Outcome == protocol.Allowed {
			fmt.Fprintln(w, a.Page.URL)
		}
		if res.Rule != nil {
			fmt.Fprintf(w, "rule %s: %s\n", res.Rule.ID, output.OneLine(res.Rule.Scope, 0))
		}
	})
}

// asks reports whether the user is shown the request and asked before it is allowed: on a terminal,
// unless --yes is given.
func (o *decisionOptions) asks() bool {
	return o.Decision != protocol.Deny && o.Decision != protocol.DenyStop && o.Decision != protocol.Explain &&
		!o.Yes && output.IsTerminal(o.CLI.Stdin) && output.IsTerminal(o.CLI.Out.Stdout)
}

// confirm shows a request in full and asks whether to allow it. The decision is then about this
// request, whatever became pending since then.
func (o *decisionOptions) confirm(ctx context.Context, a *protocol.Approval) error {
	if a == nil && o.Request == "" {
		return exit.Unsupportedf("there is no single pending request to show: name one, or pass --yes")
	}
	if a == nil {
		return nil // the server reports its state
	}
	o.Request = a.Request
	fmt.Fprint(o.CLI.Out.Stdout, plain.Request(a, time.Local, o.CLI.Out.Columns()))
	question := "allow once"
	switch {
	case o.Option != "":
		question = "choose the option " + output.OneLine(o.Option, 0)
	case o.Always:
		question = "allow always, " + output.OneLine(a.Scope(), 0)
	}
	yes, err := o.CLI.Input().Confirm(ctx, o.CLI.Out.Stdout, question+"?")
	if err == nil && !yes {
		return exit.Usagef("not decided: answer y to allow the request, or pass --yes")
	}
	return err
}
