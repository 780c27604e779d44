package task

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/panics"
)

func TestRunnerAddressesResults(t *testing.T) {
	r := NewRunner(t.Context())
	defer r.Close()
	result := func(context.Context) tea.Msg { return "done" }
	if got := r.Run(result)(); got != "done" {
		t.Errorf("without an address: got %v", got)
	}
	r.Address = "s1"
	if got, want := r.Run(result)(), (Message{"s1", "done"}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := r.Run(func(context.Context) tea.Msg { return nil })(); got != nil {
		t.Errorf("without a result: got %v", got)
	}
}

func TestRunnerCloseWaitsForTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRunner(t.Context())
		returned := false
		go r.Run(func(ctx context.Context) tea.Msg {
			<-ctx.Done()
			time.Sleep(time.Second) // virtual
			returned = true
			return nil
		})()
		synctest.Wait()
		r.Close()
		if !returned {
			t.Error("Close returned before the task")
		}
		if got := r.Run(func(context.Context) tea.Msg { return "late" })(); got != nil {
			t.Errorf("after Close: got %v", got)
		}
		if got := r.After(time.Hour, "late")(); got != nil {
			t.Errorf("after Close: got %v", got)
		}
	})
}

func TestRunnerReportsPanics(t *testing.T) {
	r := NewRunner(t.Context())
	defer r.Close()
	var got error
	r.OnPanic = func(err error) { got = err }
	want := errors.New("broken")
	r.Run(func(context.Context) tea.Msg { panic(want) })()
	if broken := panics.As(got); broken == nil || broken.Value != want {
		t.Errorf("got %v, want the panic", got)
	}
}
