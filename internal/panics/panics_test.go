package panics_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"agentctl/internal/panics"
)

func panicWith(value any) { panic(value) }

func TestAPanicBecomesAnErrorWithItsTrace(t *testing.T) {
	err := panics.Call(func() { panicWith("boom") })
	e := panics.As(fmt.Errorf("read: %w", err))
	if e == nil || e.Value != "boom" || err.Error() != "panic: boom" {
		t.Fatalf("caught %v", err)
	}
	if !strings.Contains(string(e.Stack), "panics_test.panicWith") {
		t.Errorf("the trace lacks the panicking function:\n%s", e.Stack)
	}
}

func TestAnErrorThatPanicsIsStillItself(t *testing.T) {
	if err := panics.Call(func() { panicWith(io.EOF) }); !errors.Is(err, io.EOF) {
		t.Errorf("caught %v", err)
	}
}

func TestAPanicHandedOnKeepsItsTrace(t *testing.T) {
	first := panics.Call(func() { panicWith("boom") })
	again := panics.Call(func() { panic(fmt.Errorf("follow: %w", first)) })
	if panics.As(again) != panics.As(first) {
		t.Errorf("caught %v, then %v", first, again)
	}
}

func TestWithoutAPanicThereIsNoError(t *testing.T) {
	if err := panics.Call(func() {}); err != nil || panics.As(err) != nil || panics.As(io.EOF) != nil {
		t.Errorf("caught %v", err)
	}
}
