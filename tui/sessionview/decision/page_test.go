package decision

import (
	"context"
	"errors"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

const wholePage = "https://login.example/authorize?state=s3cret"

// openPage returns a rig with the panel of a session with a request to open a page, after the panel
// has requested its URL. open opens it.
func openPage(t *testing.T, reply func(tuitest.Command) (any, error), open func(string) error) (*paneltest.Rig, *Panel) {
	t.Helper()
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "log in")
	j.RequestApproval(protocol.Approval{
		Request: "p1", Kind: protocol.ApproveQuestion, Title: "Log in",
		Page: &protocol.Page{URL: "https://login.example/authorize", Host: "login.example", Hidden: true},
	})
	j.CaughtUp()
	r := paneltest.New(t, j)
	r.Session.Reply = reply
	base := panel.Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now}
	p := New(base, &ui.Stack{}, func(_ context.Context, url string) error { return open(url) })
	r.Apply = p.Apply
	r.Lines = func() []string {
		lines, _ := p.Lines(100, 30)
		return lines
	}
	r.Key = func(key string) tea.Cmd {
		p.Touch()
		r.Commands.Status.Text = p.Press(tuitest.KeyPress(key)).Status
		r.Time = r.Time.Add(approval.Grace / 4)
		cmd, _ := p.Due()
		return cmd
	}
	r.ApplyJournal()
	p.Refresh(true)
	p.SetFocus(true)
	r.Lines()
	if at := p.Deadline(); at.After(r.Time) {
		t.Fatalf("the URL is requested at %v", at)
	}
	cmd, _ := p.Due()
	r.Run(cmd)
	if d := r.MustSend(protocol.DoOpenPage).(protocol.OpenPageData); d.Request != "p1" {
		t.Errorf("requested %+v", d)
	}
	if again, _ := p.Due(); again != nil {
		t.Error("the URL is requested again")
	}
	r.Time = r.Time.Add(2 * approval.Grace)
	p.Due()
	r.Lines()
	r.Time = r.Time.Add(2 * approval.Grace) // the URL has changed the request
	p.Due()
	return r, p
}

func replyPage(c tuitest.Command) (any, error) {
	if c.Verb == protocol.DoOpenPage {
		return protocol.OpenPageResult{Request: "p1", PageURL: wholePage}, nil
	}
	return protocol.ApproveResult{Request: "p1", Outcome: protocol.Allowed, Decision: protocol.AllowOnce}, nil
}

func TestAPageIsOpenedBeforeItsRequestIsDecided(t *testing.T) {
	opened := ""
	r, _ := openPage(t, replyPage, func(url string) error { opened = url; return nil })
	r.MustShow(wholePage, "o open")
	cmd := r.Start("o")
	r.MustSendNothing()
	r.Run(cmd)
	if d := r.MustSend(protocol.DoApprove).(protocol.ApproveData); opened != wholePage || d.Request != "p1" {
		t.Errorf("opened %q, sent %+v", opened, d)
	}
}

func TestAPageThatDoesNotOpenDecidesNothing(t *testing.T) {
	r, p := openPage(t, replyPage, func(string) error { return errors.New("no browser") })
	r.Press("o")
	r.MustSendNothing()
	r.MustShow("no browser", "y opened")
	if sending, _ := p.Sending("p1"); sending {
		t.Error("the request is read-only")
	}
	r.Press("y")
	r.MustSend(protocol.DoApprove)
}

// Some openers run until the browser is closed.
func TestAnOpenerThatRunsOnHasOpenedThePage(t *testing.T) {
	r, p := openPage(t, replyPage, func(string) error { return errors.New("closed late") })
	late := r.Start("o")
	r.Time = r.Time.Add(openerTime)
	if at := p.Deadline(); at.After(r.Time) {
		t.Fatalf("the next deadline is %v", at)
	}
	cmd, _ := p.Due()
	r.Run(cmd)
	r.MustSend(protocol.DoApprove)
	r.Run(late)
	r.MustSendNothing()
	r.MustReport("")
	if at := p.Deadline(); at.After(time.Time{}) && at.Before(r.Time) {
		t.Errorf("the next deadline is %v", at)
	}
}

func TestAnObserverSeesThePageWithoutItsQuery(t *testing.T) {
	r, _ := openPage(t, func(tuitest.Command) (any, error) { return nil, tuitest.ErrRefused }, func(string) error {
		t.Error("opened")
		return nil
	})
	r.MustShow("login.example", "its query is not known here")
	r.Press("o")
	r.MustSendNothing()
	r.MustShow("not opened: its query is not known here")
}
