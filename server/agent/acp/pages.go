package acp

import (
	"sync"

	"agentctl/protocol"
)

// maxPages bounds the pages of which the end is awaited. Ends of others are not noted.
const maxPages = 100

// pages are the pages that the agent asked to open, by the id of their elicitation, until it reports
// that they are complete. The zero value has none.
type pages struct {
	mu   sync.Mutex
	byID map[string]*openPage
}

// An openPage is a page, and the function that cancels the request to open it.
type openPage struct {
	page   *protocol.Page
	cancel func()
}

// add notes that a request asks to open a page. cancel withdraws the request.
func (p *pages) add(e *elicitation, cancel func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.page == nil || len(p.byID) >= maxPages {
		return
	}
	if p.byID == nil {
		p.byID = map[string]*openPage{}
	}
	p.byID[e.id] = &openPage{e.page, cancel}
}

// answered notes the answer to a request. The end of a page that was not accepted is not awaited.
func (p *pages) answered(e *elicitation, accepted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.byID[e.id]; !accepted && at != nil && at.page == e.page {
		delete(p.byID, e.id)
	}
}

// complete ends the request to open a page, if it is pending, and returns the page; nil: the id is
// not known.
func (p *pages) complete(id string) *protocol.Page {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.byID[id]
	if at == nil {
		return nil
	}
	delete(p.byID, id)
	at.cancel()
	return at.page
}
