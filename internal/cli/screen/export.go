package screen

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"agentctl/internal/export"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/wsclient"
)

var _ remote.Exporter = (*Session)(nil)

// ExportFormats returns the formats of Export.
func (s *Session) ExportFormats() []string { return export.Formats }

// Export returns the session as a document: all events that are in its log at the call.
func (s *Session) Export(ctx context.Context, format string) ([]byte, error) {
	var out bytes.Buffer
	documents := export.Documents{}
	if err := documents.Write(&out, format, s.past(ctx, documents.Raw(format))); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return out.Bytes(), nil
}

// past yields the encoded events that are in the log at the call.
func (s *Session) past(ctx context.Context, raw bool) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		sub := s.Client.Subscribe(s.Session, wsclient.SubscribeOptions{Since: &protocol.Position{}, Raw: raw})
		defer sub.Close()
		end := uint64(0)
		for item, err := range sub.Events(ctx) {
			switch at := item.Attached; {
			case err != nil:
				yield(nil, err)
				return
			case at != nil:
				if end = max(end, at.Position.Seq); at.After.Seq >= end { // a dialect without past events
					return
				}
			case item.Event.Durable():
				if !yield(item.Raw, nil) || item.Event.Seq >= end {
					return
				}
			}
		}
		if ctx.Err() != nil {
			yield(nil, context.Cause(ctx))
		}
	}
}
