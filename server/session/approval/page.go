package approval

import (
	"strings"

	"agentctl/protocol"
)

// checkPage checks the page that a request asks to open. The request keeps only the public part of
// the URL: the waiting agent has all of it.
func checkPage(a *protocol.Approval) error {
	if a.Page == nil {
		return nil
	}
	page, err := protocol.ParsePage(a.Page.URL)
	if err != nil {
		return err
	}
	for _, whole := range []string{a.Page.URL, page.URL} {
		a.Title = strings.ReplaceAll(a.Title, whole, page.Public().URL)
		a.Why = strings.ReplaceAll(a.Why, whole, page.Public().URL)
	}
	a.Page = page.Public()
	return nil
}

// Page returns the whole URL of the page that a pending request asks to open. After a restart of
// the server no request has one: it is kept in memory only.
func (p *Approvals) Page(st *protocol.State, request string) (*protocol.OpenPageResult, error) {
	a, err := p.Pending(st, request)
	if err != nil {
		return nil, err
	}
	for _, w := range p.waiters[a.Request] {
		if w.Request.Page != nil {
			if page, err := protocol.ParsePage(w.Request.Page.URL); err == nil {
				return &protocol.OpenPageResult{Request: a.Request, PageURL: page.URL}, nil
			}
		}
	}
	return nil, protocol.Errorf(protocol.CodeNotFound, "request %s asks to open no page", a.Request)
}
