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
	byID map[string]*elicitation
}

// add notes that a request asks to open a page. e.cancel withdraws the request.
func (p *pages) add(e *elicitation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.page == nil || len(p.byID) >= maxPages {
		return
	}
	if p.byID == nil {
		p.byID = map[string]*elicitation{}
	}
	p.byID[e.id] = e
}

// answered notes the answer to a request. The end of a page that was not accepted is not awaited.
func (p *pages) answered(e *elicitation, accepted bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !accepted && p.byID[e.id] == e {
		delete(p.byID, e.id)
	}
}

// complete ends the request to open a page, if it is pending, and returns the page; nil: the id is
// not known.
func (p *pages) complete(id string) *protocol.Page {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.byID[id]
	if e == nil {
		return nil
	}
	delete(p.byID, id)
	e.cancel()
	return e.page
}
