package approval

import (
	"agentctl/protocol"
	"agentctl/tui/describe"
)

// noQuery is what agentctl says of a URL whose query only the server knows.
const noQuery = "its query is not known here"

// pageSections returns the page that a request asks to open: its host apart, and its URL.
func pageSections(p *protocol.Page) []Section {
	if p == nil {
		return nil
	}
	s := Section{Label: "URL", Text: p.URL, Exact: true}
	if p.Hidden {
		s.Note = noQuery
	}
	return []Section{{Label: "page", Text: p.Host, Exact: true}, s}
}

// setPage sets the whole URL of the page of a request. One of another page is ignored.
func (f *Form) setPage(r *protocol.Approval, url string) {
	whole, err := protocol.ParsePage(url)
	if err == nil && r.Page != nil && whole.Host == r.Page.Host && whole.Public().URL == r.Page.URL {
		f.page = whole
	}
}

// shown returns the request as it is shown: with the edit that a decision would apply, and with the
// whole URL of its page if that is known. It does not modify r.
func (f *Form) shown(r *protocol.Approval) *protocol.Approval {
	r = f.edit.apply(r)
	if r.Page == nil || f.page == nil {
		return r
	}
	changed := *r
	changed.Page = f.page
	return &changed
}

// openPage returns the decision to open the page of a request. It is sent when the page is open.
func (d *decider) openPage(r *protocol.Approval, f *Form) Result {
	page := f.shown(r).Page
	switch {
	case page == nil:
		return Result{Status: "this request asks to open no page"}
	case !r.Offers(protocol.AllowOnce):
		return Result{Status: describe.NotOffered(r, protocol.AllowOnce)}
	case page.Hidden:
		return Result{Status: "not opened: " + noQuery}
	}
	result := d.decideKind(r, f, protocol.AllowOnce)
	if result.option != nil {
		result.Open = page.URL
	}
	return result
}
