package decision

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/approval"
)

// openerTime is how long the program that opens a page may take to fail. Some run until the browser
// is closed.
const openerTime = 3 * time.Second

// pages are the pages that requests ask to open.
type pages struct {
	open      func(ctx context.Context, url string) error
	requested map[string]bool // requests whose whole URL was requested
	opening   *opening        // nil: none
}

// opening is a page that is being opened. Its request is decided when the opener has not failed.
type opening struct {
	data  protocol.ApproveData
	until time.Time
}

// Decide sends the decision of a result, after its page is open.
func (p *Panel) Decide(r approval.Result) tea.Cmd {
	if r.Open == "" {
		return p.Send(*r.Decide)
	}
	o := &opening{*r.Decide, p.Now().Add(openerTime)}
	p.pages.opening = o
	return p.Commands.Run(func(ctx context.Context) error { return p.pages.open(ctx, r.Open) }, func(err error) tea.Cmd {
		if p.pages.opening != o { // decided before
			return nil
		}
		p.pages.opening = nil
		if err != nil {
			p.Commands.Status.Text = err.Error()
			p.Decided(o.data.Request, err.Error())
			return nil
		}
		return p.Send(o.data)
	})
}

// unknownPage returns the pending request with a page whose whole URL was not requested yet, or "".
func (p *Panel) unknownPage() string {
	for i := range p.Replica.State.Approvals {
		a := &p.Replica.State.Approvals[i]
		if a.Page != nil && a.Page.Hidden && a.Policy == "" && !p.pages.requested[a.Request] && !p.Replica.Recorded {
			return a.Request
		}
	}
	return ""
}

// pageDeadline returns when duePages must be called, or zero.
func (p *Panel) pageDeadline() time.Time {
	switch {
	case p.unknownPage() != "":
		return p.Now()
	case p.pages.opening != nil:
		return p.pages.opening.until
	}
	return time.Time{}
}

// duePages requests the whole URL of a page, or sends the decision on a page whose opener runs on. An
// observer does not get the URL.
func (p *Panel) duePages() tea.Cmd {
	if request := p.unknownPage(); request != "" {
		p.pages.requested[request] = true
		result := new(protocol.OpenPageResult)
		data := protocol.OpenPageData{Request: request}
		return p.Commands.Send(protocol.DoOpenPage, data, result, func(err error) tea.Cmd {
			if err == nil {
				p.SetPage(request, result.PageURL)
			}
			return nil
		})
	}
	if o := p.pages.opening; o != nil && !p.Now().Before(o.until) {
		p.pages.opening = nil
		return p.Send(o.data)
	}
	return nil
}
