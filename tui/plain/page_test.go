package plain

import (
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// The whole URL of a page is printed to those who may decide, and never another page.
func TestThePageOfARequestIsPrintedWhole(t *testing.T) {
	const evil = "https://evil.example/?x"
	for _, c := range []struct {
		reply any
		err   error
		want  string // empty: nothing is printed
	}{
		{protocol.OpenPageResult{PageURL: tuitest.PageURL}, nil, "approval p1 whole URL: " + tuitest.PageURL},
		{protocol.OpenPageResult{PageURL: evil}, nil, ""},
		{nil, tuitest.ErrRefused, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			tc := startTestClient(t, tuitest.Scenes["transcript"]())
			tc.setReply(func(tuitest.Command) (any, error) { return c.reply, c.err })
			tc.journal.RequestApproval(tuitest.PageApproval())
			tc.deliver()
			if err := tc.stop(); err != nil {
				t.Error(err)
			}
			out := tc.out.String()
			if c.want != "" && !strings.Contains(out, c.want) || c.want == "" && strings.Contains(out, "whole URL") {
				t.Errorf("%v, %v: printed\n%s", c.reply, c.err, out)
			}
		})
	}
}
