package session

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"agentctl/internal/worktree"
	"agentctl/protocol"
)

// worktrees is a RemoveWorktree that records the directories and keeps some.
type worktrees struct {
	mu    sync.Mutex
	asked []string
	keep  map[string]string
	block chan struct{} // nil: answers immediately
}

func (w *worktrees) remove(ctx context.Context, dir string) string {
	if w.block != nil {
		select {
		case <-w.block:
		case <-ctx.Done():
			return ctx.Err().Error()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, filepath.Base(dir))
	return w.keep[filepath.Base(dir)]
}

// create creates a session in a worktree, or without a label in some directory.
func (w *worktrees) create(r *testHub, dir string, labels map[string]string) string {
	r.t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatalf("%v", err)
	}
	return must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{
		CWD: dir, Labels: labels,
	}))).Session
}

func TestADeletedSessionTakesItsWorktreeAlong(t *testing.T) {
	w := &worktrees{keep: map[string]string{"changed": "1 changed file"}}
	bubble(t, Config{System: System{RemoveWorktree: w.remove}}, func(t *testing.T, r *testHub) {
		root := t.TempDir()
		made := map[string]string{worktree.Label: "branch"}
		for _, c := range []struct {
			dir    string
			labels map[string]string
			data   protocol.CloseData
			want   protocol.CloseResult
			asked  bool
		}{
			{"clean", made, protocol.CloseData{Delete: true}, protocol.CloseResult{}, true},
			{"changed", made, protocol.CloseData{Delete: true}, protocol.CloseResult{Reason: "1 changed file"}, true},
			{"kept", made, protocol.CloseData{Delete: true, KeepWorktree: true}, protocol.CloseResult{}, false},
			{"closed", made, protocol.CloseData{}, protocol.CloseResult{}, false},
			{"other", maps.Clone(made), protocol.CloseData{Delete: true}, protocol.CloseResult{}, true},
			{"plain", nil, protocol.CloseData{Delete: true}, protocol.CloseResult{}, false},
		} {
			w.asked = nil
			dir := filepath.Join(root, c.dir)
			id := w.create(r, dir, c.labels)
			if c.want.Reason != "" {
				c.want.Worktree = dir
			}
			got := must[protocol.CloseResult](r, r.do(anna, newCommand(protocol.DoClose, id, c.data)))
			r.waitIdle()
			if got != c.want || slices.Contains(w.asked, c.dir) != c.asked {
				t.Errorf("%s: %+v, asked for %v", c.dir, got, w.asked)
			}
			if _, left := r.hub.Sessions().Summary(id); left == c.data.Delete {
				t.Errorf("%s: the session is listed: %t", c.dir, left)
			}
		}
		id := w.create(r, filepath.Join(root, "unused"), made)
		r.hub.removeUnused(t.Context(), id)
		if !slices.Equal(w.asked, []string{"unused"}) {
			t.Errorf("retention asked for %v", w.asked)
		}
	})
}

func TestAWorktreeInWhichAnotherSessionWorksStays(t *testing.T) {
	w := &worktrees{}
	bubble(t, Config{System: System{RemoveWorktree: w.remove}}, func(t *testing.T, r *testHub) {
		for name, link := range map[string]bool{"by its own name": false, "by another name": true} {
			root := t.TempDir()
			dir := filepath.Join(root, "shared")
			first := w.create(r, dir, map[string]string{worktree.Label: "shared"})
			below := filepath.Join(dir, "below")
			if link {
				if err := os.Symlink(dir, filepath.Join(root, "link")); err != nil {
					t.Fatal(err)
				}
				below = filepath.Join(root, "link", "below")
			}
			second := w.create(r, below, nil)
			closeIt := newCommand(protocol.DoClose, first, protocol.CloseData{Delete: true})
			got := must[protocol.CloseResult](r, r.do(anna, closeIt))
			want := protocol.CloseResult{Worktree: dir, Reason: "session " + second + " works there"}
			if got != want || w.asked != nil {
				t.Errorf("%s: %+v, asked for %v", name, got, w.asked)
			}
		}
	})
}

// The removal of a worktree takes as long as git needs. It does not block other commands.
func TestTheRemovalOfAWorktreeBlocksNothing(t *testing.T) {
	w := &worktrees{}
	bubble(t, Config{System: System{RemoveWorktree: w.remove}}, func(t *testing.T, r *testHub) {
		w.block = make(chan struct{})
		id := w.create(r, t.TempDir(), map[string]string{worktree.Label: "slow"})
		first := r.start(anna, newCommand(protocol.DoClose, id, protocol.CloseData{Delete: true}))
		second := r.start(bert, newCommand(protocol.DoClose, id, protocol.CloseData{Delete: true}))
		synctest.Wait()
		must[protocol.ListResult](r, r.do(anna, newCommand(protocol.DoList, "", protocol.ListData{})))
		close(w.block)
		r.waitIdle()
		synctest.Wait()
		codes := []protocol.Code{protocol.CodeOf(first.err), protocol.CodeOf(second.err)}
		slices.Sort(codes)
		if !slices.Equal(codes, []protocol.Code{"", protocol.CodeNoSession}) {
			t.Errorf("answers %v", codes)
		}
	})
}
