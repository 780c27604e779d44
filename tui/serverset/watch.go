package serverset

import (
	"context"
	"iter"
	"sync"

	"agentctl/protocol"
	"agentctl/tui/remote"
)

// Watch yields the summaries of all servers as they come. It ends with ctx, or after an error of
// home. After an error of another server, that one yields nothing more.
func (s *Set) Watch(ctx context.Context) iter.Seq2[protocol.Summary, error] {
	type item struct {
		summary protocol.Summary
		err     error
	}
	return func(yield func(protocol.Summary, error) bool) {
		items := merge(ctx, s, func(ctx context.Context, i int) iter.Seq[item] {
			return func(yield func(item) bool) {
				for summary, err := range s.members[i].Server.Watch(ctx) {
					if err != nil && i > 0 {
						return // its connection says why
					}
					summary.Session, summary.Parent = s.idOf(i, summary.Session), s.idOf(i, summary.Parent)
					if !yield(item{summary, err}) {
						return
					}
				}
			}
		})
		for it := range items {
			if !yield(it.summary, it.err) || it.err != nil {
				return
			}
		}
	}
}

// Conns yields the connection of home.
func (s *Set) Conns(ctx context.Context) iter.Seq[remote.Conn] { return s.Home().Conns(ctx) }

// ServerConns yields the connections of the servers other than home.
func (s *Set) ServerConns(ctx context.Context) iter.Seq[remote.ServerConn] {
	return merge(ctx, s, func(ctx context.Context, i int) iter.Seq[remote.ServerConn] {
		return func(yield func(remote.ServerConn) bool) {
			if i == 0 {
				return
			}
			for c := range s.members[i].Server.Conns(ctx) {
				if !yield(remote.ServerConn{Server: s.members[i].Name, Conn: c}) {
					return
				}
			}
		}
	})
}

// merge yields what the sequences of all members yield, as it comes, until all of them end. A
// member waits while its item is not taken. A panic of a sequence is one of the caller.
func merge[T any](ctx context.Context, s *Set, of func(ctx context.Context, member int) iter.Seq[T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		items := make(chan T)
		broken := make(chan any, len(s.members))
		var wg sync.WaitGroup
		for i := range s.members {
			wg.Go(func() {
				defer func() {
					if p := recover(); p != nil {
						broken <- p
						cancel()
					}
				}()
				for it := range of(ctx, i) {
					select {
					case items <- it:
					case <-ctx.Done():
						return
					}
				}
			})
		}
		go func() {
			wg.Wait()
			close(items)
		}()
		for it := range items {
			if !yield(it) {
				break
			}
		}
		cancel()
		wg.Wait()
		select {
		case p := <-broken:
			panic(p)
		default:
		}
	}
}
