package plain

import (
	"context"

	"agentctl/protocol"
)

// requestPages requests the whole URL of each page that a pending request asks to open, and prints
// it. An observer does not get it.
func (c *client) requestPages() {
	for i := range c.renderer.state.Approvals {
		a := &c.renderer.state.Approvals[i]
		if a.Page == nil || !a.Page.Hidden || a.Policy != "" || c.pages[a.Request] {
			continue
		}
		c.pages[a.Request] = true
		data, page := protocol.OpenPageData{Request: a.Request}, *a.Page
		c.enqueue(func(ctx context.Context) string {
			var result protocol.OpenPageResult
			if c.session.Do(ctx, protocol.DoOpenPage, data, &result) != nil {
				return ""
			}
			whole, err := protocol.ParsePage(result.PageURL)
			if err != nil || whole.Public().URL != page.URL {
				return ""
			}
			return "approval " + oneLine(data.Request) + " whole URL: " + whole.URL
		})
	}
}
