package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// Store is the part of session.Store that a Reader uses, with the same contract.
type Store interface {
	eventlog.Reader
	Session(ctx context.Context, id string) (eventlog.Record, error)
	Turns(ctx context.Context, id string, before uint64, limit int) ([]eventlog.TurnRow, error)
	FoldStart(ctx context.Context, id string, seq uint64) (uint64, error)
	Blob(ctx context.Context, id, blob string) (eventlog.Blob, error)
}

// Sessions is the list of sessions; list.List implements it.
type Sessions interface {
	// Resolve returns the id of a session named by id, exact name or unique prefix of the id.
	Resolve(name string) (string, error)

	// Each calls f with the summary of every session, in no order. f must neither block nor keep
	// the pointer.
	Each(f func(*protocol.Summary))
}

// A Reader reads recorded history. Its methods may be called from any goroutine.
type Reader struct {
	store    Store
	sessions Sessions
	log      *slog.Logger
	slots    chan struct{}   // one for each running search
	ctx      context.Context // cancelled by Close
	cancel   context.CancelFunc

	mu       sync.Mutex
	searches sync.WaitGroup // added to under mu, before the end of ctx
}

// NewReader returns a reader of the sessions in a store. A nil log discards.
func NewReader(store Store, sessions Sessions, log *slog.Logger) *Reader {
	r := &Reader{
		store: store, sessions: sessions, log: cmp.Or(log, slog.New(slog.DiscardHandler)),
		slots: make(chan struct{}, maxSearches),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Close refuses further searches, ends waiting ones, and returns when the running ones have been
// answered. It closes neither the store nor the sessions.
func (r *Reader) Close() {
	r.mu.Lock()
	r.cancel()
	r.mu.Unlock()
	r.searches.Wait()
}

// Handles reports whether a command is one for Do.
func Handles(verb protocol.Verb) bool {
	switch verb {
	case protocol.DoHistory, protocol.DoBlob, protocol.DoSearch:
		return true
	}
	return false
}

// Do runs a history, blob or search command. It calls reply exactly once, for a search possibly
// later and on another goroutine; reply must not block. A search ends with ctx.
func (r *Reader) Do(ctx context.Context, c *protocol.Command, reply func(json.RawMessage, error)) {
	if err := r.do(ctx, c, reply); err != nil {
		reply(nil, err)
	}
}

func (r *Reader) do(ctx context.Context, c *protocol.Command, reply func(json.RawMessage, error)) error {
	data := protocol.CommandOf(c.Command).Data()
	if err := c.DecodeData(data); err != nil {
		return err
	}
	var result any
	var err error
	switch d := data.(type) {
	case *protocol.HistoryData:
		result, err = r.Page(ctx, c.Session, d)
	case *protocol.BlobData:
		result, err = r.blobPiece(ctx, c.Session, d)
	case *protocol.SearchData:
		return r.search(ctx, c.Session, d, reply)
	default:
		err = protocol.Errorf(protocol.CodeUnsupported, "%s does not read history", c.Command)
	}
	if err == nil {
		reply(protocol.MustEncode(result), nil)
	}
	return err
}

// readError logs why a session could not be read and returns the error for the client: no_session
// when the store does not have it, else corrupt or storage_unavailable.
func (r *Reader) readError(id string, err error) error {
	if errors.Is(err, eventlog.ErrNotFound) {
		return protocol.Errorf(protocol.CodeNoSession, "there is no session %.80q", id)
	}
	r.log.Error("read session", "session", id, "err", err)
	return eventlog.ReadErrorFor(id, err)
}
